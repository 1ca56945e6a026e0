// What the model is told, with its next request, about a decision that it did not make itself.

import { stripEscapes } from "../base/sanitize.js";
import type { CustomMessage } from "../protocol/messages.js";
import { forHost } from "./decide/words.js";
import type { Along, Decided } from "./outcome.js";

/** What ended, and what a part of was decided. */
export function endedIn({ outcomes }: Decided): Along[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.kind !== "applied" && outcome.kind !== "discarded") return [];
    const edits = outcome.kind === "applied" ? outcome.edits : undefined;
    const own = { id: outcome.id, label: outcome.action.label, part: outcome.part?.chosen, edits };
    return [own, ...outcome.also.filter(({ part }) => !part)];
  });
}

export function outcomeMessage({ id, label, part, edits }: Along, decided: Decided, timestamp: number): CustomMessage {
  const { action, by } = decided.decision;
  const { text } = forHost(decided);
  const word = `${part ? "partly " : ""}${action === "apply" ? "applied" : "discarded"}`;
  return {
    role: "custom",
    customType: "pending-action-outcome",
    content: stripEscapes(
      `${id} (${label}) was ${word} by the ${by}: ${edits === undefined ? text : `${text}\n${edits}`}`,
    ),
    display: false,
    attribution: "agent",
    timestamp,
  };
}
