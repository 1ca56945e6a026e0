// One reply from the stream to `message_end`: the pair always closes, snapshots cost nothing until read, an abort is
// heard at once, and a slow reader of the events slows the reading.

import { afterEach, describe, expect, it, vi } from "vitest";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { StreamEvent, StreamFunction, StreamRequest, ToolSpec } from "../provider/provider.js";
import { zeroUsage } from "../provider/provider.js";
import { manualClock } from "../testing/manual-clock.js";
import { textResult } from "../tools/tool.js";
import { ReplyBuilder } from "./reply-builder.js";
import type { RunContext } from "./run.js";
import { deferred, fakeModel, fakeRun, fakeTool, quiet, streamOf } from "./run.test-kit.js";
import { streamReply } from "./stream-reply.js";

const clock = manualClock();
const open = (stream: StreamFunction, context: Partial<RunContext> = {}) => fakeRun({ clock, stream, ...context });

const done: StreamEvent = { type: "done", reason: "stop", usage: zeroUsage };
const text = (...deltas: string[]): StreamEvent[] => [
  { type: "start" },
  { type: "text_start", contentIndex: 0 },
  ...deltas.map((delta): StreamEvent => ({ type: "text_delta", contentIndex: 0, delta })),
  { type: "text_end", contentIndex: 0 },
];

type Update = Extract<AgentSessionEvent, { type: "message_update" }>;
const updatesIn = (events: readonly AgentSessionEvent[]): Update[] =>
  events.filter((event) => event.type === "message_update");

const partialOf = ({ assistantMessageEvent: event }: Update) => ("partial" in event ? event.partial : undefined);

/** The event's members without the snapshot. */
function ownMembers({ assistantMessageEvent }: Update): object {
  return Object.fromEntries(Object.entries(assistantMessageEvent).filter(([name]) => name !== "partial"));
}

function trace(events: readonly AgentSessionEvent[]): string {
  return events
    .map((event) => (event.type === "message_update" ? event.assistantMessageEvent.type : event.type))
    .join(" ");
}

/** Sends what is given, then hangs as a dead connection does. Says when it hangs and when it was closed. */
function stalling(events: readonly StreamEvent[]) {
  const stalled = deferred();
  const closed = deferred();
  const rest = [...events];
  const stream: StreamFunction = () => ({
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = rest.shift();
        if (value) return { done: false, value };
        stalled.resolve();
        return new Promise<never>(() => {});
      },
      return() {
        closed.resolve();
        return new Promise<never>(() => {});
      },
    }),
  });
  return { stream, stalled: stalled.promise, closed: closed.promise };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("streamReply", () => {
  it("turns the stream into one message and its events", async () => {
    const call: StreamEvent[] = [
      { type: "toolcall_start", contentIndex: 1, id: "c", name: "work" },
      { type: "toolcall_delta", contentIndex: 1, delta: '{"a":1}' },
      { type: "toolcall_end", contentIndex: 1 },
    ];
    const { run, events, appended } = open(() => streamOf([...text("He", "llo"), ...call, done]));
    const { message, calls } = await streamReply(run);
    expect(trace(events)).toBe(
      "message_start text_start text_delta text_delta text_end toolcall_start toolcall_delta toolcall_end message_end",
    );
    expect(updatesIn(events).map(ownMembers)).toEqual([
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "He" },
      { type: "text_delta", contentIndex: 0, delta: "llo" },
      { type: "text_end", contentIndex: 0, content: "Hello" },
      { type: "toolcall_start", contentIndex: 1 },
      { type: "toolcall_delta", contentIndex: 1, delta: '{"a":1}' },
      {
        type: "toolcall_end",
        contentIndex: 1,
        toolCall: { type: "toolCall", id: "c", name: "work", arguments: { a: 1 } },
      },
    ]);
    expect(message).toMatchObject({ stopReason: "toolUse", timestamp: clock.now(), model: "fable-2" });
    expect(calls.map((finished) => finished.call)).toEqual([message.content[1]]);
    expect(appended).toEqual([message]);
    expect(events.at(-1)).toEqual({ type: "message_end", message });
  });

  it("says of a call whose argument text is not whole that its arguments are a guess", async () => {
    const call = (contentIndex: number, delta: string): StreamEvent[] => [
      { type: "toolcall_start", contentIndex, id: `c${contentIndex}`, name: "work" },
      { type: "toolcall_delta", contentIndex, delta },
      { type: "toolcall_end", contentIndex },
    ];
    const cut: StreamEvent = { type: "done", reason: "length", usage: zeroUsage };
    const { run, events } = open(() => streamOf([...call(0, '{"a":1}'), ...call(1, '{"a":"b'), ...call(2, ""), cut]));
    await streamReply(run);
    const toolCall = (index: number, args: object) => ({
      type: "toolCall",
      id: `c${index}`,
      name: "work",
      arguments: args,
    });
    const ends = updatesIn(events).filter((event) => event.assistantMessageEvent.type === "toolcall_end");
    expect(ends.map(ownMembers)).toEqual([
      { type: "toolcall_end", contentIndex: 0, toolCall: toolCall(0, { a: 1 }) },
      { type: "toolcall_end", contentIndex: 1, toolCall: toolCall(1, { a: "b" }), complete: false },
      { type: "toolcall_end", contentIndex: 2, toolCall: toolCall(2, {}), complete: false },
    ]);
  });

  it("has the message in the session before it is announced", async () => {
    const order: string[] = [];
    const { run } = open(() => streamOf([...text("x"), done]), { append: () => void order.push("append") });
    run.context.events.subscribe((event) => void order.push(event.type));
    await streamReply(run);
    expect(order.slice(-2)).toEqual(["append", "message_end"]);
  });

  it("opens the message once, also when the provider says start late, twice or never", async () => {
    const late: StreamEvent[] = [...text("x").slice(1), { type: "start" }, { type: "start" }, done];
    const { run, events } = open(() => streamOf(late));
    await streamReply(run);
    expect(trace(events)).toBe("message_start text_start text_delta text_end message_end");
    const never = open(() => streamOf([{ type: "redacted_thinking", contentIndex: 0, data: "x" }, done]));
    await streamReply(never.run);
    expect(trace(never.events)).toBe("message_start message_end");
  });

  describe("snapshots", () => {
    /** Counts how often a whole message is asked for. */
    function countSnapshots(): () => number {
      let count = 0;
      const original = ReplyBuilder.prototype.snapshot;
      vi.spyOn(ReplyBuilder.prototype, "snapshot").mockImplementation(function (this: ReplyBuilder) {
        const read = original.call(this);
        return () => {
          count++;
          return read();
        };
      });
      return () => count;
    }

    it("are not built for who reads only the deltas", async () => {
      const built = countSnapshots();
      const { run } = open(() => streamOf([...text(..."many small pieces"), done]));
      let heard = "";
      run.context.events.subscribe((event) => {
        if (event.type !== "message_update") return;
        if (event.assistantMessageEvent.type === "text_delta") heard += event.assistantMessageEvent.delta;
      });
      await streamReply(run);
      expect(heard).toBe("many small pieces");
      expect(built()).toBe(1); // message_start's
    });

    it("show their own moment, however late and often they are read, and stand in both places", async () => {
      const built = countSnapshots();
      const { run, events } = open(() => streamOf([...text("a", "b", "c"), done]));
      await streamReply(run);
      const updates = updatesIn(events);
      const texts = updates.map(({ message: { content } }) =>
        content[0]?.type === "text" ? content[0].text : undefined,
      );
      expect(texts).toEqual(["", "a", "ab", "abc", "abc"]);
      expect(built()).toBe(1 + updates.length);
      for (const update of updates) expect(partialOf(update)).toBe(update.message);
    });

    it("survive being written as JSON", async () => {
      const { run, events } = open(() => streamOf([...text("a"), done]));
      await streamReply(run);
      const frame = JSON.parse(JSON.stringify(updatesIn(events)[1])) as Update;
      expect(frame.message).toMatchObject({ role: "assistant", content: [{ type: "text", text: "a" }] });
      expect(frame.assistantMessageEvent).toEqual({
        type: "text_delta",
        delta: "a",
        contentIndex: 0,
        partial: frame.message,
      });
    });
  });

  describe("a stream that fails", () => {
    it("says so in its own words, with usage and kind", async () => {
      const usage = { ...zeroUsage, input: 5 };
      const failure = { kind: "overloaded" as const, status: 529 };
      const event: StreamEvent = { type: "error", reason: "error", errorMessage: "busy", failure, usage };
      const { run, events } = open(() => streamOf([event]));
      const { message } = await streamReply(run);
      expect(message).toMatchObject({ stopReason: "error", errorMessage: "busy", error: failure, usage, content: [] });
      expect(trace(events)).toBe("message_start message_end");
    });

    it("by ending early keeps what came, as a network failure", async () => {
      const { run, events } = open(() => streamOf(text("half").slice(0, 3)));
      const { message } = await streamReply(run);
      expect(message).toMatchObject({
        stopReason: "error",
        errorMessage: "The model's stream ended early",
        error: { kind: "network" },
        content: [{ text: "half" }],
      });
      expect(trace(events)).toBe("message_start text_start text_delta message_end");
    });

    it.each<[string, StreamFunction]>([
      [
        "throwing at once",
        () => {
          throw new Error("socket");
        },
      ],
      [
        "throwing in the middle",
        async function* () {
          yield* text("x");
          throw new Error("socket");
        },
      ],
    ])("by %s becomes an error message", async (_name, stream) => {
      const { run, events } = open(stream);
      expect((await streamReply(run)).message).toMatchObject({ stopReason: "error", errorMessage: "socket" });
      expect(trace(events)).toMatch(/^message_start .*message_end$/);
    });

    it("by sending blocks out of order is closed and refused", async () => {
      let isClosed = false;
      const { run } = open(async function* () {
        try {
          yield { type: "start" };
          yield { type: "text_start", contentIndex: 3 };
          yield done;
        } finally {
          isClosed = true;
        }
      });
      expect((await streamReply(run)).message).toMatchObject({
        stopReason: "error",
        errorMessage: "The provider sent text_start for block 3 out of order",
      });
      expect(isClosed).toBe(true);
    });

    it("is not read beyond its terminal event", async () => {
      const { run, events } = open(() => streamOf([...text("x"), done, ...text("ghost")]));
      expect((await streamReply(run)).message.stopReason).toBe("stop");
      expect(trace(events)).toBe("message_start text_start text_delta text_end message_end");
    });

    it("because it may not be asked for: neither a key is fetched nor a forced choice used up", async () => {
      const asked: string[] = [];
      const { run, events, toolChoice } = open(() => streamOf([done]), {
        mayAsk: () => ({ type: "error", reason: "error", errorMessage: "Used up.", failure: { kind: "limit" } }),
        streamOptions: async () => {
          asked.push("options");
          return {};
        },
      });
      toolChoice.pushOnce("required");
      const { message } = await streamReply(run);
      expect(message).toMatchObject({
        content: [],
        stopReason: "error",
        errorMessage: "Used up.",
        error: { kind: "limit" },
      });
      expect(trace(events)).toBe("message_start message_end");
      expect([asked, toolChoice.next()]).toEqual([[], "required"]);
    });

    it("because there is no key is an ordinary error", async () => {
      const streamOptions = () => Promise.reject(new Error("no key"));
      const { run } = open(() => streamOf([done]), { streamOptions });
      expect((await streamReply(run)).message).toMatchObject({ stopReason: "error", errorMessage: "no key" });
    });
  });

  describe("abort", () => {
    const aborted = { stopReason: "aborted", errorMessage: "Request was aborted" };

    it("before the start sends no request", async () => {
      const stream = vi.fn<StreamFunction>(() => streamOf([done]));
      const { run, abort, events } = open(stream);
      abort.abort();
      expect((await streamReply(run)).message).toMatchObject({ ...aborted, content: [], usage: zeroUsage });
      expect(stream).not.toHaveBeenCalled();
      expect(trace(events)).toBe("message_start message_end");
    });

    it("is heard while the stream stalls; the stream is closed and not waited for", async () => {
      const { stream, stalled, closed } = stalling(text("half").slice(0, 3));
      const { run, abort, events } = open(stream);
      const reply = streamReply(run);
      await stalled;
      abort.abort();
      expect((await reply).message).toMatchObject({ ...aborted, content: [{ text: "half" }] });
      await closed;
      expect(trace(events)).toBe("message_start text_start text_delta message_end");
    });

    it("wins over an event that arrives with it", async () => {
      const { run, abort, events } = open(async function* () {
        yield* text("x").slice(0, 2);
        abort.abort();
        yield { type: "text_delta", contentIndex: 0, delta: "late" };
        yield done;
      });
      expect((await streamReply(run)).message).toMatchObject(aborted);
      expect(trace(events)).toBe("message_start text_start message_end");
    });

    it("is heard while a subscriber holds the stream up", async () => {
      const { run, abort } = open(() => streamOf([...text("x"), done]));
      const reached = deferred();
      run.context.events.subscribe((event) => {
        if (event.type !== "message_update") return;
        reached.resolve();
        return new Promise(() => {});
      });
      const reply = streamReply(run);
      await reached.promise;
      abort.abort();
      expect((await reply).message).toMatchObject(aborted);
    });

    it("while the key is fetched neither asks the model nor uses up a forced choice", async () => {
      const key = deferred<object>();
      const stream = vi.fn<StreamFunction>(() => streamOf([done]));
      const { run, abort, toolChoice } = open(stream, { streamOptions: () => key.promise });
      toolChoice.pushOnce("any", { label: "forced" });
      const reply = streamReply(run);
      abort.abort();
      expect((await reply).message).toMatchObject(aborted);
      key.resolve({});
      await quiet();
      expect(stream).not.toHaveBeenCalled();
      expect(toolChoice.inspect()).toEqual(["forced"]);
    });
  });

  it("reads no further while a subscriber is busy", async () => {
    let sent = 0;
    const { run } = open(async function* () {
      for (const event of [...text("a", "b"), done]) {
        sent++;
        yield event;
      }
    });
    const gates = [deferred(), deferred()];
    run.context.events.subscribe((event) => {
      if (event.type !== "message_update" || event.assistantMessageEvent.type !== "text_delta") return;
      return gates[event.assistantMessageEvent.delta === "a" ? 0 : 1]?.promise;
    });
    const reply = streamReply(run);
    await quiet();
    expect(sent).toBe(3); // start, text_start, the first delta
    gates[0]?.resolve();
    await quiet();
    expect(sent).toBe(4);
    gates[1]?.resolve();
    expect((await reply).message.stopReason).toBe("stop");
  });

  describe("the request", () => {
    const work = fakeTool("work", async () => textResult(""), { strict: true });

    async function requestOf(
      choice: Parameters<ReturnType<typeof fakeRun>["toolChoice"]["pushOnce"]>[0] | undefined,
      context: Partial<RunContext> = {},
    ) {
      const requests: StreamRequest[] = [];
      const stream: StreamFunction = (request) => {
        requests.push(request);
        return streamOf([done]);
      };
      const fake = open(stream, { tools: () => [work], streamOptions: async () => ({ apiKey: "k" }), ...context });
      const rejected: string[] = [];
      if (choice) fake.toolChoice.pushOnce(choice, { onRejected: (reason) => void rejected.push(reason) });
      await streamReply(fake.run);
      return { request: requests[0], rejected, fake };
    }

    it("carries the live context, the options and the signal", async () => {
      const { request, fake } = await requestOf(undefined);
      expect(request).toEqual({
        model: fakeModel,
        context: {
          systemPrompt: "be brief",
          messages: [],
          tools: [{ name: "work", description: "work", parameters: { type: "object" }, strict: true }],
        },
        options: { apiKey: "k", signal: fake.abort.signal },
      });
    });

    it("offers the tools there are once the key is there", async () => {
      let tools = [work];
      const streamOptions = async () => {
        tools = [];
        return {};
      };
      const { request } = await requestOf(undefined, { tools: () => tools, streamOptions });
      expect(request?.context.tools).toEqual([]);
    });

    it.each([
      ["any" as const],
      [{ type: "tool" as const, name: "work" }],
      [{ type: "function" as const, function: { name: "work" } }],
    ])("carries the forced choice %j", async (choice) => {
      const { request, rejected } = await requestOf(choice);
      expect(request?.options.toolChoice).toEqual(choice);
      expect(rejected).toEqual([]);
    });

    it("has a list of tools of its own, whatever was done with that of the last one", async () => {
      const offered = ["one", "two"].map((name) => fakeTool(name, async () => textResult("")));
      const told: string[][] = [];
      const stream: StreamFunction = ({ context }) => {
        const tools = context.tools as ToolSpec[]; // somebody's stream function need not be typed
        told.push(tools.map(({ name }) => name));
        tools.length = 0;
        return streamOf([...text("a"), done]);
      };
      for (let turn = 0; turn < 2; turn++) await streamReply(open(stream, { tools: () => offered }).run);
      expect(told).toEqual([
        ["one", "two"],
        ["one", "two"],
      ]);
    });

    it("drops a choice whose tool is not offered, and says so", async () => {
      const { request, rejected } = await requestOf({ type: "tool", name: "gone" });
      expect(request?.options).not.toHaveProperty("toolChoice");
      expect(rejected).toEqual(["unavailable"]);
    });

    it("forces nothing on a model that cannot be forced, and keeps the choice", async () => {
      const model = { ...fakeModel, compat: { supportsToolChoice: false } };
      const { request, fake } = await requestOf("any", { model });
      expect(request?.options).not.toHaveProperty("toolChoice");
      expect(fake.toolChoice.inspect()).toHaveLength(1);
    });
  });
});
