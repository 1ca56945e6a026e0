// The session layer as one plain module, so that child processes can run it without the rest of the program.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Answers the path of a module that exports what the fault runs use of it. */
export async function buildSessionModule(directory) {
  const outfile = join(directory, "session.mjs");
  await build({
    stdin: {
      contents: `
        export { SessionManager } from "./session-manager.ts";
        export { SessionReader } from "./read-entries.ts";
        export { nodeDisk } from "./store-disk.ts";
        export { loadSession } from "./store-load.ts";
        export { systemClock } from "../base/clock.ts";`,
      resolveDir: join(root, "src/session"),
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
