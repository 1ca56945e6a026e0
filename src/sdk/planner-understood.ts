// Whether the planner knew what it was asked. It answers anything with what it does understand, which is no answer.

import type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
import { isFromUser, userText } from "../provider/planner/planner.js";
import { plannerModel } from "../provider/planner/planner-model.js";
import { parseSentence } from "../provider/planner/sentence.js";

/** True for the replies of other models. */
export function plannerUnderstood({ provider }: AssistantMessage, messages: readonly AgentMessage[]): boolean {
  if (provider !== plannerModel.provider) return true;
  const asked = messages.findLast((message) => message.role === "user" && isFromUser(message));
  const sentence = asked?.role === "user" ? parseSentence(userText(asked)) : undefined;
  return sentence !== undefined && sentence.verb !== "unclear";
}
