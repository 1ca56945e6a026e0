// One prompt to its stop: turns of one model reply and the tool results it caused, until nothing is left to do.
// Promises: every start has its end, whatever fails; a message taken from a queue is delivered or put back.

import { GalleyError, messageOf } from "../base/errors.js";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../protocol/messages.js";
import { zeroUsage } from "../provider/provider.js";
import type { QueuedMessage } from "./message-queues.js";
import { Run, type RunContext, type RunEnd } from "./run.js";
import { runToolCalls } from "./run-tool-calls.js";
import { type Reply, streamReply } from "./stream-reply.js";
import { abortedText, failedText, refuseCalls } from "./synthetic-results.js";

/** Runs until the agent would stop. With no prompts it continues from the context as it is. */
export async function runPrompt(context: RunContext, prompts: readonly AgentMessage[]): Promise<RunEnd> {
  if (prompts.length === 0) assertCanContinue(context);
  const run = new Run(context);
  run.emit({ type: "agent_start" });
  let end: RunEnd;
  try {
    end = await runTurns(run, prompts);
  } catch (error) {
    end = closeAfterInternalError(run, error);
  }
  const verdict = context.decideEnd(end);
  const willRetry = !verdict.isTerminal && verdict.continueReason === "retry";
  run.emit({ type: "agent_end", messages: run.added, ...verdict, ...(willRetry ? { willRetry } : {}) });
  return end;
}

async function runTurns(run: Run, prompts: readonly AgentMessage[]): Promise<RunEnd> {
  const { queues, signal, toolChoice } = run.context;
  run.openTurn();
  for (const prompt of prompts) run.deliver(prompt);
  let pending = queues.takeSteering().map(messageIn); // it may have been queued while idle
  for (;;) {
    for (const message of [...pending, ...queues.takeAsides().map(messageIn)]) run.deliver(message);
    const reply = await streamReply(run);
    if (reply.message.stopReason === "error" || reply.message.stopReason === "aborted")
      return endFailedTurn(run, reply, reply.message.stopReason);

    const batch = await runToolCalls(run, reply.calls);
    run.closeTurn(reply.message, batch.results);
    const end = { stopReason: reply.message.stopReason, message: reply.message };
    if (signal.aborted) {
      queues.restoreSteering(batch.steering);
      toolChoice.reject("aborted");
      return { ...end, stopReason: "aborted" };
    }
    toolChoice.resolve();
    const hasMore = reply.calls.length > 0 && !batch.terminate;
    pending = nextMessages(run, { ...batch, hasMore });
    if (pending.length === 0 && !hasMore) return end;
    run.openTurn();
  }
}

/** Steering first, reminders with it; follow-ups only when the run would otherwise stop. */
function nextMessages(run: Run, batch: { steering: QueuedMessage[]; hasMore: boolean }): AgentMessage[] {
  const { queues } = run.context;
  const steering = batch.steering.length > 0 ? batch.steering : queues.takeSteering();
  const messages = [...steering.map(messageIn), ...(run.context.turnBoundary?.() ?? [])];
  return messages.length > 0 || batch.hasMore ? messages : queues.takeFollowUps().map(messageIn);
}

function messageIn({ message }: QueuedMessage): AgentMessage {
  return message;
}

function endFailedTurn(run: Run, reply: Reply, stopReason: "error" | "aborted"): RunEnd {
  const { message, calls } = reply;
  const text = stopReason === "aborted" ? abortedText(message.errorMessage) : failedText(message.errorMessage);
  run.closeTurn(message, refuseCalls(run, calls, text));
  run.context.toolChoice.reject(stopReason);
  return { stopReason, message };
}

/** A broken promise in our own code: the run still closes, and the failure becomes part of the record. */
function closeAfterInternalError(run: Run, error: unknown): RunEnd {
  const { model, clock, log, toolChoice } = run.context;
  log.error("a run failed unexpectedly", error);
  const message: AssistantMessage = {
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: zeroUsage,
    stopReason: "error",
    errorMessage: messageOf(error),
    timestamp: clock.now(),
  };
  if (!run.isTurnOpen) run.openTurn();
  run.deliver(message);
  run.closeTurn(message, [] satisfies ToolResultMessage[]);
  toolChoice.reject("error");
  return { stopReason: "error", message };
}

function assertCanContinue(context: RunContext): void {
  const last = context.modelMessages().at(-1);
  if (!last) throw new GalleyError("cannot_continue", "No messages to continue from");
  if (last.role === "assistant")
    throw new GalleyError("cannot_continue", "Cannot continue from message role: assistant");
}
