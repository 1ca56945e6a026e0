// Two sessions that grow, branch, are pruned and compacted in any order, asked now and then: a count that goes on from
// the last one is what counting the whole path anew gives.

import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import type { SessionEntry } from "../protocol/entries.js";
import {
  assistant,
  chain,
  type Draft,
  failed,
  modelChange,
  reply,
  result,
  said,
  usage,
  user,
  words,
} from "../record/entries.test-kit.js";
import { createRecordInMemory } from "../record/open-record.js";
import type { SessionRecord } from "../record/record.js";
import type { EntryFields } from "../record/record-options.js";
import { contextTokens } from "./context-usage.js";

/** Any entry of the first ones, whether it is there by then or not: a file may name what comes later. */
const entryId = fc.nat(40).map((index) => `e${index}`);
const text = fc.nat(60).map(words);

const draft: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 3, arbitrary: text.map(user) },
  { weight: 3, arbitrary: fc.nat(400).map((tokens) => result("c", words(tokens))) },
  { weight: 2, arbitrary: text.map((answer) => reply(answer)) },
  fc.tuple(text, fc.nat(90)).map(([answer, tokens]) => reply(answer, { usage: usage(tokens, 1) })),
  fc.nat(90).map((tokens) => said(assistant({ stopReason: "aborted", usage: usage(tokens) }))),
  fc.constant(said(failed("overloaded"))),
  fc.constant(modelChange),
  text.map((summary): Draft => ({ type: "branch_summary", summary, fromId: "root" })),
  fc.array(entryId, { maxLength: 5 }).map((entryIds): Draft => ({ type: "prune", entryIds })),
  fc
    .tuple(entryId, fc.oneof({ weight: 4, arbitrary: text }, fc.constant(undefined)))
    .map(
      ([firstKeptEntryId, summary]) => ({ type: "compaction", firstKeptEntryId, summary, tokensBefore: 0 }) as Draft,
    ),
);

const step = fc.record({
  act: fc.oneof(
    { weight: 8, arbitrary: draft.map((fields) => ({ kind: "append" as const, fields })) },
    fc.oneof(entryId, fc.constant(null)).map((targetId) => ({ kind: "move" as const, targetId })),
    fc.constant({ kind: "switch" as const }),
    fc.constant({ kind: "name" as const }),
  ),
  isAsked: fc.boolean(),
});

it("counts on to what the whole path counts to", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [record, other] = [newRecord(), newRecord()];
      for (const { act, isAsked } of steps) {
        if (act.kind === "append") record.append(act.fields as EntryFields);
        else if (act.kind === "switch") [record, other] = [other, record];
        else if (act.kind === "name") record.setName("in the margin");
        else if (act.targetId === null || record.tree.has(act.targetId)) record.moveLeaf(act.targetId);
        const { path } = record.context;
        expect(path).toEqual(record.tree.pathTo());
        if (isAsked) expect(contextTokens(path)).toEqual(contextTokens([...path]));
      }
    }),
    { numRuns: runs(500) },
  );
});

it.each<[string, Draft[]]>([
  ["what was pruned before it came", [user("x"), { type: "prune", entryIds: ["e3"] }, result("c", words(100))]],
  [
    "more than was pruned of a report",
    [
      result("c", words(100)),
      reply("", { usage: usage(10) }),
      { type: "prune", entryIds: ["e1"] },
      user(words(50)),
      user(words(50)),
    ],
  ],
])("counts on over %s", (_what, drafts) => {
  const path: SessionEntry[] = [];
  for (const entry of chain(...drafts)) {
    path.push(entry);
    expect(contextTokens(path)).toEqual(contextTokens([...path]));
  }
});

it("counts a list anew that lost its end", () => {
  const path = chain(user("one"), user("two"));
  expect(contextTokens(path).tokens).toBe(2);
  path.pop();
  expect(contextTokens(path).tokens).toBe(1);
  path.splice(0, 1, ...chain(user("three"), user("seven")));
  expect(contextTokens(path).tokens).toBe(4);
});

function newRecord(): SessionRecord {
  let made = 0;
  const ids = { session: () => "s", entry: () => `e${made++}` };
  return createRecordInMemory({ cwd: "/project", ids });
}
