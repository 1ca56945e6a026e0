// Another model takes over where one is overloaded: through whole sessions, since what counts is what hosts hear, which
// model is asked, and what a later process finds.

import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { Settings } from "../config/settings/settings.js";
import type { ProviderFailure } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import { ModelRegistry } from "../provider/models/model-registry.js";
import { readModelsFile } from "../provider/models/models-file.js";
import type { ProviderModel } from "../provider/provider.js";
import { openRecord } from "../record/open-record.js";
import type { CreateAgentSessionOptions } from "../sdk/index.js";
import { type OpenSession, openSession } from "../testing/open-session.js";
import { fail, gate, type ScriptStep, say, usageOf } from "../testing/scripted-model.js";

const folder = temporaryDirectory();

function registryOf(): ModelRegistry {
  const thinks = { reasoning: true };
  const providers = {
    acme: {
      baseUrl: "https://acme.example",
      api: "openai-completions",
      apiKey: "k",
      models: [
        { id: "one", ...thinks },
        { id: "two", ...thinks },
        { id: "plain" },
        { id: "small", contextWindow: 9000 },
      ],
    },
    rival: { baseUrl: "https://rival.example", api: "openai-completions", apiKey: "k", models: [{ id: "a:free" }] },
  };
  return new ModelRegistry({
    sources: {
      env: {},
      authFile: new Map(),
      runtimeKeys: new Map(),
      runCommand: () => Promise.reject(new Error("no")),
    },
    file: readModelsFile({ providers }, "models.yml"),
  });
}

interface Stage {
  chain?: readonly string[];
  settings?: Record<string, unknown>;
  level?: ThinkingLevel;
  session?: CreateAgentSessionOptions;
}

/** `acme/one` is the user's choice. */
async function open(model: ScriptStep[], { chain = ["acme/two"], settings = {}, level, session }: Stage = {}) {
  const warnings: string[] = [];
  const registry = registryOf();
  const opened = await openSession({
    model,
    session: {
      modelRegistry: registry,
      model: registry.find("acme", "one") as ProviderModel,
      thinkingLevel: level ?? "off",
      settings: new Settings({
        overrides: new Map(Object.entries({ "retry.fallbackChains": { default: chain }, ...settings })) as never,
      }),
      log: {
        warn: (text) => void (text.startsWith("retry.") && warnings.push(text)),
        error: (text) => void warnings.push(text),
      },
      ...session,
    },
  });
  return { ...opened, warnings };
}

const overloaded = fail("overloaded", { failure: { kind: "overloaded", status: 529 } });
const limited = (retryAfterMs: number) =>
  fail("slow down", { failure: { kind: "rate_limit", status: 429, retryAfterMs } satisfies ProviderFailure });

/** What hosts hear of retries and fallbacks, and where the runs and turns are. */
function told({ events }: OpenSession): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "auto_retry_start":
        return [`retry ${event.attempt} in ${event.delayMs}`];
      case "auto_retry_end":
        return [`${event.success ? "good" : `lost: ${event.finalError}`} ${event.attempt}`];
      case "retry_fallback_applied":
        return [`${event.role}: ${event.from} -> ${event.to}`];
      case "retry_fallback_succeeded":
        return [`${event.role}: ${event.model} succeeded`];
      case "message_end":
        return event.message.role === "assistant" ? [`reply ${event.message.stopReason}`] : [];
      case "agent_start":
      case "turn_end":
      case "agent_end":
      case "agent_settled":
        return [event.type];
      default:
        return [];
    }
  });
}

const asked = ({ model }: OpenSession) => model.requests.map(({ model: { provider, id } }) => `${provider}/${id}`);

/** Prompts, and lets each wait between attempts pass. */
async function prompt(opened: OpenSession, text = "go"): Promise<void> {
  const running = opened.session.prompt(text);
  let isDone = false;
  void running.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    if (opened.events.at(-1)?.type === "auto_retry_start") opened.clock.advance(nextDelay(opened));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await running;
}

function nextDelay({ events }: OpenSession): number {
  const last = events.at(-1);
  return last?.type === "auto_retry_start" ? last.delayMs : 0;
}

const minute = 60_000;

describe("a model that is overloaded", () => {
  it("is replaced by the next model of its chain, with events in order", async () => {
    const opened = await open([overloaded, say("hi")]);
    await prompt(opened);
    opened.model.verify();
    expect(asked(opened)).toEqual(["acme/one", "acme/two"]);
    expect(told(opened)).toEqual([
      ...["agent_start", "reply error", "turn_end", "agent_end"],
      "retry 1 in 2000",
      "default: acme/one:off -> acme/two:off",
      ...["agent_start", "reply stop", "good 1", "default: acme/two:off succeeded", "turn_end", "agent_end"],
      "agent_settled",
    ]);
    expect(opened.session.model?.id).toBe("one");
  });

  it("is not waited for: what it asks for is its own matter, even beyond what retry.maxDelayMs allows", async () => {
    const opened = await open([limited(30_000), limited(900_000), say("hi")], { chain: ["acme/two", "acme/plain"] });
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one", "acme/two", "acme/plain"]);
    expect(told(opened).filter((line) => line.startsWith("retry"))).toEqual(["retry 1 in 2000", "retry 2 in 2000"]);
    const failures = opened.events.flatMap((event) => (event.type === "auto_retry_start" ? [event.errorMessage] : []));
    expect(failures).toEqual(["slow down", "slow down"]); // no word of a wait that nobody waits
  });

  it("goes on with the last of the chain as usual, within the attempts there are", async () => {
    const opened = await open([overloaded, overloaded, limited(7000), overloaded]);
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one", "acme/two", "acme/two", "acme/two"]);
    expect(told(opened).filter((line) => /retry|lost|acme|settled/.test(line))).toEqual([
      "retry 1 in 2000",
      "default: acme/one:off -> acme/two:off",
      "retry 2 in 4000",
      "retry 3 in 8000",
      "lost: overloaded 3",
      "agent_settled",
    ]);
  });

  it("tells of the success that came only with another attempt, once", async () => {
    const opened = await open([overloaded, overloaded, say("hi"), say("more")]);
    await prompt(opened);
    await prompt(opened);
    expect(told(opened).filter((line) => /good|succeeded/.test(line))).toEqual([
      "good 2",
      "default: acme/two:off succeeded",
    ]);
  });

  it.each<[string, Record<string, unknown>]>([
    ["there are no attempts", { "retry.maxRetries": 0 }],
    ["retrying is off", { "retry.enabled": false }],
  ])("is not stood in for when %s", async (_, settings) => {
    const opened = await open([overloaded], { settings });
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one"]);
    expect(told(opened)).toEqual(["agent_start", "reply error", "turn_end", "agent_end", "agent_settled"]);
  });

  it("and one that refuses for good is not", async () => {
    const opened = await open([fail("bad key", { failure: { kind: "auth", status: 401 } })]);
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one"]);
  });
});

describe("the chain", () => {
  it("skips models that cannot be used, each reported once, and the model that failed", async () => {
    const chain = ["acme/missing", "nonsense", "acme/one", "rival/a:free"];
    const opened = await open([overloaded, say("hi"), overloaded, say("hi")], { chain });
    await prompt(opened);
    opened.clock.advance(minute);
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one", "rival/a:free", "acme/one", "rival/a:free"]);
    expect(opened.warnings).toEqual([
      "retry.fallbackChains.default: acme/missing cannot be used now",
      "retry.fallbackChains.default: nonsense cannot be used now",
    ]);
  });

  it("may name a level; else the session's counts as far as the model has it", async () => {
    const chain = ["acme/two:low", "acme/plain"];
    const opened = await open([overloaded, overloaded, say("hi")], { chain, level: "high" });
    await prompt(opened);
    expect(opened.model.requests.map(({ options }) => options.reasoning)).toEqual(["high", "low", undefined]);
    expect(told(opened).filter((line) => line.includes("acme"))).toEqual([
      "default: acme/one:high -> acme/two:low",
      "default: acme/two:low -> acme/plain",
      "default: acme/plain succeeded",
    ]);
    expect(opened.session.thinkingLevel).toBe("high");
  });

  it("of another role counts while the session uses that role's model", async () => {
    const settings = {
      modelRoles: { slow: "acme/two" },
      "retry.fallbackChains": { default: ["acme/plain"], slow: ["rival/a:free"], fast: ["acme/plain"] },
    };
    const opened = await open([overloaded, say("hi"), overloaded, say("hi")], { settings });
    await prompt(opened);
    opened.session.setModel("acme", "two");
    await prompt(opened);
    expect(told(opened).filter((line) => line.includes("->"))).toEqual([
      "default: acme/one:off -> acme/plain",
      "slow: acme/two:off -> rival/a:free",
    ]);
    expect(opened.warnings).toEqual([
      'retry.fallbackChains.fast: no model has this role; the conversation\'s is "default"',
    ]);
  });
});

describe("the fallback model", () => {
  it("is asked first while the other one cools down, by its own word or for a minute", async () => {
    const opened = await open([limited(90_000), say("1"), say("2"), overloaded, say("3"), say("4"), say("5")]);
    await prompt(opened);
    opened.clock.advance(90_000 - 2000 - 1);
    await prompt(opened);
    expect(asked(opened).slice(2)).toEqual(["acme/two"]);
    opened.clock.advance(1);
    await prompt(opened);
    expect(asked(opened).slice(3)).toEqual(["acme/one", "acme/two"]);
    opened.clock.advance(minute - 2001);
    await prompt(opened);
    opened.clock.advance(1);
    await prompt(opened);
    expect(asked(opened).slice(5)).toEqual(["acme/two", "acme/one"]);
  });

  it("stays when it is told to, until a model is chosen", async () => {
    const settings = { "retry.fallbackRevertPolicy": "never" };
    const opened = await open([overloaded, say("1"), say("2"), say("3")], { settings });
    await prompt(opened);
    opened.clock.advance(1000 * minute);
    await prompt(opened);
    opened.session.setModel("acme", "one");
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one", "acme/two", "acme/two", "acme/one"]);
  });

  it("is not asked first when it never answered", async () => {
    const opened = await open([overloaded, overloaded, say("1")], { settings: { "retry.maxRetries": 1 } });
    await prompt(opened);
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one", "acme/two", "acme/one"]);
  });

  it("is itself replaced when it fails, and returns while the first choice cools down", async () => {
    const opened = await open([overloaded, say("1"), overloaded, overloaded, say("2")], {
      chain: ["acme/two", "acme/plain"],
      settings: { "retry.maxRetries": 1 },
    });
    for (const text of ["a", "b", "c"]) await prompt(opened, text);
    expect(asked(opened)).toEqual(["acme/one", "acme/two", "acme/two", "acme/plain", "acme/two"]);
  });

  it("stays for the rest of the same prompt, even after the time is over", async () => {
    const queue = gate();
    const opened = await open([overloaded, [queue.wait, ...say("1")], say("2")]);
    const running = prompt(opened);
    await queue.reached;
    opened.clock.advance(minute);
    await opened.session.followUp("and then?");
    queue.open();
    await running;
    expect(asked(opened)).toEqual(["acme/one", "acme/two", "acme/two"]);
  });

  it("gives way to a choice that is made while the retry waits, or while it answers", async () => {
    const opened = await open([overloaded, say("1"), say("2")]);
    const running = opened.session.prompt("go");
    await expect.poll(() => opened.events.at(-1)?.type).toBe("auto_retry_start");
    opened.session.setModel("acme", "plain");
    opened.clock.advance(2000);
    await running;
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one", "acme/plain", "acme/plain"]);
    expect(told(opened).some((line) => line.includes("->"))).toBe(false);

    const answering = gate();
    const second = await open([overloaded, [answering.wait, ...say("1")], say("2")]);
    const started = prompt(second);
    await answering.reached;
    second.session.setModel("acme", "one");
    answering.open();
    await started;
    await prompt(second);
    expect(asked(second)).toEqual(["acme/one", "acme/two", "acme/one"]);
  });

  it("does not come in place of a model that was chosen while another one failed", async () => {
    const failing = gate();
    const opened = await open([[failing.wait, ...overloaded], say("1")]);
    const running = prompt(opened);
    await failing.reached;
    opened.session.setModel("acme", "plain");
    failing.open();
    await running;
    expect(asked(opened)).toEqual(["acme/one", "acme/plain"]);
    expect(told(opened).some((line) => line.includes("->"))).toBe(false);
  });

  it("is not applied when the wait is cancelled", async () => {
    const opened = await open([overloaded, say("2")]);
    const running = opened.session.prompt("go");
    await expect.poll(() => opened.events.at(-1)?.type).toBe("auto_retry_start");
    await opened.session.abort();
    await running;
    expect(told(opened).slice(-3)).toEqual(["retry 1 in 2000", "lost: Retry cancelled 1", "agent_settled"]);
    await prompt(opened);
    expect(asked(opened)).toEqual(["acme/one", "acme/one"]);
  });

  it("gets a context that fits it", async () => {
    const long = say("x".repeat(60_000));
    const full = [...long.slice(0, -1), { type: "done", reason: "stop", usage: usageOf(1000, 15_000) }] as ScriptStep;
    const tooLong = fail("prompt is too long", { failure: { kind: "overflow" } });
    const opened = await open([full, overloaded, tooLong, say("summary"), say("hi")], {
      chain: ["acme/small"],
      settings: { "compaction.keepRecentTokens": 100, "compaction.reserveTokens": 1000 },
    });
    await prompt(opened);
    await prompt(opened);
    opened.model.verify();
    expect(asked(opened)).toEqual(["acme/one", "acme/one", "acme/small", "acme/small", "acme/small"]);
    expect(told(opened).slice(-8)).toEqual([
      ...["agent_end", "lost: prompt is too long 1", "agent_start", "reply stop"],
      ...["default: acme/small succeeded", "turn_end", "agent_end", "agent_settled"],
    ]);
  });
});

describe("the record", () => {
  it("keeps the user's choice: who resumes has the model that was chosen, also after the session was branched", async () => {
    const opened = await open([overloaded, say("1"), say("2"), say("3")], {
      session: { persist: true, agentDir: folder, sessionDir: folder, cwd: folder },
    });
    await prompt(opened, "first");
    await prompt(opened, "second");
    const path = opened.session.sessionFile as string;
    const read = async () => {
      const record = await openRecord(path, { cwd: folder, agentDir: folder });
      const models = [...record.context.models];
      const changes = record.context.path.filter(({ type }) => type === "model_change").length;
      await record.close();
      return { models, changes };
    };
    const [first] = opened.session.getUserMessagesForBranching();
    await opened.session.navigateTree(first?.entryId as string);
    await prompt(opened, "instead");
    expect(asked(opened)).toEqual(["acme/one", "acme/two", "acme/two", "acme/two"]);
    await opened.session.dispose();
    expect(await read()).toEqual({ models: [["default", "acme/one"]], changes: 1 });
  });
});
