// How a message gets into a conversation: at once, with a run of its own, or by waiting in a queue. Nobody's message is
// lost on the way: what cannot be taken is refused before anything is changed.

import { GalleyError } from "../base/errors.js";
import type { ImageContent } from "../protocol/content.js";
import type { AgentMessage, UserMessage } from "../protocol/messages.js";
import type { ProviderModel, ToolChoice } from "../provider/provider.js";
import { busyText, entryOf } from "./run-driver.js";
import type { SessionCore } from "./session-core.js";
import type { HeardPrompt, PromptSource } from "./session-extensions.js";
import { type CustomMessageInput, customMessage, userMessage } from "./session-messages.js";
import { startEagerTodos } from "./todos/eager-todo.js";

export interface PromptOptions {
  images?: readonly ImageContent[];
  /** What to do when a run is active; without it such a prompt is refused. */
  streamingBehavior?: "steer" | "followUp";
  /** For the first model call of the run that this prompt starts; a prompt that is queued has none. */
  toolChoice?: ToolChoice;
  /** Not a person's words: a program speaks for its user. */
  synthetic?: boolean;
  /** Whose words they are, for modules of others that look at a prompt first. */
  source?: PromptSource;
  /** Called with the message that it becomes, before it is accepted: for a run of its own, or to wait in a queue. */
  onPlaced?: (message: UserMessage, place: "run" | "queue") => void;
  /** A `/name` is replaced by the template or the skill it stands for; default: where a person or a host says it. */
  expandPromptTemplates?: boolean;
  /** Called once the prompt is accepted and on record, before the first event it causes. */
  onAccepted?: () => void;
}

/** What modules of others have to say comes first; without any, the prompt has begun when this returns. */
export async function prompt(core: SessionCore, text: string, options: PromptOptions): Promise<void> {
  const { guests } = core.parts;
  const { images = [], synthetic, source, onAccepted = () => {} } = options;
  const { aborts } = core;
  core.driver.checkOpen();
  if (!guests?.hearsPrompts || synthetic) return begin(core, text, { ...options, aborts });
  const heard = await core.hearing.next((signal, over) =>
    guests.hear(
      { text, images },
      {
        signal,
        onAccepted() {
          over();
          onAccepted();
        },
        ...(source ? { source } : {}),
      },
    ),
  );
  if (heard) await begin(core, heard.text, { ...options, images: heard.images, aborts });
}

/** `aborts`: as many as there were when the prompt came. */
async function begin(core: SessionCore, asked: string, options: PromptOptions & { aborts: number }): Promise<void> {
  const { images = [], streamingBehavior, synthetic = false } = options;
  const isTyped = !synthetic && options.source !== "extension";
  const named = (options.expandPromptTemplates ?? isTyped) ? expanded(core, asked) : asked;
  const text = typeof named === "string" ? named : await named;
  const mentioned = isTyped && !core.driver.isBusy && text.includes("@") ? await core.parts.readMentions?.(text) : [];
  const message = userMessage(text, { images, isSynthetic: synthetic, now: core.now() });
  const onAccepted = () => options.onAccepted?.();
  if (!core.driver.isBusy) {
    const model = core.models.usable();
    options.onPlaced?.(message, "run");
    const riders: AgentMessage[] = [];
    if (mentioned && mentioned.length > 0)
      riders.push({ role: "fileMention", files: mentioned, timestamp: core.now() });
    // Somebody who chose the first tool, or speaks for a program, wants no plan before it.
    const isExcepted = synthetic || options.toolChoice !== undefined;
    const endEager = isExcepted ? undefined : beginEagerTodos(core, { text, model, riders });
    const question = core.parts.guests?.hearsPrompts ? runQuestion(core, { text, images }) : undefined;
    const isStopped = core.aborts !== options.aborts;
    const start = { model, message, riders, isStopped, onAccepted, ...(question ? { beforeRun: question.ask } : {}) };
    return withToolChoice(core, options.toolChoice, () => core.driver.start(start)).finally(() => {
      endEager?.();
      question?.end();
    });
  }
  if (!streamingBehavior) throw new GalleyError("busy", busyText);
  options.onPlaced?.(message, "queue");
  onAccepted();
  if (streamingBehavior === "steer") core.queues.steer(message);
  else core.queues.queueFollowUp(message);
}

/** What modules say to a prompt rides with it; their system prompt holds until the end. */
function runQuestion(core: SessionCore, prompt: HeardPrompt) {
  let chosen: string | undefined;
  return {
    async ask(signal: AbortSignal): Promise<AgentMessage[]> {
      const { systemPrompt } = core;
      const said = await core.parts.guests?.beforeRun({ ...prompt, systemPrompt }, signal);
      if (!said || signal.aborted) return [];
      if (said.systemPrompt !== systemPrompt) chosen = core.runSystemPrompt = said.systemPrompt;
      return said.messages.map((input) => customMessage(input, core.now()));
    },
    end() {
      if (core.runSystemPrompt === chosen) core.runSystemPrompt = undefined; // not that of the next one
    },
  };
}

interface EagerPrompt {
  readonly text: string;
  readonly model: ProviderModel;
  readonly riders: AgentMessage[];
}

function beginEagerTodos(core: SessionCore, { text, model, riders }: EagerPrompt): (() => void) | undefined {
  const { enabled, eager } = core.settings.todos;
  if (!enabled || eager !== true) return undefined;
  return startEagerTodos(text, {
    messageCount: core.record.context.messages.length,
    hasTodos: core.todos.get().length > 0,
    toolNames: core.tools.active.map(({ name }) => name),
    model,
    ride: (message) => void riders.push(message),
    toolChoice: core.toolChoice,
    now: core.now(),
  });
}

export interface QueueOptions {
  /** Without a run, start one. */
  startIfIdle?: boolean;
}

type Queued = QueueOptions & { images?: readonly ImageContent[] };

export async function steer(core: SessionCore, text: string, { startIfIdle, ...options }: Queued): Promise<void> {
  if (startIfIdle) return prompt(core, text, { ...options, streamingBehavior: "steer" });
  const named = queueable(core, text);
  const said = typeof named === "string" ? named : await named;
  core.queues.steer(userMessage(said, { ...options, now: core.now() }));
}

export async function followUp(core: SessionCore, text: string, { startIfIdle, ...options }: Queued): Promise<void> {
  if (startIfIdle) return prompt(core, text, { ...options, streamingBehavior: "followUp" });
  const named = queueable(core, text);
  const said = typeof named === "string" ? named : await named;
  core.queues.queueFollowUp(userMessage(said, { ...options, now: core.now() }));
}

/** A command runs at once or not at all: it is nothing that a model could be told later. */
function queueable(core: SessionCore, text: string): string | Promise<string> {
  const word = /^\/(\S+)/.exec(text)?.[1];
  if (word !== undefined && core.parts.guests?.commands().some(({ name }) => name === word))
    throw new GalleyError(
      "invalid_argument",
      `Extension command "/${word}" cannot be queued. Use prompt() or execute the command when not streaming.`,
    );
  return expanded(core, text);
}

/** What a `/name` stands for. At once wherever it can be: what comes first stays first. */
function expanded({ parts: { library } }: SessionCore, text: string): string | Promise<string> {
  if (!library || !text.startsWith("/")) return text;
  const expand = () => library.expand(text) ?? text;
  return library.isReady ? expand() : library.ready().then(expand);
}

export interface SendCustomOptions {
  /** Where it waits while a run is active; default `steer`. `nextTurn` rides with the next prompt in any case. */
  deliverAs?: "steer" | "followUp" | "nextTurn";
  /** Without a run, start one with it; otherwise it is only put on record. */
  triggerTurn?: boolean;
}

/** Resolves when the message is queued or on record, or when the run that it started has settled. */
export async function sendCustomMessage(
  core: SessionCore,
  input: CustomMessageInput,
  { deliverAs = "steer", triggerTurn = false }: SendCustomOptions,
): Promise<void> {
  const { queues, driver, events, record } = core;
  const message = customMessage(input, core.now());
  if (deliverAs === "nextTurn") queues.queueNextTurn(message);
  else if (driver.isBusy && deliverAs === "followUp") queues.queueFollowUp(message);
  else if (driver.isBusy) queues.steer(message);
  else if (triggerTurn) await driver.start({ model: core.models.usable(), message, onAccepted() {} });
  else {
    events.emit({ type: "message_start", message });
    record.append(entryOf(message));
    events.emit({ type: "message_end", message });
  }
}

/** What the run did not come to must not fall upon the next one. */
async function withToolChoice(
  { toolChoice }: SessionCore,
  choice: ToolChoice | undefined,
  run: () => Promise<void>,
): Promise<void> {
  if (choice === undefined) return run();
  const id = toolChoice.pushOnce(choice, {
    label: "prompt",
    now: true,
    onRejected: (reason) => (reason === "error" ? "requeue" : undefined),
  });
  try {
    await run();
  } finally {
    toolChoice.remove(id); // not by its name: the next prompt may have brought its own by now
  }
}
