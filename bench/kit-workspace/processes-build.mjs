// The process layer as one plain module.

import { buildModule } from "../kit/build-module.mjs";

/** Answers the path of a module that exports what the fault runs use of it. */
export function buildProcessesModule(directory) {
  const contents = `
    export { createNodeProcesses } from "./node-processes.ts";
    export { silentLog } from "../base/log.ts";`;
  return buildModule(directory, { name: "processes", contents, folder: "processes" });
}
