// For tests of session files: a disk that fails on demand, and random trees.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { Log } from "../../base/log.js";
import type { SessionEntry, SessionHeader } from "../../protocol/entries.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { EntryTree } from "../entry-tree.js";
import { type ReadSession, SessionReader } from "../read/read-entries.js";
import { nodeDisk, type SessionDisk } from "./session-disk.js";

export function heardLog(): Log & { heard: string[] } {
  const heard: string[] = [];
  return { heard, warn: (text) => heard.push(text), error: (text) => heard.push(text) };
}

export const header: SessionHeader = {
  type: "session",
  version: 3,
  id: "0197aaaa",
  timestamp: "2026-01-05T08:00:00.000Z",
  cwd: "/work",
};

export function userEntry(id: string, parentId: string | null, text = id): SessionEntry {
  return messageEntry(id, parentId, { role: "user", content: [{ type: "text", text }], timestamp: 1 });
}

export function messageEntry(id: string, parentId: string | null, message: AgentMessage): SessionEntry {
  return { type: "message", id, parentId, timestamp: "2026-01-05T08:00:01.000Z", message };
}

export function linesOf(...values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

export function readText(text: string | Uint8Array, path = "x.jsonl"): ReadSession {
  const reader = new SessionReader(path);
  reader.push(Buffer.from(text));
  return reader.end();
}

export function readFile(path: string): ReadSession {
  return readText(readFileSync(path), path);
}

/** Node's disk, with some of it replaced. `failing` makes the named calls throw until it is emptied again. */
export function faultyDisk(changes: Partial<SessionDisk> = {}): { disk: SessionDisk; failing: Set<keyof SessionDisk> } {
  const failing = new Set<keyof SessionDisk>();
  const base: SessionDisk = { ...nodeDisk, ...changes };
  const disk = new Proxy(base, {
    get: (target, name: keyof SessionDisk) =>
      failing.has(name)
        ? () => {
            throw Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: "ENOSPC" });
          }
        : target[name],
  });
  return { disk, failing };
}

const text = fc.string({ unit: "binary", maxLength: 40 });
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const json = fc.jsonValue({ maxDepth: 3 });

const message: fc.Arbitrary<object> = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "developer"), content: text, timestamp: fc.nat() }),
  fc.record({
    role: fc.constant("user"),
    content: fc.array(fc.record({ type: fc.constant("text"), text })),
    timestamp: fc.nat(),
  }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant("text"), text }),
        fc.record({ type: fc.constant("thinking"), thinking: text }),
        fc.record({ type: fc.constant("toolCall"), id: word, name: word, arguments: fc.dictionary(word, json) }),
      ),
    ),
    api: word,
    provider: word,
    model: word,
    usage: fc.constant({
      input: 1,
      output: 2,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 3,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
    }),
    stopReason: fc.constantFrom("stop", "toolUse", "error"),
    timestamp: fc.nat(),
  }),
  fc.record({
    role: fc.constant("toolResult"),
    toolCallId: word,
    toolName: word,
    content: fc.array(fc.record({ type: fc.constant("text"), text })),
    details: json,
    isError: fc.boolean(),
    timestamp: fc.nat(),
  }),
);

/** `target` is chosen among the entries there are by then. */
type Step = { fields: object; target: number };

const step: fc.Arbitrary<Step> = fc.record({
  target: fc.nat(),
  fields: fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant("message"), message }) },
    fc.record({
      type: fc.constant("model_change"),
      model: word,
      role: fc.constantFrom("default", "smol", "temporary"),
    }),
    fc.record({ type: fc.constant("model_change"), provider: word, modelId: word }),
    fc.record({ type: fc.constant("thinking_level_change"), thinkingLevel: fc.constantFrom("low", "high", null) }),
    fc.record({
      type: fc.constant("compaction"),
      summary: text,
      tokensBefore: fc.nat(),
      firstKeptEntryId: fc.constant("@"),
    }),
    fc.record({ type: fc.constant("branch_summary"), summary: text, fromId: fc.constant("root") }),
    fc.record({ type: fc.constant("custom"), customType: word, data: json }),
    fc.record({ type: fc.constant("custom_message"), customType: word, content: text, display: fc.boolean() }),
    fc.record({ type: fc.constant("label"), targetId: fc.constant("@"), label: text }),
    fc.record({ type: fc.constant("ttsr_injection"), injectedRules: fc.array(word) }),
    fc.record({ type: fc.constant("mode_change"), mode: word, data: json }),
    fc.record({ type: fc.constant("session_info"), name: text, source: fc.constantFrom("auto", "user") }),
    { weight: 2, arbitrary: fc.record({ type: fc.constant("leaf"), targetId: fc.constant("@") }) },
    fc.record({ type: fc.constant("prune"), entryIds: fc.array(fc.constant("@")) }),
    fc.record({ type: fc.constant("other_program"), payload: json }),
  ),
});

/** Entries as a session would append them: each at the leaf of its moment, with leaf moves between them. */
export const entryLists: fc.Arbitrary<SessionEntry[]> = fc.array(step, { maxLength: 30 }).map((steps) => {
  const tree = new EntryTree();
  for (const { fields, target } of steps) {
    const { entries } = tree;
    const pick = entries.length === 0 ? null : (entries[target % entries.length]?.id ?? null);
    const filled = JSON.parse(JSON.stringify(fields).replaceAll('"@"', JSON.stringify(pick ?? "none"))) as SessionEntry;
    if (filled.type === "leaf" && pick === null) filled.targetId = null;
    const parentId = filled.type === "leaf" ? filled.targetId : tree.leafId;
    const place = { id: `e${entries.length}`, parentId, timestamp: "2026-01-05T08:00:00.000Z" };
    tree.append({ ...filled, ...place });
  }
  return [...tree.entries];
});
