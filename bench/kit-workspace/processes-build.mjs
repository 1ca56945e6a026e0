// The process layer as one plain module, so that child processes can run it without the rest of the program.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Answers the path of a module that exports what the fault runs use of it. */
export async function buildProcessesModule(directory) {
  const outfile = join(directory, "processes.mjs");
  await build({
    stdin: {
      contents: `
        export { createNodeProcesses } from "./node-processes.ts";
        export { silentLog } from "../base/log.ts";`,
      resolveDir: join(root, "src/workspace"),
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    outfile,
    logLevel: "warning",
  });
  return outfile;
}
