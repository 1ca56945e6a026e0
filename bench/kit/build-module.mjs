// A part of the sources as one plain module, so that fault runs and their child processes need no build of the program.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const sources = fileURLToPath(new URL("../../src", import.meta.url));

/** `contents` are TypeScript, as if they stood in `folder` below `src`. Answers the path of the module. */
export async function buildModule(directory, { name, contents, folder = ".", plugins = [] }) {
  const outfile = join(directory, `${name}.mjs`);
  await build({
    stdin: { contents, resolveDir: join(sources, folder), loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    outfile,
    logLevel: "warning",
    plugins,
  });
  return outfile;
}
