import { describe, expect, it } from "vitest";
import { quiet } from "../loop/run.test-kit.js";
import { openSession, scriptedProviderModel } from "../testing/open-session.js";
import { call, fail, gate, say } from "../testing/scripted-model.js";
import { type AnyTool, textResult } from "../tools/tool.js";

const echo: AnyTool = {
  name: "echo",
  label: "Echo",
  description: "Says it again.",
  parameters: { type: "object" },
  execute: async () => textResult("echoed"),
};

const closure = { kind: "closure", apply: () => textResult("applied") } as const;

describe("a prompt", () => {
  it("is over when it resolves: on record, settled and idle", async () => {
    const { session, events, model } = await openSession({ model: [say("Hello.")] });
    await session.prompt("hi");
    expect(session.messages).toMatchObject([
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [{ type: "text", text: "Hello." }] },
    ]);
    expect(events.at(-1)).toEqual({ type: "agent_settled" });
    expect(session.isStreaming).toBe(false);
    model.verify();
  });

  it("is refused while another runs, unless it says where it waits", async () => {
    const door = gate();
    const { session, model } = await openSession({ model: [[door.wait, ...say("One.")], say("Two.")] });
    const first = session.prompt("first");
    await door.reached;
    await expect(session.prompt("second")).rejects.toMatchObject({ code: "busy" });
    await session.prompt("third", { streamingBehavior: "followUp" });
    door.open();
    await first;
    const asked = session.messages.filter(({ role }) => role === "user");
    expect(asked).toMatchObject([{ content: [{ text: "first" }] }, { content: [{ text: "third" }] }]);
    model.verify();
  });

  it("as the user's own words is not expanded", async () => {
    const { session } = await openSession({
      model: [say("Yes.")],
      session: { promptTemplates: [{ name: "fix", description: "", content: "Fix it." }] },
    });
    await session.sendUserMessage("/fix");
    expect(session.messages[0]).toMatchObject({ content: [{ type: "text", text: "/fix" }] });
  });
});

it("abort stops the run, waits for it, and leaves what is queued", async () => {
  const door = gate();
  const { session, events } = await openSession({
    model: [[{ type: "start" }, door.wait, ...say("Too late.").slice(1)]],
  });
  const run = session.prompt("go");
  await door.reached;
  await session.followUp("afterwards");
  await session.abort();
  expect(session.isStreaming).toBe(false);
  await run;
  expect(events.at(-1)).toEqual({ type: "agent_settled" });
  expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted" });
  expect(session.clearQueue()).toEqual({ steering: [], followUp: ["afterwards"] });
  expect(session.clearQueue()).toEqual({ steering: [], followUp: [] });
  door.open();
});

describe("a forced tool choice", () => {
  it("holds for the next request, and the one after it may call none", async () => {
    const { session, model } = await openSession({ model: [call("echo", {}), say("Done.")], tools: [echo] });
    session.setForcedToolChoice("echo");
    await session.prompt("go");
    expect(model.requests.map(({ options }) => options.toolChoice)).toEqual([{ type: "tool", name: "echo" }, "none"]);
  });

  it("is refused for a tool that is not active, and for a model that knows no choice", async () => {
    const { session } = await openSession();
    expect(() => session.setForcedToolChoice("echo")).toThrow('Tool "echo" is not currently active.');
    const compat = { supportsToolChoice: false };
    const weak = await openSession({ tools: [echo], session: { model: { ...scriptedProviderModel, compat } } });
    expect(() => weak.session.setForcedToolChoice("echo")).toThrow(
      "Current model does not support forcing a specific tool.",
    );
  });
});

it("what was staged is seen with its figures and decided by the host", async () => {
  const { session, events } = await openSession();
  const id = session.stagePendingAction({ label: "Rename", sourceToolName: "tool", work: closure });
  expect(await session.getPendingActions()).toMatchObject([{ id, label: "Rename", status: "pending" }]);
  const { text } = await session.resolvePendingAction({ pendingId: id, action: "apply", by: "host", reason: "fine" });
  expect(text).toContain("applied");
  expect(await session.getPendingActions()).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "pending_action_resolved", id, outcome: "applied" });
});

it("a subscriber receives events until it unsubscribes", async () => {
  const { session } = await openSession({ model: [say("One."), say("Two.")] });
  const heard: string[] = [];
  const unsubscribe = session.subscribe(({ type }) => void heard.push(type));
  await session.prompt("first");
  const count = heard.length;
  expect(heard.at(-1)).toBe("agent_settled");
  unsubscribe();
  await session.prompt("second");
  expect(heard).toHaveLength(count);
});

it("abortRetry ends the wait before a retry; asked twice it waits for the same end", async () => {
  const failure = { kind: "overloaded" } as const;
  const { session, events } = await openSession({ model: [fail("overloaded", { failure })] });
  const run = session.prompt("go");
  while (!events.some(({ type }) => type === "auto_retry_start")) await quiet();
  await Promise.all([session.abortRetry(), session.abortRetry()]);
  await run;
  expect(session.isStreaming).toBe(false);
  expect(events.at(-1)).toEqual({ type: "agent_settled" });
  await session.abortRetry(); // nothing waits: a success
});

it("a new session has an empty record and the tools and model of the old one", async () => {
  const { session } = await openSession({ model: [say("Hello.")], tools: [echo] });
  await session.prompt("hi");
  const { sessionId, model } = session;
  const tools = session.tools.map(({ name }) => name);
  expect(await session.newSession()).toBe(true);
  expect(session.sessionId).not.toBe(sessionId);
  expect(session.messages).toEqual([]);
  expect([session.model, session.tools.map(({ name }) => name)]).toEqual([model, tools]);
});

it("after dispose no prompt is taken in", async () => {
  const { session, events } = await openSession();
  await session.dispose();
  await expect(session.prompt("hi")).rejects.toMatchObject({ code: "aborted" });
  expect(events.filter(({ type }) => type === "agent_start")).toEqual([]);
});
