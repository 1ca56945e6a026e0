// A disk in memory that can stop at any step, fail at any call, or lose power: then what was not synced may be there,
// gone, zeroed, cut or full of holes, of the names that were not synced any subset, and modes and owners as they were.

import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { type DiskStat, oneByOne } from "../files/disk/disk.js";
import type { ChangeDisk } from "./change-set.js";
import {
  type Directory,
  DirectoryNames,
  type File,
  failure,
  type Node,
  newDirectory,
  newFile,
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
    const file = this.#names.file(path);
    file.dress = file.durableDress = { ...file.dress, mode };
    file.mark++;
  }

  mkdirp(path: string): void {
    this.#names.directory(path, true);
  }

  remove(path: string): void {
    this.#names.setForGood(this.#names.directory(dirname(path)), basename(path), undefined);
  }

  at(path: string): Found | undefined {
    const node = this.#names.find(path);
    return node?.kind === "file" ? foundOf(node) : undefined;
  }

  /** Every file as it is, every empty directory as `null`. */
  tree(): Map<string, Found | null> {
    const found = new Map<string, Found | null>();
    const visit = (directory: Directory, path: string) => {
      if (directory.names.size === 0) found.set(`${path}/`, null);
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
          const directory = names.directory(path);
          return {
            path,
            location: () => look("location", path, () => path),
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
          if (names.directory(path).names.size > 0) throw failure("ENOTEMPTY", path);
          names.unset(path);
        }),
      link: (from, to) =>
        step("link", to, () => {
          if (this.#kind.hasNoLinks) throw failure("EPERM", to);
          const file = names.file(from);
          names.setNew(to, file);
          file.mark++;
        }),
      rename: (from, to) => step("rename", to, () => names.rename(from, to)),
      unlink: (path) =>
        step("unlink", path, () => {
          names.file(path);
          names.unset(path);
        }),
    };
    return { ...disk, inBulk: oneByOne(disk).inBulk };
  }
}

function foundOf({ data, dress, number }: File): Found {
  const { mode, uid, modifiedMs } = dress;
  return { text: data.toString("latin1"), mode, uid, modifiedMs, identity: `1:${number}` };
}

const directoryDress = { mode: 0o755, uid: 1000, gid: 1000, modifiedMs: 0 };

function statOf(node: Node): DiskStat {
  const isFile = node.kind === "file";
  const { mode, uid, gid, modifiedMs } = isFile ? node.dress : directoryDress;
  return {
    kind: node.kind,
    kindName: "",
    identity: `1:${node.number}`,
    sizeBytes: isFile ? node.data.length : 0,
    modifiedMs,
    mode,
    uid,
    gid,
    linkCount: isFile ? node.linkCount : 2,
    mark: isFile ? `${node.mark}` : "",
  };
}
