// Where layers are: in the agent directory, or where that cannot be the upper layer of an overlay, in one of the
// system's places for such files. Each is a private directory of the user.

import { chmodSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { systemCode } from "../../base/errors.js";
import { ownDirectory } from "../../base/home.js";
import { makeDirectories } from "../disk/make-directories.js";
import { isWithin } from "../paths/resolve-path.js";

export interface LayerPlaces {
  readonly agentDir: string;
  /** `XDG_RUNTIME_DIR` is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Directories for layers, the preferred one first. They need not exist. */
export function layerBases({ agentDir, env }: LayerPlaces): string[] {
  const runtime = env.XDG_RUNTIME_DIR;
  return [
    join(ownDirectory(agentDir), "stage"),
    ...(runtime !== undefined && isAbsolute(runtime) ? [join(runtime, "galley-stage")] : []),
    ...sharedBases,
  ];
}

const sharedBases = ["/dev/shm", "/var/tmp"].map((place) =>
  join(place, `galley-${process.getuid?.() ?? "user"}`, "stage"),
);

/** A layer cannot lie in what it is a layer of. */
export function isApart(base: string, roots: readonly string[]): boolean {
  return roots.every((root) => !isWithin(base, root) && !isWithin(root, base));
}

/** The layer of one root in one session. */
export interface Layer {
  readonly root: string;
  readonly directory: string;
  /** What the command changed; with `copy` the whole tree. */
  readonly up: string;
  /** The former `up`, while the layer is rebuilt. */
  readonly old: string;
  readonly work: string;
}

export function layerAt(base: string, root: string, sessionId: string): Layer {
  return layerIn(join(base, sha256Of(root).slice(0, 32), directoryName(sessionId)), root);
}

export function layerIn(directory: string, root: string): Layer {
  return { root, directory, up: join(directory, "up"), old: join(directory, "old"), work: join(directory, "work") };
}

/** Session ids come from files, too. */
export function directoryName(sessionId: string): string {
  return /^[A-Za-z0-9][\w.-]{0,99}$/.test(sessionId) ? sessionId : sha256Of(sessionId).slice(0, 32);
}

/** Everyone may write there: nothing of ours stays longer than it is used. */
export function isShared(base: string): boolean {
  return sharedBases.includes(base);
}

/** Throws where the place is not the user's alone. */
export function makeLayerDirectory({ directory, root, up, work }: Layer, base: string): void {
  // In a directory that everyone may write, the first of ours must be ours, too: before, and also afterwards, because
  // another process of ours may have removed it and another user have made it in between.
  const checkBase = () => {
    for (const path of isShared(base) ? [dirname(base), base] : [base]) ensurePrivate(path);
  };
  makePersistently(directory, checkBase);
  checkBase();
  for (const path of [up, work]) makeDirectory(path);
  const link = join(directory, "lower");
  try {
    symlinkSync(root, link);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/** Another process may remove a directory above, which is empty, right before this one is made in it. */
function makePersistently(directory: string, checkBase: () => void): void {
  for (let attempt = 0; ; attempt++)
    try {
      checkBase();
      makeDirectories(directory, 0o700);
      return;
    } catch (error) {
      if (attempt === 10 || systemCode(error) !== "ENOENT") throw error;
    }
}

function ensurePrivate(path: string): void {
  makeDirectories(path, 0o700);
  const found = lstatSync(path);
  if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid()))
    throw new Error(`${path} is not a directory of this user`);
  if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
}

export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}
