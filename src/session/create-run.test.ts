import { describe, expect, it } from "vitest";
import { fakeTool, userMessage } from "../loop/run.test-kit.js";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
import { zeroUsage } from "../provider/provider.js";
import { type OpenSessionOptions, openSession, scriptedProviderModel } from "../testing/open-session.js";
import { textResult } from "../tools/tool.js";
import { createRun, type RunOptions } from "./create-run.js";
import type { SessionInternals } from "./session-internals.js";

async function setUp(options: OpenSessionOptions = {}, run: Partial<RunOptions> = {}) {
  const open = await openSession(options);
  const { internals } = open.session as unknown as { internals: SessionInternals };
  const abort = new AbortController();
  const recorded = userMessage("recorded before");
  const decideEnd = () => ({ isTerminal: true }) as const;
  const context = createRun(internals, {
    model: scriptedProviderModel,
    signal: abort.signal,
    decideEnd,
    recorded,
    ...run,
  });
  return { ...open, internals, context, recorded, abort };
}

const call = { type: "toolCall", id: "c1", name: "touch", arguments: {} } as const;
const touch = fakeTool("touch", async () => textResult("touched"), { approval: "exec" });
const closure = { kind: "closure", apply: () => textResult("applied") } as const;

function reply(stopReason: AssistantMessage["stopReason"]): AssistantMessage {
  const { api, provider, id: model } = scriptedProviderModel;
  return { role: "assistant", content: [], api, provider, model, usage: zeroUsage, stopReason, timestamp: 0 };
}

function result(toolCallId: string): AgentMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "touch",
    content: [],
    isError: false,
    isWarning: false,
    timestamp: 0,
  };
}

it("works with the session's own parts, and with the model, signal and verdict that it is given", async () => {
  const { context, internals, abort, session } = await setUp();
  const { events, queues, toolChoice } = internals;
  expect(context).toMatchObject({ events, queues, toolChoice, model: scriptedProviderModel, signal: abort.signal });
  expect(context.graceClock).toBe(internals.driver.graceClock);
  expect(context.toolContext).toEqual({ cwd: session.cwd });
  expect(context.decideEnd(undefined as never)).toEqual({ isTerminal: true });
});

describe("append", () => {
  it("puts a message on record, but not one that is there already", async () => {
    const { context, session, recorded } = await setUp();
    context.append(userMessage("new"));
    context.append(recorded);
    expect(session.messages).toEqual([userMessage("new")]);
  });

  it("tells a pending action which entry holds the result of its call", async () => {
    const { context, session, internals } = await setUp();
    const id = session.stagePendingAction({ label: "A", sourceToolName: "touch", toolCallId: "c1", work: closure });
    context.append(result("another"));
    expect(internals.pending.store.get(id)?.action.entryId).toBeUndefined();
    context.append(result("c1"));
    expect(internals.pending.store.get(id)?.action.entryId).toBe(session.sessionManager.tree.leafId);
  });
});

describe("the gate before a tool", () => {
  it("asks the policy, and the driver remembers whether the last call was refused", async () => {
    const verdicts = [{ block: "not today" }, undefined];
    const { context, internals } = await setUp({ session: { approve: async () => verdicts.shift() } });
    const gate = () => context.hooks.beforeToolCall?.(touch, call, {}, context.signal);
    expect(await gate()).toEqual({ block: "not today" });
    expect(internals.driver.wasDenied).toBe(true);
    expect(await gate()).toBeUndefined();
    expect(internals.driver.wasDenied).toBe(false);
  });
});

describe("the tools that a model is offered", () => {
  const names = (context: Awaited<ReturnType<typeof setUp>>["context"]) => context.tools().map(({ name }) => name);

  it("hold resolve only while something may be staged or is pending", async () => {
    const { context, session } = await setUp({ session: { toolNames: ["read"] } });
    expect(names(context)).toEqual(["read"]);
    session.stagePendingAction({ label: "A", sourceToolName: "touch", work: closure });
    expect(names(context)).toEqual(["read", "resolve"]);
    const staging = await setUp({ session: { toolNames: ["ast_edit"] } });
    expect(names(staging.context)).toEqual(["ast_edit", "resolve"]);
  });

  it("are those that are active now, not those of the beginning", async () => {
    const { context, session } = await setUp({ session: { toolNames: ["read", "grep"] } });
    session.setActiveToolsByName(["grep"]);
    expect(names(context)).toEqual(["grep"]);
  });
});

describe("what a model call is told", () => {
  it("is the record as it is now, and the system prompt of the tools that are active", async () => {
    const { context, session } = await setUp({ session: { toolNames: ["read"] } });
    expect(context.modelMessages()).toEqual([]);
    context.append(userMessage("hello"));
    expect(context.modelMessages()).toMatchObject([{ role: "user" }]);
    expect(context.systemPrompt()).toBe(session.systemPrompt);
  });

  it("is not revised where no extension wants that", async () => {
    const { context } = await setUp();
    expect(context.reviseMessages?.()).toBeUndefined();
  });
});

describe("a reply", () => {
  it("that is good ends the series of retries, one that failed does not", async () => {
    const { context, internals } = await setUp();
    const ended: string[] = [];
    internals.retry.onSuccess = () => void ended.push("retry");
    internals.fallback.onSuccess = () => void ended.push("fallback");
    context.replied(reply("error"));
    context.replied(reply("aborted"));
    expect(ended).toEqual([]);
    context.replied(reply("stop"));
    expect(ended).toEqual(["retry", "fallback"]);
  });

  it("is not watched where there are no stream rules", async () => {
    const { context } = await setUp();
    expect(context.watch).toBeUndefined();
  });
});
