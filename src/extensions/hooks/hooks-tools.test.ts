// What extensions may do to a call, through the loop itself: refuse it, revise it, rewrite what came of it. A guard that
// fails or takes too long refuses.

import { describe, expect, it } from "vitest";
import { openExtensions, quiet } from "../../../test/kit/extension-modules.js";
import { callTool } from "../../loop/call-tool.js";
import type { ToolHooks } from "../../loop/run.js";
import { fakeRun, fakeTool, finishedCall } from "../../loop/run.test-kit.js";
import type { ToolResult } from "../../protocol/events.js";
import { type AnyTool, textResult } from "../../tools/tool.js";
import type { ExtensionFactory } from "../api/extension.js";
import { extensionToolHooks } from "./hooks-tools.js";

interface Work {
  readonly result: ToolResult;
  /** The arguments of every execution. */
  readonly ran: unknown[];
  readonly told: string[];
}

const parameters = { type: "object", properties: { path: { type: "string" }, lines: { type: "number" } } };

async function work(
  extensions: readonly ExtensionFactory[],
  outcome: () => ToolResult = () => textResult("fine", { n: 1 }),
  advanceMs = 0,
): Promise<Work> {
  const opened = await openExtensions(extensions);
  const ran: unknown[] = [];
  const tool: AnyTool = fakeTool(
    "work",
    async (_id, params) => {
      ran.push(params);
      return outcome();
    },
    { parameters, aliases: ["labour"] },
  );
  const hooks: ToolHooks = extensionToolHooks(opened.runner); // and so the loop's type fits
  const { run } = fakeRun({ clock: opened.clock, tools: () => [tool], hooks });
  const pending = callTool(run, finishedCall("labour", { path: "a.ts" }), new AbortController().signal);
  for (let step = 0; advanceMs > 0 && step < 5; step++) await quiet();
  opened.clock.advance(advanceMs);
  return { result: await pending, ran, told: opened.told };
}

const failed = (text: string, details: unknown = {}) => ({ content: [{ type: "text", text }], details, isError: true });

describe("before a call", () => {
  it("handlers see the tool's own name, whatever the model called it, and what earlier ones made of the input", async () => {
    const seen: unknown[] = [];
    const { ran, told } = await work([
      (pi) =>
        pi.on("tool_call", ({ toolName, toolCallId, input }) => {
          seen.push([toolName, toolCallId, { ...input }]);
          input.path = "b.ts"; // in place
        }),
      (pi) =>
        pi.on("tool_call", async ({ input }) => {
          seen.push({ ...input });
          return { input: { ...input, lines: "3" } };
        }),
      (pi) => pi.on("tool_call", ({ input }) => void seen.push({ ...input })),
    ]);
    expect(seen).toEqual([["work", "labour", { path: "a.ts" }], { path: "b.ts" }, { path: "b.ts", lines: "3" }]);
    expect(ran).toEqual([{ path: "b.ts", lines: 3 }]); // checked again, and made to fit
    expect(told).toEqual([]);
  });

  it("a revision that does not fit the schema is an error, and nothing runs", async () => {
    const { result, ran } = await work([(pi) => pi.on("tool_call", () => ({ input: { path: 7 } }))]);
    expect(result.content).toEqual([
      { type: "text", text: expect.stringMatching(/^The arguments were revised before/) },
    ]);
    expect(result.isError).toBe(true);
    expect(ran).toEqual([]);
  });

  it("what a handler does to its input after it has answered does not count", async () => {
    let kept: Record<string, unknown> = {};
    const { ran } = await work([
      (pi) =>
        pi.on("tool_call", ({ input }) => {
          kept = input;
        }),
      (pi) =>
        pi.on("tool_call", () => {
          kept.path = "late";
        }),
    ]);
    expect(ran).toEqual([{ path: "a.ts" }]);
  });

  it.each([
    ["its reason", { block: true, reason: "not on Sundays" }, "not on Sundays"],
    ["no reason", { block: true }, "Tool execution was blocked by an extension"],
    ["something like a yes", { block: "yes" as never }, "Tool execution was blocked by an extension"],
  ])("the first block wins, with %s, and tool_result hears nothing", async (_title, answer, text) => {
    const heard: string[] = [];
    const { result, ran } = await work([
      (pi) => {
        pi.on("tool_call", () => answer);
        pi.on("tool_call", () => void heard.push("second"));
      },
      (pi) => {
        pi.on("tool_call", () => void heard.push("third"));
        pi.on("tool_result", () => void heard.push("result"));
      },
    ]);
    expect(result).toEqual(failed(text));
    expect(ran).toEqual([]);
    expect(heard).toEqual([]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ["throws", () => Promise.reject(new Error("guard exploded")), /^guard exploded$/],
    ["answers with an input that is none", () => ({ input: "rm" }), /^input must be an object$/],
    ["puts a function into the input", () => ({ input: { path: () => {} } }), /could not be cloned/],
  ])("a handler that %s denies", async (_title, handler, message) => {
    const { result, ran, told } = await work([(pi) => pi.on("tool_call", handler as never)]);
    const [, sentence = ""] = told[0]?.split("ext1 tool_call: ") ?? [];
    expect(sentence).toMatch(message);
    expect(result).toEqual(failed(`Extension ext1 failed: ${sentence}`));
    expect(ran).toEqual([]);
    expect(told).toHaveLength(1);
  });

  it("a handler that never answers denies when its time is up", async () => {
    const { result, ran, told } = await work(
      [(pi) => pi.on("tool_call", () => new Promise(() => {}))],
      undefined,
      300_000,
    );
    expect(result).toEqual(failed("Extension ext1 failed: it did not finish within 300 s"));
    expect(ran).toEqual([]);
    expect(told).toEqual(["ext1 tool_call: it did not finish within 300 s"]);
  });
});

describe("after a call", () => {
  const throwing = () => {
    throw new Error("broke");
  };
  const text = (words: string) => [{ type: "text" as const, text: words }];
  const rewrite =
    (answer: object): ExtensionFactory =>
    (pi) =>
      pi.on("tool_result", () => answer);

  it.each<[string, object, undefined | (() => never), ToolResult]>([
    [
      "success, content and details",
      { content: text("new"), details: { m: 2 } },
      undefined,
      { content: text("new"), details: { m: 2 } },
    ],
    ["success, content only", { content: text("new") }, undefined, { content: text("new"), details: { n: 1 } }],
    ["success, marked", { isError: true }, undefined, { content: text("fine"), details: { n: 1 }, isError: true }],
    [
      "success, marked, with content",
      { isError: true, content: text("bad") },
      undefined,
      { content: text("bad"), details: { n: 1 }, isError: true },
    ],
    [
      "success, marked, without a text",
      { isError: true, content: [] },
      undefined,
      { content: text("Tool result marked as error by extension"), details: { n: 1 }, isError: true },
    ],
    [
      "throw, content and details",
      { content: text("what to do"), details: { m: 2 } },
      throwing,
      { content: text("what to do"), details: { m: 2 }, isError: true },
    ],
    ["throw, nothing", {}, throwing, { content: text("broke"), details: {}, isError: true }],
    [
      "throw, not an error",
      { isError: false, content: text("never mind") },
      throwing,
      { content: text("never mind"), details: {} },
    ],
    ["throw, not an error, same content", { isError: false }, throwing, { content: text("broke"), details: {} }],
  ])("%s", async (_title, answer, outcome, expected) => {
    expect((await work([rewrite(answer)], outcome)).result).toEqual(expected);
  });

  it("each handler sees the latest, with the input that ran", async () => {
    const seen: unknown[] = [];
    const { result } = await work([
      (pi) => pi.on("tool_call", () => ({ input: { path: "b.ts" } })),
      (pi) =>
        pi.on("tool_result", ({ input, toolName, content }) => {
          seen.push([toolName, input, content]);
          return { content: [...content, ...text("one")] };
        }),
      (pi) =>
        pi.on("tool_result", ({ content, isError }) => {
          seen.push([content, isError]);
          return { content: [...content, ...text("two")], isError: true };
        }),
    ]);
    expect(seen).toEqual([
      ["work", { path: "b.ts" }, text("fine")],
      [[...text("fine"), ...text("one")], false],
    ]);
    expect(result).toEqual({
      content: [...text("fine"), ...text("one"), ...text("two")],
      details: { n: 1 },
      isError: true,
    });
  });

  it.each<[string, () => unknown, number, string]>([
    ["throws", throwing, 0, "broke"],
    [
      "answers with content of no shape",
      () => ({ content: [{ type: "video" }] }),
      0,
      "content must be a list of texts and images",
    ],
    ["takes too long", () => new Promise(() => {}), 30_000, "it did not finish within 30 s"],
  ])("a handler that %s hides the result: it may have been about to", async (_title, handler, advanceMs, message) => {
    const secret = () => textResult("the password is 1234");
    const { result, told } = await work([(pi) => pi.on("tool_result", handler as never)], secret, advanceMs);
    expect(result).toEqual({ content: text(`Extension ext1 failed: ${message}`), isError: true });
    expect(told).toEqual([`ext1 tool_result: ${message}`]);
  });

  it("keeps what only the loop understands", async () => {
    const outcome = () => ({ ...textResult("over"), terminate: true, isWarning: true });
    expect((await work([rewrite({ content: text("out") })], outcome)).result).toEqual({
      content: text("out"),
      terminate: true,
      isWarning: true,
    });
  });
});
