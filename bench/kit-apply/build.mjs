// The journal and its simulated disk as one plain module, so that child processes can run it without the rest of the
// program, and so that a fault can be put into it.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("../../src/workspace/journal", import.meta.url));

const modules = [
  "apply",
  "recover",
  "records",
  "undo-record",
  "node-change-disk",
  "scene.test-kit",
  "faults.test-kit",
  "crash-runs.test-kit",
  "error-runs.test-kit",
  "foreign-runs.test-kit",
  "record-runs.test-kit",
];

/**
 * Answers the path of the module. `mutant` puts other text in the place of some in one of the journal's files; text
 * that is not there exactly once is an error, so that no mutant is a mutant in name only.
 */
export async function buildJournalModule(directory, { name = "journal", mutant } = {}) {
  const outfile = join(directory, `${name}.mjs`);
  await build({
    stdin: {
      contents: modules.map((module) => `export * from "./${module}.ts";`).join("\n"),
      resolveDir: folder,
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    outfile,
    logLevel: "warning",
    plugins: mutant ? [mutating(mutant)] : [],
  });
  return outfile;
}

function mutating({ file, changes }) {
  return {
    name: "mutant",
    setup({ onLoad }) {
      onLoad({ filter: new RegExp(`/(?:journal|base)/${file.replaceAll(".", "\\.")}$`) }, async ({ path }) => {
        let contents = await readFile(path, "utf8");
        for (const [from, to] of changes) {
          if (contents.split(from).length !== 2) throw new Error(`${file}: not there exactly once: ${from}`);
          contents = contents.replace(from, () => to);
        }
        return { contents, loader: "ts" };
      });
    },
  };
}
