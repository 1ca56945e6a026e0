// What is in one folder of a configuration directory: tools with their descriptions, commands, or programs for hooks.
// Sorted by name, without hidden files, tests and type declarations.

import { basename, join, relative } from "node:path";
import { GalleyError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import { sanitizeForTerminal, stripInvisible } from "../../base/sanitize.js";
import { nodeDisk } from "../../files/disk/node-disk.js";
import { readModuleFile } from "../../files/module-files.js";
import { namesIn } from "../../files/paths/find-roots.js";
import { type IgnoreRules, isIgnored, readIgnoreRules } from "../../files/walk/ignore-rules.js";
import { parseObject } from "../trust/find-import-targets.js";
import { firstFile, isAside, isModuleFile } from "./directory.js";
import type { Findings, ModuleKind, ModuleSource, ToolMetadata } from "./findings.js";

/** What a folder may hold besides plain descriptions. */
export interface Accepts {
  readonly endings: RegExp;
  /** `<name>/index.ts` and its like. */
  readonly indexes: readonly string[];
  readonly describes: boolean;
}

interface FolderWork {
  readonly kind: "tool" | "command";
  readonly accepts: Accepts;
  readonly source: ModuleSource;
  readonly found: Findings;
  /** The directory from which on `.gitignore` files count; default: the folder itself. */
  readonly ignoredFrom?: string;
}

/** Each is a file to be read. */
const maxDescribed = 500;

/** A folder of tools or commands. */
export async function folderModules(folder: string, work: FolderWork): Promise<void> {
  const { accepts, source, found, kind } = work;
  found.startLocation();
  const names = namesIn(folder).filter(({ name }) => !isAside(name));
  if (names.length === 0) return;
  const isLeftOut = await ignoredIn(folder, work.ignoredFrom ?? folder);
  for (const { name, isDirectory } of names) {
    if (found.isExhausted) return;
    const path = join(folder, name);
    if (isLeftOut(path, isDirectory)) continue;
    // Known by the file's whole name: `foo.json` must not hide `foo.ts`.
    const key = kind === "tool" ? name : `${kind}/${name}`;
    const as = { kind, source, needsTrust: source.level === "project", key };
    if (isDirectory) {
      const index = firstFile(path, accepts.indexes, found);
      if (index !== undefined) found.add(index, as);
    } else if (accepts.endings.test(name)) found.add(path, as);
    else if (accepts.describes && /\.(?:md|json)$/.test(name)) {
      const described = found.metadata.length < maxDescribed ? describeTool(path, source) : undefined;
      if (described) found.metadata.push(described);
    } else if (accepts.describes && /\.(?:sh|bash|py)$/.test(name)) found.scripts.push(path);
  }
}

/** `hooks/pre` and `hooks/post`: modules are modules there too, everything else is a program. */
export function scriptFolder(
  folder: string,
  { found, ...as }: { kind: ModuleKind; source: ModuleSource; needsTrust: boolean; found: Findings },
): void {
  for (const { name, isDirectory } of namesIn(folder)) {
    if (isDirectory || isAside(name)) continue;
    found.add(join(folder, name), { ...as, ...(isModuleFile(name) ? {} : { isScript: true as const }) });
  }
}

/**
 * Git's rules from `top` down to the folder. Where the whole folder is ignored by git, the user keeps it there for
 * personal use: then only the folder's own rules count.
 */
async function ignoredIn(folder: string, top: string): Promise<(path: string, isDirectory: boolean) => boolean> {
  const steps = relative(top, folder).split(/[\\/]/).filter(Boolean);
  const directories = [top, ...steps.map((_, index) => join(top, ...steps.slice(0, index + 1)))];
  const outer: IgnoreRules[] = [];
  for (const directory of directories.slice(0, -1)) {
    const rules = await readIgnoreRules(nodeDisk, directory);
    if (rules) outer.push(rules);
  }
  const own = await readIgnoreRules(nodeDisk, folder);
  const rules = [...(isIgnored(folder, true, outer) ? [] : outer), ...(own ? [own] : [])];
  return (path, isDirectory) => isIgnored(path, isDirectory, rules);
}

// Tools that are only described (`.md`, `.json`): their name and description, for people and lists. Data, never run.

const maxBytes = 64 * 1024;
const maxLength = 2000;

/** Undefined for a file that is too large or cannot be read. One without a description gets the default text. */
function describeTool(path: string, source: ModuleSource): ToolMetadata | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  const fields = path.endsWith(".json") ? parseObject(text) : frontMatter(text);
  const name = said(fields, "name") ?? basename(path).replace(/\.[^.]+$/, "");
  return { path, name, description: said(fields, "description") ?? `${name} custom tool`, source };
}

function readText(path: string): string | undefined {
  try {
    return Buffer.from(readModuleFile(path, maxBytes).bytes).toString("utf8");
  } catch (error) {
    if (error instanceof GalleyError) return undefined; // not a usable description
    throw error;
  }
}

/** `key: value` lines between the first two lines of dashes; one line each is all that is read of them. */
function frontMatter(text: string): JsonObject | undefined {
  const head = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1];
  if (head === undefined) return undefined;
  const lines = head.split(/\r?\n/).map((line) => /^([\w-]+):(.*)$/.exec(line));
  return Object.fromEntries(lines.flatMap((line) => (line ? [[line[1], unquoted((line[2] ?? "").trim())]] : [])));
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}

function said(fields: JsonObject | undefined, key: "name" | "description"): string | undefined {
  const value = fields?.[key];
  if (typeof value !== "string") return undefined;
  const clean = sanitizeForTerminal(stripInvisible(value).text).trim();
  return clean === "" ? undefined : clean.slice(0, maxLength);
}
