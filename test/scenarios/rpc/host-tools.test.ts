// Tools that live in the host, through the server: registration, calls, and every way in which a call can end.

import { describe, expect, it } from "vitest";
import type { ExtensionAPI } from "../../../src/sdk/index.js";
import type { OpenSessionOptions } from "../../../src/testing/open-session.js";
import { call, calls, gate, say } from "../../../src/testing/scripted-model.js";
import { answeringHost } from "../../kit/answering-host.js";

const parameters = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };
const echo = { name: "echo", description: "Echo", parameters };
const content = (text: string) => [{ type: "text", text }];
const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };

async function lend(options: OpenSessionOptions & { hasUI?: boolean }, tools: object[] = [echo]) {
  const host = await answeringHost(options);
  const answer = await host.ask({ type: "set_host_tools", tools });
  expect(answer).toMatchObject({ success: true });
  return host;
}

const begin = async (host: Awaited<ReturnType<typeof lend>>) => {
  host.tell({ id: "p", type: "prompt", message: "Go" });
  return host.next({ type: "host_tool_call" });
};

describe("registration", () => {
  it("counts as a whole or not at all, and the set before goes on working", async () => {
    const host = await lend({ model: [call("echo", { message: "hi" }), say("Done.")] });
    for (const [tools, error] of [
      ["echo", "Invalid set_host_tools: tools must be an array"],
      [[echo, echo], "RPC host tool names must be unique"],
      [
        [
          { ...echo, name: "other" },
          { ...echo, name: "read" },
        ],
        'RPC host tool "read" conflicts with an existing tool',
      ],
      [[{ ...echo, name: "resolve" }], 'RPC host tool "resolve" conflicts with an existing tool'],
      [[{ ...echo, description: " " }], 'Host tool "echo" must provide a non-empty description'],
    ] as const)
      expect(await host.ask({ type: "set_host_tools", tools })).toMatchObject({
        command: "set_host_tools",
        success: false,
        error,
      });
    const { id } = await begin(host);
    host.tell({ type: "host_tool_result", id, result: { content: content("hi") } });
    await host.next({ type: "agent_settled" });
    expect(host.results()).toEqual(["hi"]);
    expect(await host.close()).toBe(0);
  });

  it("keeps names as they are; prompt and dumpTools follow; hidden ones are there and not offered", async () => {
    const host = await lend({}, [
      { ...echo, name: "Echo", label: "Echoes" },
      { ...echo, name: "secret", hidden: true },
    ]);
    const stateOf = async () =>
      (await host.ask({ type: "get_state" })).data as { dumpTools: object[]; systemPrompt: string };
    const state = await stateOf();
    expect(state.dumpTools).toContainEqual({ name: "Echo", description: "Echo", parameters });
    expect(state.dumpTools).not.toContainEqual(expect.objectContaining({ name: "secret" }));
    expect(state.systemPrompt).toContain("Echo");
    expect(host.open.session.getAllToolNames()).toContain("secret");
    await host.ask({ type: "set_host_tools", tools: [] });
    const after = await stateOf();
    expect(after.dumpTools).not.toContainEqual(expect.objectContaining({ name: "Echo" }));
    expect(after.systemPrompt).not.toContain("Echo");
    expect(host.open.session.getAllToolNames()).not.toContain("secret");
    await host.close();
  });

  it("a tool that is kept stays switched as it was, and a change of session leaves all of them", async () => {
    const host = await lend({}, [echo, { ...echo, name: "hidden", hidden: true }]);
    const { session } = host.open;
    session.setActiveToolsByName(["read", "hidden"]);
    await host.ask({
      type: "set_host_tools",
      tools: [echo, { ...echo, name: "hidden", hidden: true }, { ...echo, name: "new" }],
    });
    expect(session.getActiveToolNames()).toEqual(["read", "hidden", "new"]);
    expect(await host.ask({ type: "new_session" })).toMatchObject({ data: { cancelled: false } });
    expect(session.getActiveToolNames()).toEqual(["read", "hidden", "new"]);
    await host.close();
  });

  it("counts for the next model call of a run that is under way", async () => {
    const here = gate();
    const host = await answeringHost({
      model: [[here.wait, ...call("ls", {}, "c1")], call("echo", { message: "x" }, "c2"), say("Done.")],
    });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    await here.reached;
    await host.ask({ type: "set_host_tools", tools: [echo] });
    here.open();
    const { id } = await host.next({ type: "host_tool_call", toolCallId: "c2" });
    host.tell({ type: "host_tool_result", id, result: { content: content("late guest") } });
    await host.next({ type: "agent_settled" });
    expect(host.results().at(-1)).toBe("late guest");
    await host.close();
  });

  it("a call that a reply makes after its tool was taken back finds none, and one that is open runs to its end", async () => {
    const here = gate();
    const host = await lend({
      model: [call("echo", { message: "1" }, "c1"), [here.wait, ...call("echo", { message: "2" }, "c2")], say("Done.")],
    });
    const { id } = await begin(host);
    await host.ask({ type: "set_host_tools", tools: [{ ...echo, name: "other" }] });
    host.tell({ type: "host_tool_result", id, result: { content: content("first") } });
    await here.reached;
    here.open();
    await host.next({ type: "agent_settled" });
    expect(host.results()).toEqual(["first", "Tool echo not found"]);
    await host.close();

    const offered = gate();
    const other = await lend({ model: [[offered.wait, ...call("echo", { message: "1" })], say("Done.")] });
    other.tell({ id: "p", type: "prompt", message: "Go" });
    await offered.reached;
    await other.ask({ type: "set_host_tools", tools: [] });
    offered.open();
    await other.next({ type: "agent_settled" });
    expect(other.results()).toEqual(["Tool echo not found"]);
    expect(other.frames.some(({ type }) => type === "host_tool_call")).toBe(false);
    await other.close();
  });
});

describe("a call", () => {
  it("comes after its announcement; updates and the result are told in order", async () => {
    const host = await lend({ model: [call("echo", { message: "hi" }, "call_9"), say("Done.")] });
    const frame = await begin(host);
    expect(frame).toEqual({
      type: "host_tool_call",
      id: "host_1",
      toolCallId: "call_9",
      toolName: "echo",
      arguments: { message: "hi" },
    });
    host.tell(
      { type: "host_tool_update", id: "host_1", partialResult: { content: content("half") } },
      { type: "host_tool_result", id: "host_1", result: { content: content("whole"), details: { n: 1 } } },
      { type: "host_tool_update", id: "host_1", partialResult: { content: content("too late") } },
      { type: "host_tool_result", id: "host_1", result: { content: content("twice") } },
    );
    await host.next({ type: "agent_settled" });
    const about = host.frames.filter(
      ({ toolCallId, message }) => toolCallId === "call_9" || (message as { role?: string })?.role === "toolResult",
    );
    expect(about.map(({ type }) => type)).toEqual([
      "tool_execution_start",
      "host_tool_call",
      "tool_execution_update",
      "tool_execution_end",
      "message_start",
      "message_end",
    ]);
    expect(about[2]).toMatchObject({ partialResult: { content: content("half") } });
    expect(about[3]).toMatchObject({ result: { content: content("whole"), details: { n: 1 } }, isError: false });
    await host.close();
  });

  it("comes after its announcement, even where a slow extension holds the events up", async () => {
    const slow = gate();
    const extension = (pi: ExtensionAPI) => pi.on("tool_execution_start", () => slow.wait());
    const host = await lend({
      model: [
        calls({ name: "ls", args: {}, id: "c0" }, { name: "echo", args: { message: "hi" }, id: "c1" }),
        say("Done."),
      ],
      session: { extensions: [extension] },
    });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    await slow.reached;
    // The announcement of the second call waits behind the first one's; a command still is answered.
    await host.ask({ type: "get_last_assistant_text" });
    expect(host.frames.some(({ type }) => type === "host_tool_call")).toBe(false);
    slow.open();
    const { id } = await host.next({ type: "host_tool_call" });
    const types = host.frames.filter(({ toolCallId }) => toolCallId === "c1").map(({ type }) => type);
    expect(types).toEqual(["tool_execution_start", "host_tool_call"]);
    host.tell({ type: "host_tool_result", id, result: { content: [] } });
    await host.next({ type: "agent_settled" });
    await host.close();
  });

  it("with arguments that do not fit is not made", async () => {
    const host = await lend({ model: [call("echo", { message: [] }), say("Done.")] });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    await host.next({ type: "agent_settled" });
    expect(host.results()[0]).toContain("message");
    expect(host.frames.some(({ type }) => type === "host_tool_call")).toBe(false);
    await host.close();
  });

  it("several are open at once and end in any order", async () => {
    const list = ["a", "b", "c"].map((message, index) => ({ name: "echo", args: { message }, id: `c${index}` }));
    const host = await lend({ model: [calls(...list), say("Done.")] });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const open = [];
    for (let count = 0; count < 3; count++) open.push(await host.next({ type: "host_tool_call" }));
    expect(new Set(open.map(({ id }) => id)).size).toBe(3);
    for (const { id, arguments: args } of open.reverse())
      host.tell({ type: "host_tool_result", id, result: { content: content((args as { message: string }).message) } });
    await host.next({ type: "agent_settled" });
    expect(host.results()).toEqual(["a", "b", "c"]);
    await host.close();
  });

  it.each([
    [
      "text",
      { result: { content: content("no such row"), details: { row: 7 } }, isError: true },
      content("no such row"),
      { row: 7 },
    ],
    [
      "only an image",
      { result: { content: [image] }, isError: true },
      [image, ...content("Host tool execution failed")],
      undefined,
    ],
    ["nothing", { result: { content: [] }, isError: true }, content("Host tool execution failed"), undefined],
    [
      "a text block without a text",
      { result: { content: [{ type: "text" }] }, isError: true },
      content("Host tool execution failed"),
      undefined,
    ],
    ["a failure inside the result", { result: { content: content("no"), isError: true } }, content("no"), undefined],
  ])("that failed with %s is a tool error with all that the host gave", async (_, answer, shown, details) => {
    const host = await lend({ model: [call("echo", { message: "hi" }), say("Done.")] });
    const { id } = await begin(host);
    host.tell({ type: "host_tool_result", id, ...answer });
    expect(await host.next({ type: "tool_execution_end" })).toMatchObject({
      isError: true,
      result: { content: shown, ...(details ? { details } : {}) },
    });
    await host.next({ type: "agent_settled" });
    expect(host.open.session.messages.at(-2)).toMatchObject({ role: "toolResult", isError: true, content: shown });
    await host.close();
  });

  it.each([
    {},
    { result: null },
    { result: "done" },
    { result: { content: "done" } },
    { result: { text: "done" }, isError: true },
  ])("that is answered with %j fails instead of waiting for ever", async (answer) => {
    const host = await lend({ model: [call("echo", { message: "hi" }), say("Done.")] });
    const { id } = await begin(host);
    host.tell(
      { type: "host_tool_update", id, partialResult: {} },
      { type: "host_tool_result", result: { content: [] } },
    );
    host.tell({ type: "host_tool_result", id, ...answer });
    await host.next({ type: "agent_settled" });
    expect(host.results()).toEqual(['Host tool "echo" returned a malformed result']);
    await host.close();
  });

  it("takes no names into its details that reach a prototype", async () => {
    const host = await lend({ model: [call("echo", { message: "hi" }), say("Done.")] });
    const { id } = await begin(host);
    host.send(
      `{"type":"host_tool_result","id":"${id}","result":{"content":[],"details":{"__proto__":{"bad":1},"n":1}}}`,
    );
    await host.next({ type: "agent_settled" });
    const result = host.open.session.messages.at(-2) as { details: object };
    expect(Object.keys(result.details)).toEqual(["n"]);
    await host.close();
  });

  it("that is aborted is taken back once, and the model is not asked again", async () => {
    const host = await lend({ model: [call("echo", { message: "hi" })] });
    const { id } = await begin(host);
    host.tell({ id: "a", type: "abort" });
    expect(await host.next({ type: "host_tool_cancel" })).toEqual({
      type: "host_tool_cancel",
      id: "host_cancel_1",
      targetId: id,
    });
    host.tell({ type: "host_tool_result", id, result: { content: content("too late") } });
    expect(await host.next({ type: "tool_execution_end" })).toMatchObject({
      isError: true,
      result: { content: content('Host tool "echo" was aborted'), details: {} },
    });
    await host.next({ type: "response", id: "a" });
    expect(host.frames.map(({ type }) => type).slice(-6)).toEqual([
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
      "agent_settled",
      "response",
    ]);
    host.open.model.verify();
    await host.close();
  });

  it("that steering cuts short is taken back, and says so", async () => {
    const list = ["a", "b"].map((message) => ({ name: "echo", args: { message }, id: message }));
    const host = await lend({ model: [calls(...list), say("Done.")] });
    await host.ask({ type: "set_interrupt_mode", mode: "immediate" });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const first = await host.next({ type: "host_tool_call" });
    const second = await host.next({ type: "host_tool_call" });
    await host.ask({ type: "steer", message: "Stop that" });
    host.tell({ type: "host_tool_result", id: first.id, result: { content: content("a") } });
    expect(await host.next({ type: "host_tool_cancel" })).toMatchObject({ targetId: second.id });
    await host.next({ type: "agent_settled" });
    expect(host.results()).toEqual(["a", "Interrupted by queued user message."]);
    await host.close();
  });

  it("that takes longer than the host allowed is taken back", async () => {
    const host = await lend({ model: [call("echo", { message: "hi" }), say("Done.")] }, [{ ...echo, timeoutMs: 2500 }]);
    const { id } = await begin(host);
    host.open.clock.advance(2499);
    await host.ask({ type: "get_last_assistant_text" });
    expect(host.results()).toEqual([]);
    host.open.clock.advance(1);
    expect(await host.next({ type: "host_tool_cancel" })).toMatchObject({ targetId: id });
    host.tell({ type: "host_tool_result", id, result: { content: content("too late") } });
    await host.next({ type: "agent_settled" });
    expect(host.results()).toEqual(['Host tool "echo" timed out after 2500 ms']);
    expect(host.open.clock.pendingTimers).toBe(0);
    await host.close();
  });

  it("ends with the input, as the run does, and the model is not asked again", async () => {
    const host = await lend({ model: [call("echo", { message: "hi" })] });
    await begin(host);
    expect(await host.close()).toBe(0);
    expect(host.results()).toEqual(["RPC client disconnected before host tool execution completed"]);
    expect(host.frames.map(({ type }) => type).slice(-2)).toEqual(["agent_end", "agent_settled"]);
    host.open.model.verify();
  });
});

describe("policy", () => {
  it("hooks block and revise a call of a host's tool, and rewrite its result, as they do any other", async () => {
    const seen: unknown[] = [];
    const extension = (pi: ExtensionAPI) => {
      pi.on("tool_call", ({ toolName, input }) => {
        seen.push(toolName, input);
        if (input.message === "bad") return { block: true, reason: "Not that." };
        return { input: { message: "revised" } };
      });
      pi.on("tool_result", ({ isError }) => ({
        content: [{ type: "text", text: `seen ${isError}` }],
        isError: !isError,
      }));
    };
    const host = await lend({
      model: [
        call("echo", { message: "bad" }, "c1"),
        call("echo", { message: "good" }, "c2"),
        call("echo", { message: "x" }, "c3"),
        say("Done."),
      ],
      session: { extensions: [extension] },
    });
    const first = await begin(host);
    expect(first).toMatchObject({ toolCallId: "c2", arguments: { message: "revised" } });
    host.tell({ type: "host_tool_result", id: first.id, result: { content: content("fine") } });
    const second = await host.next({ type: "host_tool_call" });
    host.tell({ type: "host_tool_result", id: second.id, result: { content: content("broken") }, isError: true });
    await host.next({ type: "agent_settled" });
    const results = host.open.session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    expect(results.map(({ isError }) => isError)).toEqual([true, true, false]);
    expect(host.results()).toEqual(["Not that.", "seen false", "seen true"]);
    await host.close();
  });
});
