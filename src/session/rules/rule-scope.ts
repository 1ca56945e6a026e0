// Where a rule looks: in prose, in thinking, in the arguments of tool calls, there perhaps only for certain files.

import { basename, isAbsolute, relative, resolve, sep } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { compileInTime, isCostlyGlob } from "../../files/walk/glob-cost.js";

export type Scope =
  | { readonly kind: "text" | "thinking" }
  /** Without a name any tool, without a glob any file or none. */
  | { readonly kind: "tool"; readonly name?: string; readonly glob?: PathTest };

/** True for a path as one of the spellings of `pathSpellings`. */
export type PathTest = (path: string) => boolean;

/** `text`, `thinking`, `tool`, `tool:<name>`, `<name>`, the last three perhaps with `(<glob>)`. Throws for anything else. */
export async function parseScope(text: string): Promise<Scope> {
  if (text === "text" || text === "thinking") return { kind: text };
  const parts = /^(?:(?:tool|toolcall)(?::([^\s():]+))?|([^\s():]+))(?:\(([^()]+)\))?$/.exec(text);
  const name = parts?.[1] ?? parts?.[2];
  if (!parts || name === "text" || name === "thinking")
    throw new GalleyError("invalid_config", `has no scope '${text.slice(0, 80)}'`);
  return { kind: "tool", name, ...(parts[3] === undefined ? {} : { glob: await parseGlob(parts[3]) }) };
}

/** Throws for a glob that would cost too much. */
export async function parseGlob(glob: string): Promise<PathTest> {
  if (isCostlyGlob(glob))
    throw new GalleyError("invalid_config", `has a glob with too many wildcards: '${glob.slice(0, 80)}'`);
  const { default: picomatch } = await import("picomatch");
  const isMatch = compileInTime(() => picomatch(glob.trim(), { dot: true, noextglob: true }));
  if (!isMatch) throw new GalleyError("invalid_config", `has a glob that cannot be read: '${glob.slice(0, 80)}'`);
  return (path) => isMatch(path); // with a second argument, such as an index, it would answer with an object
}

/** A condition that is the name of files rather than a text: `*.rs`, `src/**` and so on. */
export function isFileGlob(condition: string): boolean {
  return /^[\w@./*{},?-]+$/.test(condition) && /(?:^|\/)(?:\*\*?[./]|\*\*$)/.test(condition);
}

/** `text, tool:edit(*.{ts,tsx})` -> its members. A comma inside brackets separates nothing. */
export function splitList(text: string): string[] {
  const members = text.match(/(?:\([^()]*\)|\{[^{}]*\}|[^,])+/g) ?? [];
  return members.map((member) => member.trim()).filter((member) => member !== "");
}

const maxPathLength = 4096;
const maxComponentLength = 255;

/** What a path in a tool's arguments may be called by a glob. None for what no disk would take. */
export function pathSpellings(path: string, cwd: string): string[] {
  if (path === "" || path.length > maxPathLength) return [];
  if (path.split(/[\\/]/).some((component) => component.length > maxComponentLength)) return [];
  const absolute = resolve(cwd, path);
  const below = relative(cwd, absolute);
  const spellings = [path, path.replace(/^(?:\.\/)+/, ""), absolute, below, basename(absolute)];
  const usable = spellings.filter((spelling) => spelling !== "" && !(spelling === below && isAbsolute(below)));
  return [...new Set(usable.map((spelling) => (sep === "/" ? spelling : spelling.replaceAll(sep, "/"))))];
}
