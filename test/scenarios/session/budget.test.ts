// Budgets through whole sessions: what counts is how often models are asked, what hosts hear, and that a session goes on
// when its limit is raised.

import { describe, expect, it } from "vitest";
import { GalleyError } from "../../../src/base/errors.js";
import { Settings } from "../../../src/config/settings/settings.js";
import type { AgentSessionEvent } from "../../../src/protocol/events.js";
import { ModelRegistry } from "../../../src/provider/models/model-registry.js";
import { readModelsFile } from "../../../src/provider/models/models-file.js";
import type { CreateAgentSessionOptions } from "../../../src/sdk/index.js";
import { type OpenSession, openSession } from "../../../src/testing/open-session.js";
import { call, fail, type ScriptStep, say, usageOf } from "../../../src/testing/scripted-model.js";
import { createModuleHome } from "../../kit/module-home.js";

const long = "four".repeat(25_000);
const looks = (id: string) => call("ls", {}, id);

function settingsOf(values: Record<string, unknown>): Settings {
  return new Settings({ overrides: new Map(Object.entries(values)) as never });
}

function open(
  model: readonly ScriptStep[],
  session: CreateAgentSessionOptions,
  settings: Record<string, unknown> = {},
) {
  return openSession({ model, files: { "a.ts": "foo" }, session: { settings: settingsOf(settings), ...session } });
}

/** The wait before a retry is over as soon as it begins. */
function passWaits({ session, clock }: Pick<OpenSession, "session" | "clock">): void {
  session.subscribe((event) => {
    if (event.type === "auto_retry_start") queueMicrotask(() => clock.advance(60_000));
  });
}

/** Names of what happened, without what every run has. */
function told(events: readonly AgentSessionEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "message_end":
        return event.message.role === "assistant"
          ? [`reply:${event.message.error?.kind ?? event.message.stopReason}`]
          : [];
      case "agent_end":
        return [event.isTerminal ? "terminal" : `${event.continueReason}`];
      case "budget_exceeded":
        return [`exceeded:${event.kind} ${event.used}/${event.limit}`];
      default:
        return /^(auto_|todo_|retry_|tool_execution_end)/.test(event.type) ? [event.type] : [];
    }
  });
}

describe("a limit", () => {
  it("stops the next model call, when the reply and its calls are finished", async () => {
    const { session, model, events } = await open([looks("c1")], { budget: { maxTurns: 1 } });
    await session.prompt("go");
    expect(told(events)).toEqual([
      "reply:toolUse",
      "tool_execution_end",
      "exceeded:turns 1/1",
      "reply:limit",
      "terminal",
    ]);
    const reply = session.messages.at(-1);
    const errorMessage = "Stopped: the limit of 1 model call is used up.";
    expect(reply).toMatchObject({ content: [], stopReason: "error", errorMessage, error: { kind: "limit" } });
    expect(session.lastOutcome).toMatchObject({ status: "error", error: { retryable: false } });
    const place = (type: string) => events.findLastIndex((event) => event.type === type);
    expect(place("budget_exceeded")).toBe(place("message_start") - 1);
    model.verify();
  });

  it("is told once; raised, the session goes on", async () => {
    const { session, model, events } = await open([say("one"), say("two")], { budget: { maxTurns: 1 } });
    for (const prompt of ["go", "go on", "again"]) await session.prompt(prompt);
    const refused = ["reply:limit", "terminal"];
    expect(told(events)).toEqual(["reply:stop", "terminal", "exceeded:turns 1/1", ...refused, ...refused]);
    expect(session.setBudget({ maxTurns: 2 })).toEqual({ maxTurns: 2, used: { cost: 0, turns: 1, tokens: 0 } });
    await session.prompt("now");
    expect(session.getLastAssistantText()).toBe("two");
    expect(session.getSessionStats().budget).toEqual({ maxTurns: 2, used: { cost: 0, turns: 2, tokens: 0 } });
    model.verify();
  });

  it("counts retries, and is never retried itself", async () => {
    const { session, model, events, clock } = await open([fail("503"), fail("503")], { budget: { maxTurns: 2 } });
    passWaits({ session, clock });
    await session.prompt("go");
    expect(told(events).slice(-5)).toEqual([
      "auto_retry_start",
      "exceeded:turns 2/2",
      "reply:limit",
      "terminal",
      "auto_retry_end",
    ]);
    model.verify();
  });

  it("nothing is sent when nothing is left", async () => {
    const { session, model, events } = await open([], { budget: { maxTokens: 200 } });
    await session.prompt("go");
    expect(told(events)).toEqual(["exceeded:tokens 0/200", "reply:limit", "terminal"]);
    expect(model.requests).toEqual([]);
  });

  it("makes no reminder of a good answer", async () => {
    const { session, events } = await open([say("done")], { budget: { maxTurns: 1 }, mode: "rpc" });
    session.setTodoPhases([{ name: "Plan", tasks: [{ content: "test it" }] }]);
    await session.prompt("go");
    expect(told(events)).toEqual(["reply:stop", "terminal"]);
  });
});

describe("summaries", () => {
  const full = { "compaction.thresholdTokens": 70_000 };
  const counted = (step: ScriptStep): ScriptStep =>
    step.map((event) => ("type" in event && event.type === "done" ? { ...event, usage: usageOf(80_000, 10) } : event));
  const steps = [say("one"), counted(say("two"))];

  it("count, and nothing follows one that used up the rest", async () => {
    const { session, model, events } = await open([...steps, say("A summary.")], { budget: { maxTurns: 3 } }, full);
    await session.prompt(long);
    await session.prompt(long);
    expect(told(events).slice(2)).toEqual([
      ...["reply:stop", "auto_continue", "auto_compaction_start", "auto_compaction_end"],
    ]);
    expect(session.lastOutcome).toEqual({ status: "completed" });
    await session.prompt("go on");
    expect(told(events).slice(-3)).toEqual(["exceeded:turns 3/3", "reply:limit", "terminal"]);
    model.verify();
  });

  it("that do not fit the rest are not asked for, and the answer before them stands", async () => {
    const { session, model, events } = await open(steps, { budget: { maxTokens: 130_000 } }, full);
    await session.prompt(long);
    await session.prompt(long);
    const [reply, end, start, exceeded, ended, ...more] = told(events).slice(2);
    expect([reply, end, start, ended, more]).toEqual([
      ...["reply:stop", "auto_continue", "auto_compaction_start", "auto_compaction_end"],
      [],
    ]);
    expect(exceeded).toMatch(/^exceeded:tokens \d+\/130000$/);
    expect(session.lastOutcome).toEqual({ status: "completed" });
    model.verify();
  });

  it("are not begun when nothing is left, nor is the model asked to go on", async () => {
    const { session, model, events } = await open(steps, { budget: { maxTurns: 2 } }, full);
    await session.prompt(long);
    await session.prompt(long);
    expect(told(events)).toEqual(["reply:stop", "terminal", "reply:stop", "terminal"]);
    await expect(session.compact()).rejects.toMatchObject({ code: "limit" });
    model.verify();
  });
});

describe("sessions of one process", () => {
  it("count for themselves; a branch goes on with the count of its original", async () => {
    const { session, events } = await open([say("one"), say("two")], { budget: { maxTurns: 1 } });
    await session.prompt("go");
    await session.branch(session.getUserMessagesForBranching()[0]?.entryId ?? "");
    expect(session.budget.used.turns).toBe(1);
    await session.newSession();
    expect(session.budget.used.turns).toBe(0);
    await session.prompt("go");
    expect(told(events)).toEqual(["reply:stop", "terminal", "reply:stop", "terminal"]);
  });
});

it("a model call of an extension counts, and is not made at a limit", async () => {
  const home = createModuleHome();
  try {
    home.put(
      ".galley/agent/extensions/probe.ts",
      `import { complete } from "@mariozechner/pi-ai";
      export default (pi) => pi.registerCommand("probe", { async handler(args, ctx) {
        const context = { messages: [{ role: "user", content: "Well?", timestamp: 1 }] };
        const { stopReason, errorMessage } = await complete(ctx.model, context);
        pi.setSessionName([stopReason, errorMessage].join(" "));
      } });`,
    );
    const { session, model } = await home.open([say("Yes.")], { budget: { maxTurns: 1 } });
    await session.prompt("/probe");
    expect([session.sessionName, session.budget.used.turns]).toEqual(["stop", 1]);
    await session.prompt("/probe");
    expect(session.sessionName).toBe("error Stopped: the limit of 1 model call is used up.");
    await session.dispose();
    model.verify();
  } finally {
    home.remove();
  }
});

describe("models without a known price", () => {
  const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  const sentence =
    "The price of acme/unknown is not known, so --max-cost cannot hold. Use --max-tokens, or give its cost in models.yml.";

  function registryOf(): ModelRegistry {
    const models = [{ id: "one", cost }, { id: "unknown" }, { id: "two", cost }];
    const providers = { acme: { baseUrl: "https://acme.example", api: "openai-completions", apiKey: "k", models } };
    const sources = {
      env: {},
      authFile: new Map(),
      runtimeKeys: new Map(),
      runCommand: () => Promise.reject(new Error()),
    };
    const registry = new ModelRegistry({ sources, file: readModelsFile({ providers }, "models.yml") });
    delete registry.find("acme", "unknown")?.cost;
    return registry;
  }

  function priced(model: string, budget: CreateAgentSessionOptions["budget"], settings = {}, steps: ScriptStep[] = []) {
    const modelRegistry = registryOf();
    const found = modelRegistry.find("acme", model);
    return open(steps, { modelRegistry, ...(found ? { model: found } : {}), ...(budget ? { budget } : {}) }, settings);
  }

  it("cannot be begun with", async () => {
    await expect(priced("unknown", { maxCost: 1 })).rejects.toThrow(new GalleyError("unknown_price", sentence));
    await expect(priced("unknown", undefined, { "budget.maxCost": 1 })).rejects.toMatchObject({
      code: "unknown_price",
    });
    const { session } = await priced("unknown", { maxTokens: 1 });
    expect(() => session.setBudget({ maxCost: 1 })).toThrow(sentence);
  });

  it("cannot be switched to", async () => {
    const { session } = await priced("one", { maxCost: 1 });
    expect(() => session.setModel("acme", "unknown")).toThrow(sentence);
    expect([session.cycleModel(), session.cycleModel()].map((next) => next?.model.id)).toEqual(["two", "one"]);
    session.setBudget({ maxCost: null });
    expect(session.setModel("acme", "unknown").id).toBe("unknown");
  });

  it("do not stand in for one that failed", async () => {
    const chain = { "retry.fallbackChains": { default: ["acme/unknown", "acme/two"] } };
    const { session, model, clock } = await priced("one", { maxCost: 1 }, chain, [fail("503"), say("here")]);
    passWaits({ session, clock });
    await session.prompt("go");
    expect(model.requests.map((request) => request.model.id)).toEqual(["one", "two"]);
  });
});

it("an option of the SDK that is no limit is refused", async () => {
  for (const budget of [{ maxTurns: 0 }, { maxCost: Number.NaN }, { maxTokens: 1.5 }, { maxTurn: 1 } as object])
    await expect(open([], { budget })).rejects.toMatchObject({ code: "invalid_argument" });
});
