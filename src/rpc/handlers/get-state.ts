// `get_state`: what a host needs to draw its screen. Never fails, also while a run is active.

import type { SessionState } from "../../protocol/data.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import { type AgentSession, toWireModel } from "../../sdk/index.js";
import type { HandlerContext } from "../handler.js";

/**
 * Waits for nothing, unless previews of an earlier process are still being found, or it is not known yet how commands are
 * confined: both are part of it.
 */
export function getState(context: HandlerContext): SessionState | Promise<SessionState> {
  const { session } = context;
  const { findingPending } = session;
  const learning = session.learnSandbox();
  if (!findingPending && !learning) return stateOf(context);
  return Promise.all([findingPending, learning]).then(() => stateOf(context));
}

/** Hosts know no session without one: where none was asked for, the least that the model has. */
export function shownLevel(session: AgentSession): ThinkingLevel {
  const [least = "off"] = session.getAvailableThinkingLevels();
  return session.thinkingLevel ?? least;
}

function stateOf({ session, features, results }: HandlerContext): SessionState {
  const { model } = session;
  const usage = session.getContextUsage();
  return {
    ...(model ? { model: toWireModel(model) } : {}),
    thinkingLevel: shownLevel(session),
    isStreaming: session.isStreaming,
    isCompacting: session.isCompacting,
    steeringMode: session.steeringMode,
    followUpMode: session.followUpMode,
    interruptMode: session.interruptMode,
    sessionId: session.sessionId,
    ...(session.sessionFile === undefined ? {} : { sessionFile: session.sessionFile }),
    ...(session.sessionName === undefined ? {} : { sessionName: session.sessionName }),
    ...(session.persistError === undefined ? {} : { persistError: session.persistError }),
    lockKind: session.lockKind === "none" || session.lockKind === "held" ? session.lockKind : undefined,
    readOnlyReason: session.readOnlyReason,
    autoCompactionEnabled: session.autoCompactionEnabled,
    messageCount: session.messages.length,
    queuedMessageCount: session.queuedMessageCount,
    todoPhases: session.getTodoPhases(),
    systemPrompt: session.systemPrompt,
    dumpTools: session.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    ...(usage ? { contextUsage: usage } : {}),
    pendingMessageCount: session.queuedMessageCount,
    autoRetryEnabled: session.autoRetryEnabled,
    isRetrying: session.isRetrying,
    pendingActionCount: session.pendingActionCount,
    ...(features.has("prompt-result") ? { isSettled: results.isIdle } : {}),
    access: session.access,
    sandbox: session.sandbox,
  };
}
