// What a session does about a conversation that no longer fits its model: however the service tells, whatever is
// switched meanwhile, and never at the price of a tool that ran.

import { describe, expect, it } from "vitest";
import type { AgentSessionEvent } from "../../../src/protocol/events.js";
import { ModelRegistry } from "../../../src/provider/models/model-registry.js";
import { readModelsFile } from "../../../src/provider/models/models-file.js";
import { type OpenSession, openSession, scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, fail, type ScriptStep, say, textBlock, usageOf } from "../../../src/testing/scripted-model.js";
import { type AnyTool, textResult } from "../../../src/tools/tool.js";

const other = { ...scriptedProviderModel, id: "other" };
const modelRegistry = new ModelRegistry({
  sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: async () => "" },
  file: readModelsFile({ providers: {} }, "models.yml"),
});
modelRegistry.addDiscovered([scriptedProviderModel, other]);

/** A good reply to a prompt that the service counted as larger than the window. */
const cut = (text: string): ScriptStep => [
  { type: "start" },
  ...textBlock(0, [text]),
  { type: "done", reason: "stop", usage: usageOf(200_001, 5) },
];
const tooLong = fail("prompt is too long", { failure: { kind: "overflow" } });

/** More than is kept of a conversation. */
const long = "four".repeat(25_000);

async function thirdPrompt(steps: ScriptStep[], tools: AnyTool[] = []): Promise<OpenSession> {
  const open = await openSession({
    model: [say("one"), say("two"), ...steps],
    tools,
    session: { modelRegistry },
  });
  await open.session.prompt(long);
  await open.session.prompt(long);
  open.events.length = 0;
  await open.session.prompt("go on");
  open.model.verify();
  return open;
}

const ends = (events: readonly AgentSessionEvent[]) =>
  events.flatMap((event) => (event.type === "agent_end" ? [event.isTerminal ? "terminal" : event.continueReason] : []));
const compactions = (events: readonly AgentSessionEvent[]) =>
  events.filter((event) => event.type.startsWith("auto_compaction"));
const texts = ({ session }: OpenSession) =>
  session.messages.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) : [],
  );

describe("a good reply whose prompt was counted above the window", () => {
  it("is asked for again, after a compaction", async () => {
    const open = await thirdPrompt([cut("half the truth"), say("summary"), say("all of it")]);
    expect(ends(open.events)).toEqual(["overflow", "terminal"]);
    expect(compactions(open.events)).toMatchObject([{ reason: "overflow" }, { willRetry: true }]);
    expect(texts(open)).toEqual(["two", "all of it"]);
    expect(open.session.messages.map(({ role }) => role)).toEqual([
      "compactionSummary",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(open.model.requests.at(-1)?.context.messages.at(-1)).toMatchObject({ role: "user" });
  });

  it("stands when it happens again: one recovery for each prompt", async () => {
    const open = await thirdPrompt([cut("half"), say("summary"), cut("half again")]);
    expect(ends(open.events)).toEqual(["overflow", "terminal"]);
    expect(compactions(open.events).at(-1)).toMatchObject({
      willRetry: false,
      errorMessage: expect.stringContaining("Context overflow recovery failed: "),
    });
    expect(texts(open)).toEqual(["two", "half again"]);
  });

  it("stands when no summary can be had", async () => {
    const refused = fail("no", { failure: { kind: "auth" } });
    const open = await thirdPrompt([cut("half"), refused]);
    expect(compactions(open.events).at(-1)).toMatchObject({ errorMessage: "Context overflow recovery failed: no" });
    expect(texts(open)).toEqual(["one", "two", "half"]);
  });

  it("is not asked for again when its tools have run", async () => {
    let runs = 0;
    const last: AnyTool = {
      name: "last",
      label: "Last",
      description: "ends the run",
      parameters: { type: "object" },
      execute: async () => ({ ...textResult(`run ${++runs}`), terminate: true }),
    };
    const [done, ...rest] = call("last", {}).reverse();
    if (typeof done !== "object" || done.type !== "done") throw new Error("no end");
    const above = [...rest.reverse(), { ...done, usage: usageOf(200_001, 5) }];
    const open = await thirdPrompt([above, say("summary"), say("more")], [last]);
    expect(runs).toBe(1);
    expect(ends(open.events)).toEqual(["auto_continue", "terminal"]);
  });
});

describe("another model chosen while a run overflows", () => {
  it("does not hide the overflow; the next run is the other model's", async () => {
    const open: OpenSession = await openSession({
      model: [
        say("one"),
        say("two"),
        [() => void open.session.setModel("test", "other"), ...tooLong],
        say("summary"),
        say("ok"),
      ],
      session: { modelRegistry },
    });
    await open.session.prompt(long);
    await open.session.prompt(long);
    await open.session.prompt("go on");
    open.model.verify();
    expect(ends(open.events)).toEqual(["terminal", "terminal", "overflow", "terminal"]);
    expect(open.model.requests.map(({ model }) => model.id)).toEqual(["script", "script", "script", "other", "other"]);
    expect(texts(open)).toEqual(["two", "ok"]);
  });

  it("counts from the next run on, a retry included", async () => {
    const open: OpenSession = await openSession({
      model: [
        [() => void open.session.setModel("test", "other"), ...fail("reset", { failure: { kind: "network" } })],
        say("ok"),
      ],
      session: { modelRegistry },
    });
    const running = open.session.prompt("go");
    await expect.poll(() => open.events.at(-1)?.type).toBe("auto_retry_start");
    open.clock.advance(2000);
    await running;
    expect(open.model.requests.map(({ model }) => model.id)).toEqual(["script", "other"]);
  });
});
