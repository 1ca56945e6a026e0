// The workspace as one plain module.

import { buildModule } from "../kit/build-module.mjs";

/** Answers the path of a module that exports what the fault runs use of it. */
export function buildWorkspaceModule(directory) {
  const contents = `
    export { createWorkspace } from "./create-workspace.ts";
    export { nodeDisk } from "./disk/node-disk.ts";`;
  return buildModule(directory, { name: "workspace", contents, folder: "files" });
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
