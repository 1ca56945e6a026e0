import { describe, expect, it } from "vitest";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../protocol/messages.js";
import { type ModelMessage, type StreamEvent, type StreamOptions, zeroUsage } from "../provider.js";
import { streamPlanner } from "./planner.js";
import { plannerModel } from "./planner-model.js";

const allTools = ["read", "ast_edit", "ast_grep", "grep", "bash", "resolve", "undo"];

async function ask(messages: ModelMessage[], tools = ["read", "ast_edit"], options: Partial<StreamOptions> = {}) {
  const events: StreamEvent[] = [];
  const request = {
    model: plannerModel,
    context: {
      systemPrompt: "",
      messages,
      tools: tools.map((name) => ({ name, description: "", parameters: {} })),
    },
    options: { signal: new AbortController().signal, ...options },
  };
  for await (const event of streamPlanner(request)) events.push(event);
  return events;
}

/** The text of an answer, after checking that it is a plain one. */
async function answer(messages: ModelMessage[], tools?: string[], options?: Partial<StreamOptions>): Promise<string> {
  const events = await ask(messages, tools, options);
  const [, , delta] = events;
  expect(events).toEqual([
    { type: "start" },
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: expect.any(String) },
    { type: "text_end", contentIndex: 0 },
    { type: "done", reason: "stop", usage: zeroUsage },
  ]);
  return delta?.type === "text_delta" ? delta.delta : "";
}

/** The calls of a turn, after checking the order of its events. */
async function calls(messages: ModelMessage[], tools = allTools): Promise<[id: string, name: string, args: unknown][]> {
  const events = await ask(messages, tools);
  expect(events[0]).toEqual({ type: "start" });
  expect(events.at(-1)).toEqual({ type: "done", reason: "toolUse", usage: zeroUsage });
  const found: [string, string, unknown][] = [];
  const body = events.slice(1, -1);
  for (let index = 0; index < body.length; index += 3) {
    const contentIndex = index / 3;
    const [start, delta, end] = body.slice(index, index + 3);
    expect(end).toEqual({ type: "toolcall_end", contentIndex });
    if (start?.type !== "toolcall_start" || delta?.type !== "toolcall_delta") throw new Error("no call");
    expect([start.contentIndex, delta.contentIndex]).toEqual([contentIndex, contentIndex]);
    found.push([start.id, start.name, JSON.parse(delta.delta)]);
  }
  return found;
}

const user = (content: UserMessage["content"], more: Partial<UserMessage> = {}): UserMessage => ({
  role: "user",
  content,
  timestamp: 0,
  ...more,
});
const called = (...list: [id: string, name: string, args?: Record<string, unknown>][]): AssistantMessage => ({
  role: "assistant",
  content: list.map(([id, name, args = {}]) => ({ type: "toolCall", id, name, arguments: args })),
  api: "galley-planner",
  provider: "galley",
  model: "planner",
  usage: zeroUsage,
  stopReason: "toolUse",
  timestamp: 0,
});
const result = (
  toolCallId: string,
  toolName: string,
  text: string,
  more: Partial<ToolResultMessage> = {},
): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName,
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 0,
  ...more,
});

describe("sentences become calls", () => {
  it.each<[string, ...[string, unknown][]]>([
    [
      "replace f($A) with g($A) in src lib",
      ["ast_edit", { ops: [{ pat: "f($A)", out: "g($A)" }], paths: ["src", "lib"] }],
    ],
    ["replace f() with ``", ["ast_edit", { ops: [{ pat: "f()", out: "" }], paths: ["."] }]],
    ["rename a to b in src", ["ast_edit", { ops: [{ pat: "a", out: "b" }], paths: ["src"] }]],
    ["find f($_) in a b", ["ast_grep", { pat: ["f($_)"], path: "a" }], ["ast_grep", { pat: ["f($_)"], path: "b" }]],
    ["find f($$$)", ["ast_grep", { pat: ["f($$$)"], path: "." }]],
    ["find costs $5 (or $a)", ["grep", { pattern: "costs $5 (or $a)", literal: true, path: "." }]],
    ["show a.ts 'b c.ts'", ["read", { path: "a.ts" }], ["read", { path: "b c.ts" }]],
    ["run ls  -la | wc", ["bash", { command: "ls  -la | wc" }]],
    ["undo", ["undo", {}]],
    ["undo ch_1", ["undo", { id: "ch_1" }]],
    [" Apply ", ["resolve", { action: "apply", reason: "Apply" }]],
    ["discard pa_2", ["resolve", { action: "discard", reason: "discard pa_2", id: "pa_2" }]],
  ])("%s", async (text, ...expected) => {
    expect(await calls([user(text)])).toEqual(expected.map(([name, args], index) => [`plan_${index + 1}`, name, args]));
  });

  it("numbers calls through the conversation", async () => {
    const messages = [user("show a b"), called(["plan_1", "read"], ["plan_2", "read"])];
    expect(await calls([...messages, user("show c")])).toEqual([["plan_3", "read", { path: "c" }]]);
  });

  it("reads the text of a message in blocks", async () => {
    const content: UserMessage["content"] = [
      { type: "image", data: "", mimeType: "image/png" },
      { type: "text", text: "show a" },
    ];
    expect(await calls([user(content)])).toEqual([["plan_1", "read", { path: "a" }]]);
  });

  it("takes the last thing the user said, not what was put in the user's mouth", async () => {
    const messages = [
      user("show old"),
      user("show new"),
      user("You have a pending preview. Call resolve.", { attribution: "agent" }),
      user("apply", { synthetic: true }),
      { role: "developer", content: "apply", timestamp: 0 } as const,
    ];
    expect(await calls(messages)).toEqual([["plan_1", "read", { path: "new" }]]);
  });

  it.each([
    ["find x", "grep"],
    ["find $A", "ast_grep"],
    ["run ls", "bash"],
    ["apply", "resolve"],
    ["discard", "resolve"],
    ["undo", "undo"],
  ])("%s without its tool calls nothing", async (text, tool) => {
    expect(await answer([user(text)])).toBe(`The ${tool} tool is not active in this session.`);
  });

  it("asks for backquotes when a separator is not clear", async () => {
    expect(await answer([user("replace a with b with c")])).toBe(
      '"with" occurs 2 times; put the pattern and the replacement in backquotes.',
    );
  });
});

describe("results become answers", () => {
  const preview =
    "Staged as pa_1 – files NOT modified. Call resolve to apply or discard.\n\n# a.ts (1 replacement)\n-1:1 f()\n+1:1 g()";
  const asked = (text: string) => [user(text), called(["plan_1", "ast_edit"])];

  it("a preview, with what the tool noted and how to decide about it, without the list for models", async () => {
    const details = { totalReplacements: 1, filesTouched: 1, pendingId: "pa_1" };
    const noted = result("plan_1", "ast_edit", `${preview}\n\nLimit reached; narrow path or increase limit.`, {
      details,
    });
    expect(await answer([...asked("replace f() with g()"), noted])).toBe(
      `Previewed 1 replacement in 1 file as pa_1. Nothing is written yet.

Limit reached; narrow path or increase limit.

Say "apply pa_1" or "discard pa_1"; on the command line: galley apply pa_1, galley discard pa_1.`,
    );
  });

  it("where only the user decides, how to do that, also when the planner is told to", async () => {
    const details = { totalReplacements: 1, filesTouched: 1, pendingId: "pa_1" };
    const text = "Staged as pa_1 – files NOT modified. The user decides.\n\n# a.ts (1 replacement)\n-1:1 f()\n+1:1 g()";
    const how =
      "Only you decide about it: /apply pa_1 or /discard pa_1 in the terminal; on the command line: galley apply pa_1, galley discard pa_1.";
    expect(await answer([...asked("replace f() with g()"), result("plan_1", "ast_edit", text, { details })])).toBe(
      `Previewed 1 replacement in 1 file as pa_1. Nothing is written yet.\n\n${how}`,
    );
    const refused = result("plan_1", "resolve", "Staged for review: the user decides.", { isError: true });
    expect(await answer([user("apply pa_1"), called(["plan_1", "resolve"]), refused])).toBe(how);
  });

  it("a rename, with what it does not look at", async () => {
    const details = { totalReplacements: 3, filesTouched: 2, pendingId: "pa_1" };
    expect(await answer([...asked("rename f to g"), result("plan_1", "ast_edit", preview, { details })])).toBe(
      `Previewed 3 replacements in 2 files as pa_1. Nothing is written yet.

By name, without scopes: every identifier f counts, whatever it refers to; names of properties (shorthand ones too), classes and types are left alone.

Say "apply pa_1" or "discard pa_1"; on the command line: galley apply pa_1, galley discard pa_1.`,
    );
  });

  it("no match, with what could not be parsed", async () => {
    const details = { totalReplacements: 0, filesTouched: 0 };
    const none = (text: string) => result("plan_1", "ast_edit", text, { details, isWarning: true });
    const sentence = asked("replace f($A) with g() in src lib");
    expect(await answer([...sentence, none("No replacements made")])).toBe("No match for f($A) in src, lib.");
    expect(await answer([...sentence, none("No replacements made\n\nParse issues:\n- x")])).toBe(
      "No match for f($A) in src, lib.\n\nParse issues:\n- x",
    );
  });

  it("says no more than the result when the result says no numbers", async () => {
    expect(await answer([...asked("replace f() with g()"), result("plan_1", "ast_edit", "Odd.")])).toBe("Odd.");
  });

  it("the text of a file, and of several with their paths", async () => {
    const messages = [user("show a"), called(["plan_1", "read", { path: "a" }]), result("plan_1", "read", "one\ntwo")];
    expect(await answer(messages)).toBe("one\ntwo");
    expect(
      await answer([
        user("show a b"),
        called(["plan_1", "read", { path: "a" }], ["plan_2", "read", { path: "b" }]),
        result("plan_1", "read", "one"),
        result("plan_2", "read", "two"),
      ]),
    ).toBe("a:\none\n\nb:\ntwo");
  });

  it("nothing found anywhere", async () => {
    const messages = [user("find x in a b"), called(["plan_1", "grep"], ["plan_2", "grep"])];
    const none = (id: string) => result(id, "grep", "No matches found", { isWarning: true });
    expect(await answer([...messages, none("plan_1"), none("plan_2")])).toBe("No match for x in a, b.");
  });

  it("answers a request that forces resolve in text", async () => {
    const details = { totalReplacements: 1, filesTouched: 1, pendingId: "pa_1" };
    const messages = [
      ...asked("replace f() with g()"),
      result("plan_1", "ast_edit", preview, { details }),
      user("Call resolve now.", { attribution: "agent" }),
    ];
    const toolChoice = { type: "tool", name: "resolve" } as const;
    expect(await answer(messages, ["resolve"], { toolChoice })).toMatch(/^Previewed 1 replacement in 1 file as pa_1\./);
  });

  it("a failed tool ends the run without a retry", async () => {
    const failed = result("plan_1", "read", "Path 'a' not found", { isError: true });
    expect(await ask([user("show a"), called(["plan_1", "read"]), failed])).toEqual([
      {
        type: "error",
        reason: "error",
        errorMessage: "read failed: Path 'a' not found",
        failure: { kind: "invalid_request" },
      },
    ]);
  });

  it("is the same each time it is asked", async () => {
    const messages = [user("show a"), called(["plan_1", "read"]), result("plan_1", "read", "one")];
    expect(await ask(messages)).toEqual(await ask(structuredClone(messages)));
  });
});

describe("anything else", () => {
  it.each([[[user("help")]], [[user("What is the meaning of life?")]], [[]]])("gets help: %j", async (messages) => {
    const text = await answer(messages);
    expect(text).toMatch(/^I am galley's planner, not a language model\./);
    expect(text).toContain("  replace PATTERN with REPLACEMENT [in PATHS]\n      replace console.log($$$A) with");
    expect(text).toContain("  find PATTERN [in PATHS]   (not active in this session)\n");
    expect(text).toContain("  show PATH\n      show README.md\n");
    expect(text).toContain("models.yml in the agent directory (~/.galley/agent, or GALLEY_AGENT_DIR)");
  });

  it("marks nothing where every tool is there", async () => {
    expect(await answer([user("help")], allTools)).not.toContain("not active");
  });

  it("stops when told to", async () => {
    expect(await ask([user("help")], [], { signal: AbortSignal.abort() })).toEqual([
      { type: "error", reason: "aborted", errorMessage: "Request was aborted" },
    ]);
  });
});
