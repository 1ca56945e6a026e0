import { expect, it } from "vitest";
import { encodePlan, type PlannedChange, stampOf } from "../plans/plan.js";
import type { SessionEntry } from "../protocol/entries.js";
import { EntryTree } from "../record/entry-tree.js";
import { createMemoryArtifacts } from "../record/store/artifacts.js";
import { readPending } from "./read-pending.js";

function change(path: string): PlannedChange {
  const before = Buffer.from("old\n");
  const stamp = stampOf(path, { bytes: before, mode: 0o644 });
  return { kind: "modify", path: `/p/${path}`, stamp, before, after: Buffer.from("new\n") };
}

/** The record of a plan of two files, as its first version was written, and what came after. */
async function recordOf(...steps: object[]) {
  const tree = new EntryTree();
  const artifacts = createMemoryArtifacts();
  const changes = ["a.txt", "b.txt"].map(change);
  await artifacts.savePlan("pa_1.plan", encodePlan({ changes, applied: { text: "Written." } }));
  const pushed = { event: "pushed", label: "Edit", sourceToolName: "edit", kind: "plan", createdAt: 1, session: "s" };
  for (const [index, data] of [{ ...pushed, planRef: "pa_1.plan" }, ...steps].entries()) {
    const entry = { type: "custom", customType: "pending_action", data: { id: "pa_1", ...data } };
    tree.append({ id: `e${index}`, parentId: tree.leafId, timestamp: "", ...entry } as unknown as SessionEntry);
  }
  return { tree, artifacts, sessionId: "s" };
}

const rest = { label: "Rest", files: 1, hunks: 1 };
const part = { event: "part", revision: 2, action: "discard", by: "user", reason: "", settled: [{ path: "a.txt" }] };

it("reads a plan of an older version, which had no revisions, and rewrote its plans without an entry", async () => {
  const record = await recordOf();
  await record.artifacts.savePlan("pa_1.plan", encodePlan({ changes: [change("b.txt")], applied: { text: "Rest." } }));
  const { found, lost } = await readPending(record);
  expect(found.map(({ action }) => action)).toMatchObject([
    { id: "pa_1", revision: 1, status: "pending", files: [{ path: "b.txt" }] },
  ]);
  expect(lost).toEqual([]);
});

it("takes out what was decided, and tells what is left", async () => {
  const nothing = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"; // of an empty list
  const { found } = await readPending(await recordOf({ ...part, rest: { ...rest, sha256: nothing } }));
  expect(found).toMatchObject([
    { action: { label: "Rest", revision: 2, status: "pending", files: [{ path: "b.txt" }] } },
  ]);
  expect(found[0]?.work).toMatchObject({ plan: { applied: { text: "Applied the remaining 1 hunk in 1 file." } } });
});

it.each([
  ["another digest", { ...part, rest: { ...rest, sha256: "0" } }, "leaves something else now"],
  ["a file that is not in the plan", { ...part, settled: [{ path: "c" }], rest: { ...rest, sha256: "0" } }, "c is not"],
  [
    "a missing artifact",
    { event: "revised", revision: 2, path: "a.txt", by: "user", sha256: "0", planRef: "pa_1.2.plan" },
    "is not there",
  ],
  [
    "a name that leads elsewhere",
    { event: "revised", revision: 2, path: "a", by: "user", sha256: "0", planRef: "../x" },
    "is not there",
  ],
  ["an entry of a later version", { event: "merged", revision: 2, by: "user" }, "another version of galley wrote it"],
])("makes stale what does not fit, to be discarded only: %s", async (_name, step, cause) => {
  const { found, lost } = await readPending(await recordOf(step));
  expect(lost).toEqual([]);
  expect(found).toMatchObject([{ action: { status: "stale" }, misfit: expect.stringContaining(cause) }]);
  expect(found[0]?.misfit).toMatch(/^Pending action pa_1 cannot be applied: .* Discard it and preview again\.$/);
});
