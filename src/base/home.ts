// Where the user's files and the passing ones lie. As node:os has it, which is loaded only where the environment does not
// say: these are on the way to the first answer.

export function homedir(): string {
  return (process.platform !== "win32" && process.env.HOME) || process.getBuiltinModule("node:os").homedir();
}

/** A path that may begin with `~`, as people write it. */
export function withHome(path: string, home: string = homedir()): string {
  return path.replace(/^~(?=$|[\\/])/, () => home);
}

export function tmpdir(): string {
  if (process.platform === "win32") return process.getBuiltinModule("node:os").tmpdir();
  const { TMPDIR, TMP, TEMP } = process.env;
  const found = TMPDIR || TMP || TEMP || "/tmp";
  return found.length > 1 && found.endsWith("/") ? found.slice(0, -1) : found;
}
