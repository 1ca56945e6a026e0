// The few things a session file asks of the disk, as one narrow interface: the program gives Node's own, a test gives
// one that is full, torn or slow. Blocking where it is a matter of microseconds, a promise where the disk is waited for.

import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { makeDirectories } from "../../files/disk/make-directories.js";
import { isInside } from "../session-paths.js";

export { makeDirectories };

export interface FileStatus {
  readonly bytes: number;
  /** Names in directories; 0 once the file is deleted or replaced. */
  readonly links: number;
  readonly mode: number;
  readonly isFile: boolean;
  /** Together they tell a file from every other, whatever it is called. */
  readonly device: number;
  readonly inode: number;
}

export interface SessionDisk {
  open(path: string, flags: number): number;
  close(file: number): void;
  status(file: number): FileStatus;
  /** Undefined when there is nothing. */
  statusAt(path: string): FileStatus | undefined;
  /** Answers how many bytes came; 0 at the end. */
  read(file: number, buffer: Uint8Array, position: number): Promise<number>;
  /** Answers how many bytes went, which may be fewer than asked. */
  write(file: number, bytes: Uint8Array, offset: number): number;
  truncate(file: number, bytes: number): void;
  changeMode(file: number, mode: number): void;
  /** Resolves when what was written is on the disk. */
  sync(file: number): Promise<void>;
  /** Resolves when the names in the directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
  /** Fails when the name is taken, like `copy`. */
  link(from: string, to: string): void;
  copy(from: string, to: string): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
}

export const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = fs.constants;
/** A pipe in the place of a file must not make us wait for its other end. Not known on every platform. */
const O_NONBLOCK = fs.constants.O_NONBLOCK ?? 0;
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0;

export const nodeDisk: SessionDisk = {
  open: (path, flags) => fs.openSync(path, flags | O_NONBLOCK | (flags & O_CREAT ? O_NOFOLLOW : 0), 0o600),
  close: (file) => fs.closeSync(file),
  status: (file) => statusOf(fs.fstatSync(file)),
  statusAt(path) {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    return stats && statusOf(stats);
  },
  read: (file, buffer, position) =>
    new Promise((resolve, reject) => {
      fs.read(file, buffer, 0, buffer.length, position, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    }),
  write: (file, bytes, offset) => fs.writeSync(file, bytes, offset),
  truncate: (file, bytes) => fs.ftruncateSync(file, bytes),
  changeMode: (file, mode) => fs.fchmodSync(file, mode),
  sync: (file) =>
    new Promise((resolve, reject) => {
      fs.fdatasync(file, (error) => (error ? reject(error) : resolve()));
    }),
  async syncDirectory(path) {
    const directory = await fs.promises.open(path, O_RDONLY).catch(ignoreUnsupported);
    try {
      await directory?.sync().catch(ignoreUnsupported);
    } finally {
      await directory?.close();
    }
  },
  link: (from, to) => fs.linkSync(from, to),
  copy: (from, to) => fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
};

function statusOf(stats: fs.Stats): FileStatus {
  // On Windows a path and an open file may tell the same device by different numbers.
  const device = process.platform === "win32" ? 0 : stats.dev;
  return {
    bytes: stats.size,
    links: stats.nlink,
    mode: stats.mode,
    isFile: stats.isFile(),
    device,
    inode: stats.ino,
  };
}

/** Some platforms cannot open or sync a directory; there its names are as safe as they get. */
function ignoreUnsupported(error: unknown): undefined {
  if (["EPERM", "EISDIR", "EINVAL", "EBADF", "ENOTSUP"].includes(systemCode(error) ?? "")) return undefined;
  throw error;
}

/** The one true name of a path, also when it does not exist yet. */
export function realPath(path: string): string {
  try {
    // Checked first: a new session asks for several missing paths, and an error costs more than a check.
    if (fs.lstatSync(path, { throwIfNoEntry: false })) return fs.realpathSync.native(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error; // else a link that leads nowhere
  }
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), basename(path));
}

/**
 * Makes a directory for this user alone. One of ours (at or below a path in `owned`) that stands open to others is
 * closed, with a warning; any other directory keeps its mode.
 */
export function ensureDirectory(path: string, owned: readonly string[], warn: (text: string) => void): void {
  makeDirectories(path, 0o700);
  if (process.platform === "win32") return; // modes mean nothing there
  for (let own = path; owned.some((root) => isInside(root, own)); own = dirname(own)) {
    const { mode } = fs.statSync(own);
    if ((mode & 0o077) === 0) continue;
    fs.chmodSync(own, 0o700);
    warn(`${own} was accessible to other users; it is now private`);
  }
}
