import { expect, it } from "vitest";
import type { TypedObject } from "../../base/ndjson.js";
import { migrateEntries } from "./migrate-entries.js";

const message = (text: string, role = "user"): TypedObject => ({
  type: "message",
  timestamp: "t",
  message: { role, content: text },
});

it("1 to 2: ids, a chain, and what a compaction keeps by line", () => {
  const compaction = { type: "compaction", timestamp: "t", summary: "s", firstKeptEntryIndex: 2 };
  const migrated = migrateEntries(1, [message("a"), message("b"), compaction, message("c")], [1, 2, 3, 4]);
  expect(migrated.map(({ id, parentId }) => [id, parentId])).toEqual([
    ["00000001", null],
    ["00000002", "00000001"],
    ["00000003", "00000002"],
    ["00000004", "00000003"],
  ]);
  expect(migrated[2]).toEqual({
    type: "compaction",
    timestamp: "t",
    summary: "s",
    id: "00000003",
    parentId: "00000002",
    firstKeptEntryId: "00000002",
  });
});

it.each([
  [0, "the header: everything is kept", "00000001"],
  [2, "a damaged line: what follows it is kept", "00000003"],
  [9, "past the end: nothing is kept", ""],
])("a first kept line %s is %s", (firstKeptEntryIndex, _meaning, expected) => {
  const compaction = { type: "compaction", timestamp: "t", summary: "s", firstKeptEntryIndex };
  const migrated = migrateEntries(1, [message("a"), message("b"), compaction], [1, 3, 4]);
  expect(migrated[2]?.firstKeptEntryId).toBe(expected);
});

it("2 to 3: hookMessage becomes custom, all else is the same object", () => {
  const entries = [message("a"), message("b", "hookMessage"), { type: "their_own", x: 1 }];
  const migrated = migrateEntries(2, entries, [1, 2, 3]);
  expect(migrated[0]).toBe(entries[0]);
  expect(migrated[1]).toEqual(message("b", "custom"));
  expect(migrated[2]).toBe(entries[2]);
});

it("is pure, and changes nothing in today's form", () => {
  const entries = [message("a"), message("b", "hookMessage")];
  const before = structuredClone(entries);
  migrateEntries(1, entries, [1, 2]);
  expect(entries).toEqual(before);
  expect(migrateEntries(3, entries, [1, 2])).toEqual(before);
});
