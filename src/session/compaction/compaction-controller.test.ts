import { describe, expect, it } from "vitest";
import type { CompactionEntry, SessionEntry } from "../../protocol/entries.js";
import type { UsageByModel } from "../../record/billing.js";
import {
  calls,
  chain,
  compactionSettings,
  extend,
  failed,
  modelChange,
  plannerTestModel,
  reply,
  result,
  retrySettings,
  said,
  testModel,
  usage,
  user,
  words,
} from "../../record/entries.test-kit.js";
import { manualClock } from "../../testing/manual-clock.js";
import { fail, gate, type ScriptStep, say, scriptedModel, textBlock } from "../../testing/scripted-model.js";
import { Budget } from "../budget/budget.js";
import { CompactionController, type CompactionEvent, type CompactionSettings } from "./compaction-controller.js";

const overflow = said(failed("prompt is too long: 210000 tokens > 200000 maximum", { kind: "overflow" }));
const longAgo = [user(words(30_000)), reply("ok"), user(words(30_000)), reply("ok"), user("go on")];

function open(path: SessionEntry[], steps: readonly ScriptStep[] = [], changes: Partial<CompactionSettings> = {}) {
  const model = scriptedModel(steps);
  const events: CompactionEvent[] = [];
  const bills: UsageByModel[] = [];
  const session = {
    path,
    settings: { ...compactionSettings, ...changes },
    model: testModel as typeof testModel | undefined,
    summarizerModels: [testModel],
  };
  const controller = new CompactionController({
    clock: manualClock(),
    stream: model.stream,
    random: () => 0.5,
    settings: () => session.settings,
    retrySettings: () => ({ ...retrySettings, maxRetries: 0 }),
    emit: (event) => {
      events.push(event);
      // A host that asks when it hears of the start or the end gets the state that goes with it.
      expect(controller.isCompacting).toBe(event.type === "auto_compaction_start");
    },
    path: () => session.path,
    model: () => session.model,
    summarizers: () => session.summarizerModels.map((each) => ({ model: each, options: async () => ({}) })),
    budget: new Budget(),
    overheadTokens: () => 0,
    appendCompaction: (compacted) => {
      session.path = extend(session.path, { type: "compaction", ...compacted });
      return session.path.at(-1) as CompactionEntry;
    },
    appendPrune: (entryIds) => {
      session.path = extend(session.path, { type: "prune", entryIds });
    },
    appendUsage: (usageByModel) => bills.push(usageByModel),
  });
  return { controller, model, events, bills, session, signal: new AbortController() };
}

const start = (reason: string) => ({ type: "auto_compaction_start", reason, action: "context-full" });
const end = (members: object) => ({
  type: "auto_compaction_end",
  action: "context-full",
  aborted: false,
  willRetry: false,
  ...members,
});
const typesOf = (path: readonly SessionEntry[]) => path.map(({ type }) => type);

describe("overflow", () => {
  it("is recovered from once: compaction, then the run goes on", async () => {
    const it = open(chain(...longAgo, overflow), [say("Goal.")]);
    expect(it.controller.decideOverflow(testModel)).toEqual({ kind: "recover" });
    expect(it.events).toEqual([]);
    it.session.path.pop(); // the failed reply leaves the path
    expect(await it.controller.recover({ kind: "recover" }, it.signal.signal)).toBe(true);
    const compacted = it.session.path.at(-1);
    expect(compacted).toMatchObject({ type: "compaction", summary: "Goal.", firstKeptEntryId: "e3" });
    expect(it.events).toMatchObject([
      start("overflow"),
      end({ willRetry: true, result: { summary: "Goal.", firstKeptEntryId: "e3" } }),
    ]);
  });

  it("an always-overflowing model: exactly one recovery, then the failure is told", async () => {
    const it = open(chain(...longAgo), [say("Goal."), say("Head of the split turn.")]);
    const { controller, session, signal } = it;
    controller.startPrompt();
    let runs = 0;
    for (let goesOn = true; goesOn && runs < 5; runs++) {
      // Each run gets on a little before it fails, so that there would be something to compact again.
      session.path = extend(session.path, calls({ id: "c" }), result("c", words(30_000)), overflow);
      const decision = controller.decideOverflow(testModel);
      if (!decision) expect.fail("the overflow was not seen");
      session.path = session.path.slice(0, -1);
      goesOn = await controller.recover(decision, signal.signal);
    }
    expect(runs).toBe(2);
    expect(typesOf(session.path).filter((type) => type === "compaction").length).toBe(1);
    it.model.verify();
    const second = it.events.slice(2);
    expect(second).toMatchObject([start("overflow"), end({})]);
    expect(second[1]).toHaveProperty(
      "errorMessage",
      "Context overflow recovery failed: the context is too large again after one compaction. Start a new session, or use a model with a larger window.",
    );
    expect(second[1]).not.toHaveProperty("result");
    controller.startPrompt();
    session.path = extend(session.path, user(words(30_000)), overflow);
    expect(controller.decideOverflow(testModel)).toEqual({ kind: "recover" });
  });

  it("is recovered from although the context looks small: the service knows better", async () => {
    const it = open(chain(user("one"), reply("two"), user("three"), overflow), [say("Goal.")]);
    expect(it.controller.decideOverflow(testModel)).toEqual({ kind: "recover" });
    it.session.path.pop();
    expect(await it.controller.recover({ kind: "recover" }, it.signal.signal)).toBe(true);
    expect(it.session.path.at(-1)).toMatchObject({ firstKeptEntryId: "e3" });
  });

  it("cannot be helped when nothing is left to summarise, not counting the reply that failed", async () => {
    const partial = { content: [{ type: "text" as const, text: words(9) }] };
    const it = open(chain(user("x"), said({ ...failed("prompt is too long"), ...partial })));
    const decision = it.controller.decideOverflow(testModel);
    expect(decision).toEqual({ kind: "give_up", reason: "Nothing to compact (session too small)" });
    expect(decision && (await it.controller.recover(decision, it.signal.signal))).toBe(false);
    expect(it.events).toEqual([
      start("overflow"),
      end({ errorMessage: "Context overflow recovery failed: Nothing to compact (session too small)" }),
    ]);
  });

  it("by one huge result: the result is hidden from the context as well", async () => {
    const it = open(chain(user("read it"), calls({ id: "c" }), result("c", words(180_000), { toolName: "read" })), [
      say("Goal."),
    ]);
    await it.controller.recover({ kind: "recover" }, it.signal.signal);
    expect(it.session.path.slice(3)).toMatchObject([
      { type: "compaction", firstKeptEntryId: "e2" },
      { type: "prune", entryIds: ["e3"] },
    ]);
  });

  it("a summary that fails is told without changing anything, and what it cost is kept", async () => {
    const steps: ScriptStep[] = [
      [
        { type: "start", usage: usage(50) },
        { type: "error", reason: "error", errorMessage: "429 quota", failure: { kind: "usage_limit" } },
      ],
    ];
    const path = chain(...longAgo);
    const it = open(path, steps);
    expect(await it.controller.recover({ kind: "recover" }, it.signal.signal)).toBe(false);
    expect(it.events[1]).toEqual(end({ errorMessage: "Context overflow recovery failed: 429 quota" }));
    expect(it.session.path).toBe(path);
    expect(it.bills).toMatchObject([{ "acme/fable-2": { input: 50 } }]);
  });

  it.each<[string, (it: ReturnType<typeof open>) => void]>([
    ["it is switched off", ({ session }) => Object.assign(session.settings, { enabled: false })],
    ["its strategy is off", ({ session }) => Object.assign(session.settings, { strategy: "off" })],
    ["only the planner is there", ({ session }) => Object.assign(session, { summarizerModels: [plannerTestModel] })],
    ["no model is chosen", ({ session }) => Object.assign(session, { model: undefined })],
  ])("the error stands when %s", (_name, change) => {
    const it = open(chain(...longAgo, overflow));
    change(it);
    expect(it.controller.decideOverflow(testModel)).toBeUndefined();
  });

  it("is the run's: another model chosen meanwhile neither hides nor makes one", () => {
    const it = open(chain(...longAgo, overflow));
    const other = { ...testModel, id: "other" };
    expect(it.controller.decideOverflow(other)).toBeUndefined();
    it.session.model = other;
    expect(it.controller.decideOverflow(testModel)).toEqual({ kind: "recover" });
  });
});

describe("threshold", () => {
  const full = (tokens: number) => chain(...longAgo, reply("done", { usage: usage(tokens) }));

  it("compacts above the limit, with the events of a good end", async () => {
    expect(open(full(170_000)).controller.decideThreshold()).toBe(false);
    const it = open(full(170_001), [say("Goal.")]);
    expect(it.controller.decideThreshold()).toBe(true);
    expect(await it.controller.compactAtThreshold(it.signal.signal)).toBe(true);
    expect(it.events).toMatchObject([start("threshold"), end({ result: { summary: "Goal.", tokensBefore: 170_001 } })]);
    // What the reply reported was before the compaction: it does not count again.
    expect(it.controller.decideThreshold()).toBe(false);
  });

  it("tells a failure in its own words", async () => {
    const it = open(full(180_000), [fail("429 quota", { failure: { kind: "usage_limit" } })]);
    expect(await it.controller.compactAtThreshold(it.signal.signal)).toBe(false);
    expect(it.events[1]).toEqual(end({ errorMessage: "Auto-compaction failed: 429 quota" }));
    expect(it.bills).toEqual([]);
  });

  it("is cancelled by the run's signal or by abort, told as aborted", async () => {
    for (const cancel of ["signal", "abort"] as const) {
      const stalled = gate();
      const it = open(full(180_000), [[stalled.wait]]);
      const running = it.controller.compactAtThreshold(it.signal.signal);
      await stalled.reached;
      expect(it.controller.isCompacting).toBe(true);
      if (cancel === "signal") it.signal.abort();
      else it.controller.abort();
      expect(await running).toBe(false);
      expect(it.events).toEqual([start("threshold"), end({ aborted: true })]);
      expect(it.session.path).toEqual(full(180_000));
    }
  });

  it("prunes old outputs first, which may be enough", () => {
    const output = (id: string) => [calls({ id }), result(id, words(40_000))];
    const path = chain(user("x"), ...output("a"), ...output("b"), reply("done", { usage: usage(180_000) }));
    const it = open(path);
    expect(it.controller.decideThreshold()).toBe(false);
    expect(it.session.path.at(-1)).toMatchObject({ type: "prune", entryIds: ["e3"] });
    const stillFull = open(path, [], { thresholdTokens: 100_000 });
    expect(stillFull.controller.decideThreshold()).toBe(true);
    const fits = open(path, [], { thresholdTokens: 190_000 });
    expect([fits.controller.decideThreshold(), fits.session.path]).toEqual([false, path]);
  });

  it("does not compact for a small gain, which could go on for ever", () => {
    const it = open(chain(user("x"), reply("y"), user(words(25_000)), reply("done", { usage: usage(180_000) })));
    expect(it.controller.skippedReason).toBeUndefined();
    expect(it.controller.decideThreshold()).toBe(false);
    expect(it.controller.skippedReason).toBe("It would free less than 10 % of the limit.");
    it.session.settings = { ...it.session.settings, thresholdTokens: 190_000 };
    expect(it.controller.skippedReason).toBeUndefined();
  });

  it("says why it did nothing only while that holds: not of another conversation, nor of one that fits again", () => {
    const it = open(chain(user("x"), reply("done", { usage: usage(180_000) })));
    expect(it.controller.decideThreshold()).toBe(false);
    expect(it.controller.skippedReason).toBe("Nothing to compact (session too small)");
    it.session.path = full(180_000);
    expect(it.controller.skippedReason).toBeUndefined();
    expect(it.controller.decideThreshold()).toBe(true);
    expect(it.controller.skippedReason).toBeUndefined();
  });

  it("is not decided when it is off, or when only the planner could do it", () => {
    expect(open(full(180_000), [], { enabled: false }).controller.decideThreshold()).toBe(false);
    const it = open(full(180_000));
    it.session.summarizerModels = [plannerTestModel];
    expect(it.controller.decideThreshold()).toBe(false);
    it.session.model = undefined;
    expect(it.controller.decideThreshold()).toBe(false);
  });
});

describe("the compact command", () => {
  it("stops the run, compacts, tells the result and emits nothing", async () => {
    const it = open(chain(...longAgo), [say("Goal.")], { enabled: false });
    const order: string[] = [];
    const result = await it.controller.compactNow({
      customInstructions: "Names",
      stopRun: async () => {
        order.push(`stopped, compacting: ${it.controller.isCompacting}`);
        // What the run had under way is on the path by now, and part of the compaction.
        it.session.path = extend(it.session.path, reply("aborted"));
      },
    });
    expect(order).toEqual(["stopped, compacting: true"]);
    expect(result).toMatchObject({ summary: "Goal.", shortSummary: "Goal.", firstKeptEntryId: "e3" });
    expect(it.session.path.at(-1)).toMatchObject({ type: "compaction", parentId: "e6" });
    expect([it.events, it.controller.isCompacting]).toEqual([[], false]);
    expect(it.model.requests[0]?.context.messages[0]?.content).toMatch(/Additional focus: Names$/);
  });

  it.each<[string, (it: ReturnType<typeof open>) => void]>([
    ["No model selected", ({ session }) => Object.assign(session, { model: undefined })],
    ["No API key for acme", ({ session }) => Object.assign(session, { summarizerModels: [] })],
    [
      "Summarization failed: the planner cannot summarize",
      ({ session }) => Object.assign(session, { summarizerModels: [plannerTestModel] }),
    ],
    ["Nothing to compact (session too small)", ({ session }) => Object.assign(session, { path: chain(user("x")) })],
    [
      "Nothing to compact (session too small)",
      ({ session }) => Object.assign(session, { path: [], summarizerModels: [plannerTestModel] }),
    ],
    [
      "Nothing to compact (session too small)",
      ({ session }) => Object.assign(session, { path: [], summarizerModels: [] }),
    ],
    [
      "Already compacted",
      ({ session }) =>
        Object.assign(session, {
          path: extend(
            session.path,
            { type: "compaction", summary: "", firstKeptEntryId: "e1", tokensBefore: 0 },
            modelChange,
          ),
        }),
    ],
  ])("refuses with %j and leaves the run alone", async (text, change) => {
    const it = open(chain(...longAgo));
    change(it);
    const stopRun = async () => expect.fail("the run was touched");
    await expect(it.controller.compactNow({ stopRun })).rejects.toThrow(text);
    expect(it.controller.isCompacting).toBe(false);
  });

  it("can be cancelled from its first moment on, and keeps the bill", async () => {
    const stopping = gate();
    const early = open(chain(...longAgo));
    const outcome = early.controller.compactNow({ stopRun: stopping.wait });
    await stopping.reached;
    early.controller.abort();
    stopping.open();
    await expect(outcome).rejects.toThrow("Compaction cancelled");
    const stalled = gate();
    const late = open(chain(...longAgo), [[{ type: "start", usage: usage(7) }, ...textBlock(0, ["Go"]), stalled.wait]]);
    const running = late.controller.compactNow({ stopRun: async () => {} });
    await stalled.reached;
    late.controller.abort();
    await expect(running).rejects.toThrow("Compaction cancelled");
    expect(late.bills).toMatchObject([{ "acme/fable-2": { input: 7 } }]);
    expect([typesOf(late.session.path).includes("compaction"), late.controller.isCompacting]).toEqual([false, false]);
  });
});
