// What the client makes of frames that come by themselves: events, chunks, host tool calls, dialogs, and nonsense.

import { describe, expect, it } from "vitest";
import { isAgentEvent } from "../../../src/client/agent-events.js";
import type { HostTool, RpcError } from "../../../src/client/index.js";
import { OutboundFrame } from "../../../src/protocol/frames.js";
import { type FakeScript, logOf, startFake } from "../../kit/client-rig.js";

const answered = { id: "$id", type: "response", command: "abort", success: true };
/** An agent that writes these frames when it is asked to abort, then answers. */
const writes = (...steps: Record<string, unknown>[]): FakeScript => ({
  rules: [{ on: "abort", do: [...steps, answered] }],
});
const text = (value: string) => [{ type: "text", text: value }];
const call = (id: string, toolName: string, params: object = {}) => ({
  type: "host_tool_call",
  id,
  toolCallId: `call_${id}`,
  toolName,
  arguments: params,
});

describe("listeners", () => {
  it("receive everything, one type, or unknown frames; one that throws does not affect the others", async () => {
    const known = { type: "todo_auto_clear" };
    const unknown = { type: "weather_update", degrees: 21 };
    const failure = { type: "extension_error", extensionPath: "e.ts", event: "input", error: "boom" };
    const client = await startFake(writes(known, unknown, failure));
    const heard: unknown[] = [];
    const problems: RpcError[] = [];
    client.onProtocolError((error) => problems.push(error));
    client.onEvent(() => {
      throw new Error("my fault");
    });
    client.on("todo_auto_clear", async () => {
      throw new Error("mine too");
    });
    client.onEvent((event) => heard.push(["event", event.type]));
    client.on("todo_auto_clear", (event) => heard.push(["one", event.type]));
    client.onUnknown((frame) => heard.push(["unknown", frame.degrees]));
    client.onExtensionError(({ error }) => heard.push(["error", error]));
    const stopListening = client.onFrame((frame) => heard.push(["frame", frame.type]));
    await client.abort();
    expect(heard).toEqual([
      ["frame", "todo_auto_clear"],
      ["event", "todo_auto_clear"],
      ["one", "todo_auto_clear"],
      ["frame", "weather_update"],
      ["unknown", 21],
      ["frame", "extension_error"],
      ["event", "extension_error"],
      ["error", "boom"],
    ]);
    expect(problems.map(({ kind, message }) => [kind, message]).sort()).toEqual([
      ["listener", "A listener threw: mine too"],
      ["listener", "A listener threw: my fault"],
      ["listener", "A listener threw: my fault"],
    ]);
    expect(problems.find(({ message }) => message.includes("too"))?.cause).toEqual(new Error("mine too"));
    stopListening();
    heard.length = 0;
    await client.abort();
    expect(heard).not.toContainEqual(["frame", "todo_auto_clear"]);
  });

  it("know every type that the protocol has", () => {
    const types = typesOf(OutboundFrame);
    expect(types.size).toBeGreaterThan(30);
    for (const type of types)
      expect(isAgentEvent({ type }), type).toBe(!["response", "ready", "rpc_chunk"].includes(type));
    for (const type of ["agent_starts", "xagent_start", "agent"]) expect(isAgentEvent({ type })).toBe(false);
  });
});

describe("loops over events", () => {
  it("get every event once, end with the agent, and can be left", async () => {
    const client = await startFake(writes({ type: "agent_start" }, { type: "agent_settled" }));
    const left: string[] = [];
    const leaving = (async () => {
      for await (const { type } of client.events()) {
        left.push(type);
        break;
      }
    })();
    const all: string[] = [];
    const reading = (async () => {
      for await (const { type } of client.events()) all.push(type);
    })();
    await client.abort();
    await leaving;
    await client.stop();
    await reading;
    expect(left).toEqual(["agent_start"]);
    expect(all).toEqual(["agent_start", "agent_settled"]);
    expect(await client.events().next()).toEqual({ value: undefined, done: true });
  });

  it("may ask for several at once", async () => {
    const client = await startFake(writes({ type: "agent_start" }, { type: "agent_settled" }));
    const events = client.events();
    const asked = [events.next(), events.next(), events.next()];
    await client.abort();
    await client.stop();
    const answers = await Promise.all(asked);
    expect(answers.map(({ value }) => value?.type)).toEqual(["agent_start", "agent_settled", undefined]);
  });

  it("that fall behind get an error, never a gap; the history keeps the last few", async () => {
    const many = Array.from({ length: 6 }, () => ({ type: "todo_auto_clear" }));
    const client = await startFake(writes(...many), { maxUnreadEvents: 5, maxEventHistory: 4 });
    const events = client.events();
    await client.abort();
    await expect(events.next()).rejects.toMatchObject({ kind: "overflow" });
    expect(await events.next()).toEqual({ value: undefined, done: true });
    expect(client.history).toHaveLength(4);
  });
});

describe("what is no frame", () => {
  it("is told, and the next line is read", async () => {
    const client = await startFake(
      writes({ $raw: 'hello\n\n[1]\n{"a":1}\r\n' }, { $raw: '{"type":"agent_start","text":"a\u2028b"}\n' }),
    );
    const problems: string[] = [];
    const texts: unknown[] = [];
    client.onProtocolError(({ message }) => problems.push(message));
    client.onFrame((frame) => texts.push(frame.text));
    await client.abort();
    expect(problems).toHaveLength(3);
    expect(problems[1]).toBe("The agent wrote a line that is not a frame: no object with a type: [1]");
    expect(texts).toEqual(["a\u2028b"]);
  });

  it("becomes a process warning without a listener", async () => {
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    const client = await startFake(writes({ $raw: "hello\n" }));
    await client.abort();
    expect((await warning).message).toContain("a line that is not a frame");
  });

  it("on stderr is kept, the last part of it", async () => {
    const client = await startFake(writes({ $stderr: `${"x".repeat(5000)}end` }), { maxStderrBytes: 1000 });
    await client.abort();
    await client.stop();
    expect(client.stderr).toHaveLength(1000);
    expect(client.stderr).toMatch(/xend$/);
  });
});

describe("chunks", () => {
  it("become the frame they were cut from, an answer too", async () => {
    const client = await startFake({
      rules: [
        { on: "abort", do: [{ $chunk: { type: "agent_start", mark: "€" } }, answered] },
        { on: "get_tree", do: [{ $chunk: { ...answered, command: "get_tree", data: { leafId: "x" } } }] },
      ],
    });
    const marks: unknown[] = [];
    client.onFrame((frame) => marks.push(frame.mark));
    await client.abort();
    expect(marks).toEqual(["€"]);
    expect(await client.getTree()).toEqual({ leafId: "x" });
  });
});

describe("host tools", () => {
  const echo = (execute: HostTool["execute"], name = "echo"): HostTool => ({
    name,
    description: "Echo",
    parameters: { type: "object" },
    execute,
  });
  const results = async (client: Awaited<ReturnType<typeof startFake>>) =>
    (await logOf(client)).filter(({ type }) => String(type).startsWith("host_tool_"));

  it("are registered at the start, called, and answered with text, blocks or an error", async () => {
    const seen: unknown[] = [];
    const customTools = [
      echo((params, { toolCallId, sendUpdate }) => {
        seen.push([params, toolCallId]);
        sendUpdate("half");
        return "whole";
      }),
      echo(async () => ({ content: [{ type: "text", text: "no row" }], details: { n: 1 }, isError: true }), "blocks"),
      echo(() => {
        throw new Error("no such table");
      }, "throws"),
      echo(() => ({}) as never, "malformed"),
      echo(() => ({ content: [], details: 1n }), "not-json"),
    ];
    const calls = [
      call("1", "echo", { message: "hello" }),
      call("2", "blocks"),
      call("3", "throws"),
      call("4", "malformed"),
      call("5", "missing"),
      call("6", "not-json"),
      { ...call("7", "echo"), id: 7 },
    ];
    const client = await startFake(writes(...calls), { customTools });
    await client.abort();
    const [registration, ...rest] = await logOf(client);
    expect(registration).toMatchObject({
      type: "set_host_tools",
      tools: customTools.map(({ name }) => ({ name, description: "Echo", parameters: { type: "object" } })),
    });
    expect(JSON.stringify(registration)).not.toContain("execute");
    expect(seen).toEqual([[{ message: "hello" }, "call_1"]]);
    const answers = rest.filter(({ type }) => String(type).startsWith("host_tool"));
    expect(answers).toContainEqual({ type: "host_tool_update", id: "1", partialResult: { content: text("half") } });
    const results = answers.filter(({ type }) => type === "host_tool_result");
    expect(results.sort((a, b) => String(a.id).localeCompare(String(b.id)))).toEqual([
      { type: "host_tool_result", id: "1", result: { content: text("whole") } },
      {
        type: "host_tool_result",
        id: "2",
        result: { content: text("no row"), details: { n: 1 }, isError: true },
        isError: true,
      },
      ...[
        "no such table",
        'Host tool "malformed" returned a malformed result',
        'Host tool "missing" is not registered',
        expect.stringMatching(/BigInt/),
      ].map((sentence, index) => ({
        type: "host_tool_result",
        id: String(index + 3),
        result: { content: [{ type: "text", text: sentence }] },
        isError: true,
      })),
    ]);
  });

  it("that are taken back hear it, and nothing is sent for them any more", async () => {
    let late = (_: string) => {};
    const signals: AbortSignal[] = [];
    const customTools = [
      echo((_, { signal, sendUpdate }) => {
        signals.push(signal);
        return new Promise((resolve) => {
          late = (value) => {
            sendUpdate(value);
            resolve(value);
          };
        });
      }),
    ];
    const client = await startFake(
      {
        rules: [
          { on: "abort", do: [call("1", "echo"), answered] },
          {
            on: "abort_bash",
            do: [
              { type: "host_tool_cancel", id: "c", targetId: "1" },
              { ...answered, command: "abort_bash" },
            ],
          },
        ],
      },
      { customTools },
    );
    await client.abort();
    expect(signals[0]?.aborted).toBe(false);
    await client.abortBash();
    expect(signals[0]?.aborted).toBe(true);
    late("too late");
    await client.getEntries();
    expect(await results(client)).toEqual([]);
    await client.abort();
    await client.stop();
    expect(signals[1]?.aborted).toBe(true);
  });

  it("stay as they were when the agent refuses new ones, and are replaced when it does not", async () => {
    const refusal = { id: "$id", type: "response", command: "set_host_tools", success: false, error: "taken" };
    const client = await startFake(
      {
        rules: [
          { on: "set_host_tools", times: 1, do: [{ ...answered, command: "set_host_tools", data: { toolNames: [] } }] },
          { on: "set_host_tools", times: 1, do: [refusal] },
          { on: "set_host_tools", do: [call("2", "echo"), { ...answered, command: "set_host_tools" }] },
          { on: "abort", do: [call("1", "echo"), answered] },
        ],
      },
      { customTools: [echo(() => "old")] },
    );
    await expect(client.setHostTools([echo(() => "new")])).rejects.toThrow("taken");
    await client.abort();
    await client.setHostTools([echo(() => "newer")]);
    await client.getEntries();
    expect(await results(client)).toEqual([
      { type: "host_tool_result", id: "1", result: { content: text("old") } },
      { type: "host_tool_result", id: "2", result: { content: text("newer") } },
    ]);
  });
});

describe("host tools that are given up", () => {
  const tool = (name: string): HostTool => ({ name, description: "?", parameters: {}, execute: () => `from ${name}` });

  it("are served all the same, for the agent may still take them, and registered by the next start", async () => {
    const client = await startFake(
      {
        rules: [
          { on: "set_host_tools", times: 1, do: [{ ...answered, command: "set_host_tools" }] },
          { on: "set_host_tools", times: 1, do: [] },
          { on: "abort", do: [call("1", "old"), call("2", "new"), answered] },
        ],
      },
      { customTools: [tool("old")] },
    );
    await expect(client.setCustomTools([tool("new")], { timeoutMs: 20 })).rejects.toMatchObject({ kind: "timeout" });
    await client.abort();
    await client.getEntries();
    expect(await logOf(client, ["host_tool_result"])).toMatchObject([
      { id: "1", result: { content: text("from old") } },
      { id: "2", result: { content: text("from new") } },
    ]);
    await client.stop();
    await client.start();
    expect(await logOf(client, ["set_host_tools"])).toMatchObject([{ tools: [{ name: "new" }] }]);
  });
});

describe("dialogs", () => {
  const ask = (id: string, method: string, more: object = {}) => ({
    type: "extension_ui_request",
    id,
    method,
    title: "?",
    ...more,
  });
  const questions = [
    ask("1", "confirm"),
    ask("2", "select", { options: ["a"] }),
    ask("3", "input"),
    ask("4", "editor"),
  ];
  const passive = [ask("5", "notify", { message: "hi" }), ask("6", "setStatus"), ask("7", "toString")];
  const answers = async (client: Awaited<ReturnType<typeof startFake>>) => {
    await client.getEntries();
    const log = await logOf(client);
    return log.filter(({ type }) => type === "extension_ui_response").map(({ type: _, ...answer }) => answer);
  };

  it("are cancelled when the host does not answer, and never count as a yes", async () => {
    const client = await startFake(writes(...questions, ...passive));
    await client.abort();
    expect(await answers(client)).toEqual(["1", "2", "3", "4"].map((id) => ({ id, cancelled: true })));
  });

  it("are answered without a screen by false, or by the values given", async () => {
    const client = await startFake(writes(...questions, ...passive));
    client.installHeadlessUi();
    await client.abort();
    const cancelled = ["2", "3", "4"].map((id) => ({ id, cancelled: true }));
    expect(await answers(client)).toEqual([{ id: "1", confirmed: false }, ...cancelled]);
    client.installHeadlessUi({ confirm: true, select: "a", input: "b" });
    await client.abort();
    expect((await answers(client)).slice(4)).toEqual([
      { id: "1", confirmed: true },
      { id: "2", value: "a" },
      { id: "3", value: "b" },
      { id: "4", cancelled: true },
    ]);
  });

  it("are answered by handlers; one that throws, returns nothing or the wrong kind cancels", async () => {
    const client = await startFake(writes(...questions, ...passive));
    const problems: string[] = [];
    client.onProtocolError(({ message }) => problems.push(message));
    const shown: unknown[] = [];
    client.setUiHandlers({
      confirm: async ({ title }) => title === "?",
      select: () => {
        throw new Error("no screen");
      },
      input: () => undefined,
      editor: () => 5 as never,
      notify: ({ message }) => shown.push(message),
    });
    await client.abort();
    const cancelled = ["2", "3", "4"].map((id) => ({ id, cancelled: true }));
    expect(await answers(client)).toEqual(expect.arrayContaining([{ id: "1", confirmed: true }, ...cancelled]));
    expect(shown).toEqual(["hi"]);
    expect(problems).toEqual(["A listener threw: no screen"]);
  });

  it("that are taken back or run out of time close, and get no second answer", async () => {
    const signals: AbortSignal[] = [];
    const client = await startFake(
      writes(ask("1", "confirm"), ask("9", "cancel", { targetId: "1" }), ask("2", "confirm", { timeout: 20 })),
    );
    const closed = new Promise<void>((resolve) => {
      client.setUiHandlers({
        confirm: (_, { signal }) =>
          new Promise((answer) => {
            signals.push(signal);
            signal.addEventListener("abort", () => {
              answer(true);
              if (signals.length === 2 && signals.every(({ aborted }) => aborted)) resolve();
            });
          }),
      });
    });
    await client.abort();
    await closed;
    expect(await answers(client)).toEqual([{ id: "2", cancelled: true, timedOut: true }]);
  });

  it("with more time than a timer has are waited for", async () => {
    const client = await startFake(writes(ask("1", "confirm", { timeout: 2 ** 31 })));
    let answer = (_: boolean) => {};
    client.setUiHandlers({
      confirm: () =>
        new Promise<boolean>((resolve) => {
          answer = resolve;
        }),
    });
    await client.abort();
    expect(await answers(client)).toEqual([]);
    answer(true);
    expect(await answers(client)).toEqual([{ id: "1", confirmed: true }]);
  });

  it("close when the agent ends", async () => {
    const client = await startFake(writes(ask("1", "confirm")));
    const closed = new Promise<void>((resolve) => {
      client.setUiHandlers({
        confirm: (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => resolve())),
      });
    });
    await client.abort();
    await client.stop();
    await closed;
  });

  it("are left to a listener of the host, who may answer inside any command", async () => {
    const client = await startFake({
      rules: [
        { on: "new_session", do: [ask("ui_1", "confirm")] },
        {
          on: "extension_ui_response",
          do: [{ id: "req_3", type: "response", command: "new_session", success: true, data: { cancelled: true } }],
        },
      ],
    });
    await client.getEntries();
    client.onUiRequest(({ id }) => client.respondConfirm(id, false));
    expect(await client.newSession({ timeoutMs: 5000 })).toEqual({ cancelled: true });
    await client.respondValue("a", "v");
    await client.respondCancel("b");
    await client.respondCancel("c", { timedOut: true });
    expect(await answers(client)).toEqual([
      { id: "ui_1", confirmed: false },
      { id: "a", value: "v" },
      { id: "b", cancelled: true },
      { id: "c", cancelled: true, timedOut: true },
    ]);
  });
});

/** The values of `type` in a union of shapes. */
function typesOf(schema: unknown): Set<string> {
  const { anyOf, properties } = schema as { anyOf?: unknown[]; properties?: { type: { const: string } } };
  if (anyOf) return new Set(anyOf.flatMap((shape) => [...typesOf(shape)]));
  return new Set(properties ? [properties.type.const] : []);
}
