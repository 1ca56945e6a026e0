import { describe, expect, it } from "vitest";
import type { AgentMessage, AgentSessionEvent } from "../../sdk/index.js";
import { ChatLog, lastBlocks } from "./chat-log.js";

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const assistant = (...content: object[]): AgentMessage =>
  ({ role: "assistant", content, stopReason: "stop", timestamp: 1 }) as object as AgentMessage;
const text = (said: string) => ({ type: "text", text: said });
const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: { path: "a" } });
const result = (id: string): AgentMessage =>
  ({
    role: "toolResult",
    toolCallId: id,
    toolName: "read",
    content: [text("ok")],
    isError: false,
    timestamp: 1,
  }) as AgentMessage;

it("a call that the user is asked about waits, and its time counts from the answer", async () => {
  let now = 0;
  const log = new ChatLog(() => now);
  const start = { type: "tool_execution_start", toolCallId: "c1", toolName: "bash", args: { command: "ls" } };
  log.apply(start as AgentSessionEvent);
  expect(log.items).toMatchObject([{ state: "running", startedAt: 0 }]);
  let answer = (_yes: boolean) => {};
  const asked = log.whileAsked("c1", new Promise<boolean>((resolve) => (answer = resolve)));
  expect(log.items).toMatchObject([{ state: "waiting", startedAt: undefined }]);
  now = 30_000;
  answer(true);
  expect(await asked).toBe(true);
  expect(log.items).toMatchObject([{ state: "running", startedAt: 30_000 }]);
});

describe("the blocks of a resumed session", () => {
  it("are all of a short one", () => {
    const log = new ChatLog(() => 0);
    log.restore([user("a"), assistant(text("b"), call("c1")), result("c1"), assistant(text("d"))]);
    expect(log.items.map(({ kind }) => kind)).toEqual(["user", "text", "tool", "text"]);
    expect(log.items.every(({ isFinal }) => isFinal)).toBe(true);
  });

  it("are the last of a long one, with the number of messages before them", () => {
    const messages = Array.from({ length: 1512 }, (_, index) => (index % 2 ? assistant(text("b")) : user("a")));
    const log = new ChatLog(() => 0);
    log.restore(messages);
    expect(log.items).toHaveLength(201);
    expect(log.items[0]).toMatchObject({ kind: "notice", text: "… 1,312 earlier messages (/tree, /export)" });
  });

  it("never begin with the result of a call that is not shown", () => {
    const messages = [user("a"), assistant(text("b"), call("c1")), result("c1"), assistant(text("d"))];
    expect(lastBlocks(messages, 2)).toBe(3);
    expect(lastBlocks(messages, 3)).toBe(1);
    expect(lastBlocks(messages, 4)).toBe(0);
    expect(lastBlocks(messages, 0)).toBe(4);
  });

  it("show the user's own commands as they were drawn", () => {
    const log = new ChatLog(() => 0);
    const ran = {
      role: "bashExecution",
      command: "ls",
      output: "a\n",
      exitCode: 2,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    };
    log.restore([ran as AgentMessage, { ...ran, exitCode: 0, excludeFromContext: true } as AgentMessage]);
    expect(log.items).toMatchObject([
      { kind: "tool", name: "!", state: "failed", args: { command: "ls" } },
      { kind: "tool", name: "!!", state: "done" },
    ]);
  });

  it("come below what was said before, when another session goes on", () => {
    const log = new ChatLog(() => 0);
    log.apply({ type: "message_start", message: assistant() } as never);
    log.apply({
      type: "message_update",
      assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "half" },
    } as never);
    log.restart("Another one.", [user("a")]);
    expect(log.items.map(({ kind, isFinal }) => `${kind} ${isFinal}`)).toEqual([
      "text true",
      "notice true",
      "user true",
    ]);
  });

  it("are laid out as Markdown, unless the planner wrote them", () => {
    const log = new ChatLog(() => 0);
    const by = (api: string) => ({ ...assistant(text("`a`")), api }) as AgentMessage;
    log.restore([by("openai-completions"), by("galley-planner")]);
    log.apply({ type: "message_start", message: by("galley-planner") } as AgentSessionEvent);
    log.apply({
      type: "message_update",
      assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "x" },
    } as AgentSessionEvent);
    expect(log.items.map((item) => item.kind === "text" && item.isMarkdown)).toEqual([true, false, false]);
  });
});
