// Messages that wait for the agent instead of starting a run of their own: steering, follow-ups, and custom messages of
// extensions.

import { GalleyError } from "../base/errors.js";
import type { ImageContent } from "../protocol/content.js";
import { expandTemplate } from "./prompt-additions.js";
import type { SessionInternals } from "./session-internals.js";
import { type CustomMessageInput, customMessage, entryOf, userMessage } from "./session-messages.js";
import { startPrompt, submitPrompt } from "./submit-prompt.js";

export interface QueueOptions {
  /** Without a run, start one. */
  startIfIdle?: boolean;
}

type Queued = QueueOptions & { images?: readonly ImageContent[] };

export function steer(session: SessionInternals, text: string, options: Queued): Promise<void> {
  return queue(session, text, { ...options, as: "steer" });
}

export function followUp(session: SessionInternals, text: string, options: Queued): Promise<void> {
  return queue(session, text, { ...options, as: "followUp" });
}

async function queue(
  session: SessionInternals,
  text: string,
  { startIfIdle, as, ...options }: Queued & { as: "steer" | "followUp" },
): Promise<void> {
  if (startIfIdle) return submitPrompt(session, text, { ...options, streamingBehavior: as });
  refuseCommand(session, text);
  const named = expandTemplate(session, text);
  const said = typeof named === "string" ? named : await named;
  const message = userMessage(said, { ...options, now: session.deps.clock.now() });
  if (as === "steer") session.queues.steer(message);
  else session.queues.queueFollowUp(message);
}

/** A command runs at once or not at all: a model could not use it later. */
function refuseCommand({ deps }: SessionInternals, text: string): void {
  const word = /^\/(\S+)/.exec(text)?.[1];
  if (word !== undefined && deps.extensions?.commands().some(({ name }) => name === word))
    throw new GalleyError(
      "invalid_argument",
      `Extension command "/${word}" cannot be queued. Use prompt() or execute the command when not streaming.`,
    );
}

export interface SendCustomOptions {
  /** Where it waits while a run is active; default `steer`. `nextTurn` rides with the next prompt in any case. */
  deliverAs?: "steer" | "followUp" | "nextTurn";
  /** Without a run, start one with it; otherwise it is only put on record. */
  triggerTurn?: boolean;
}

/** Resolves when the message is queued or on record, or when the session is idle after the run that it started. */
export async function sendCustomMessage(
  session: SessionInternals,
  input: CustomMessageInput,
  { deliverAs = "steer", triggerTurn = false }: SendCustomOptions,
): Promise<void> {
  const { queues, driver, events, current, models } = session;
  const message = customMessage(input, session.deps.clock.now());
  if (deliverAs === "nextTurn") queues.queueNextTurn(message);
  else if (driver.isBusy && deliverAs === "followUp") queues.queueFollowUp(message);
  else if (driver.isBusy) queues.steer(message);
  else if (triggerTurn) await startPrompt(session, { model: models.usable(), message, onAccepted() {} });
  else {
    events.emit({ type: "message_start", message });
    current.record.append(entryOf(message));
    events.emit({ type: "message_end", message });
  }
}
