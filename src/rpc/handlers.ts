// The table of commands. A command of the protocol without a handler does not compile.

import type { RpcCommand, RpcCommandType } from "../protocol/commands.js";
import { toWireModel } from "../sdk/index.js";
import { availableCommands } from "./command-list-updates.js";
import type { Handler, HandlerContext } from "./handler.js";
import { getEntries, getTree } from "./handlers/get-entries.js";
import { getMessagesPage } from "./handlers/get-messages-page.js";
import { getState, shownLevel } from "./handlers/get-state.js";
import { boundedImages } from "./handlers/images.js";
import { negotiateProtocol } from "./handlers/negotiate-protocol.js";
import { abortAndPrompt, prompt } from "./handlers/prompt.js";
import { setAccess } from "./handlers/set-access.js";
import { setHostTools } from "./handlers/set-host-tools.js";
import { decisionOf, undone } from "./handlers/undo.js";

const table: { [C in RpcCommandType]: Handler<C> } = {
  abort: ({ session }) => session.abort(),
  abort_and_prompt: abortAndPrompt,
  abort_bash: ({ session }) => session.abortBash(),
  abort_retry: ({ session }) => session.abortRetry(),
  bash: ({ session }, { command, excludeFromContext, stage, unsandboxed }) =>
    session.executeBash(command, undefined, { excludeFromContext, stage, unsandboxed }),
  branch: ({ session }, { entryId }) => session.branch(entryId),
  clone: async ({ session }) => ({ cancelled: !(await session.clone()) }),
  compact: ({ session }, { customInstructions }) => session.compact(customInstructions),
  cycle_model: ({ session }) => {
    const next = session.cycleModel();
    return next && { ...next, thinkingLevel: shownLevel(session), model: toWireModel(next.model) };
  },
  cycle_thinking_level: ({ session }) => {
    const level = session.cycleThinkingLevel();
    return level === null ? null : { level };
  },
  export_html: async ({ session }, { outputPath }) => ({ path: await session.exportToHtml(outputPath) }),
  follow_up: async ({ session }, command) => {
    await session.followUp(command.message, boundedImages(command));
    return { disposition: "queued" };
  },
  fork: ({ session }, { entryId }) => session.branch(entryId),
  get_available_commands: ({ session }) => ({ commands: availableCommands(session) }),
  get_available_models: ({ session }) => ({ models: session.getAvailableModels().map(toWireModel) }),
  get_available_thinking_levels: ({ session }) => ({ levels: session.getAvailableThinkingLevels() }),
  get_branch_messages: ({ session }) => ({ messages: session.getUserMessagesForBranching() }),
  get_entries: getEntries,
  get_fork_messages: ({ session }) => ({ messages: session.getUserMessagesForBranching() }),
  get_last_assistant_text: ({ session, dialect }) => {
    const text = session.getLastAssistantText();
    return text === null && dialect.omitsMissingText ? {} : { text };
  },
  get_messages: async ({ session }) => ({ messages: await session.withImages(session.messages) }),
  get_messages_page: getMessagesPage,
  get_commands: ({ session }) => ({ commands: session.getCommands() }),
  get_changes: async ({ session }, { all = false, diff = false, limit }) => ({
    changes: await session.getChanges({ isWholeRoot: all, withDiff: diff, limit }),
  }),
  get_diff: ({ session }, { type: _type, id: _id, ...request }) => session.getDiff(request),
  get_pending_actions: async ({ session }, { ids, diff, check }) => ({
    actions: await session.getPendingActions({ ids, diff, check }),
  }),
  get_session_stats: ({ session }) => session.getSessionStats(),
  get_state: getState,
  get_tree: getTree,
  negotiate_protocol: negotiateProtocol,
  new_session: async ({ session }, { parentSession }) => ({
    cancelled: !(await session.newSession(parentSession === undefined ? {} : { parentSession })),
  }),
  prompt,
  rebase_pending_action: ({ session, features }, { pendingId, revision, partial }) =>
    session.rebasePendingAction({ pendingId, revision, partial, by: features.decider }),
  redo: async (context, command) => undone(context, await context.session.redo(decisionOf(command, context.features))),
  resolve_pending_action: async ({ session, features }, { type: _type, id: _id, ...decision }) => {
    const { details, text } = await session.resolvePendingAction({ ...decision, by: features.decider });
    return { details, text };
  },
  revise_pending_action: ({ session, features }, { pendingId, revision, path, hunk, text }) =>
    session.revisePendingAction({ pendingId, revision, path, hunk, text, by: features.decider }),
  set_access: setAccess,
  set_auto_compaction: ({ session }, { enabled }) => session.setAutoCompactionEnabled(enabled),
  set_auto_retry: ({ session }, { enabled }) => session.setAutoRetryEnabled(enabled),
  set_budget: ({ session }, { maxCost, maxTurns, maxTokens }) => session.setBudget({ maxCost, maxTurns, maxTokens }),
  set_event_filter: ({ features, request }, { events }) => {
    features.filterEvents(events);
    request.succeed({ events }); // in the same step: the filter applies after the answer
    return { events };
  },
  set_follow_up_mode: ({ session }, { mode }) => {
    session.followUpMode = mode;
  },
  set_host_tools: setHostTools,
  set_interrupt_mode: ({ session }, { mode }) => {
    session.interruptMode = mode;
  },
  set_model: async ({ session }, { provider, modelId }) => {
    await session.learnModel(provider, modelId);
    return toWireModel(session.setModel(provider, modelId));
  },
  set_session_name: ({ session }, { name }) => session.setSessionName(name),
  set_steering_mode: ({ session }, { mode }) => {
    session.steeringMode = mode;
  },
  set_thinking_level: ({ session }, { level }) =>
    session.setThinkingLevel(level === "inherit" ? undefined : level === "max" ? "xhigh" : level),
  set_todos: ({ session }, { phases }) => ({ todoPhases: session.setTodoPhases(phases) }),
  switch_session: async ({ session }, { sessionPath }) => {
    const isDone = await session.switchSession(sessionPath);
    return { cancelled: !isDone, readOnlyReason: isDone ? session.readOnlyReason : undefined };
  },
  steer: async ({ session }, command) => {
    await session.steer(command.message, boundedImages(command));
    return { disposition: "queued" };
  },
  undo: async (context, command) => {
    const { changeId } = command;
    return undone(context, await context.session.undo({ changeId, ...decisionOf(command, context.features) }));
  },
};

type AnyHandler = (context: HandlerContext, command: RpcCommand) => unknown;

/** A Map, so that a command named like a member of Object is simply unknown. */
export const handlers = new Map<string, AnyHandler>(Object.entries(table) as [string, AnyHandler][]);
