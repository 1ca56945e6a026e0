// The order of events, exactly, for every kind of run. The notation: a letter pair per event, the role or the call
// behind it; `queue_update` and the closing `agent_settled` are left out.

import { describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.js";
import { Settings } from "../../src/config/settings/settings.js";
import type { AgentSessionEvent } from "../../src/protocol/events.js";
import { zeroUsage } from "../../src/provider/provider.js";
import { parseRule } from "../../src/session/rules/rule.js";
import { type OpenSession, openSession } from "../../src/testing/open-session.js";
import { call, calls, fail, gate, type ScriptStep, say, textBlock } from "../../src/testing/scripted-model.js";
import { type AnyTool, textResult } from "../../src/tools/tool.js";

function trace(events: readonly AgentSessionEvent[]): string {
  return events
    .map(short)
    .filter((word) => word !== undefined)
    .join(" ");
}

function short(event: AgentSessionEvent): string | undefined {
  switch (event.type) {
    case "message_start":
      return `ms:${role(event.message)}`;
    case "message_end":
      return `me:${role(event.message)}${"stopReason" in event.message ? `(${event.message.stopReason})` : ""}`;
    case "message_update":
      return `mu:${event.assistantMessageEvent.type}`;
    case "tool_execution_start":
      return `xs:${event.toolCallId}`;
    case "tool_execution_update":
      return `xu:${event.toolCallId}`;
    case "tool_execution_end":
      return `xe:${event.toolCallId}${event.isError ? "!" : ""}`;
    case "turn_start":
      return "ts";
    case "turn_end":
      return `te(${event.toolResults.map((result) => result.toolCallId).join(",")})`;
    case "agent_end":
      return `agent_end(${event.isTerminal ? "terminal" : event.continueReason})`;
    case "queue_update":
    case "agent_settled":
      return undefined;
    default:
      return event.type;
  }
}

function role(message: { role: string }): string {
  return { user: "U", assistant: "A", toolResult: "R" }[message.role] ?? message.role;
}

/** A tool that runs what the test hands it. */
function tool(name: string, work: AnyTool["execute"], more: Partial<AnyTool> = {}): AnyTool {
  return { name, label: name, description: name, parameters: { type: "object" }, execute: work, ...more };
}

const echo = (name: string, more: Partial<AnyTool> = {}) => tool(name, async () => textResult(`${name} done`), more);

function resultTexts(events: readonly AgentSessionEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== "message_end" || event.message.role !== "toolResult") return [];
    const block = event.message.content[0];
    return block?.type === "text" ? [block.text] : [];
  });
}

async function finish({ session, model }: OpenSession): Promise<void> {
  await session.waitForIdle();
  model.verify();
}

const answer = "ms:A mu:text_start mu:text_delta mu:text_end me:A(stop)";
const oneCall = "ms:A mu:toolcall_start mu:toolcall_delta mu:toolcall_end me:A(toolUse)";

describe("traces", () => {
  it("plain answer", async () => {
    const open = await openSession({ model: [say("Hel", "lo")] });
    await open.session.prompt("hi");
    await finish(open);
    expect(trace(open.events)).toBe(
      `agent_start ts ms:U me:U ms:A mu:text_start mu:text_delta mu:text_delta mu:text_end me:A(stop) te() agent_end(terminal)`,
    );
    expect(open.events.at(-1)).toEqual({ type: "agent_settled" });
    const end = open.events.find((event) => event.type === "agent_end");
    expect(end?.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
    expect(
      open.events.find((event) => event.type === "message_start" && event.message.role === "assistant"),
    ).toMatchObject({
      message: { content: [] },
    });
  });

  it("one tool call, with an update", async () => {
    const work = tool("work", async (_id, _params, _signal, onUpdate) => {
      onUpdate(textResult("half"));
      return textResult("whole");
    });
    const open = await openSession({ model: [call("work", {}), say("done")], tools: [work] });
    await open.session.prompt("go");
    await finish(open);
    expect(trace(open.events)).toBe(
      `agent_start ts ms:U me:U ${oneCall} xs:call_1 xu:call_1 xe:call_1 ms:R me:R te(call_1) ts ${answer} te() agent_end(terminal)`,
    );
  });

  it("two parallel calls, the second finishes first: ends by completion, results by call order", async () => {
    const second = gate();
    const slow = tool("slow", async () => {
      await second.reached;
      await Promise.resolve();
      return textResult("slow");
    });
    const quick = tool("quick", async () => {
      void second.wait();
      return textResult("quick");
    });
    const open = await openSession({
      model: [calls({ name: "slow", args: {}, id: "c1" }, { name: "quick", args: {}, id: "c2" }), say("done")],
      tools: [slow, quick],
    });
    await open.session.prompt("go");
    await finish(open);
    expect(trace(open.events)).toContain("xs:c1 xs:c2 xe:c2 xe:c1 ms:R me:R ms:R me:R te(c1,c2) ts");
    expect(resultTexts(open.events)).toEqual(["slow", "quick"]);
  });

  it("abort mid-stream, with partial text and a partial tool call", async () => {
    const stalled = gate();
    const step: ScriptStep = [
      { type: "start" },
      ...textBlock(0, ["I will"]),
      { type: "toolcall_start", contentIndex: 1, id: "c1", name: "work" },
      { type: "toolcall_delta", contentIndex: 1, delta: '{"path":"a' },
      stalled.wait,
    ];
    const open = await openSession({ model: [step], tools: [echo("work")] });
    const running = open.session.prompt("go");
    await stalled.reached;
    const before = open.events.length;
    await open.session.abort();
    await running;
    expect(trace(open.events.slice(before))).toBe("me:A(aborted) xs:c1 xe:c1! ms:R me:R te(c1) agent_end(terminal)");
    expect(
      open.events.find((event) => event.type === "message_end" && event.message.role === "assistant"),
    ).toMatchObject({
      message: { errorMessage: "Request was aborted", content: [{ text: "I will" }, { arguments: { path: "a" } }] },
    });
    expect(resultTexts(open.events)).toEqual(["Tool execution was aborted: Request was aborted"]);
    expect(open.session.isStreaming).toBe(false);
  });

  it("abort before anything streamed leaves an empty aborted message", async () => {
    const stalled = gate();
    const open = await openSession({ model: [[stalled.wait]] });
    const running = open.session.prompt("go");
    await stalled.reached;
    await open.session.abort();
    await running;
    expect(trace(open.events)).toBe("agent_start ts ms:U me:U ms:A me:A(aborted) te() agent_end(terminal)");
  });

  it("abort before agent_start: only agent_settled", async () => {
    const open = await openSession({ model: [] });
    const running = open.session.prompt("go");
    await open.session.abort();
    await running;
    expect(open.events).toEqual([{ type: "agent_settled" }]);
  });

  it("abort while a tool runs: no further model call", async () => {
    const started = gate();
    const work = tool("work", (_id, _params, signal) => {
      void started.wait();
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("stopped"))));
    });
    const open = await openSession({ model: [call("work", {})], tools: [work] });
    const running = open.session.prompt("go");
    await started.reached;
    await open.session.abort();
    await running;
    await finish(open);
    expect(trace(open.events)).toContain("me:A(toolUse) xs:call_1 xe:call_1! ms:R me:R te(call_1) agent_end(terminal)");
  });

  it("abort gives a tool that ignores its signal five seconds", async () => {
    const started = gate();
    const work = tool("work", () => {
      void started.wait();
      return new Promise(() => {});
    });
    const open = await openSession({ model: [call("work", {})], tools: [work] });
    const running = open.session.prompt("go");
    await started.reached;
    const aborting = open.session.abort();
    await Promise.resolve();
    open.clock.advance(4999);
    expect(open.session.isStreaming).toBe(true);
    open.clock.advance(1);
    await aborting;
    await running;
    expect(resultTexts(open.events)).toEqual(["Tool execution was aborted."]);
    expect(open.clock.pendingTimers).toBe(0);
  });

  describe("steer during c1 of three exclusive calls", () => {
    const script = () => [
      calls(
        { name: "first", args: {}, id: "c1" },
        { name: "next", args: {}, id: "c2" },
        { name: "next", args: {}, id: "c3" },
      ),
      say("ok"),
    ];
    const tools = (open: () => OpenSession) => [
      tool(
        "first",
        async () => {
          open().session.steer("wait!");
          return textResult("first done");
        },
        { concurrency: "exclusive" as const },
      ),
      echo("next", { concurrency: "exclusive" }),
    ];

    it("immediate: the rest is skipped", async () => {
      const open: OpenSession = await openSession({ model: script(), tools: tools(() => open) });
      open.session.interruptMode = "immediate";
      await open.session.prompt("go");
      await finish(open);
      expect(trace(open.events)).toContain(
        `xs:c1 xe:c1 ms:R me:R xs:c2 xe:c2! ms:R me:R xs:c3 xe:c3! ms:R me:R te(c1,c2,c3) ts ms:U me:U ${answer}`,
      );
      const skipped = "Skipped due to queued user message.";
      expect(resultTexts(open.events)).toEqual(["first done", skipped, skipped]);
    });

    it("wait: everything runs first", async () => {
      const open: OpenSession = await openSession({ model: script(), tools: tools(() => open) });
      await open.session.prompt("go");
      await finish(open);
      expect(trace(open.events)).toContain(
        `xs:c1 xe:c1 ms:R me:R xs:c2 xe:c2 ms:R me:R xs:c3 xe:c3 ms:R me:R te(c1,c2,c3) ts ms:U me:U ${answer}`,
      );
      expect(resultTexts(open.events)).toEqual(["first done", "next done", "next done"]);
    });
  });

  it("follow-up: one pair of agent_start and agent_end", async () => {
    const open: OpenSession = await openSession({
      model: [[() => open.session.followUp("and then?"), ...say("one")], say("two")],
    });
    await open.session.prompt("go");
    await finish(open);
    expect(trace(open.events)).toBe(
      `agent_start ts ms:U me:U ${answer} te() ts ms:U me:U ${answer} te() agent_end(terminal)`,
    );
  });

  it("an error after partial output ends the turn with its pairs closed", async () => {
    const open = await openSession({ model: [fail("400 bad request", { after: ["par"] })] });
    await open.session.prompt("go");
    await finish(open);
    expect(trace(open.events)).toBe(
      "agent_start ts ms:U me:U ms:A mu:text_start mu:text_delta mu:text_end me:A(error) te() agent_end(terminal)",
    );
  });

  it("an error before the first event still shows the message", async () => {
    const open = await openSession({ model: [fail("400 bad request")] });
    await open.session.prompt("go");
    expect(trace(open.events)).toBe("agent_start ts ms:U me:U ms:A me:A(error) te() agent_end(terminal)");
  });

  it("an error with tool calls in the message gives each its result", async () => {
    const step: ScriptStep = [
      ...call("work", {}).slice(0, -1),
      { type: "error", reason: "error", errorMessage: "boom" },
    ];
    const open = await openSession({ model: [step], tools: [echo("work")] });
    await open.session.prompt("go");
    expect(trace(open.events)).toContain("me:A(error) xs:call_1 xe:call_1! ms:R me:R te(call_1) agent_end(terminal)");
    expect(resultTexts(open.events)).toEqual(["Tool execution failed due to an error: boom"]);
  });

  it("a reply cut by the token limit executes nothing that was incomplete", async () => {
    const ran: unknown[] = [];
    const write = tool("save", async (_id, params) => {
      ran.push(params);
      return textResult("written");
    });
    const cut: ScriptStep = [
      { type: "start" },
      { type: "toolcall_start", contentIndex: 0, id: "c1", name: "save" },
      { type: "toolcall_delta", contentIndex: 0, delta: '{"path":"a","content":"whole"}' },
      { type: "toolcall_end", contentIndex: 0 },
      { type: "toolcall_start", contentIndex: 1, id: "c2", name: "save" },
      { type: "toolcall_delta", contentIndex: 1, delta: '{"path":"b","content":"ha' },
      { type: "toolcall_end", contentIndex: 1 },
      { type: "done", reason: "length", usage: usage },
    ];
    const open = await openSession({ model: [cut, say("ok")], tools: [write] });
    await open.session.prompt("go");
    await finish(open);
    expect(ran).toEqual([{ path: "a", content: "whole" }]);
    expect(resultTexts(open.events)).toEqual([
      "written",
      "Tool call was cut off before its arguments were complete. Retry with smaller arguments.",
    ]);
  });

  it("interleaved deltas of two calls give two intact calls", async () => {
    const seen: unknown[] = [];
    const work = tool("work", async (_id, params) => {
      seen.push(params);
      return textResult("ok");
    });
    const step: ScriptStep = [
      { type: "start" },
      { type: "toolcall_start", contentIndex: 0, id: "a", name: "work" },
      { type: "toolcall_start", contentIndex: 1, id: "b", name: "work" },
      { type: "toolcall_delta", contentIndex: 0, delta: '{"n":' },
      { type: "toolcall_delta", contentIndex: 1, delta: '{"n":' },
      { type: "toolcall_delta", contentIndex: 0, delta: "1}" },
      { type: "toolcall_delta", contentIndex: 1, delta: "2}" },
      { type: "toolcall_end", contentIndex: 0 },
      { type: "toolcall_end", contentIndex: 1 },
      { type: "done", reason: "toolUse", usage: usage },
    ];
    const open = await openSession({ model: [step, say("ok")], tools: [work] });
    await open.session.prompt("go");
    await finish(open);
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe("traces of recovery", () => {
  const busy = { kind: "overloaded", status: 529 } as const;
  const noJitter = { random: () => 0.5 };

  /** Lets a run come to its wait, then moves the clock over it. */
  async function passWait({ clock, events }: OpenSession, ms: number): Promise<void> {
    await expect.poll(() => events.at(-1)?.type).toBe("auto_retry_start");
    clock.advance(ms);
  }

  it("provider error, then success", async () => {
    const open = await openSession({ model: [fail("overloaded", { failure: busy }), say("ok")], session: noJitter });
    const running = open.session.prompt("go");
    await passWait(open, 2000);
    await running;
    await finish(open);
    expect(trace(open.events)).toBe(
      `agent_start ts ms:U me:U ms:A me:A(error) te() agent_end(retry) auto_retry_start agent_start ts ${answer} auto_retry_end te() agent_end(terminal)`,
    );
    expect(open.events.filter((event) => event.type.startsWith("auto_retry"))).toEqual([
      { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "overloaded" },
      { type: "auto_retry_end", success: true, attempt: 1 },
    ]);
    expect(open.session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(open.model.requests[1]?.context.messages.map(({ role }) => role)).toEqual(["user"]);
  });

  it("an error after partial tool calls leaves no made-up result behind", async () => {
    const torn: ScriptStep = [
      ...call("work", {}).slice(0, -1),
      { type: "error", reason: "error", errorMessage: "reset", failure: { kind: "network" } },
    ];
    const open = await openSession({ model: [torn, say("ok")], tools: [echo("work")], session: noJitter });
    const running = open.session.prompt("go");
    await passWait(open, 2000);
    await running;
    expect(open.model.requests[1]?.context.messages.map(({ role }) => role)).toEqual(["user"]);
  });

  it("exhausted: the series closes after the last agent_end", async () => {
    const open = await openSession({
      model: [fail("overloaded", { failure: busy }), fail("overloaded", { failure: busy })],
      session: { ...noJitter, settings: new Settings({ overrides: new Map([["retry.maxRetries", 1]]) }) },
    });
    const running = open.session.prompt("go");
    await passWait(open, 2000);
    await running;
    await finish(open);
    expect(trace(open.events)).toMatch(/agent_end\(retry\) auto_retry_start .* agent_end\(terminal\) auto_retry_end$/);
    expect(open.events.at(-2)).toEqual({
      type: "auto_retry_end",
      success: false,
      attempt: 1,
      finalError: "overloaded",
    });
  });

  it("cancelled while it waits: no further agent_end, and the error stays", async () => {
    const open = await openSession({ model: [fail("overloaded", { failure: busy })], session: noJitter });
    const running = open.session.prompt("go");
    await expect.poll(() => open.session.isRetrying).toBe(true);
    await expect.poll(() => open.events.at(-1)?.type).toBe("auto_retry_start");
    await open.session.abortRetry();
    await running;
    expect(trace(open.events)).toMatch(/agent_end\(retry\) auto_retry_start auto_retry_end$/);
    expect(open.events.at(-2)).toMatchObject({ success: false, finalError: "Retry cancelled" });
    expect(open.session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(open.clock.pendingTimers).toBe(0);
  });

  it("overflow: compaction, then the run goes on", async () => {
    const open = await openSession({
      model: [
        say("x".repeat(200_000)),
        fail("prompt is too long: 210000 tokens > 200000 maximum", { failure: { kind: "overflow" } }),
        say("summary of it all"),
        say("ok"),
      ],
    });
    await open.session.prompt("first");
    const before = open.events.length;
    await open.session.prompt("second");
    await finish(open);
    expect(trace(open.events.slice(before))).toBe(
      `agent_start ts ms:U me:U ms:A me:A(error) te() agent_end(overflow) auto_compaction_start auto_compaction_end agent_start ts ${answer} te() agent_end(terminal)`,
    );
    const [start, end] = open.events.filter((event) => event.type.startsWith("auto_compaction"));
    expect(start).toEqual({ type: "auto_compaction_start", reason: "overflow", action: "context-full" });
    expect(end).toMatchObject({
      aborted: false,
      willRetry: true,
      result: { summary: expect.stringContaining("summary") },
    });
    expect(open.session.messages[0]).toMatchObject({ role: "compactionSummary" });
  });

  it("overflow that cannot be cured: one recovery, then the error stands", async () => {
    const tooLong = fail("prompt is too long", { failure: { kind: "overflow" } });
    const open = await openSession({
      model: [say("x".repeat(200_000)), tooLong, say("summary"), tooLong],
    });
    await open.session.prompt("first");
    const before = open.events.length;
    await open.session.prompt("second");
    await finish(open);
    expect(trace(open.events.slice(before))).toMatch(
      /agent_end\(terminal\) auto_compaction_start auto_compaction_end$/,
    );
    expect(open.events.at(-2)).toMatchObject({
      willRetry: false,
      errorMessage: expect.stringContaining("Context overflow recovery failed: "),
    });
  });

  it("threshold: after a good run the context is compacted, and the agent asked to go on", async () => {
    const overrides = new Map([
      ["compaction.thresholdTokens", 12_000],
      ["compaction.keepRecentTokens", 3200],
    ] as const);
    const open = await openSession({
      model: [say("x".repeat(40_000)), say("y".repeat(12_000)), say("summary"), say("done")],
      session: { settings: new Settings({ overrides }) },
    });
    await open.session.prompt("go");
    const before = open.events.length;
    await open.session.prompt("more ".repeat(400));
    await finish(open);
    expect(trace(open.events.slice(before))).toBe(
      `agent_start ts ms:U me:U ${answer} te() agent_end(auto_continue) auto_compaction_start auto_compaction_end agent_start ts ms:developer me:developer ${answer} te() agent_end(terminal)`,
    );
    expect(open.events.find((event) => event.type === "auto_compaction_start")).toMatchObject({ reason: "threshold" });
  });
});

describe("stream rules", () => {
  async function ruled(model: ScriptStep[], more = ""): Promise<OpenSession> {
    const head = `condition: ': any\\b'\nscope: text\n${more}`;
    const parsed = await parseRule({ path: "/rules/no-any.md", text: `---\n${head}---\nDo not use any.` }, silentLog);
    if (parsed?.kind !== "stream") throw new Error("not a stream rule");
    const session = { loadRules: async () => [parsed.rule], random: () => 0.5 };
    return openSession({ model, tools: [echo("work")], session });
  }

  it("a match that does not interrupt outlasts a later turn that fails: first the retry, then the rule", async () => {
    const broken: ScriptStep = [
      { type: "start" },
      ...textBlock(0, ["let x: any"]),
      { type: "toolcall_start", contentIndex: 1, id: "c1", name: "work" },
      { type: "toolcall_delta", contentIndex: 1, delta: "{}" },
      { type: "toolcall_end", contentIndex: 1 },
      { type: "done", reason: "toolUse", usage: zeroUsage },
    ];
    const busy = fail("overloaded", { failure: { kind: "overloaded", status: 529 } });
    const open = await ruled([broken, busy, say("fine"), say("noticed")], "interruptMode: never\n");
    const running = open.session.prompt("go");
    await expect.poll(() => open.events.at(-1)?.type).toBe("auto_retry_start");
    open.clock.advance(2000);
    await running;
    await finish(open);
    const ends = open.events.filter((event) => event.type === "agent_end");
    expect(ends.map((event) => event.continueReason)).toEqual(["retry", "ttsr", undefined]);
    expect(open.session.messages.filter(({ role }) => role === "custom")).toHaveLength(1);
  });

  it("a match stops the reply, takes it off the path, tells the rule and goes on", async () => {
    const broken: ScriptStep = [{ type: "start" }, ...textBlock(0, ["let x: a", "ny = 1", " and more"]).slice(0, -1)];
    const open = await ruled([broken, say("let x = 1"), say("y: any, again")]);
    await open.session.prompt("go");
    expect(trace(open.events)).toBe(
      `agent_start ts ms:U me:U ms:A mu:text_start mu:text_delta mu:text_delta ttsr_triggered me:A(aborted) te() agent_end(ttsr) agent_start ts ms:custom me:custom ${answer} te() agent_end(terminal)`,
    );
    expect(open.events.find((event) => event.type === "ttsr_triggered")).toMatchObject({ rules: [{ name: "no-any" }] });
    expect(open.session.messages.map(({ role }) => role)).toEqual(["user", "custom", "assistant"]);
    expect(JSON.stringify(open.model.requests[1]?.context.messages)).toContain("Do not use any.");
    await open.session.prompt("more"); // told once, a rule keeps quiet
    await finish(open);
    expect(open.session.messages).toHaveLength(5);
  });
});

describe("tool choice in a session", () => {
  const named = { type: "tool", name: "work" };

  it("an abort while the forced tool runs brings the choice back; a finished turn uses it up", async () => {
    const started = gate();
    let isSlow = true;
    const work = tool("work", (_id, _params, signal) => {
      if (!isSlow) return Promise.resolve(textResult("done"));
      void started.wait();
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("stopped"))));
    });
    const open = await openSession({ model: [call("work", {}), call("work", {}), say("ok")], tools: [work] });
    open.session.setForcedToolChoice("work");
    const running = open.session.prompt("go");
    await started.reached;
    await open.session.abort();
    await running;
    isSlow = false;
    await open.session.prompt("again");
    await finish(open);
    expect(open.model.requests.map(({ options }) => options.toolChoice)).toEqual([named, named, "none"]);
  });

  it("is refused for a tool that is not active", async () => {
    const { session } = await openSession();
    expect(() => session.setForcedToolChoice("nope")).toThrow('Tool "nope" is not currently active.');
  });
});

describe("a slow reader", () => {
  it("of a chatty tool gets the newest progress only, and every end", async () => {
    const chatty = tool("chatty", async (_id, _params, _signal, onUpdate) => {
      for (let step = 1; step <= 1000; step++) onUpdate(textResult(`step ${step}`));
      await new Promise((resolve) => setImmediate(resolve));
      return textResult("done");
    });
    const open = await openSession({ model: [call("chatty", {}), say("ok")], tools: [chatty] });
    open.session.subscribe(() => new Promise((resolve) => setImmediate(resolve)));
    await open.session.prompt("go");
    await finish(open);
    const updates = open.events.filter((event) => event.type === "tool_execution_update");
    expect(updates.length).toBeLessThan(5);
    expect(resultTexts(open.events)).toEqual(["done"]);
  });
});

const usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
