// How a message gets into a conversation: at once, with a run of its own, or by waiting in a queue. Nobody's message is
// lost on the way: what cannot be taken is refused before anything is changed.

import { GalleyError } from "../base/errors.js";
import type { ImageContent } from "../protocol/content.js";
import type { ProviderModel, ToolChoice } from "../provider/provider.js";
import { busyText, entryOf } from "./prompt-driver.js";
import type { SessionCore } from "./session-core.js";
import type { HeardPrompt, PromptSource } from "./session-guests.js";
import { type CustomMessageInput, customMessage, userMessage } from "./session-messages.js";
import { type EagerTodoParts, startEagerTodos } from "./todos/eager-todo.js";

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
  /** Called once the prompt is accepted and on record, before the first event it causes. */
  onAccepted?: () => void;
}

/** What modules of others have to say comes first; without any, the prompt has begun when this returns. */
export async function prompt(core: SessionCore, text: string, options: PromptOptions): Promise<void> {
  const { guests } = core.parts;
  const { images = [], synthetic, source, onAccepted = () => {} } = options;
  if (!guests?.hearsPrompts || synthetic) return begin(core, text, options);
  const heard = await guests.hear({ text, images }, { onAccepted, ...(source ? { source } : {}) });
  if (heard) await begin(core, heard.text, { ...options, images: heard.images });
}

async function begin(core: SessionCore, text: string, options: PromptOptions): Promise<void> {
  const { images = [], streamingBehavior, synthetic = false } = options;
  const isAsked = core.parts.guests?.hearsPrompts === true && !core.driver.isBusy;
  const restore = isAsked ? await askBeforeRun(core, { text, images }) : undefined;
  const message = userMessage(text, { images, isSynthetic: synthetic, now: core.now() });
  const onAccepted = () => options.onAccepted?.();
  if (!core.driver.isBusy) {
    const start = { model: core.models.usable(), message, onAccepted };
    const endEager = startEagerTodos(
      text,
      eagerTodos(core, start.model, synthetic || options.toolChoice !== undefined),
    );
    return withToolChoice(core, options.toolChoice, () => core.driver.start(start)).finally(() => {
      endEager();
      restore?.();
    });
  }
  restore?.();
  if (!streamingBehavior) throw new GalleyError("busy", busyText);
  onAccepted();
  if (streamingBehavior === "steer") core.queues.steer(message);
  else core.queues.queueFollowUp(message);
}

/** What it says rides with the prompt; its system prompt holds until the answer is called. */
async function askBeforeRun(core: SessionCore, prompt: HeardPrompt): Promise<(() => void) | undefined> {
  core.models.usable(); // refused before anybody is asked
  const { systemPrompt } = core;
  const said = await core.parts.guests?.beforeRun({ ...prompt, systemPrompt });
  if (!said) return undefined;
  for (const input of said.messages) core.queues.queueNextTurn(customMessage(input, core.now()));
  if (said.systemPrompt === systemPrompt || core.driver.isBusy) return undefined;
  core.runSystemPrompt = said.systemPrompt;
  return () => {
    if (core.runSystemPrompt === said.systemPrompt) core.runSystemPrompt = undefined;
  };
}

/** Somebody who chose the first tool, or speaks for a program, wants no plan before it. */
function eagerTodos(core: SessionCore, model: ProviderModel, isExcepted: boolean): EagerTodoParts {
  const { enabled, eager } = core.settings.todos;
  return {
    isEager: enabled && eager === true && !isExcepted,
    messageCount: core.record.context.messages.length,
    hasTodos: core.todos.get().length > 0,
    toolNames: core.tools.active.map(({ name }) => name),
    model,
    queues: core.queues,
    toolChoice: core.toolChoice,
    now: core.now(),
  };
}

export interface QueueOptions {
  /** Without a run, start one. */
  startIfIdle?: boolean;
}

type Queued = QueueOptions & { images?: readonly ImageContent[] };

export async function steer(core: SessionCore, text: string, { startIfIdle, ...options }: Queued): Promise<void> {
  if (startIfIdle) return prompt(core, text, { ...options, streamingBehavior: "steer" });
  core.queues.steer(userMessage(text, { ...options, now: core.now() }));
}

export async function followUp(core: SessionCore, text: string, { startIfIdle, ...options }: Queued): Promise<void> {
  if (startIfIdle) return prompt(core, text, { ...options, streamingBehavior: "followUp" });
  core.queues.queueFollowUp(userMessage(text, { ...options, now: core.now() }));
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

const promptChoice = "prompt";

/** What the run did not come to must not fall upon the next one. */
async function withToolChoice(
  { toolChoice }: SessionCore,
  choice: ToolChoice | undefined,
  run: () => Promise<void>,
): Promise<void> {
  if (choice === undefined) return run();
  toolChoice.pushOnce(choice, {
    label: promptChoice,
    now: true,
    onRejected: (reason) => (reason === "error" ? "requeue" : undefined),
  });
  try {
    await run();
  } finally {
    toolChoice.removeByLabel(promptChoice);
  }
}
