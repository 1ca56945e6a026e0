// Entries of older file versions in the current format. Pure: an entry that needs no change is the same object, and the ids
// it gives depend on nothing but the file, so that two loads of one file agree.

import { isObject, type JsonObject } from "../../base/json.js";
import type { TypedObject } from "../../base/ndjson.js";

export const currentVersion = 3;

/** `lines[i]` says on which line of the file `entries[i]` stands; the header is on line 0. */
export function migrateEntries(
  version: number,
  entries: readonly TypedObject[],
  lines: readonly number[],
): TypedObject[] {
  const linked = version < 2 ? linkInFileOrder(entries, lines) : [...entries];
  return version < 3 ? linked.map(renameHookMessage) : linked;
}

/** The id of an entry that came without one. */
export function idOfLine(line: number): string {
  return line.toString(16).padStart(8, "0");
}

/** Version 1 is a plain list; what a compaction keeps is told by line. */
function linkInFileOrder(entries: readonly TypedObject[], lines: readonly number[]): TypedObject[] {
  const ids = entries.map((entry, index) => (isId(entry.id) ? entry.id : idOfLine(lines[index] ?? index)));
  return entries.map((entry, index) => {
    const { firstKeptEntryIndex, ...rest } = entry;
    const placed: TypedObject = { ...rest, type: entry.type, id: ids[index], parentId: ids[index - 1] ?? null };
    if (entry.type !== "compaction" || typeof firstKeptEntryIndex !== "number") return placed;
    // The line itself may be damaged; then what follows it is still kept.
    const kept = lines.findIndex((line) => line >= firstKeptEntryIndex);
    return { ...placed, firstKeptEntryId: ids[kept] ?? "" };
  });
}

function renameHookMessage(entry: TypedObject): TypedObject {
  if (entry.type !== "message" || !isHookMessage(entry.message)) return entry;
  return { ...entry, message: { ...entry.message, role: "custom" } };
}

function isHookMessage(message: unknown): message is JsonObject {
  return isObject(message) && message.role === "hookMessage";
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
