import { describe, expect, it } from "vitest";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage } from "../protocol/messages.js";
import { manualClock } from "../testing/manual-clock.js";
import { call, calls, fail, type ScriptStep, say, scriptedModel, textBlock } from "../testing/scripted-model.js";
import { textResult } from "../tools/tool.js";
import type { RunContext } from "./run.js";
import { fakeRun, fakeTool, textOf, userMessage } from "./run.test-kit.js";
import { runPrompt } from "./run-prompt.js";

function setUp(steps: readonly ScriptStep[], context: Partial<RunContext> = {}) {
  const model = scriptedModel(steps);
  const fake = fakeRun({ clock: manualClock(), stream: model.stream, ...context });
  return { ...fake, model, prompt: (...texts: string[]) => runPrompt(fake.run.context, texts.map(userMessage)) };
}

/** One word per event; what is streamed in between is left out. */
function trace(events: readonly AgentSessionEvent[]): string {
  const words = events.map((event) => {
    if (event.type === "message_start" || event.type === "message_end") return `${event.type}:${said(event.message)}`;
    if (event.type.startsWith("message_") || event.type.startsWith("tool_")) return "";
    return event.type;
  });
  return words.filter(Boolean).join(" ");
}

function said(message: AgentMessage): string {
  if (message.role === "user") return String(message.content);
  return message.role === "assistant" || message.role === "toolResult" ? message.role : "other";
}

const echo = fakeTool("echo", async () => textResult("echoed"));

it("opens and closes the run, its turn and every message, and tells all that was added", async () => {
  const { prompt, events, appended, model } = setUp([say("Hello.")]);
  const end = await prompt("hi");
  expect(trace(events)).toBe(
    "agent_start turn_start message_start:hi message_end:hi message_start:assistant message_end:assistant turn_end agent_end",
  );
  expect(end.stopReason).toBe("stop");
  expect(events.at(-1)).toEqual({ type: "agent_end", messages: appended, isTerminal: true });
  expect(appended.map(({ role }) => role)).toEqual(["user", "assistant"]);
  model.verify();
});

it("goes on for as long as the model calls tools, with a turn for each reply", async () => {
  const { prompt, events, appended, model } = setUp([call("echo", {}), call("echo", {}, "call_2"), say("Done.")], {
    tools: () => [echo],
  });
  await prompt("go");
  expect(events.filter(({ type }) => type === "turn_start")).toHaveLength(3);
  expect(appended.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "assistant",
    "toolResult",
    "assistant",
  ]);
  model.verify();
});

it("ends the run where every tool of a turn asks for that", async () => {
  const last = fakeTool("last", async () => ({ ...textResult("enough"), terminate: true }));
  const { prompt, model } = setUp([call("last", {})], { tools: () => [last] });
  expect((await prompt("go")).stopReason).toBe("toolUse");
  model.verify();
});

describe("queued messages", () => {
  it("steering comes before the next request, follow-ups only where the run would stop", async () => {
    const { prompt, events, queues, model } = setUp([call("echo", {}), say("One."), say("Two.")], {
      tools: () => [echo],
    });
    queues.queueFollowUp(userMessage("afterwards"));
    const steps = prompt("go");
    queues.steer(userMessage("rather"));
    await steps;
    const delivered = trace(events)
      .split(" ")
      .filter((word) => word.startsWith("message_end:"));
    expect(delivered).toEqual(
      ["go", "assistant", "toolResult", "rather", "assistant", "afterwards", "assistant"].map(
        (word) => `message_end:${word}`,
      ),
    );
    model.verify();
  });

  it("a follow-up waits until the model calls no more tools", async () => {
    const { prompt, appended, queues, model } = setUp([call("echo", {}), say("One."), say("Two.")], {
      tools: () => [echo],
    });
    queues.queueFollowUp(userMessage("afterwards"));
    await prompt("go");
    expect(appended.map(said)).toEqual(["go", "assistant", "toolResult", "assistant", "afterwards", "assistant"]);
    model.verify();
  });

  it("what was queued while idle is part of the first request", async () => {
    const { prompt, appended, queues } = setUp([say("Yes.")]);
    queues.steer(userMessage("earlier"));
    await prompt("now");
    expect(appended.map(said)).toEqual(["now", "earlier", "assistant"]);
  });

  it("an aside goes along with a request and starts none", async () => {
    const { prompt, appended, queues, model } = setUp([say("Yes.")], {
      replied: () => queues.queueAside(userMessage("too late")),
    });
    queues.queueAside(userMessage("by the way"));
    await prompt("now");
    expect(appended.map(said)).toEqual(["now", "by the way", "assistant"]);
    model.verify();
  });

  it("a message that was taken and could not be delivered is put back", async () => {
    let count = 0;
    const steering = fakeTool(
      "steering",
      async () => {
        fake.queues.steer(userMessage(`rather ${++count}`));
        return textResult("ran");
      },
      { concurrency: "exclusive" },
    );
    const both = calls({ name: "steering", args: {}, id: "c1" }, { name: "steering", args: {}, id: "c2" });
    const fake = setUp([both], {
      tools: () => [steering],
      // The batch has taken the message by then, and skipped this call.
      append: (message) => {
        if (message.role === "toolResult" && message.toolCallId === "c2") fake.abort.abort();
      },
    });
    fake.queues.interruptMode = "immediate";
    expect((await fake.prompt("go")).stopReason).toBe("aborted");
    expect(fake.queues.takeSteering().map(({ message }) => said(message))).toEqual(["rather 1"]);
    fake.model.verify();
  });

  it("a reminder at the end of a turn is worth another turn", async () => {
    const reminders = [[userMessage("think of the tests")], []];
    const { prompt, appended, model } = setUp([say("Done."), say("Tested.")], {
      turnBoundary: () => reminders.shift() ?? [],
    });
    await prompt("go");
    expect(appended.map(said)).toEqual(["go", "assistant", "think of the tests", "assistant"]);
    model.verify();
  });
});

describe("a run without a prompt", () => {
  const cannotContinue = { code: "cannot_continue" };

  it("goes on from a conversation that ends with a user's message", async () => {
    const { prompt, appended } = setUp([say("Yes.")], {
      modelMessages: () => [{ role: "user", content: "still there?", timestamp: 0 }],
    });
    await prompt();
    expect(appended.map(said)).toEqual(["assistant"]);
  });

  it("is refused before anything is emitted where there is nothing to go on from", async () => {
    const empty = setUp([]);
    await expect(empty.prompt()).rejects.toMatchObject({ ...cannotContinue, message: "No messages to continue from" });
    const answered = setUp([], { modelMessages: () => [{ role: "assistant" } as never] });
    await expect(answered.prompt()).rejects.toMatchObject(cannotContinue);
    expect([...empty.events, ...answered.events]).toEqual([]);
  });
});

describe("a reply that fails", () => {
  const broken: ScriptStep = [
    { type: "start" },
    ...textBlock(0, ["Well"]),
    { type: "toolcall_start", contentIndex: 1, id: "c1", name: "echo" },
    { type: "toolcall_delta", contentIndex: 1, delta: "{}" },
    { type: "toolcall_end", contentIndex: 1 },
    { type: "error", reason: "error", errorMessage: "overloaded" },
  ];

  it("ends the run, and each of its calls has a result that says why", async () => {
    const { prompt, events, appended, toolChoice } = setUp([broken], { tools: () => [echo] });
    const rejected: string[] = [];
    toolChoice.pushOnce("required", { label: "test", onRejected: (reason) => void rejected.push(reason) });
    expect((await prompt("go")).stopReason).toBe("error");
    const result = appended.at(-1);
    expect(result).toMatchObject({ role: "toolResult", toolCallId: "c1", isError: true });
    expect(textOf(result as never)).toBe("Tool execution failed due to an error: overloaded");
    expect(trace(events)).toMatch(/turn_end agent_end$/);
    expect(rejected).toEqual(["error"]);
  });

  it("says that the run is tried again where the session decides so", async () => {
    const retry = { isTerminal: false, continueReason: "retry" } as const;
    const { prompt, events } = setUp([fail("overloaded")], { decideEnd: () => retry });
    await prompt("go");
    expect(events.at(-1)).toMatchObject({ type: "agent_end", ...retry, willRetry: true });
  });
});

it("closes every pair after an error of its own, logs it and puts it on record", async () => {
  const { prompt, events, appended, logged } = setUp([say("Hi.")], {
    replied: () => {
      throw new Error("broken promise");
    },
  });
  const end = await prompt("go");
  expect(end).toMatchObject({ stopReason: "error", message: { errorMessage: "broken promise" } });
  expect(appended.at(-1)).toBe(end.message);
  expect(logged).toEqual(["a run failed unexpectedly"]);
  const count = (type: string) => events.filter((event) => event.type === type).length;
  for (const pair of ["agent", "turn", "message"]) expect(count(`${pair}_start`)).toBe(count(`${pair}_end`));
  expect(events.at(-1)?.type).toBe("agent_end");
});
