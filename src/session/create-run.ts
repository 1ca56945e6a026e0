// Everything that one run of the loop needs, made in one place from the parts of its session.

import type { RunContext, ToolHooks } from "../loop/run.js";
import { resolveToolName } from "../pending/resolve-force.js";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
import { capabilitiesOf, type ModelMessage, type ProviderModel } from "../provider/provider.js";
import type { AnyTool } from "../tools/tool.js";
import { approveAll, createGate } from "./approval.js";
import { failureText } from "./retry.js";
import type { SessionInternals } from "./session-internals.js";
import { entryOf } from "./session-messages.js";

type RunSession = Pick<
  SessionInternals,
  | "deps"
  | "current"
  | "events"
  | "queues"
  | "toolChoice"
  | "models"
  | "retry"
  | "fallback"
  | "budget"
  | "driver"
  | "tools"
  | "pending"
  | "rules"
  | "systemPrompt"
  | "settings"
>;

export interface RunOptions {
  readonly model: ProviderModel;
  readonly signal: AbortSignal;
  readonly decideEnd: RunContext["decideEnd"];
  /** The message that was put on record before its run announces it. */
  readonly recorded: AgentMessage;
}

export function createRun(session: RunSession, { model, signal, decideEnd, recorded }: RunOptions): RunContext {
  const { deps, current, events, queues, toolChoice, models, fallback, driver, pending, rules, systemPrompt } = session;
  const { clock, log, stream, cwd, secrets: mask, maskResult } = deps;
  const level = models.levelFor(model);
  return {
    events,
    queues,
    toolChoice,
    signal,
    clock,
    graceClock: driver.graceClock,
    log,
    model,
    stream,
    mask,
    maskResult,
    hooks: { ...deps.hooks, beforeToolCall: gateOf(session) },
    toolContext: { cwd },
    failureText: (event) => (fallback.plan(model) ? event.errorMessage : failureText(event, session.settings.retry)),
    mayAsk: () => session.budget.mayAsk(),
    streamOptions: () => models.streamOptions(model, level),
    systemPrompt: () => systemPrompt.text,
    tools: () => offeredTools(session),
    turnBoundary: () => pending.turnBoundary(),
    modelMessages: () => current.modelMessages.of(current.record.context),
    reviseMessages: () => revisedMessages(session),
    append: (message) => append(session, message, message === recorded),
    replied: (message) => replied(session, message),
    watch: rules.controller && watchReplies(session, rules.controller),
    decideEnd,
  };
}

/** Hooks, then policy; the driver remembers whether the last call was refused. */
function gateOf({ deps, current, driver, pending }: RunSession): NonNullable<ToolHooks["beforeToolCall"]> {
  const gate = createGate({
    hook: deps.hooks?.beforeToolCall,
    policy: deps.approve ?? approveAll,
    secure: () => current.record.sync(),
    begins: ({ id }) => pending.toolRuns(id),
  });
  return async (...call) => {
    const refusal = await gate(...call);
    driver.wasDenied = refusal !== undefined;
    return refusal;
  };
}

/** `resolve` is offered while it is useful, without being named; `undo` to a model that knows the word by itself. */
function offeredTools({ deps, models, tools, pending }: RunSession): readonly AnyTool[] {
  const { active } = tools;
  const needsResolve =
    pending.isResolvable || deps.extensions?.mayStage === true || active.some((tool) => tool.deferrable);
  const needsUndo = models.active !== undefined && capabilitiesOf(models.active).knowsUndo;
  return tools.offered([...(needsUndo ? ["undo"] : []), ...(needsResolve ? [resolveToolName] : [])]);
}

/** For one model call; the record stays as it is. */
function revisedMessages({ deps, current }: RunSession): Promise<readonly ModelMessage[]> | undefined {
  if (!deps.extensions?.revisesContext) return undefined;
  const { modelMessages, record } = current;
  return deps.extensions
    .reviseContext(modelMessages.shown(record.context))
    .then((messages) => modelMessages.ofRevised(messages));
}

function append({ current: { record }, pending }: RunSession, message: AgentMessage, isRecorded: boolean): void {
  const entry = isRecorded ? undefined : record.append(entryOf(message));
  if (message.role !== "toolResult") return;
  if (entry) pending.toolResultRecorded(message.toolCallId, entry.id);
  void record.sync(); // never rejects: the record tells of failures
}

function replied({ pending, retry, fallback, rules }: RunSession, message: AssistantMessage): void {
  pending.replied(message);
  if (message.stopReason !== "error" && message.stopReason !== "aborted") {
    retry.onSuccess();
    fallback.onSuccess();
  }
  rules.controller?.messageEnd(message);
  rules.controller?.turnEnd(message);
}

function watchReplies(
  { events }: RunSession,
  rules: NonNullable<SessionInternals["rules"]["controller"]>,
): RunContext["watch"] {
  return {
    turnStart: () => rules.turnStart(),
    update: (event) => {
      const interrupt = rules.messageUpdate(event);
      if (!interrupt) return undefined;
      events.emit({ type: "ttsr_triggered", rules: interrupt.rules });
      return "Stopped by a stream rule";
    },
  };
}
