// The sandbox and what starts programs, as one plain module that any user of the machine can load.

import { chmodSync } from "node:fs";
import { buildModule } from "../kit/build-module.mjs";

const contents = `
export { createNodeProcesses } from "./processes/node-processes.js";
export { createSandbox } from "./processes/sandbox/create-sandbox.js";
export { silentLog } from "./base/log.js";
`;

/** Answers the path of the module. */
export async function buildSandboxModule(directory) {
  const path = await buildModule(directory, { name: "sandbox", contents });
  chmodSync(path, 0o644);
  return path;
}
