// What becomes of an action when the user, asked about all of it, agrees to a part: the part is applied, and the rest stays
// pending for the user or is discarded. The result tells the model exactly what was written and what was not.

import type { StoredAction } from "../../plans/stored-action.js";
import type { ToolResult } from "../../protocol/events.js";
import { settlePart } from "./decide-part.js";
import { settleWhole } from "./decide-whole.js";
import type { AgreedPart, Decision, SettleContext, Settled } from "./decision.js";

export async function settleAgreedPart(
  context: SettleContext,
  { action: { id, revision } }: StoredAction,
  { decision, answer }: { decision: Decision; answer: AgreedPart },
): Promise<Settled> {
  const { store } = context;
  const { apply, rest, reason } = answer;
  const byUser: Decision = { ...decision, by: "user", revision };
  const refusal: Decision = { ...byUser, action: "discard", reason: `User declined: ${reason || decision.reason}` };
  if (isNothing(apply)) return settleWhole(context, id, refusal);
  const { edits, ...settled } = await settlePart(context, id, { decision: byUser, subset: apply });
  const part = edits === undefined ? settled : { ...settled, result: withText(settled.result, edits) };
  if (part.result.isError) return { outcome: "refused", result: part.result, code: part.code };
  if (part.isWhole) return { outcome: "applied", result: part.result };
  if (rest === "keep") {
    store.leaveToUser(id);
    return {
      outcome: "part",
      result: withText(part.result, `Not written: the rest stays pending as ${id} for the user.`),
    };
  }
  const { revision: _, ...afterwards } = refusal; // the part has changed it
  const { result } = await settleWhole(context, id, afterwards);
  const texts = result.content.map((block) => (block.type === "text" ? block.text : ""));
  return { outcome: "part", result: withText(part.result, `Not written: the rest. ${texts.join("\n")}`) };
}

function isNothing({ files = [], hunks = {} }: AgreedPart["apply"]): boolean {
  return files.length === 0 && Object.keys(hunks).length === 0;
}

function withText(result: ToolResult, text: string): ToolResult {
  return { ...result, content: [...result.content, { type: "text", text }] };
}
