// The names on the simulated disk: which are there, which would survive a loss of power, and what such a loss leaves.

import { basename, dirname, resolve } from "node:path";

export type Random = () => number;

interface Dress {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modifiedMs: number;
}

/** A link is a file whose bytes are its target and never change: they are there with its name. */
export interface File {
  readonly kind: "file" | "link";
  readonly number: number;
  data: Buffer;
  durable: Buffer;
  dress: Dress;
  durableDress: Dress;
  mark: number;
  linkCount: number;
}

export interface Directory {
  readonly kind: "directory";
  readonly number: number;
  names: Map<string, Node>;
  durable: Map<string, Node>;
  /** Since the last sync, in order. A rename is one: both names change or neither. */
  unsynced: NameChange[];
  dress: Dress;
  durableDress: Dress;
}

export type Node = File | Directory;

interface NameChange {
  readonly names: readonly (readonly [name: string, node: Node | undefined])[];
  /** The other half of a rename between two directories, which file systems with a journal do in one step. */
  other?: { readonly directory: Directory; readonly change: NameChange };
}

export class DirectoryNames {
  readonly root = newDirectory(1);
  readonly #foldsCase: boolean;
  #lastNumber = 1_000_000;

  constructor(foldsCase: boolean) {
    this.#foldsCase = foldsCase;
  }

  find(path: string): Node | undefined {
    try {
      return this.node(path);
    } catch {
      return undefined; // asked by a test: there or not
    }
  }

  /** No test has a link where a canonical path is asked for. */
  pathOf(path: string): string {
    this.node(path);
    return path;
  }

  /** Where a directory is now. */
  locationOf(directory: Directory, from = this.root, path = ""): string | undefined {
    if (from === directory) return path === "" ? "/" : path;
    for (const [name, node] of from.names) {
      const found = node.kind === "directory" ? this.locationOf(directory, node, `${path}/${name}`) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Links on the way are followed, the last name is not. */
  node(path: string, depth = 0): Node {
    let node: Node = this.root;
    let way = "";
    for (const name of partsOf(path)) {
      if (node.kind === "link") {
        if (depth > 5) throw failure("ELOOP", path);
        node = this.#followed(way, node, depth);
      }
      if (node.kind !== "directory") throw failure("ENOTDIR", path);
      const next: Node | undefined = node.names.get(this.#key(node.names, name));
      if (!next) throw failure("ENOENT", path);
      node = next;
      way = `${way}/${name}`;
    }
    return node;
  }

  #followed(way: string, link: File, depth: number): Node {
    const target = resolve(dirname(way), link.data.toString());
    const node = this.node(target, depth + 1);
    return node.kind === "link" ? this.#followed(target, node, depth + 1) : node;
  }

  file(path: string): File {
    const node = this.nameable(path);
    if (node.kind !== "file") throw failure("ELOOP", path);
    return node;
  }

  /** What can have several names. */
  nameable(path: string): File {
    const node = this.node(path);
    if (node.kind === "directory") throw failure("EISDIR", path);
    return node;
  }

  directory(path: string, isMade = false): Directory {
    if (!isMade) {
      const found = this.node(path);
      if (found.kind !== "directory") throw failure("ENOTDIR", path);
      return found;
    }
    let node: Node = this.root;
    for (const name of partsOf(path)) {
      if (node.kind !== "directory") throw failure("ENOTDIR", path);
      let next: Node | undefined = node.names.get(this.#key(node.names, name));
      if (!next) {
        next = newDirectory(++this.#lastNumber);
        this.setForGood(node, name, next);
      }
      node = next;
    }
    if (node.kind !== "directory") throw failure("ENOTDIR", path);
    return node;
  }

  setNew(path: string, node: Node): void {
    const parent = this.directory(dirname(path));
    if (parent.names.has(this.#key(parent.names, basename(path)))) throw failure("EEXIST", path);
    refuseClosed(parent, path);
    this.#change(parent, { names: [[basename(path), node]] });
  }

  unset(path: string): void {
    refuseClosed(this.directory(dirname(path)), path);
    this.#change(this.directory(dirname(path)), { names: [[basename(path), undefined]] });
  }

  /** Two names of one file stay as they are, as the system has it. */
  rename(from: string, to: string): void {
    const node = this.node(from);
    const there = this.find(to);
    if (there === node && node.kind !== "directory") return;
    if (there && node.kind === "directory" && there.kind !== "directory") throw failure("ENOTDIR", to);
    if (there?.kind === "directory" && node.kind !== "directory") throw failure("EISDIR", to);
    if (there?.kind === "directory" && there.names.size > 0) throw failure("ENOTEMPTY", to);
    const [source, target] = [this.directory(dirname(from)), this.directory(dirname(to))];
    refuseClosed(source, from);
    refuseClosed(target, to);
    const [gone, come] = [[basename(from), undefined] as const, [basename(to), node] as const];
    if (source === target) return this.#change(target, { names: [gone, come] });
    const [left, arrived]: NameChange[] = [{ names: [gone] }, { names: [come] }] as [NameChange, NameChange];
    if (!left || !arrived) return;
    left.other = { directory: target, change: arrived };
    arrived.other = { directory: source, change: left };
    this.#change(source, left);
    this.#change(target, arrived);
  }

  /** At once and for good, whatever else was still on its way to that name. */
  setForGood(directory: Directory, name: string, node: Node | undefined): void {
    this.#set(directory.names, name, node);
    this.#set(directory.durable, name, node, { isCounted: false });
    for (const change of directory.unsynced)
      Object.assign(change, { names: change.names.filter(([changed]) => !this.#isSame(changed, name)) });
  }

  sync(directory: Directory): void {
    const halves = directory.unsynced.flatMap(({ other }) => other ?? []);
    directory.durable = new Map(directory.names);
    directory.unsynced = [];
    directory.durableDress = directory.dress;
    // A link cannot be synced by itself: it is there with its name, whole.
    for (const node of directory.names.values()) if (node.kind === "link") node.durableDress = node.dress;
    for (const { directory: far, change } of halves) this.#makeDurable(far, change);
  }

  #makeDurable(directory: Directory, change: NameChange): void {
    const at = directory.unsynced.indexOf(change);
    if (at === -1) return;
    const isOvertaken = (name: string) => change.names.some(([newer]) => this.#isSame(newer, name));
    // No disk brings back what was on its way to the same name before.
    for (const older of directory.unsynced.slice(0, at))
      Object.assign(older, { names: older.names.filter(([name]) => !isOvertaken(name)) });
    directory.unsynced.splice(at, 1);
    for (const [name, node] of change.names) this.#set(directory.durable, name, node, { isCounted: false });
  }

  /** Of each directory any subset of its unsynced changes, of each file any form of its unsynced bytes. */
  lose(random: Random): void {
    const files = new Set<File>();
    const fates = new Map<NameChange, boolean>();
    const isThere = (change: NameChange, chance: number) => {
      const fate = fates.get(change) ?? random() < chance;
      if (change.other) fates.set(change.other.change, fate);
      return fate;
    };
    const visit = (directory: Directory) => {
      if (directory.dress !== directory.durableDress && random() < 0.5) directory.dress = directory.durableDress;
      // Which ones matter differs: most of them gone, most of them there, or half and half.
      const chance = [0.1, 0.5, 0.9][Math.floor(random() * 3)] ?? 0.5;
      directory.names = new Map(directory.durable);
      for (const change of directory.unsynced)
        if (isThere(change, chance))
          for (const [name, node] of change.names) this.#set(directory.names, name, node, { isCounted: false });
      directory.durable = new Map(directory.names);
      directory.unsynced = [];
      directory.durableDress = directory.dress;
      for (const node of directory.names.values()) {
        if (node.kind === "directory") visit(node);
        else {
          if (!files.has(node)) node.linkCount = 0;
          node.linkCount++;
          files.add(node);
        }
      }
    };
    visit(this.root);
    for (const file of files) loseData(file, random);
  }

  #change(directory: Directory, change: NameChange): void {
    for (const [name, node] of change.names) this.#set(directory.names, name, node);
    directory.unsynced.push(change);
  }

  #set(names: Map<string, Node>, name: string, node: Node | undefined, { isCounted = true } = {}): void {
    const key = this.#key(names, name);
    const old = names.get(key);
    if (isCounted && old && old.kind !== "directory") old.linkCount--;
    if (isCounted && node && node.kind !== "directory") node.linkCount++;
    if (node) names.set(key, node);
    else names.delete(key);
  }

  /** Under which spelling it is there already; that one stays. */
  #key(names: Map<string, Node>, name: string): string {
    if (!this.#foldsCase || names.has(name)) return name;
    for (const key of names.keys()) if (this.#isSame(key, name)) return key;
    return name;
  }

  #isSame(a: string, b: string): boolean {
    return a === b || (this.#foldsCase && a.toLowerCase() === b.toLowerCase());
  }
}

/** As for a user who owns everything, and is not root. */
function refuseClosed({ dress }: Directory, path: string): void {
  if ((dress.mode & 0o300) !== 0o300) throw failure("EACCES", path);
}

export function newFile(number: number, dress: Dress): File {
  const empty = Buffer.alloc(0);
  return { kind: "file", number, data: empty, durable: empty, dress, durableDress: dress, mark: 0, linkCount: 0 };
}

export function newLink(number: number, target: Uint8Array, dress: Dress): File {
  const data = Buffer.from(target);
  return { ...newFile(number, dress), kind: "link", data, durable: data };
}

const directoryDress: Dress = { mode: 0o755, uid: 1000, gid: 1000, modifiedMs: 0 };

export function newDirectory(number: number, dress = directoryDress): Directory {
  const names = { names: new Map(), durable: new Map(), unsynced: [] };
  return { kind: "directory", number, ...names, dress, durableDress: dress };
}

const split = new Map<string, string[]>();

function partsOf(path: string): string[] {
  let parts = split.get(path);
  if (!parts) {
    parts = path.split("/").filter((part) => part !== "");
    split.set(path, parts);
  }
  return parts;
}

function loseData(file: File, random: Random): void {
  if (file.dress !== file.durableDress && random() < 0.5) file.dress = file.durableDress;
  file.durableDress = file.dress;
  if (file.data === file.durable) return;
  const { data, durable } = file;
  // What was synced and is still meant to be there is there.
  const kept = data.subarray(0, commonLength(data, durable));
  const rest = data.subarray(kept.length);
  const kind = random();
  if (kind < 0.2) file.data = durable;
  else if (kind < 0.4) file.data = Buffer.concat([kept, Buffer.alloc(rest.length)]);
  else if (kind < 0.6) file.data = Buffer.concat([kept, rest.subarray(0, Math.floor(random() * rest.length))]);
  else if (kind < 0.8) file.data = Buffer.concat([kept, holed(rest, random)]);
  file.durable = file.data;
}

function commonLength(a: Buffer, b: Buffer): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) if (a[index] !== b[index]) return index;
  return length;
}

/** Written in blocks, out of order, and not all of them. */
function holed(data: Buffer, random: Random): Buffer {
  const copy = Buffer.from(data);
  for (let start = 0; start < copy.length; start += 16)
    if (random() < 0.3) copy.subarray(start, start + 16).fill(random() < 0.5 ? 0 : 32);
  return copy;
}

export function failure(code: string, path: string): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0; // most are expected, and the stack is what takes the time
  const error = Object.assign(new Error(`${code}: ${path}`), { code });
  Error.stackTraceLimit = limit;
  return error;
}
