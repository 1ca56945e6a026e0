// The names that `pi.on` knows. A name that is not here is accepted, because a newer galley may have the event, and
// reported, because mostly it is misspelt.

import type { AgentSessionEvent } from "../../protocol/events.js";
import { type HookName, hookAliases } from "./hooks.js";

/** A table, so that a new event does not compile without its name. */
const known: Readonly<Record<HookName | AgentSessionEvent["type"], true>> = {
  session_start: true,
  session_shutdown: true,
  session_before_switch: true,
  session_switch: true,
  session_before_branch: true,
  session_branch: true,
  session_before_tree: true,
  session_tree: true,
  session_before_compact: true,
  "session.compacting": true,
  session_compact: true,
  input: true,
  before_agent_start: true,
  context: true,
  tool_call: true,
  tool_result: true,
  user_bash: true,
  project_trust: true,
  agent_start: true,
  agent_end: true,
  agent_settled: true,
  turn_start: true,
  turn_end: true,
  message_start: true,
  message_update: true,
  message_end: true,
  tool_execution_start: true,
  tool_execution_update: true,
  tool_execution_end: true,
  auto_compaction_start: true,
  auto_compaction_end: true,
  compaction_start: true,
  compaction_end: true,
  auto_retry_start: true,
  auto_retry_end: true,
  retry_fallback_applied: true,
  retry_fallback_succeeded: true,
  budget_exceeded: true,
  session_moved: true,
  ttsr_triggered: true,
  todo_reminder: true,
  todo_auto_clear: true,
  queue_update: true,
  pending_action_added: true,
  pending_action_changed: true,
  pending_action_resolved: true,
  pending_action_stalled: true,
};

export const eventNames: readonly string[] = [...Object.keys(known), ...hookAliases.keys()];
