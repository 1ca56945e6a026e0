// Tests that run as root do their work twice: as root, and as an ordinary user. Tests that run as a normal user can be no
// other.

import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { galleyBin, type Outcome, run } from "./run-galley.js";

const ordinaryId = 54_321;
const ordinary = "an ordinary user";

export const users: readonly string[] = process.getuid?.() === 0 ? ["root", ordinary] : ["this user"];

export interface ActingUser {
  readonly isOther: boolean;
  /** A program and its arguments, in a directory. */
  start(words: readonly string[], cwd: string): Promise<Outcome>;
  galley(args: readonly string[], cwd: string): Promise<Outcome>;
}

/** Everything below `top`, which `temporaryDirectory` made, becomes this user's. */
export function actAs(user: string, { top, home }: { readonly top: string; readonly home: string }): ActingUser {
  const isOther = user === ordinary;
  if (isOther) {
    // The directories of this test run.
    for (const above of [dirname(dirname(top)), dirname(top)]) chmodSync(above, 0o711);
    execFileSync("chown", ["-R", "-h", `${ordinaryId}:${ordinaryId}`, top]);
  }
  const env = { PATH: process.env.PATH, HOME: home, GALLEY_OFFLINE: "1" };
  const as = isOther ? ["setpriv", `--reuid=${ordinaryId}`, `--regid=${ordinaryId}`, "--clear-groups", "--"] : [];
  const start = (words: readonly string[], cwd: string) => {
    const [file = "", ...args] = [...as, ...words];
    return run(file, args, { cwd, env });
  };
  return { isOther, start, galley: (args, cwd) => start([process.execPath, galleyBin, ...args], cwd) };
}
