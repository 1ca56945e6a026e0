// What galley itself keeps for its boxes, below the agent directory, where no confined command sees it: something empty to
// cover things with, and the record of stubs.

import { chmodSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { ownDirectory } from "../../base/home.js";
import { cannotKeep, Stubs } from "./stubs.js";

export interface SandboxState {
  readonly emptyDirectory: string;
  readonly emptyFile: string;
  /** Where a namespace builds its root. */
  readonly rootDirectory: string;
  readonly stubs: Stubs;
}

const known = new Map<string, SandboxState>();

/** One for each agent directory: the stubs of all commands of this process are counted together. */
export function sandboxState(agentDir: string): SandboxState {
  const found = known.get(agentDir);
  if (found !== undefined && existsSync(found.emptyFile)) return found;
  try {
    const state = makeState(agentDir);
    known.set(agentDir, state);
    return state;
  } catch (error) {
    throw cannotKeep(agentDir, error);
  }
}

function makeState(agentDir: string): SandboxState {
  mkdirSync(join(ownDirectory(agentDir), "sandbox"), { recursive: true, mode: 0o700 });
  const directory = realpathSync.native(join(ownDirectory(agentDir), "sandbox"));
  const emptyDirectory = join(directory, "empty-directory");
  const emptyFile = join(directory, "empty-file");
  const rootDirectory = join(directory, "root");
  mkdirSync(rootDirectory, { recursive: true });
  mkdirSync(emptyDirectory, { recursive: true });
  chmodSync(emptyDirectory, 0o555);
  makeEmptyFile(emptyFile);
  return { emptyDirectory, emptyFile, rootDirectory, stubs: new Stubs(join(directory, "stubs")) };
}

/** Another process may have made it, or make it at this moment. */
function makeEmptyFile(path: string): void {
  try {
    writeFileSync(path, "", { mode: 0o444, flag: "wx" });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}
