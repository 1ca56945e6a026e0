import { describe, expect, it } from "vitest";
import { stampOf } from "../plans/plan.js";
import type { DiffFile, DiffPage } from "../protocol/diff.js";
import type { AgentSession } from "../sdk/index.js";
import { type OpenSession, openSession } from "../testing/open-session.js";
import type { ChangeHistory } from "./change-history.js";
import type { DiffRequest } from "./get-diff.js";

const bytes = (text: string) => Buffer.from(text);
const old = (file: number) => Array.from({ length: 2000 }, (_, line) => `line ${line} of file ${file}\n`);
const fresh = (file: number) => old(file).map((line, index) => (index % 100 === 3 ? `changed ${line}` : line));

/** More than one page when all lines are shown. */
async function withPlan(files = 20): Promise<OpenSession> {
  const names = Array.from({ length: files }, (_, file) => `f${file}.txt`);
  const open = await openSession({
    files: Object.fromEntries(names.map((name, file) => [name, old(file).join("")])),
    session: { env: {} },
  });
  const { session } = open;
  const changes = names.map((name, file) => {
    const before = bytes(old(file).join(""));
    const stamp = stampOf(name, { bytes: before, mode: 0o644 });
    return { kind: "modify" as const, path: `/project/${name}`, stamp, before, after: bytes(fresh(file).join("")) };
  });
  session.stagePendingAction({
    label: "Plan",
    sourceToolName: "test",
    work: { kind: "plan", plan: { changes, applied: { text: "Done." } } },
  });
  return open;
}

async function readAll(session: AgentSession, request: DiffRequest): Promise<{ files: DiffFile[]; pages: number }> {
  const files: DiffFile[] = [];
  let pages = 0;
  let cursor: string | undefined;
  do {
    const page: DiffPage = await session.getDiff({ ...request, cursor });
    pages++;
    files.push(...page.files);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { files, pages };
}

const linesOf = (files: readonly DiffFile[]) => files.flatMap(({ hunks }) => hunks).flatMap(({ lines }) => lines);

describe("the diff of a pending action", () => {
  it("is read page by page, and its cursor fits one state only", async () => {
    const { session } = await withPlan();
    const { files, pages } = await readAll(session, { pendingId: "pa_1", context: 100 });
    expect(pages).toBeGreaterThan(1);
    expect(linesOf(files).length).toBe(20 * (2000 + 20));
    const { nextCursor: cursor } = await session.getDiff({ pendingId: "pa_1", context: 100 });
    await expect(session.getDiff({ pendingId: "pa_1", cursor })).rejects.toMatchObject({ code: "stale_cursor" });
    await expect(session.getDiff({ pendingId: "pa_1", context: 100, cursor: `${cursor}AA` })).rejects.toMatchObject({
      message: "Invalid diff cursor",
    });
  });

  it("is of a plan: a tool that writes by itself has none", async () => {
    const { session } = await openSession();
    session.stagePendingAction({
      label: "Own",
      sourceToolName: "test",
      work: { kind: "closure", apply: () => ({ content: [] }) },
    });
    await expect(session.getDiff({ pendingId: "pa_1" })).rejects.toThrow(
      "Pending action pa_1 has no diff: its tool writes the files itself.",
    );
  });
});

describe("the diff of a change", () => {
  async function applied() {
    const open = await withPlan();
    const { session } = open;
    const before = await readAll(session, { pendingId: "pa_1", context: 100 });
    await session.resolvePendingAction({ action: "apply", reason: "yes", by: "user" });
    const [change] = await session.getChanges();
    return { ...open, before, changeId: change?.id ?? "" };
  }

  it("is that of the plan, and reads the records once for all its pages", async () => {
    const { session, before, changeId } = await applied();
    const { changes } = (session as unknown as { internals: { changes: ChangeHistory } }).internals;
    let shown = 0;
    const show = changes.show.bind(changes);
    const lists = new Set<unknown>();
    changes.show = async (...request) => {
      shown++;
      const found = await show(...request);
      lists.add(found?.files);
      return found;
    };
    const { files, pages } = await readAll(session, { changeId, context: 100 });
    expect(files).toEqual(before.files);
    expect([pages > 1, shown, lists.size]).toEqual([true, pages, 1]);
  });

  it("marks a file that another program has written since, and is refused where no file is left", async () => {
    const { session, workspace, changeId } = await applied();
    workspace.remove("/project/f0.txt");
    const { files } = await readAll(session, { changeId });
    expect(files[0]).toEqual({ path: "f0.txt", kind: "modify", gone: true, hunks: [] });
    expect(files[1]?.gone).toBeUndefined();
    await expect(session.getDiff({ changeId, paths: ["f0.txt"] })).rejects.toThrow(
      `Change ${changeId} can no longer be shown.`,
    );
    await expect(session.getDiff({ changeId, paths: ["nothing"] })).rejects.toThrow(
      "nothing is not part of this change.",
    );
  });
});
