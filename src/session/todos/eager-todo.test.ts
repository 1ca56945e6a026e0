import { describe, expect, it } from "vitest";
import { ToolChoiceQueue } from "../../loop/tool-choice-queue.js";
import type { CustomMessage } from "../../protocol/messages.js";
import { type EagerTodoDeps, startEagerTodos } from "./eager-todo.js";

function start(prompt: string, changes: Partial<EagerTodoDeps> = {}) {
  const messages: CustomMessage[] = [];
  const toolChoice = new ToolChoiceQueue();
  const end = startEagerTodos(prompt, {
    messageCount: 0,
    hasTodos: false,
    toolNames: ["read", "todo_write"],
    model: {},
    ride: (message) => void messages.push(message),
    toolChoice,
    now: 7,
    ...changes,
  });
  return { end, toolChoice, messages };
}

describe("startEagerTodos", () => {
  it("tells the model, out of sight, and forces its first call", () => {
    const { messages, toolChoice } = start("Port the parser");
    expect(messages).toEqual([
      {
        role: "custom",
        customType: "eager-todo",
        content: expect.stringContaining("todo_write"),
        display: false,
        attribution: "agent",
        timestamp: 7,
      },
    ]);
    expect(toolChoice.next()).toEqual({ type: "tool", name: "todo_write" });
  });

  it("drops the force when the turn fails, and takes it back when the prompt ends before", () => {
    const failed = start("Port the parser").toolChoice;
    failed.next();
    failed.reject("error");
    expect(failed.next()).toBeUndefined();
    const unused = start("Port the parser");
    unused.end();
    expect(unused.toolChoice.inspect()).toEqual([]);
  });

  it.each<[string, string, Partial<EagerTodoDeps>]>([
    ["after the first prompt", "Port it", { messageCount: 2 }],
    ["when there is a plan", "Port it", { hasTodos: true }],
    ["without the tool", "Port it", { toolNames: ["read"] }],
    ["for a model that cannot be forced", "Port it", { model: { compat: { supportsToolChoice: false } } }],
    ["for a question", "What is this? \n", {}],
    ["for an exclamation", "Hello!", {}],
  ])("does nothing %s", (_, prompt, changes) => {
    const { messages, toolChoice, end } = start(prompt, changes);
    end();
    expect([messages, toolChoice.inspect()]).toEqual([[], []]);
  });
});
