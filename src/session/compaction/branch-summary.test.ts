import { describe, expect, it } from "vitest";
import {
  calls,
  chain,
  compaction,
  modelChange,
  reply,
  result,
  retrySettings,
  testModel,
  usage,
  user,
} from "../../record/entries.test-kit.js";
import { manualClock } from "../../testing/manual-clock.js";
import { fail, type ScriptStep, say, scriptedModel } from "../../testing/scripted-model.js";
import { branchOf, summarizeBranch } from "./branch-summary.js";

const ids = (branch: ReturnType<typeof branchOf>) =>
  branch && [branch.previous?.id, branch.entries.map(({ id }) => id)];

describe("what is summarized of a branch", () => {
  it("is all of it, or nothing where nothing was said", () => {
    expect(branchOf([])).toBeUndefined();
    expect(branchOf(chain(modelChange))).toBeUndefined();
    expect(ids(branchOf(chain(user("a"), reply("b"))))).toEqual([undefined, ["e1", "e2"]]);
  });

  it("begins with what the branch's own compaction kept", () => {
    const path = chain(user("a"), reply("b"), user("c"), reply("d"), compaction("e3"), user("e"));
    expect(ids(branchOf(path))).toEqual(["e5", ["e3", "e4", "e5", "e6"]]);
  });

  it("is all of it when a compaction reaches back beyond the branch: its summary is of what stays", () => {
    const path = chain(user("shared"), reply("b"), user("c"), compaction("e1"), user("d"));
    expect(ids(branchOf(path.slice(2)))).toEqual([undefined, ["e3", "e4", "e5"]]);
    expect(ids(branchOf(path))).toEqual([undefined, ["e1", "e2", "e3", "e4", "e5"]]);
  });
});

function summarized(abandoned: ReturnType<typeof chain>, steps: ScriptStep[]) {
  const model = scriptedModel(steps);
  const branch = branchOf(abandoned);
  if (!branch) throw new Error("nothing to summarize");
  const notes = summarizeBranch({
    path: abandoned,
    branch,
    reserveTokens: 10_000,
    overheadTokens: 0,
    summarizers: [{ model: testModel, options: async () => ({}) }],
    retry: { ...retrySettings, enabled: false },
    stream: model.stream,
    clock: manualClock(),
    random: () => 0.5,
    signal: new AbortController().signal,
  });
  return { notes, model };
}

describe("the notes", () => {
  it("end with the files, and say what they cost", async () => {
    const path = chain(
      user("look"),
      calls({ id: "c", name: "read", args: { path: "a.ts" } }),
      result("c", "text", { toolName: "read" }),
      reply("seen"),
    );
    const [start, ...rest] = say("Goal.");
    const done = rest.pop();
    const { notes, model } = summarized(path, [
      [start as ScriptStep[number], ...rest, { ...(done as object), usage: usage(5) } as ScriptStep[number]],
    ]);
    expect(await notes).toEqual({
      summary: "Goal.\n\n<read-files>\na.ts\n</read-files>",
      details: {
        readFiles: ["a.ts"],
        modifiedFiles: [],
        usage: { "acme/fable-2": expect.objectContaining({ input: 5 }) },
      },
    });
    const [request] = model.requests;
    expect(request?.options.maxTokens).toBe(8000);
    expect(request?.context.messages[0]?.content).toMatch(/a branch that the user came back from/);
  });

  it("build on the notes of a compaction, without its lists", async () => {
    const first = compaction("e2", {
      summary: "Old.\n\n<read-files>\nb.ts\n</read-files>",
      details: { readFiles: ["b.ts"] },
    });
    const { notes, model } = summarized(chain(user("a"), user("b"), first, user("c")), [say("New.")]);
    expect((await notes).summary).toBe("New.\n\n<read-files>\nb.ts\n</read-files>");
    expect(model.requests[0]?.context.messages[0]?.content).toContain("<previous-summary>\nOld.\n</previous-summary>");
  });

  it("are not to be had from a model that fails", async () => {
    const { notes } = summarized(chain(user("a")), [fail("no", { failure: { kind: "auth" } })]);
    await expect(notes).rejects.toThrow("Summarization failed: no");
  });
});
