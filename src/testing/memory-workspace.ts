// A workspace that lives in memory, with the rules of the real one: only the disk below it is different.

import { dirname, posix } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { createWorkspace } from "../workspace/create-workspace.js";
import type { Disk, DiskEntry, DiskStat } from "../workspace/disk.js";
import type { Workspace } from "../workspace/workspace.js";

export interface MemoryWorkspaceOptions {
  cwd?: string;
  home?: string;
  /** The age of every file. */
  modifiedMs?: number;
}

/** `files` maps paths, absolute or below `cwd`, to contents; a path that ends in `/` is an empty directory. */
export function createMemoryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>>,
  { cwd = "/project", home = "/home/tester", modifiedMs = 0 }: MemoryWorkspaceOptions = {},
): Workspace {
  const contents = new Map<string, Uint8Array>();
  const directories = new Set<string>();
  const addDirectory = (path: string) => {
    for (let place = path; !directories.has(place); place = dirname(place)) directories.add(place);
  };
  addDirectory(cwd);
  for (const [name, content] of Object.entries(files)) {
    const path = posix.resolve(cwd, name);
    if (name.endsWith("/")) addDirectory(path);
    else {
      contents.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
      addDirectory(dirname(path));
    }
  }
  return createWorkspace(memoryDisk(contents, directories, modifiedMs), {
    cwd,
    home,
    agentDir: `${home}/.galley/agent`,
  });
}

function memoryDisk(contents: Map<string, Uint8Array>, directories: Set<string>, modifiedMs: number): Disk {
  const statOf = (path: string): DiskStat => {
    const bytes = contents.get(path);
    if (bytes === undefined && !directories.has(path)) throw missing(path);
    const kind = bytes ? "file" : "directory";
    return { kind, kindName: `a ${kind}`, identity: path, sizeBytes: bytes?.length ?? 0, modifiedMs };
  };
  return {
    async realpath(path) {
      statOf(path);
      return path;
    },
    lstat: async (path) => statOf(path),
    async list(path, maxEntries) {
      const entries: DiskEntry[] = [];
      for (const place of [...directories, ...contents.keys()])
        if (place !== path && dirname(place) === path)
          entries.push({ name: posix.basename(place), kind: statOf(place).kind === "file" ? "file" : "directory" });
      return entries.slice(0, maxEntries);
    },
    async read(path, identity, { maxBytes, signal }) {
      throwIfAborted(signal);
      if (statOf(path).kind !== "file" || identity !== path) return undefined;
      const bytes = contents.get(path) ?? new Uint8Array();
      return { bytes: bytes.slice(0, maxBytes), isTruncated: bytes.length > maxBytes };
    },
  };
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, '${path}'`), { code: "ENOENT" });
}
