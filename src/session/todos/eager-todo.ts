// `todo.eager`: the first prompt of a session that asks for work is answered with a plan. The model gets a hidden
// instruction, and its first call is forced to be `todo_write`. Off by default: it costs one model call.

import type { ToolChoiceQueue } from "../../loop/tool-choice-queue.js";
import type { CustomMessage } from "../../protocol/messages.js";
import type { ProviderModel } from "../../provider/provider.js";

export interface EagerTodoDeps {
  /** How many messages the session has before this prompt. */
  readonly messageCount: number;
  readonly hasTodos: boolean;
  readonly toolNames: readonly string[];
  readonly model: Pick<ProviderModel, "compat">;
  /** Adds a message to the prompt. */
  ride(message: CustomMessage): void;
  readonly toolChoice: Pick<ToolChoiceQueue, "pushOnce" | "removeByLabel">;
  readonly now: number;
}

const label = "eager-todo";
const forced = "todo_write";

/** Call it before the prompt starts, and the returned function when the session is idle again. */
export function startEagerTodos(prompt: string, deps: EagerTodoDeps): () => void {
  if (!isDue(prompt, deps)) return () => {};
  deps.ride(prelude(deps.now));
  deps.toolChoice.pushOnce({ type: "tool", name: forced }, { label });
  return () => deps.toolChoice.removeByLabel(label);
}

function isDue(prompt: string, { messageCount, hasTodos, toolNames, model }: EagerTodoDeps): boolean {
  if (messageCount > 0 || hasTodos || !toolNames.includes(forced)) return false;
  // A question or an exclamation asks for an answer, not for a plan.
  return model.compat?.supportsToolChoice !== false && !/[?!]\s*$/.test(prompt);
}

function prelude(timestamp: number): CustomMessage {
  return {
    role: "custom",
    customType: label,
    content: `Before you begin, write down your plan for this request with ${forced}. Then carry it out without asking for a go-ahead.`,
    display: false,
    attribution: "agent",
    timestamp,
  };
}
