// Which files a call is about: paths, directories and globs become one sorted list in which no file comes twice.

import type { Target, Workspace } from "../../files/workspace.js";
import { cutText } from "../output/text.js";
import { toolFailure } from "../tool.js";
import { compileGlob, hasWildcard, splitGlob } from "./glob.js";
import { resolveExisting } from "./search-roots.js";

const maxFiles = 50_000;

export interface ScopeRequest {
  paths: readonly string[];
  /** Filters what the paths give, relative to each of them. */
  glob?: string | undefined;
  /** Which files a directory contributes. Files named outright are not asked about. */
  accepts: (path: string) => boolean;
  signal?: AbortSignal | undefined;
  /** A faster way to walk a directory of which no glob leaves out a part; undefined where there is none. */
  listAll?: ((directory: Target) => Promise<readonly Target[] | undefined>) | undefined;
}

export interface ScopedFile {
  target: Target;
  /** Named outright, not found in a directory. */
  isNamed: boolean;
}

export interface Scope {
  files: ScopedFile[];
  /** The call names one file and nothing else. */
  isSingleFile: boolean;
  /** Directories that could not be listed. */
  unreadable: string[];
}

export async function findScope(workspace: Workspace, request: ScopeRequest): Promise<Scope> {
  const roots = (await Promise.all(request.paths.map((path) => searchRootsOf(workspace, path)))).flat();
  const filter = request.glob ? await compileGlob(request.glob, { anyDepth: true }) : () => true;
  const found = new Map<string, ScopedFile>();
  const unreadable: string[] = [];
  const add = (file: ScopedFile) => {
    if (file.isNamed || !found.has(file.target.path)) found.set(file.target.path, file);
    if (found.size > maxFiles)
      throw toolFailure(`More than ${maxFiles} files in ${cutText(request.paths.join(", "), 200)}; narrow the paths.`);
  };
  for (const { target, glob } of roots) {
    if (target.kind === "file") {
      if (filter(target.path.slice(target.path.lastIndexOf("/") + 1))) add({ target, isNamed: true });
      continue;
    }
    const matches = glob === undefined ? () => true : await compileGlob(glob, { anyDepth: false });
    const listed = glob === undefined && !request.glob ? await request.listAll?.(target) : undefined;
    for (const file of listed ?? []) add({ target: file, isNamed: false });
    if (listed) continue;
    const walk = workspace.walk(target, {
      signal: request.signal,
      include: (path) => request.accepts(path) && matches(path) && filter(path),
      mentioned: mentionedIn(glob, request.glob),
      onUnreadable: (path) => unreadable.push(path),
    });
    for await (const file of walk) add({ target: file, isNamed: false });
  }
  const files = [...found.values()].sort((a, b) => (a.target.path < b.target.path ? -1 : 1));
  return { files, isSingleFile: roots.length === 1 && roots[0]?.target.kind === "file", unreadable };
}

interface SearchRoot {
  target: Target;
  glob?: string;
}

/** A path that exists is meant literally, whatever characters it holds; then a list, then a glob is tried. */
async function searchRootsOf(workspace: Workspace, path: string): Promise<SearchRoot[]> {
  const literal = await resolveExisting(workspace, path);
  if (literal) return [{ target: literal }];
  // Commas inside braces belong to a glob.
  const parts = path.split(/[\s,]+(?![^{}]*\})/).filter((part) => part !== "");
  const roots = await Promise.all(parts.map((part) => searchRootOf(workspace, part)));
  if (roots.length === 0 || roots.includes(undefined)) throw toolFailure(`Path not found: ${cutText(path, 200)}`);
  return roots.filter((root) => root !== undefined);
}

async function searchRootOf(workspace: Workspace, path: string): Promise<SearchRoot | undefined> {
  const literal = await resolveExisting(workspace, path);
  if (literal || !hasWildcard(path)) return literal && { target: literal };
  const { base, glob } = splitGlob(path);
  const target = await resolveExisting(workspace, base);
  return target?.kind === "directory" ? { target, glob } : undefined;
}

function mentionedIn(...globs: (string | undefined)[]): string[] {
  const components = globs.flatMap((glob) => glob?.split("/") ?? []);
  return [".git", "node_modules"].filter((name) => components.includes(name));
}
