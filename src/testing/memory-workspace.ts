// A workspace that lives in memory, with the rules of the real one: only the disk below it is different.

import { createHash } from "node:crypto";
import { dirname, posix } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { createWorkspace, type WorkspaceOptions } from "../files/create-workspace.js";
import { type Disk, type DiskEntry, type DiskFile, type DiskStat, oneByOne } from "../files/disk/disk.js";
import type { Workspace } from "../files/workspace.js";

export interface MemoryWorkspaceOptions
  extends Pick<WorkspaceOptions, "permit" | "roots" | "secretPaths" | "tempDir" | "projectRoot"> {
  cwd?: string;
  home?: string | undefined;
  /** The age of every file. */
  modifiedMs?: number;
}

type Files = Readonly<Record<string, string | Uint8Array>>;

export interface MemoryWorkspace extends Workspace {
  /** What is there now, by path as in the argument; text where it is UTF-8. A copy. */
  readonly files: Record<string, string | Uint8Array>;
  /** Writes as another program would, without the workspace's rules. */
  remove(path: string): void;
}

/** `files` maps paths, absolute or below `cwd`, to contents; a path that ends in `/` is an empty directory. */
export function createMemoryWorkspace(
  files: Files,
  { cwd = "/project", home = "/home/tester", modifiedMs = 0, ...options }: MemoryWorkspaceOptions = {},
): MemoryWorkspace {
  const tree = new MemoryTree(modifiedMs);
  tree.addDirectory(cwd);
  for (const [name, content] of Object.entries(files)) {
    const path = posix.resolve(cwd, name);
    tree.addDirectory(name.endsWith("/") ? path : dirname(path));
    if (!name.endsWith("/")) tree.addFile(path, typeof content === "string" ? Buffer.from(content) : content);
  }
  const workspace = createWorkspace(memoryDisk(tree), { ...options, cwd, home, agentDir: `${home}/.galley/agent` });
  const more = { remove: (path: string) => void tree.nodes.delete(path) };
  return Object.defineProperty(Object.assign(workspace, more), "files", {
    get: () => tree.contents(cwd),
  }) as MemoryWorkspace;
}

interface MemoryNode {
  readonly identity: string;
  readonly kind: "file" | "directory";
  bytes: Uint8Array;
  mode: number;
}

class MemoryTree {
  readonly nodes = new Map<string, MemoryNode>();
  #made = 0;

  constructor(readonly modifiedMs: number) {}

  addDirectory(path: string): void {
    for (let place = path; !this.nodes.has(place); place = dirname(place)) this.#add(place, "directory");
  }

  addFile(path: string, bytes: Uint8Array = new Uint8Array(), mode = 0o644): MemoryNode {
    return Object.assign(this.#add(path, "file"), { bytes: Uint8Array.from(bytes), mode });
  }

  #add(path: string, kind: MemoryNode["kind"]): MemoryNode {
    const node: MemoryNode = { identity: `memory:${++this.#made}`, kind, bytes: new Uint8Array(), mode: 0o755 };
    this.nodes.set(path, node);
    return node;
  }

  get(path: string): MemoryNode {
    const node = this.nodes.get(path);
    if (node) return node;
    throw systemError(this.nodes.get(dirname(path))?.kind === "file" ? "ENOTDIR" : "ENOENT", path);
  }

  expectFree(path: string): void {
    if (this.get(dirname(path)).kind !== "directory") throw systemError("ENOTDIR", path);
    if (this.nodes.has(path)) throw systemError("EEXIST", path);
  }

  stat(node: MemoryNode): DiskStat {
    const { kind, identity, mode, bytes } = node;
    const linkCount = [...this.nodes.values()].filter((other) => other === node).length;
    const owner = { uid: 0, gid: 0 };
    const { modifiedMs } = this;
    const mark = `${bytes.length}`;
    const size = { sizeBytes: bytes.length, modifiedMs, mark };
    return { kind, kindName: `a ${kind}`, identity, ...size, mode, linkCount, ...owner };
  }

  contents(cwd: string): Record<string, string | Uint8Array> {
    const files = [...this.nodes].filter(([, { kind }]) => kind === "file").sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      files.map(([path, { bytes }]) => [path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path, shown(bytes)]),
    );
  }
}

function shown(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Uint8Array.from(bytes); // not text
  }
}

function memoryDisk(tree: MemoryTree): Disk {
  const { nodes } = tree;
  const fileAt = (path: string, identity: string) => {
    const node = tree.get(path);
    return node.kind === "file" && node.identity === identity ? node : undefined;
  };
  return oneByOne({
    async realpath(path) {
      tree.get(path);
      return path;
    },
    findOwn(path) {
      const node = nodes.get(path);
      return node && { path, ...tree.stat(node) };
    },
    lstat: async (path) => tree.stat(tree.get(path)),
    async list(path, maxEntries) {
      if (tree.get(path).kind !== "directory") throw systemError("ENOTDIR", path);
      const entries: DiskEntry[] = [];
      for (const [place, { kind }] of nodes)
        if (place !== path && dirname(place) === path) entries.push({ name: posix.basename(place), kind });
      return entries.slice(0, maxEntries);
    },
    async read(path, identity, { maxBytes, signal }) {
      throwIfAborted(signal);
      const bytes = fileAt(path, identity)?.bytes;
      return bytes && { bytes: bytes.slice(0, maxBytes), isTruncated: bytes.length > maxBytes };
    },
    async digest(path, identity) {
      const node = fileAt(path, identity);
      return node && createHash("sha256").update(node.bytes).digest("hex");
    },
    async pin(path) {
      if (tree.get(path).kind !== "directory") throw systemError("ENOTDIR", path);
      return { path, location: async () => path, fsync: async () => {}, close: async () => {} };
    },
    async create(path, mode) {
      tree.expectFree(path);
      return memoryFile(tree, tree.addFile(path, undefined, mode & ~0o022));
    },
    async mkdir(path) {
      tree.expectFree(path);
      tree.addDirectory(path);
    },
    async rmdir(path) {
      tree.get(path);
      if ([...nodes.keys()].some((place) => place !== path && dirname(place) === path))
        throw systemError("ENOTEMPTY", path);
      nodes.delete(path);
    },
    async link(from, to) {
      tree.expectFree(to);
      nodes.set(to, tree.get(from));
    },
    async rename(from, to) {
      nodes.set(to, tree.get(from));
      nodes.delete(from);
    },
    async unlink(path) {
      tree.get(path);
      nodes.delete(path);
    },
  });
}

function memoryFile(tree: MemoryTree, node: MemoryNode): DiskFile {
  return {
    stat: async () => tree.stat(node),
    async append(bytes) {
      node.bytes = Uint8Array.from(Buffer.concat([node.bytes, bytes]));
    },
    chown: async () => {}, // there is one owner
    async chmod(mode) {
      node.mode = mode;
    },
    utimes: async () => {}, // all files have the same age
    fsync: async () => {},
    close: async () => {},
  };
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: '${path}'`), { code });
}
