// The record and its files as one plain module, so that child processes can run it without the rest of the program.

import { buildModule } from "../kit/build-module.mjs";

/** Answers the path of a module that exports what the fault runs use of it. */
export function buildSessionModule(directory) {
  const contents = `
    export { SessionManager } from "../sdk/session-manager.ts";
    export { SessionReader } from "./read/read-entries.ts";
    export { nodeDisk } from "./store/session-disk.ts";
    export { loadSession } from "./store/load-session.ts";
    export { systemClock } from "../base/clock.ts";`;
  return buildModule(directory, { name: "session", contents, folder: "record" });
}
