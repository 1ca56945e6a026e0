// A disk in memory that can stop at any step, fail at any call, or lose power: then what was not synced may be there,
// gone, zeroed, cut or full of holes, of the names that were not synced any subset, and modes and owners as they were.

import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { type DiskStat, oneByOne } from "../../files/disk/disk.js";
import type { ChangeDisk } from "../change-set.js";
import {
  type Directory,
  DirectoryNames,
  type File,
  failure,
  type Node,
  newDirectory,
  newFile,
  newLink,
  type Random,
} from "./sim-names.test-kit.js";

export interface Call {
  /** From 1, looks included. */
  readonly number: number;
  readonly name: string;
  /** What it is about; of a rename and a link the new name. */
  readonly path: string;
}

export interface Faults {
  /** Before every call. May throw, to make it fail. */
  onCall?(call: Call): void;
  /** What `onCall` throws is told only after the work was done: the disk answers an error for something that happened. */
  failsLate?: boolean;
  /** The process is gone when this many steps were done: no later call ever answers. An append may be halfway. */
  stopAfter?: number;
}

export interface Kind {
  /** No second names. */
  readonly hasNoLinks?: boolean;
  /** `A` and `a` are the same name. */
  readonly foldsCase?: boolean;
}

export interface Found {
  /** Default: a regular file. */
  readonly type?: "symlink" | "directory";
  /** Of a link its target. */
  readonly text: string;
  readonly mode: number;
  readonly uid: number;
  readonly modifiedMs: number;
  readonly identity: string;
}

export class SimDisk {
  readonly #kind: Kind;
  readonly #names: DirectoryNames;
  #lastNumber = 1;
  #clockMs = 1_000_000;
  #faults: Faults = {};
  #process = 0;
  steps = 0;
  calls = 0;

  constructor(kind: Kind = {}) {
    this.#kind = kind;
    this.#names = new DirectoryNames(kind.foldsCase ?? false);
  }

  /** A process's view of the disk. The view of the one before is dead. */
  open(faults: Faults = {}): ChangeDisk {
    this.#faults = faults;
    this.steps = 0;
    this.calls = 0;
    return this.#view(++this.#process);
  }

  /** As a person or another program would, by a new file in the place of the old, at once and for good. */
  write(path: string, data: string | Buffer, { mode = 0o644, uid = 1000 } = {}): void {
    const file = newFile(++this.#lastNumber, { mode, uid, gid: 1000, modifiedMs: this.#now() });
    file.data = file.durable = Buffer.from(data);
    this.#names.setForGood(this.#names.directory(dirname(path), true), basename(path), file);
  }

  /** In place: the same file with other bytes. */
  overwrite(path: string, data: string): void {
    const file = this.#names.file(path);
    file.data = file.durable = Buffer.from(data);
    this.#touch(file);
  }

  chmod(path: string, mode: number): void {
    const node = this.#names.node(path);
    node.dress = node.durableDress = { ...node.dress, mode };
    if (node.kind === "file") node.mark++;
  }

  /** With the parents that are missing. */
  mkdirp(path: string, { mode = 0o755, uid = 1000 } = {}): void {
    const directory = this.#names.directory(path, true);
    directory.dress = directory.durableDress = { ...directory.dress, mode, uid };
  }

  symlink(path: string, target: string, { uid = 1000 } = {}): void {
    const dress = { mode: 0o777, uid, gid: 1000, modifiedMs: this.#now() };
    const link = newLink(++this.#lastNumber, Buffer.from(target), dress);
    this.#names.setForGood(this.#names.directory(dirname(path), true), basename(path), link);
  }

  remove(path: string): void {
    this.#names.setForGood(this.#names.directory(dirname(path)), basename(path), undefined);
  }

  at(path: string): Found | undefined {
    const node = this.#names.find(path);
    return node && foundOf(node);
  }

  /** Everything as it is; the names of directories end in `/`. */
  tree(): Map<string, Found> {
    const found = new Map<string, Found>();
    const visit = (directory: Directory, path: string) => {
      found.set(`${path}/`, foundOf(directory));
      for (const [name, node] of [...directory.names].sort(([a], [b]) => (a < b ? -1 : 1))) {
        if (node.kind === "directory") visit(node, `${path}/${name}`);
        else found.set(`${path}/${name}`, foundOf(node));
      }
    };
    visit(this.#names.root, "");
    return found;
  }

  /** What may be found after the power came back. */
  losePower(random: Random): void {
    this.#names.lose(random);
  }

  #now(): number {
    this.#clockMs += 10;
    return this.#clockMs;
  }

  #touch(file: File): void {
    file.dress = { ...file.dress, modifiedMs: this.#now() };
    file.mark++;
  }

  #isGone(own: number): boolean {
    return own !== this.#process || (this.#faults.stopAfter ?? Number.POSITIVE_INFINITY) <= this.steps;
  }

  #view(own: number): ChangeDisk {
    const gone = new Promise<never>(() => {});
    const call = async <T>(name: string, path: string, work: () => T, isStep: boolean): Promise<T> => {
      if (this.#isGone(own)) return gone;
      if (isStep) this.steps++;
      this.calls++;
      try {
        this.#faults.onCall?.({ number: this.calls, name, path });
      } catch (error) {
        if (this.#faults.failsLate) work();
        throw error;
      }
      return work();
    };
    const step = <T>(name: string, path: string, work: () => T) => call(name, path, work, true);
    const look = <T>(name: string, path: string, work: () => T) => call(name, path, work, false);
    const append = async (file: File, path: string, bytes: Uint8Array) => {
      const put = (part: Uint8Array) => {
        file.data = Buffer.concat([file.data, part]);
        this.#touch(file);
      };
      const half = bytes.subarray(0, (this.steps * 7919) % (bytes.length + 1));
      const isLast = own === this.#process && this.#faults.stopAfter === this.steps;
      if (isLast) put(half); // killed in the middle of it
      return step("append", path, () => put(bytes)).catch((error: unknown) => {
        if (!this.#faults.failsLate) put(half); // as a full disk does
        throw error;
      });
    };
    const sync = (file: File) => {
      file.durable = file.data;
      file.durableDress = file.dress;
    };
    const dress = (file: File, change: Partial<File["dress"]>) => {
      file.dress = { ...file.dress, ...change };
      file.mark++;
    };
    const redress = (path: string, change: Partial<File["dress"]>) => {
      const directory = this.#names.directory(path);
      directory.dress = { ...directory.dress, ...change };
    };
    const handle = (file: File, path: string) => ({
      stat: () => look("stat", path, () => statOf(file)),
      append: (bytes: Uint8Array) => append(file, path, bytes),
      truncate: (size: number) =>
        step("truncate", path, () => {
          file.data = file.data.subarray(0, size);
        }),
      // As the system does: the set-group bit goes with the owner.
      chown: (uid: number, gid: number) =>
        step("chown", path, () => dress(file, { uid, gid, mode: file.dress.mode & 0o1777 })),
      chmod: (mode: number) => step("chmod", path, () => dress(file, { mode })),
      utimes: (modifiedMs: number) => step("utimes", path, () => dress(file, { modifiedMs })),
      fsync: () => step("fsync", path, () => sync(file)),
      close: () => look("close", path, () => {}),
    });
    const names = this.#names;
    const disk: Omit<ChangeDisk, "inBulk"> = {
      realpath: (path) => look("realpath", path, () => names.pathOf(path)),
      findOwn: () => undefined, // no journal asks for it
      lstat: (path) => look("lstat", path, () => statOf(names.node(path))),
      list: (path) =>
        look("list", path, () => [...names.directory(path).names].map(([name, { kind }]) => ({ name, kind }))),
      read: (path, identity, { maxBytes }) =>
        look("read", path, () => {
          const file = names.file(path);
          if (statOf(file).identity !== identity) return undefined;
          return { bytes: file.data.subarray(0, maxBytes), isTruncated: file.data.length > maxBytes };
        }),
      digest: (path, identity) =>
        look("digest", path, () => {
          const file = names.file(path);
          return statOf(file).identity === identity ? createHash("sha256").update(file.data).digest("hex") : undefined;
        }),
      pin: (path) =>
        look("pin", path, () => {
          if (names.node(path).kind === "link") throw failure("ENOTDIR", path);
          const directory = names.directory(path);
          return {
            path,
            location: () => look("location", path, () => names.locationOf(directory) ?? `${path} (deleted)`),
            fsync: () => step("fsyncDir", path, () => names.sync(directory)),
            close: () => look("close", path, () => {}),
          };
        }),
      create: (path, mode) =>
        step("create", path, () => {
          const file = newFile(++this.#lastNumber, { mode, uid: 1000, gid: 1000, modifiedMs: this.#now() });
          names.setNew(path, file);
          return handle(file, path);
        }),
      openAppend: (path) => look("openAppend", path, () => handle(names.file(path), path)),
      mkdir: (path) => step("mkdir", path, () => names.setNew(path, newDirectory(++this.#lastNumber))),
      rmdir: (path) =>
        step("rmdir", path, () => {
          if (names.node(path).kind === "link") throw failure("ENOTDIR", path);
          if (names.directory(path).names.size > 0) throw failure("ENOTEMPTY", path);
          names.unset(path);
        }),
      link: (from, to) =>
        step("link", to, () => {
          if (this.#kind.hasNoLinks) throw failure("EPERM", to);
          const file = names.nameable(from);
          names.setNew(to, file);
          file.mark++;
        }),
      rename: (from, to) => step("rename", to, () => names.rename(from, to)),
      unlink: (path) =>
        step("unlink", path, () => {
          names.nameable(path);
          names.unset(path);
        }),
      symlink: (target, path) =>
        step("symlink", path, () => {
          const dress = { mode: 0o777, uid: 1000, gid: 1000, modifiedMs: this.#now() };
          names.setNew(path, newLink(++this.#lastNumber, target, dress));
        }),
      readlink: (path) =>
        look("readlink", path, () => {
          const node = names.node(path);
          if (node.kind !== "link") throw failure("EINVAL", path);
          return node.data;
        }),
      chownLink: (path, uid, gid) => step("chownLink", path, () => dress(names.nameable(path), { uid, gid })),
      touchLink: (path, modifiedMs) => step("touchLink", path, () => dress(names.nameable(path), { modifiedMs })),
      ownsMode: () => true,
      chmodDirectory: (path, mode) => step("chmodDirectory", path, () => redress(path, { mode })),
      chownDirectory: (path, uid, gid) => step("chownDirectory", path, () => redress(path, { uid, gid })),
    };
    return { ...disk, inBulk: oneByOne(disk).inBulk };
  }
}

function foundOf(node: Node): Found {
  const { mode, uid, modifiedMs } = node.dress;
  const about = { mode, uid, modifiedMs, identity: `1:${node.number}` };
  if (node.kind === "directory") return { type: "directory", text: "", ...about };
  return { ...(node.kind === "link" ? { type: "symlink" } : {}), text: node.data.toString("latin1"), ...about };
}

function statOf(node: Node): DiskStat {
  const isNamed = node.kind !== "directory";
  return {
    kind: node.kind,
    kindName: "",
    identity: `1:${node.number}`,
    sizeBytes: isNamed ? node.data.length : 0,
    ...node.dress,
    linkCount: isNamed ? node.linkCount : 2,
    mark: isNamed ? `${node.mark}` : `${node.names.size}`,
  };
}
