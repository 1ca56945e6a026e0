// The home directory and the directory for temporary files, as node:os has them. node:os is loaded only if the
// environment does not name them, to keep the start short.

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
