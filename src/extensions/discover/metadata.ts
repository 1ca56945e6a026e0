// Tools that are only described (`.md`, `.json`): their name and description, for people and lists. Data, never run.

import { basename } from "node:path";
import { GalleyError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import { sanitizeForTerminal, stripInvisible } from "../../base/sanitize.js";
import { readModuleFile } from "../../files/module-files.js";
import { parseObject } from "../trust/find-import-targets.js";
import type { ModuleSource, ToolMetadata } from "./findings.js";

const maxBytes = 64 * 1024;
const maxLength = 2000;

/** Undefined for a file that is too large or cannot be read. One without a description gets the default text. */
export function describeTool(path: string, source: ModuleSource): ToolMetadata | undefined {
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
