// The session's view of the files while every change waits for review: staged changes cover the files on disk, so that a
// tool reads what an earlier tool wrote. Nothing here writes.

import { relative, sep } from "node:path";
import { GalleyError } from "../base/errors.js";
import { displayPath, isWithin, quoted } from "../files/paths/resolve-path.js";
import type { DirectoryListing, Target, Workspace } from "../files/workspace.js";
import type { Staging } from "./staging.js";

type View = Pick<Staging, "staged" | "stagedPaths">;

const identityPrefix = "staged:";

export function stagedWorkspace(disk: Workspace, view: View): Workspace {
  const newest = (path: string) => view.staged(path).at(-1);
  const overlaid = (target: Target) => {
    const top = newest(target.path);
    if (top && !top.bytes) throw notFound(target.displayPath);
    return top?.bytes;
  };
  const stagedTarget = (path: string, kind: Target["kind"] = "file"): Target => ({
    path,
    displayPath: displayPath(path, disk.cwd),
    kind,
    identity: `${identityPrefix}${path}`,
  });
  /** What would be there: a file, or a directory that a file would be in. */
  const stagedAt = (path: string): Target | undefined => {
    if (newest(path)?.bytes) return stagedTarget(path);
    const isAbove = view.stagedPaths().some((file) => newest(file)?.bytes && isWithin(file, path));
    return isAbove ? stagedTarget(path, "directory") : undefined;
  };

  async function resolveRead(input: string): Promise<Target> {
    try {
      const target = await disk.resolve(input, "read");
      overlaid(target);
      return target;
    } catch (error) {
      if (!GalleyError.is(error, "not_found") || view.stagedPaths().length === 0) throw error;
      const { path } = await disk.resolve(input, "write").catch(() => ({ path: undefined })); // not ours to write: not staged
      const staged = path === undefined ? undefined : stagedAt(path);
      if (!staged) throw error;
      return staged;
    }
  }

  return {
    ...disk,
    resolve: ((input: string, intent: "read" | "write") =>
      intent === "write" ? disk.resolve(input, "write") : resolveRead(input)) as Workspace["resolve"],

    async stat(target) {
      const bytes = overlaid(target);
      if (isStaged(target))
        return { modifiedMs: Date.now(), mode: bytes ? 0o644 : 0o755, sizeBytes: bytes?.length ?? 0 };
      const old = await disk.stat(target);
      return bytes ? { ...old, sizeBytes: bytes.length } : old;
    },

    async readFile(target, options = {}) {
      const bytes = overlaid(target);
      if (!bytes) return disk.readFile(target, options);
      const { maxBytes = bytes.length } = options;
      return { bytes: bytes.subarray(0, maxBytes), isTruncated: bytes.length > maxBytes };
    },

    async readIf(target, isWanted, options = {}) {
      const bytes = overlaid(target);
      if (!bytes) return disk.readIf(target, isWanted, options);
      const { maxBytes = bytes.length } = options;
      if (bytes.length <= maxBytes && !isWanted(bytes)) return undefined;
      return { bytes: bytes.subarray(0, maxBytes), isTruncated: bytes.length > maxBytes };
    },

    async list(target, options) {
      const { entries, total } = isStaged(target) ? nothing : await disk.list(target, options);
      const gone = (name: string) => {
        const top = newest(`${target.path}${sep}${name}`);
        return top !== undefined && !top.bytes;
      };
      const there = entries.filter(({ name }) => !gone(name));
      const names = new Set(there.map(({ name }) => name));
      const fresh = view.stagedPaths().flatMap((path) => {
        if (!newest(path)?.bytes || !isWithin(path, target.path)) return [];
        const [name = "", ...below] = relative(target.path, path).split(sep);
        if (names.has(name)) return [];
        names.add(name);
        return [{ name, kind: below.length > 0 ? ("directory" as const) : ("file" as const), modifiedMs: Date.now() }];
      });
      const all = [...there, ...fresh].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
      return { entries: all.slice(0, options.limit), total: total - (entries.length - there.length) + fresh.length };
    },

    // Names from the disk say nothing of what is staged.
    survey: async (target) => (view.stagedPaths().length > 0 ? undefined : disk.survey(target)),

    async *walk(target, options = {}) {
      const seen = new Set<string>();
      for await (const file of isStaged(target) ? [] : disk.walk(target, options)) {
        seen.add(file.path);
        const top = newest(file.path);
        if (!top || top.bytes) yield file;
      }
      for (const path of view.stagedPaths()) {
        const isNew = !seen.has(path) && newest(path)?.bytes && isWithin(path, target.path);
        const name = relative(target.path, path).split(sep).join("/");
        if (isNew && (options.include?.(name) ?? true)) yield stagedTarget(path);
      }
    },
  };
}

const nothing: DirectoryListing = { entries: [], total: 0 };

function isStaged({ identity }: Target): boolean {
  return identity.startsWith(identityPrefix);
}

function notFound(shownPath: string): GalleyError {
  return new GalleyError("not_found", `Path ${quoted(shownPath)} not found`);
}
