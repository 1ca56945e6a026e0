// Fakes for the tests of the loop: a Run that writes down everything it emits and appends, tools made of a function,
// and promises that the test settles. For tests only.

import type { Clock } from "../base/clock.js";
import type { InputContent } from "../protocol/content.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { ProviderModel, StreamEvent } from "../provider/provider.js";
import type { AnyTool } from "../tools/tool.js";
import { EventStream } from "./event-stream.js";
import { MessageQueues } from "./message-queues.js";
import type { FinishedCall } from "./reply-builder.js";
import { Run, type RunContext } from "./run.js";
import { ToolChoiceQueue } from "./tool-choice-queue.js";

export const fakeModel: ProviderModel = {
  id: "fable-2",
  name: "Fable 2",
  api: "fake-api",
  provider: "acme",
  baseUrl: "http://127.0.0.1",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
};

export interface FakeRun {
  readonly run: Run;
  readonly abort: AbortController;
  readonly queues: MessageQueues;
  readonly toolChoice: ToolChoiceQueue;
  readonly events: AgentSessionEvent[];
  readonly appended: AgentMessage[];
  /** Every line of the log. */
  readonly logged: string[];
}

/** What a test leaves out is empty: no tools, no hooks, a model that says nothing. */
export function fakeRun(context: Partial<RunContext> & { clock: Clock }): FakeRun {
  const logged: string[] = [];
  const log = { warn: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) };
  const events: AgentSessionEvent[] = [];
  const appended: AgentMessage[] = [];
  const stream = new EventStream<AgentSessionEvent>(log);
  stream.subscribe((event) => void events.push(event));
  const abort = new AbortController();
  const queues = new MessageQueues();
  const toolChoice = new ToolChoiceQueue();
  const run = new Run({
    events: stream,
    queues,
    toolChoice,
    signal: abort.signal,
    log,
    model: fakeModel,
    stream: () => streamOf([]),
    hooks: {},
    toolContext: { cwd: "/work" },
    streamOptions: async () => ({}),
    systemPrompt: () => "be brief",
    tools: () => [],
    modelMessages: () => [],
    append: (message) => void appended.push(message),
    failureText: ({ errorMessage }) => errorMessage,
    replied: () => {},
    decideEnd: () => ({ isTerminal: true }),
    ...context,
  });
  run.offeredTools = run.context.tools(); // as after a model call
  return { run, abort, queues, toolChoice, events, appended, logged };
}

export async function* streamOf(events: readonly StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}

export function fakeTool(name: string, execute: AnyTool["execute"], more: Partial<AnyTool> = {}): AnyTool {
  return { name, label: name, description: name, parameters: { type: "object" }, execute, ...more };
}

/** A call as the reply builder hands it on. */
export function finishedCall(name: string, args: Record<string, unknown> = {}, id = name): FinishedCall {
  return { call: { type: "toolCall", id, name, arguments: args }, isComplete: true, parsed: structuredClone(args) };
}

export function userMessage(text: string): AgentMessage {
  return { role: "user", content: text, timestamp: 0 };
}

/** All text of a result or message. */
export function textOf({ content }: { content: readonly InputContent[] }): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("");
}

/** One word per event of a batch: `xs:id` start, `xu:id` update, `xe:id` end, `R:id` the result message. */
export function batchTrace(events: readonly AgentSessionEvent[]): string {
  const words = events.map((event) => {
    if (event.type === "tool_execution_start") return `xs:${event.toolCallId}`;
    if (event.type === "tool_execution_update") return `xu:${event.toolCallId}`;
    if (event.type === "tool_execution_end") return `xe:${event.toolCallId}${event.isError ? "!" : ""}`;
    return event.type === "message_end" && event.message.role === "toolResult" ? `R:${event.message.toolCallId}` : "";
  });
  return words.filter(Boolean).join(" ");
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Lets everything happen that needs no further push: all that is left waits for the test. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
