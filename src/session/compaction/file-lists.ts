// Which files the summarised part read and modified, carried on from compaction to compaction. Only what a tool
// reported as done counts; paths come from models and files, so they are checked before they are listed.

import { isObject, type JsonObject } from "../../base/json.js";
import type { ToolCall } from "../../protocol/content.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { ToolResultMessage } from "../../protocol/messages.js";
import { messageOfEntry } from "../../record/entry-message.js";

export interface FileLists {
  /** Newest last; none of them is in `modifiedFiles`. */
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

export const maxListedFiles = 20;

/** `earlier`: the details of the previous compaction, ours or an extension's. */
export function collectFiles(entries: readonly SessionEntry[], earlier: unknown): FileLists {
  const before = isObject(earlier) ? earlier : {};
  // A set keeps the order of insertion: a file that is touched again moves to the end.
  const read = new Set(paths(before.readFiles));
  const modified = new Set(paths(before.modifiedFiles));
  const touch = (set: Set<string>, path: string) => {
    set.delete(path);
    set.add(path);
  };
  for (const { call, result } of finishedCalls(entries)) {
    for (const path of readBy(call)) touch(read, path);
    for (const path of modifiedBy(call, result)) touch(modified, path);
  }
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).slice(-maxListedFiles),
    modifiedFiles: [...modified].slice(-maxListedFiles),
  };
}

/** A summary that ends with the lists. */
export function withFileLists(text: string, { readFiles, modifiedFiles }: FileLists): string {
  return [text, block("read-files", readFiles), block("modified-files", modifiedFiles)]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** A summary without the lists at its end: they are carried on as data, not retold by a model. */
export function withoutFileLists(summary: string): string {
  let text = summary.trimEnd();
  for (const name of ["modified-files", "read-files"]) {
    const start = text.endsWith(`</${name}>`) ? text.lastIndexOf(`<${name}>`) : -1;
    if (start >= 0) text = text.slice(0, start).trimEnd();
  }
  return text;
}

function block(name: string, files: readonly string[]): string {
  return files.length === 0 ? "" : `<${name}>\n${files.join("\n")}\n</${name}>`;
}

function finishedCalls(entries: readonly SessionEntry[]): { call: ToolCall; result: ToolResultMessage }[] {
  const open = new Map<string, ToolCall>();
  const finished: { call: ToolCall; result: ToolResultMessage }[] = [];
  for (const entry of entries) {
    const message = messageOfEntry(entry);
    if (message?.role === "assistant") {
      for (const part of message.content) if (part.type === "toolCall") open.set(part.id, part);
    } else if (message?.role === "toolResult" && !message.isError) {
      const call = open.get(message.toolCallId);
      if (call) finished.push({ call, result: message });
    }
  }
  return finished;
}

function readBy({ name, arguments: args }: ToolCall): string[] {
  return name === "read" ? paths([args.path ?? args.file_path]) : [];
}

function modifiedBy({ name, arguments: args }: ToolCall, { details }: ToolResultMessage): string[] {
  if (name === "write") return paths([args.path ?? args.file_path]);
  if (name === "edit") return paths([args.path ?? args.file_path, ...editedPaths(args.edits)]);
  // A staged change counts when it was applied, which `resolve` reports with the producer's own details.
  if (!isObject(details)) return [];
  const applied = [details, details.sourceResultDetails].find((part) => isObject(part) && part.applied === true);
  return paths((applied as JsonObject | undefined)?.files);
}

function editedPaths(edits: unknown): unknown[] {
  return Array.isArray(edits) ? edits.map((edit) => (isObject(edit) ? edit.path : undefined)) : [];
}

/** One line each, nothing that would read as markup. */
function paths(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((path): path is string => typeof path === "string" && /^[^\p{Cc}<>]{1,500}$/u.test(path));
}
