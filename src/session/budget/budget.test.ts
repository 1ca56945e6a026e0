import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GalleyError } from "../../base/errors.js";
import type { Usage } from "../../protocol/messages.js";
import { type ProviderModel, type StreamEvent, type StreamRequest, zeroUsage } from "../../provider/provider.js";
import { scriptedProviderModel } from "../../testing/open-session.js";
import { fail, type ScriptStep, say, scriptedModel } from "../../testing/scripted-model.js";
import { collect, streamRequest } from "../../testing/scripted-replies.js";
import { Budget, type BudgetExceeded, type BudgetLimits } from "./budget.js";

const cost = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
const priced: ProviderModel = { ...scriptedProviderModel, cost };
const unpriced: ProviderModel = { ...scriptedProviderModel, id: "unknown" };
delete unpriced.cost;

function reply(usage: Partial<Usage>, dollars = 0): ScriptStep {
  const whole = { ...zeroUsage, ...usage, cost: { ...zeroUsage.cost, total: dollars } };
  return [{ type: "start" }, { type: "done", reason: "stop", usage: whole }];
}

function open(limits: BudgetLimits, steps: readonly ScriptStep[] = []) {
  const budget = new Budget(limits);
  const told: BudgetExceeded[] = [];
  const session = { id: "s1" };
  budget.attach({ emit: (event) => told.push(event), sessionId: () => session.id });
  const model = scriptedModel(steps);
  const stream = budget.meter(model.stream);
  const ask = (request: StreamRequest = streamRequest(priced)) => collect(stream(request));
  const kindOf = async (request?: StreamRequest) => {
    const last = (await ask(request)).at(-1) as Extract<StreamEvent, { type: "error" }>;
    return last.type === "error" ? last.failure?.kind : last.type;
  };
  return { budget, told, session, model, stream, ask, kindOf };
}

describe("the limits", () => {
  it("turns: the call after the last one is not made, and told once", async () => {
    const { budget, told, model, kindOf } = open({ maxTurns: 2 }, [say("a"), fail("503")]);
    await kindOf();
    await kindOf();
    expect(budget.isUsedUp).toBe(true);
    expect(told).toEqual([]);
    expect(await kindOf()).toBe("limit");
    expect(await kindOf()).toBe("limit");
    expect(told).toEqual([{ type: "budget_exceeded", kind: "turns", limit: 2, used: 2 }]);
    expect(budget.mayAsk()).toMatchObject({ errorMessage: "Stopped: the limit of 2 model calls is used up." });
    expect(model.requests).toHaveLength(2);
  });

  it("tokens of every kind, dollars as they were billed", async () => {
    const usage = { input: 100, output: 20, cacheRead: 3000, cacheWrite: 400 };
    const { budget, told, ask, kindOf } = open({ maxCost: 0.08, maxTokens: 1e6 }, [reply(usage, 0.09)]);
    await ask();
    expect(budget.state).toEqual({ maxCost: 0.08, maxTokens: 1e6, used: { cost: 0.09, turns: 1, tokens: 3520 } });
    expect(await kindOf()).toBe("limit");
    expect(told).toEqual([{ type: "budget_exceeded", kind: "cost", limit: 0.08, used: 0.09 }]);
    expect(budget.mayAsk()?.errorMessage).toBe("Stopped: the limit of $0.08 is used up ($0.09 spent).");
  });

  it("a reply without dollars is priced", async () => {
    const { budget, ask } = open({}, [reply({ input: 1e6, output: 1e5 })]);
    await ask();
    expect(budget.state.used).toEqual({ cost: 3, turns: 1, tokens: 1_100_000 });
  });

  it("lower the output that a request asks for, and refuse one that does not fit", async () => {
    const context = { systemPrompt: "x".repeat(3998), messages: [], tools: [] }; // 1000 tokens
    const { model, told, ask, kindOf, budget } = open({ maxTokens: 2000 }, [
      reply({ input: 800 }),
      reply({ input: 200 }),
    ]);
    const asked = (options = {}) => streamRequest(priced, options, context);
    await ask(asked());
    expect(model.requests[0]?.options).toMatchObject({ maxTokens: 1000, outputLimit: 1000 });
    expect(await kindOf(asked())).toBe("limit");
    expect(told).toEqual([{ type: "budget_exceeded", kind: "tokens", limit: 2000, used: 800 }]);
    budget.change({ maxTokens: 100_000 }, priced);
    await ask(asked({ maxTokens: 500 }));
    // What was asked for stays, and what a provider may raise it to is known.
    expect(model.requests[1]?.options).toMatchObject({ maxTokens: 500, outputLimit: 98_200 });
  });

  it("a service that counts more tokens than estimated is believed", async () => {
    const context = { systemPrompt: "x".repeat(3998), messages: [], tools: [] };
    const { model, ask } = open({ maxTokens: 10_000 }, [reply({ input: 2000 }), reply({ input: 2000 })]);
    await ask(streamRequest(priced, {}, context));
    await ask(streamRequest(priced, {}, context));
    expect(model.requests.map(({ options }) => options.maxTokens)).toEqual([9000, 6000]);
  });
});

describe("what is not reported", () => {
  const context = { systemPrompt: "x".repeat(3998), messages: [], tools: [] };

  it("is estimated where a limit depends on it", async () => {
    const { budget, ask } = open({ maxTokens: 10_000 }, [say("y".repeat(400))]);
    await ask(streamRequest(priced, {}, context));
    expect(budget.state.used).toEqual({ cost: 0.003, turns: 1, tokens: 1100 });
  });

  it("and is not where none does", async () => {
    const { budget, ask } = open({ maxTurns: 5 }, [say("y".repeat(400))]);
    await ask(streamRequest(priced, {}, context));
    expect(budget.state.used).toEqual({ cost: 0, turns: 1, tokens: 0 });
  });

  it("a failure before the first word costs nothing, one behind it what was received", async () => {
    const { budget, ask } = open({ maxTokens: 10_000 }, [fail("503"), fail("cut", { after: ["y".repeat(40)] })]);
    await ask(streamRequest(priced, {}, context));
    expect(budget.state.used.tokens).toBe(0);
    await ask(streamRequest(priced, {}, context));
    expect(budget.state.used).toMatchObject({ turns: 2, tokens: 1010 });
  });

  it("a reply that is left is counted at once, though its service says nothing more", async () => {
    const { budget, stream } = open({ maxTokens: 10_000 }, [
      [
        { type: "start", usage: { ...zeroUsage, input: 900 } },
        ...say("y".repeat(40)).slice(1, 3),
        () => new Promise(() => {}),
      ],
    ]);
    const events = stream(streamRequest(priced, {}, context))[Symbol.asyncIterator]();
    for (let step = 0; step < 3; step++) await events.next();
    void events.next();
    void events.return?.();
    expect(budget.state.used.tokens).toBe(910);
  });
});

describe("an unknown price", () => {
  const sentence =
    "The price of test/unknown is not known, so --max-cost cannot hold. Use --max-tokens, or give its cost in models.yml.";

  it("keeps a model from being asked while dollars are limited", async () => {
    const { budget, ask, model, told } = open({ maxCost: 1 });
    expect(budget.problemWith(unpriced)).toMatchObject({ code: "unknown_price", message: sentence });
    expect(budget.problemWith(scriptedProviderModel)).toBeUndefined();
    expect(await ask(streamRequest(unpriced))).toMatchObject([{ errorMessage: sentence }]);
    expect([model.requests, told]).toEqual([[], []]);
    expect(open({ maxTokens: 1 }).budget.problemWith(unpriced)).toBeUndefined();
  });

  it("keeps dollars from being limited", () => {
    const { budget } = open({ maxTurns: 3 });
    expect(() => budget.change({ maxCost: 1, maxTurns: null }, unpriced)).toThrow(GalleyError);
    expect(budget.state).toMatchObject({ maxTurns: 3 });
    expect(budget.change({ maxTurns: null }, unpriced)).toEqual({ used: { cost: 0, turns: 0, tokens: 0 } });
  });
});

describe("sessions", () => {
  it("have their own counts; a copy shares that of its original", async () => {
    const { budget, session, kindOf, told } = open({ maxTurns: 1 }, [say("a"), say("b")]);
    await kindOf();
    session.id = "s2";
    expect(budget.state.used.turns).toBe(0);
    await kindOf();
    budget.share("s1", "copy");
    session.id = "copy";
    expect(await kindOf()).toBe("limit");
    expect(told).toHaveLength(1);
    session.id = "s1";
    expect(await kindOf()).toBe("limit");
    expect(told).toHaveLength(1);
  });

  it("hear of a limit again when it was set again", async () => {
    const { budget, told, kindOf } = open({ maxTurns: 1 }, [say("a"), say("b")]);
    await kindOf();
    await kindOf();
    budget.change({ maxTurns: 2 }, priced);
    expect(await kindOf()).toBe("done");
    await kindOf();
    expect(told.map(({ limit, used }) => [limit, used])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });
});

describe("whatever services report", () => {
  const count = fc.oneof(fc.integer({ min: -5, max: 5000 }), fc.constantFrom(NaN, Infinity, -1, 1e12));
  const usage = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count });
  const events = fc.record({
    first: fc.option(usage, { nil: undefined }),
    text: fc.string({ maxLength: 300 }),
    last: fc.option(fc.tuple(usage, count), { nil: undefined }),
    end: fc.constantFrom("done", "error", "cut", "left"),
  });
  const limits = fc.record(
    {
      maxCost: fc.double({ min: 0.0001, max: 0.05, noNaN: true }),
      maxTurns: fc.integer({ min: 1, max: 12 }),
      maxTokens: fc.integer({ min: 1, max: 20_000 }),
    },
    { requiredKeys: [] },
  );
  type Case = typeof events extends fc.Arbitrary<infer T> ? T : never;

  function scripted({ first, text, last, end }: Case): ScriptStep {
    const withUsage = ([counts, dollars]: readonly [Partial<Usage>, number]) => ({
      usage: { ...zeroUsage, ...counts, cost: { ...zeroUsage.cost, total: dollars } },
    });
    const whole = last ? withUsage(last) : { usage: zeroUsage };
    return [
      { type: "start", ...(first ? withUsage([first, 0]) : {}) },
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: text },
      ...(end === "done" ? [{ type: "done", reason: "stop", ...whole } as const] : []),
      ...(end === "error" ? [{ type: "error", reason: "error", errorMessage: "503", ...whole } as const] : []),
    ];
  }

  it("what is used is never counted down, and no request is sent at or over a limit", async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(events, { maxLength: 15 }), async (given, replies) => {
        const { budget, told, model, stream } = open(given, replies.map(scripted));
        const isReached = () => {
          const { used, maxCost = Infinity, maxTurns = Infinity, maxTokens = Infinity } = budget.state;
          return used.cost >= maxCost || used.turns >= maxTurns || used.tokens >= maxTokens;
        };
        let before = budget.state.used;
        const checkGrowth = () => {
          const { used } = budget.state;
          for (const kind of ["cost", "turns", "tokens"] as const) {
            expect(used[kind]).toBeGreaterThanOrEqual(before[kind]);
            expect(Number.isFinite(used[kind])).toBe(true);
          }
          before = used;
        };
        for (const { end } of replies) {
          const wasReached = isReached();
          const sent = model.requests.length;
          const iterator = stream(streamRequest(priced))[Symbol.asyncIterator]();
          for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
            checkGrowth();
            if (step.value.type === "text_delta" && end === "left") void (await iterator.return?.());
          }
          checkGrowth();
          if (wasReached) expect(model.requests).toHaveLength(sent);
          expect(budget.state.used.turns).toBe(model.requests.length);
        }
        expect(new Set(told.map(({ kind }) => kind)).size).toBe(told.length);
      }),
    );
  });
});
