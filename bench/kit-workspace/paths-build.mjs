// The workspace as one plain module, so that the fault runs need no build of the program.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Answers the path of a module that exports what the fault runs use of it. */
export async function buildWorkspaceModule(directory) {
  const outfile = join(directory, "workspace.mjs");
  await build({
    stdin: {
      contents: `
        export { createWorkspace } from "./create-workspace.ts";
        export { nodeDisk } from "./node-disk.ts";`,
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

/** Nothing here is about power cuts, and waiting for the disk would be most of the time. */
export function withoutSync(disk) {
  const quick = async (made) => ({ ...(await made), fsync: async () => {} });
  return {
    ...disk,
    pin: (path) => quick(disk.pin(path)),
    create: (path, mode) => quick(disk.create(path, mode)),
  };
}
