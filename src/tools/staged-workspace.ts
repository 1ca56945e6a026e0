// The session's view of the files while every change waits for review: staged changes cover the files on disk, so that a
// tool reads what an earlier tool or command wrote. Ignored files that are in the view only are read from there. Nothing
// here writes.

import { dirname, relative, resolve, sep } from "node:path";
import { GalleyError } from "../base/errors.js";
import { displayPath, isWithin, quoted } from "../files/paths/resolve-path.js";
import type { DirectoryListing, FileBytes, Target, Workspace } from "../files/workspace.js";
import type { KeptFiles, StagedFile, Staging } from "./staging.js";

type View = Pick<Staging, "staged" | "stagedPaths"> & { readonly kept?: KeptFiles | undefined };

const identityPrefix = "staged:";
/** As the system does it. */
const maxLinks = 40;

export function stagedWorkspace(disk: Workspace, view: View): Workspace {
  const newest = (path: string) => view.staged(path).at(-1);
  /** A path that something would be at. */
  const isThere = (path: string) => newest(path)?.bytes !== undefined;
  const keptAt = (path: string) => (newest(path) ? undefined : view.kept?.file(path));
  const overlaid = (target: Target): StagedFile | undefined => {
    const top = newest(target.path);
    if (top && !top.bytes) throw notFound(target.displayPath);
    return top;
  };
  const stagedTarget = (path: string, kind: Target["kind"] = "file"): Target => ({
    path,
    displayPath: displayPath(path, disk.cwd),
    kind,
    identity: `${identityPrefix}${path}`,
  });
  /** What would be there: a file, a directory, or a directory that a file would be in. */
  const stagedAt = (path: string): Target | undefined => {
    const top = newest(path);
    if (top?.bytes) return stagedTarget(path, top.type === "directory" ? "directory" : "file");
    if (keptAt(path) !== undefined) return stagedTarget(path);
    const isAbove =
      view.stagedPaths().some((file) => isThere(file) && isWithin(file, path)) ||
      view.kept?.paths().some((file) => isWithin(file, path));
    return isAbove ? stagedTarget(path, "directory") : undefined;
  };

  const follow = (path: string, { bytes }: StagedFile, links: number): Promise<Target> => {
    if (links >= maxLinks || !bytes) throw notFound(displayPath(path, disk.cwd));
    return resolveRead(resolve(dirname(path), Buffer.from(bytes).toString()), links + 1);
  };

  async function resolveRead(input: string, links = 0): Promise<Target> {
    // A link on the disk may be gone, or be something else by now: the disk alone would lead through it.
    const spelled = resolve(disk.cwd, input);
    const named = newest(spelled);
    if (named && (!named.bytes || named.type === "symlink")) return follow(spelled, named, links);
    try {
      const target = await disk.resolve(input, "read");
      const covered = overlaid(target);
      if (covered?.type === "symlink") return follow(target.path, covered, links);
      const isOther = covered !== undefined && (covered.type === "directory") !== (target.kind === "directory");
      return isOther || (named && target.path !== spelled)
        ? (stagedAt(named ? spelled : target.path) ?? target)
        : target;
    } catch (error) {
      if (!GalleyError.is(error, "not_found")) throw error;
      const { path } = await disk.resolve(input, "write").catch(() => ({ path: undefined })); // not ours to write: not staged
      const top = path === undefined ? undefined : newest(path);
      if (path !== undefined && top?.type === "symlink") return follow(path, top, links);
      const staged = path === undefined ? undefined : stagedAt(path);
      if (!staged) throw error;
      return staged;
    }
  }

  /** From the plan, or from the view; undefined: as on the disk. */
  async function read(target: Target, maxBytes: number | undefined): Promise<FileBytes | undefined> {
    const bytes = overlaid(target)?.bytes;
    if (bytes) {
      const length = maxBytes ?? bytes.length;
      return { bytes: bytes.subarray(0, length), isTruncated: bytes.length > length };
    }
    const kept = keptAt(target.path);
    return kept === undefined ? undefined : view.kept?.read(kept, maxBytes);
  }

  return {
    ...disk,
    resolve: ((input: string, intent: "read" | "write") =>
      intent === "write"
        ? disk.resolve(input, "write")
        : view.stagedPaths().length === 0 && !view.kept
          ? disk.resolve(input, "read")
          : resolveRead(input)) as Workspace["resolve"],

    async stat(target) {
      const covered = overlaid(target);
      const kept = keptAt(target.path);
      if (kept !== undefined && view.kept) return view.kept.stat(kept);
      if (isStaged(target)) {
        const mode = covered?.mode ?? (target.kind === "directory" ? 0o755 : 0o644);
        return { modifiedMs: Date.now(), mode, sizeBytes: covered?.bytes?.length ?? 0 };
      }
      const old = await disk.stat(target);
      if (!covered?.bytes) return old;
      return { ...old, sizeBytes: covered.bytes.length, ...(covered.mode === undefined ? {} : { mode: covered.mode }) };
    },

    async readFile(target, options = {}) {
      return (await read(target, options.maxBytes)) ?? disk.readFile(target, options);
    },

    async readIf(target, isWanted, options = {}) {
      const found = await read(target, options.maxBytes);
      if (!found) return disk.readIf(target, isWanted, options);
      return !found.isTruncated && !isWanted(found.bytes) ? undefined : found;
    },

    async list(target, options) {
      const { entries, total } = isStaged(target) ? nothing : await disk.list(target, options);
      const gone = (name: string) => {
        const top = newest(`${target.path}${sep}${name}`);
        return top !== undefined && !top.bytes;
      };
      const there = entries
        .filter(({ name }) => !gone(name))
        .map((entry) => {
          const top = newest(`${target.path}${sep}${entry.name}`);
          return top ? { ...entry, kind: kindOf(top) } : entry;
        });
      const names = new Set(there.map(({ name }) => name));
      const fresh = [...view.stagedPaths().filter(isThere), ...(view.kept?.paths() ?? [])].flatMap((path) => {
        if (path === target.path || !isWithin(path, target.path)) return [];
        const [name = "", ...below] = relative(target.path, path).split(sep);
        if (names.has(name)) return [];
        names.add(name);
        const kind = below.length > 0 ? "directory" : kindOf(newest(path));
        return [{ name, kind, modifiedMs: Date.now() }];
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
        if (!top || (top.bytes && kindOf(top) === "file")) yield file;
      }
      for (const path of view.stagedPaths()) {
        const top = newest(path);
        const isNew = !seen.has(path) && top?.bytes && kindOf(top) === "file" && isWithin(path, target.path);
        const name = relative(target.path, path).split(sep).join("/");
        if (isNew && (options.include?.(name) ?? true)) yield stagedTarget(path);
      }
    },
  };
}

const nothing: DirectoryListing = { entries: [], total: 0 };

function kindOf(staged: StagedFile | undefined): "file" | "directory" | "link" {
  if (staged?.type === "directory") return "directory";
  return staged?.type === "symlink" ? "link" : "file";
}

function isStaged({ identity }: Target): boolean {
  return identity.startsWith(identityPrefix);
}

function notFound(shownPath: string): GalleyError {
  return new GalleyError("not_found", `Path ${quoted(shownPath)} not found`);
}
