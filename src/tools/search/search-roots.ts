// Where a search begins: what a model wrote as a path, a list or a glob becomes directories and files that exist.

import { GalleyError } from "../../base/errors.js";
import type { Target, Workspace } from "../../files/workspace.js";
import { cutText } from "../output/text.js";
import { toolFailure } from "../tool.js";
import { hasWildcard } from "./glob.js";

export interface SearchRoot {
  readonly target: Target;
  /** Which paths below the directory are meant; without one, all. */
  readonly glob?: string;
}

/** A path that exists is meant literally, whatever it holds; then a list with commas, then globs are tried. */
export async function searchRootsOf(workspace: Workspace, path: string): Promise<SearchRoot[]> {
  const literal = await resolveExisting(workspace, path);
  if (literal) return [{ target: literal }];
  // Commas inside braces belong to a glob.
  const parts = path.split(/,(?![^{}]*\})/).map((part) => part.trim());
  const roots: SearchRoot[] = [];
  for (const part of parts.filter((part) => part !== "")) {
    const root = await searchRootOf(workspace, part);
    if (root === undefined || (root.glob !== undefined && root.target.kind === "file")) throw notFound(part);
    roots.push(root);
  }
  if (roots.length === 0) throw notFound(path);
  return roots;
}

/**
 * The longest beginning that exists, and the glob behind it: `app/[id]/*.ts` is about the directory `[id]` where there
 * is one. Undefined where not even the part without wildcards exists.
 */
export async function searchRootOf(workspace: Workspace, path: string): Promise<SearchRoot | undefined> {
  // No real file is called `**`, and checking the disk takes time.
  const literal = path.includes("**") ? undefined : await resolveExisting(workspace, path);
  if (literal || !hasWildcard(path)) return literal && { target: literal };
  const components = path.split("/");
  const firstWild = components.findIndex(hasWildcard);
  const base = components.slice(0, firstWild).join("/") || (path.startsWith("/") ? "/" : ".");
  let target = await resolveExisting(workspace, base);
  if (target === undefined) return undefined;
  let length = firstWild;
  for (; length < components.length - 1 && !components[length]?.includes("**"); length++) {
    const next = await resolveExisting(workspace, components.slice(0, length + 1).join("/"));
    if (next?.kind !== "directory") break;
    target = next;
  }
  return { target, glob: components.slice(length).join("/") };
}

export function notFound(path: string): Error {
  return toolFailure(`Path not found: ${cutText(path, 200)}`);
}

/** Undefined for a path that does not exist. */
export async function resolveExisting(workspace: Workspace, path: string): Promise<Target | undefined> {
  try {
    return await workspace.resolve(path, "read");
  } catch (error) {
    if (GalleyError.is(error, "not_found")) return undefined;
    throw error;
  }
}
