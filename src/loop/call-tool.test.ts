// One call: every way it can go wrong is a result for the model, and a tool told to stop is left after five seconds.

import { describe, expect, it } from "vitest";
import type { ToolResult } from "../protocol/events.js";
import { manualClock } from "../testing/manual-clock.js";
import { type AnyTool, textResult } from "../tools/tool.js";
import { abortGraceMs, callTool } from "./call-tool.js";
import type { ToolHooks } from "./run.js";
import { batchTrace, deferred, fakeRun, fakeTool, finishedCall, quiet, textOf } from "./run.test-kit.js";

function open(tools: AnyTool[], hooks: ToolHooks = {}) {
  const clock = manualClock();
  const fake = fakeRun({ clock, tools: () => tools, hooks });
  const batch = new AbortController();
  const call = (args: Record<string, unknown> = {}, name = "work") =>
    callTool(fake.run, finishedCall(name, args), batch.signal);
  return { ...fake, clock, batch, call };
}

/** A tool that hangs until the test lets go, and says when it has begun. */
function hanging(more: Partial<AnyTool> = {}) {
  const begun = deferred<AbortSignal | undefined>();
  const outcome = deferred<ToolResult>();
  const updates: ((partial: ToolResult) => void)[] = [];
  const tool = fakeTool(
    "work",
    (_id, _params, signal, onUpdate) => {
      updates.push(onUpdate);
      begun.resolve(signal);
      return outcome.promise;
    },
    more,
  );
  return { tool, begun: begun.promise, outcome, update: (text: string) => updates[0]?.(textResult(text)) };
}

const failed = (text: string) => ({ content: [{ type: "text", text }], details: {}, isError: true });

describe("before a tool runs", () => {
  it("an unknown name is an error result", async () => {
    expect(await open([]).call()).toEqual(failed("Tool work not found"));
  });

  it("a call that was cut off is not run", async () => {
    const { run, batch } = open([fakeTool("work", async () => textResult("ran"))]);
    const result = await callTool(run, { ...finishedCall("work"), isComplete: false }, batch.signal);
    expect(result).toEqual({
      ...failed("Tool call was cut off before its arguments were complete. Retry with smaller arguments."),
      details: { started: false },
    });
  });

  it("arguments that do not fit never reach it, unless it is lenient", async () => {
    const seen: unknown[] = [];
    const parameters = { type: "object", properties: { n: { type: "number" } } };
    const tool = fakeTool("work", async (_id, params) => textResult(String(seen.push(params))), { parameters });
    expect(textOf(await open([tool]).call({ n: "x" }))).toMatch(/^Validation failed for tool "work":\n {2}- n: /);
    expect(seen).toEqual([]);
    await open([{ ...tool, lenientArgValidation: true }]).call({ n: "x" });
    expect(seen).toEqual([{ n: "x" }]);
  });

  it("calls whose check takes too long leave room for an abort, which spares the rest", async () => {
    const parameters = { type: "object", properties: { m: { type: "string", pattern: "^([a-z]+)+$" } } };
    const { call, batch } = open([fakeTool("work", async () => textResult("ran"), { parameters })]);
    const calls = Array.from({ length: 20 }, () => call({ m: `${"a".repeat(40)}!` }));
    void calls[0]?.then(() => setImmediate(() => batch.abort()));
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts[0]).toMatch(/^Validation failed for tool "work":\n {2}- root: could not be checked within/);
    expect(texts.slice(3)).toEqual(new Array(17).fill("Skipped due to queued user message."));
  });

  it("prepareArguments comes first, then the check, then transformArguments, reviseCall, and the gate", async () => {
    const order: unknown[] = [];
    const tool = fakeTool("work", async (_id, params) => textResult(String(order.push(["execute", params]))), {
      parameters: {
        type: "object",
        properties: { path: { type: "string" }, n: { type: "number", default: 1 } },
        required: ["path"],
      },
      prepareArguments: ({ file }) => ({ path: file }),
    });
    const hooks: ToolHooks = {
      transformArguments(_call, args) {
        order.push(["transform", args]);
        return { ...args, path: "real" };
      },
      async reviseCall(_tool, _call, args) {
        order.push(["revise", args]);
        return { args: { path: "revised", n: "2" } };
      },
      async beforeToolCall(_tool, _call, args) {
        order.push(["gate", args]);
        return undefined;
      },
    };
    await open([tool], hooks).call({ file: "masked" });
    expect(order).toEqual([
      ["transform", { path: "masked", n: 1 }],
      ["revise", { path: "real", n: 1 }],
      ["gate", { path: "revised", n: 2 }],
      ["execute", { path: "revised", n: 2 }],
    ]);
  });

  it("revised arguments that do not fit reach neither the gate nor the tool", async () => {
    const seen: unknown[] = [];
    const parameters = { type: "object", properties: { n: { type: "number" } } };
    const tool = fakeTool("work", async (_id, params) => textResult(String(seen.push(params))), { parameters });
    const hooks: ToolHooks = {
      reviseCall: async () => ({ args: { n: "many" } }),
      beforeToolCall: async (_tool, _call, args) => void seen.push(args),
      afterToolCall: async (_call, result) => ({ ...result, content: [] }),
    };
    const result = await open([tool], hooks).call({ n: 1 });
    expect(textOf(result)).toMatch(
      /^The arguments were revised before the call\.\nValidation failed for tool "work":\n {2}- n: /,
    );
    expect(seen).toEqual([]);
  });

  it("a call that was refused passes no hook behind", async () => {
    const after: unknown[] = [];
    const tool = fakeTool("work", async () => textResult("ran"));
    const afterToolCall: ToolHooks["afterToolCall"] = async (_call, result) => {
      after.push(result);
      return result;
    };
    const refusals: ToolHooks[] = [
      { reviseCall: async () => ({ block: "not so" }) },
      { beforeToolCall: async () => ({ block: "not so" }) },
      { reviseCall: () => Promise.reject(new Error("not so")) },
    ];
    for (const hooks of refusals)
      expect(await open([tool], { ...hooks, afterToolCall }).call()).toEqual(failed("not so"));
    expect(after).toEqual([]);
  });

  it("the gate can block, with its reason or without", async () => {
    const block = async (reason: string | true) => {
      const tool = fakeTool("work", async () => textResult("ran"));
      return open([tool], { beforeToolCall: async () => ({ block: reason }) }).call();
    };
    expect(await block("not on Sundays")).toEqual(failed("not on Sundays"));
    expect(await block(true)).toEqual(failed("Tool execution was blocked"));
  });

  it("whatever throws on the way fails the call only", async () => {
    const throws = () => {
      throw new Error("broken");
    };
    const tool = fakeTool("work", async () => textResult("ran"));
    expect(await open([{ ...tool, prepareArguments: throws }]).call()).toEqual(failed("broken"));
    expect(await open([tool], { transformArguments: throws }).call()).toEqual(failed("broken"));
    expect(await open([tool], { beforeToolCall: throws }).call()).toEqual(failed("broken"));
    expect(await open([tool], { afterToolCall: throws }).call()).toEqual(failed("broken"));
  });

  it.each([
    ["run", "beforeToolCall" as const, "Tool execution was aborted."],
    ["batch", "beforeToolCall" as const, "Skipped due to queued user message."],
    ["run", "reviseCall" as const, "Tool execution was aborted."],
  ])("a stop of the %s while %s thinks is heard at once, and nothing runs", async (who, hook, text) => {
    let runs = 0;
    const asked = deferred();
    const gate = deferred<undefined>();
    const tool = fakeTool("work", async () => textResult(String(++runs)), { nonAbortable: true });
    const ask = () => {
      asked.resolve();
      return gate.promise;
    };
    const { call, abort, batch } = open([tool], { [hook]: ask });
    const result = call();
    await asked.promise;
    (who === "run" ? abort : batch).abort();
    expect(await result).toEqual({ ...failed(text), details: { started: false } });
    gate.resolve(undefined);
    await quiet();
    expect(runs).toBe(0);
  });

  it("a stop between the look-up and the start is heard too", async () => {
    let runs = 0;
    const { call, abort } = open([fakeTool("work", async () => textResult(String(++runs)))]);
    const result = call();
    abort.abort();
    expect(await result).toEqual({ ...failed("Tool execution was aborted."), details: { started: false } });
    expect(runs).toBe(0);
  });
});

describe("while a tool runs", () => {
  it("its updates are events, its context and id are given", async () => {
    const tool = fakeTool("work", async (id, _params, signal, onUpdate, context) => {
      onUpdate(textResult("half", { percent: 50 }));
      return textResult(`${id} in ${context.cwd}, ${signal?.aborted}`);
    });
    const { call, events } = open([tool]);
    expect(textOf(await call({ a: 1 }))).toBe("work in /work, false");
    expect(events).toEqual([
      {
        type: "tool_execution_update",
        toolCallId: "work",
        toolName: "work",
        args: { a: 1 },
        partialResult: textResult("half", { percent: 50 }),
      },
    ]);
  });

  it("updates after its end are dropped", async () => {
    const { tool, begun, outcome, update } = hanging();
    const { call, events } = open([tool]);
    const result = call();
    await begun;
    update("one");
    outcome.resolve(textResult("done"));
    await result;
    update("two");
    expect(batchTrace(events)).toBe("xu:work");
  });

  it.each([
    ["an error", new Error("no such file"), "no such file"],
    ["an error without words", new TypeError(""), "TypeError"],
    ["a string", "plain", "plain"],
    ["nothing", undefined, "undefined"],
  ])("what it throws is its text: %s", async (_name, thrown, text) => {
    const asynchronous = fakeTool("work", () => Promise.reject(thrown));
    expect(await open([asynchronous]).call()).toEqual(failed(text));
    const synchronous = fakeTool("work", () => {
      throw thrown;
    });
    expect(await open([synchronous]).call()).toEqual(failed(text));
  });
});

describe("what a tool returns", () => {
  const returns = async (value: unknown) => {
    const { call, logged } = open([fakeTool("work", async () => value as ToolResult)]);
    return { result: await call(), warnings: logged.length };
  };

  it("is kept, its own error included", async () => {
    const full = { ...textResult("no", { code: 1 }), isError: true, isWarning: true, terminate: true };
    expect(await returns(full)).toEqual({ result: full, warnings: 0 });
    const image = { content: [{ type: "image", data: "xx", mimeType: "image/png" }] };
    expect(await returns(image)).toEqual({ result: image, warnings: 0 });
  });

  it.each<[string, unknown, unknown]>([
    ["a string", "text", { content: [{ type: "text", text: "text" }] }],
    ["no content", { details: { n: 1 } }, { content: [], details: { n: 1 } }],
    ["text as content", { content: "text" }, { content: [{ type: "text", text: "text" }] }],
    ["an error with text as content", { content: "no", isError: true, details: 7 }, { ...failed("no"), details: 7 }],
    ["strings as blocks", { content: ["a", "b"] }, { content: ["a", "b"].map((text) => ({ type: "text", text })) }],
    ["blocks of which one is known", { content: [{ type: "video" }, "a"] }, { content: [{ type: "text", text: "a" }] }],
  ])("is made usable, with a warning: %s", async (_name, value, result) => {
    expect(await returns(value)).toEqual({ result, warnings: 1 });
  });

  it.each([undefined, null, 7, { a: 1 }, { content: [{ type: "video" }, null, { type: "text" }] }])(
    "is an error that names the fault: %j",
    async (value) => {
      const { result } = await returns(value);
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toContain('Tool \\"work\\" returned ');
    },
  );

  it("passes the hook behind, which may rewrite it", async () => {
    const hooks: ToolHooks = {
      reviseCall: async () => ({ args: { n: 2 } }),
      afterToolCall: async (call, result, { tool, args }) => ({
        ...result,
        isError: true,
        details: { was: textOf(result), id: call.id, name: tool.name, args },
      }),
    };
    const { call } = open([fakeTool("work", async () => textResult("fine"))], hooks);
    const details = { was: "fine", id: "work", name: "work", args: { n: 2 } };
    expect(await call({ n: 1 })).toEqual({ ...textResult("fine", details), isError: true });
  });
});

describe("the hook behind, when the run is aborted", () => {
  it.each(["before", "after"])("%s it is asked: it has a moment, and then the result is not shown", async (when) => {
    const asked = deferred();
    const afterToolCall = () => {
      asked.resolve();
      return new Promise<never>(() => {});
    };
    const ends = deferred<ToolResult>();
    const { call, abort, clock } = open([fakeTool("work", () => ends.promise)], { afterToolCall });
    const result = call();
    await quiet();
    if (when === "before") abort.abort();
    ends.resolve(textResult("secret"));
    await asked.promise;
    if (when === "after") abort.abort();
    await quiet();
    expect(clock.pendingTimers).toBe(1);
    clock.advance(200);
    // It did what it was asked to: whoever reads this must not do it again.
    const text = "The tool finished. The run was aborted before its result was released, so the result is not shown.";
    expect(await result).toEqual(textResult(text, { started: true }));
    expect(clock.pendingTimers).toBe(0);
  });

  it("the failure of the tool stays one, and its words are not shown", async () => {
    const work = fakeTool("work", () => Promise.reject(new Error("secret")));
    const { call, abort, clock } = open([work], { afterToolCall: () => new Promise<never>(() => {}) });
    const result = call();
    await quiet();
    abort.abort();
    await quiet();
    clock.advance(200);
    const text = "The tool failed. The run was aborted before its result was released, so the result is not shown.";
    expect(await result).toEqual({ ...failed(text), details: { started: true } });
  });

  it("a tool that was given up is told as such", async () => {
    const { tool, begun } = hanging();
    const { call, abort, clock } = open([tool], { afterToolCall: () => new Promise<never>(() => {}) });
    const result = call();
    await begun;
    abort.abort();
    await quiet();
    clock.advance(5000);
    await quiet();
    clock.advance(200);
    expect(await result).toEqual({ ...failed("Tool execution was aborted."), details: { started: true } });
  });

  it("is heard if it answers in that moment, and is not hurried by a message", async () => {
    for (const who of ["abort", "batch"] as const) {
      const released = deferred<ToolResult>();
      const opened = open([fakeTool("work", async () => textResult("raw"))], { afterToolCall: () => released.promise });
      const result = opened.call();
      await quiet();
      opened[who].abort();
      opened.clock.advance(199);
      await quiet();
      released.resolve(textResult("clean"));
      expect(await result).toEqual(textResult("clean"));
      expect(opened.clock.pendingTimers).toBe(0);
    }
  });
});

describe("a tool told to stop", () => {
  it.each([
    ["run", "Tool execution was aborted."],
    ["batch", "Interrupted by queued user message."],
  ])("by the %s has five seconds; its late value and updates are ignored", async (who, text) => {
    const { tool, begun, outcome, update } = hanging();
    const { call, abort, batch, clock, events } = open([tool]);
    const result = call();
    const signal = await begun;
    (who === "run" ? abort : batch).abort();
    expect(signal?.aborted).toBe(true);
    await quiet();
    clock.advance(abortGraceMs - 1);
    await quiet();
    update("still here");
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    expect(await result).toEqual({ ...failed(text), details: { started: true } });
    outcome.resolve(textResult("late"));
    update("late");
    await quiet();
    expect(batchTrace(events)).toBe("xu:work");
    expect(clock.pendingTimers).toBe(0);
  });

  it("keeps its real outcome if it finishes in time, and no timer stays", async () => {
    const { tool, begun, outcome } = hanging();
    const { call, abort, clock } = open([tool]);
    const result = call();
    await begun;
    abort.abort();
    await quiet();
    outcome.resolve(textResult("saved just in time"));
    expect(await result).toEqual(textResult("saved just in time"));
    expect(clock.pendingTimers).toBe(0);
  });

  it("and throwing: an interrupt has its own text, an abort keeps the tool's", async () => {
    const stop = async (who: "abort" | "batch") => {
      const { tool, begun, outcome } = hanging();
      const opened = open([tool]);
      const result = opened.call();
      await begun;
      opened[who].abort();
      outcome.reject(new Error("stopped"));
      return result;
    };
    expect(await stop("abort")).toEqual(failed("stopped"));
    expect(await stop("batch")).toEqual({
      ...failed("Interrupted by queued user message."),
      details: { started: true, error: "stopped" },
    });
  });

  it("first by the batch, then by the run, is aborted in the end", async () => {
    const { tool, begun } = hanging();
    const { call, abort, batch, clock } = open([tool]);
    const result = call();
    await begun;
    batch.abort();
    await quiet();
    clock.advance(4000);
    abort.abort();
    clock.advance(1000);
    expect(textOf(await result)).toBe("Tool execution was aborted.");
  });

  it("that must not be cut short gets no signal and is waited for, and its failure is its own", async () => {
    for (const settle of ["resolve", "reject"] as const) {
      const { tool, begun, outcome } = hanging({ nonAbortable: true });
      const { call, batch, clock } = open([tool]);
      const result = call();
      expect(await begun).toBeUndefined();
      batch.abort();
      await quiet();
      clock.advance(60_000);
      if (settle === "resolve") outcome.resolve(textResult("whole"));
      else outcome.reject(new Error("disk full"));
      expect(await result).toEqual(settle === "resolve" ? textResult("whole") : failed("disk full"));
      expect(clock.pendingTimers).toBe(0);
    }
  });
});

describe("what a tool hands over", () => {
  const text = (words: string) => ({ type: "text" as const, text: words });

  it("stays as it was then, whatever the tool does with its objects later", async () => {
    const own = { content: [text("a")], details: { lines: ["a"] } };
    const add = (words: string) => {
      for (const block of own.content) block.text += words;
      own.details.lines.push(words);
    };
    const tool = fakeTool("work", async (_id, _params, _signal, onUpdate) => {
      onUpdate(own);
      add("b");
      onUpdate(own);
      return own;
    });
    const { call, events } = open([tool]);
    const result = await call();
    add("late");
    const told = events.flatMap((event) => (event.type === "tool_execution_update" ? [event.partialResult] : []));
    const [first, second] = [
      { content: [text("a")], details: { lines: ["a"] } },
      { content: [text("ab")], details: { lines: ["a", "b"] } },
    ];
    expect(told).toEqual([first, second]);
    expect(result).toEqual(second);
  });

  it("is what a file would hold of it, where it cannot be copied", async () => {
    const circle: Record<string, unknown> = { draw() {} };
    circle.self = circle;
    const details = { when: new Date(0), draw() {}, deep: [{ draw() {}, n: 1 }] };
    for (const [given, kept] of [
      [details, { when: "1970-01-01T00:00:00.000Z", deep: [{ n: 1 }] }],
      [
        { at: new Date(0), seen: new Set([1]) },
        { at: new Date(0), seen: new Set([1]) },
      ],
      [circle, circle],
    ]) {
      const { call } = open([fakeTool("work", async () => ({ content: [text("ok")], details: given }))]);
      expect(await call()).toEqual({ content: [text("ok")], details: kept });
    }
  });

  it("is not copied where the tool makes it anew each time", async () => {
    const details = { n: 1 };
    const tool = fakeTool("work", async () => ({ content: [], details }), { givesAway: true });
    expect((await open([tool]).call()).details).toBe(details);
  });

  it("has no escape sequences, for every tool and every outcome", async () => {
    const red = "\u001b[31mred\u001b[0m \u001b]0;title\u0007end";
    for (const givesAway of [true, false]) {
      const details = { raw: red };
      const tool = fakeTool(
        "work",
        async (_id, _params, _signal, onUpdate) => {
          onUpdate(textResult(red));
          return { content: [text(red), { type: "image", data: "aaaa", mimeType: "image/png" }], details };
        },
        { givesAway },
      );
      const { call, events } = open([tool]);
      expect(await call()).toEqual({
        content: [text("red end"), { type: "image", data: "aaaa", mimeType: "image/png" }],
        details,
      });
      const partial = events.find((event) => event.type === "tool_execution_update")?.partialResult;
      expect(partial?.content).toEqual([text("red end")]);
    }
    const failing = fakeTool("work", () => Promise.reject(new Error(red)));
    expect(textOf(await open([failing]).call())).toBe("red end");
    const fine = fakeTool("work", async () => textResult("fine"));
    const hooked = open([fine], { afterToolCall: async () => textResult(red) });
    expect(textOf(await hooked.call())).toBe("red end");
  });
});
