// The home directory and the directory for temporary files, as node:os has them. node:os is loaded only if the
// environment does not name them, to keep the start short.

import { join } from "node:path";

export function homedir(): string {
  return (process.platform !== "win32" && process.env.HOME) || process.getBuiltinModule("node:os").homedir();
}

/** A path that may begin with `~`, as people write it. */
export function withHome(path: string, home: string = homedir()): string {
  return path.replace(/^~(?=$|[\\/])/, () => home);
}

/** Where galley's own files are, although it may stand in the place of another program and use what that keeps. */
export function ownDirectory(agentDir: string): string {
  const isOther = [".pi", ".omp"].some((name) => agentDir === join(homedir(), name, "agent"));
  return isOther ? join(homedir(), ".galley", "agent") : agentDir;
}

export function tmpdir(): string {
  if (process.platform === "win32") return process.getBuiltinModule("node:os").tmpdir();
  const { TMPDIR, TMP, TEMP } = process.env;
  const found = TMPDIR || TMP || TEMP || "/tmp";
  return found.length > 1 && found.endsWith("/") ? found.slice(0, -1) : found;
}
