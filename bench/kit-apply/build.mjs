// The journal and its simulated disk as one plain module, so that child processes can run it without the rest of the
// program, and so that a fault can be put into it.

import { readFile } from "node:fs/promises";
import { buildModule } from "../kit/build-module.mjs";

const folder = "journal";

const modules = [
  "apply",
  "recover",
  "records",
  "undo-record",
  "node-change-disk",
  "faults/scene.test-kit",
  "faults/faults.test-kit",
  "faults/crash-runs.test-kit",
  "faults/error-runs.test-kit",
  "faults/foreign-runs.test-kit",
  "faults/record-runs.test-kit",
];

/**
 * Answers the path of the module. `mutant` puts other text in the place of some in one of the journal's files; text
 * that is not there exactly once is an error, so that no mutant is a mutant in name only.
 */
export function buildJournalModule(directory, { name = "journal", mutant } = {}) {
  const contents = modules.map((module) => `export * from "./${module}.ts";`).join("\n");
  return buildModule(directory, { name, contents, folder, plugins: mutant ? [mutating(mutant)] : [] });
}

function mutating({ file, changes }) {
  return {
    name: "mutant",
    setup({ onLoad }) {
      onLoad(
        { filter: new RegExp(`/(?:journal|journal/ops|base)/${file.replaceAll(".", "\\.")}$`) },
        async ({ path }) => {
          let contents = await readFile(path, "utf8");
          for (const [from, to] of changes) {
            if (contents.split(from).length !== 2) throw new Error(`${file}: not there exactly once: ${from}`);
            contents = contents.replace(from, () => to);
          }
          return { contents, loader: "ts" };
        },
      );
    },
  };
}
