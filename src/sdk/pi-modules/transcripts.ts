// A conversation as modules of pi are given one. Older ones read the system prompt and the tools beside the messages, newer ones
// ask for them by the list of messages (`getCurrentSystemPrompt`, `getCurrentTools`); both find them, and no message is there
// that older ones do not know.

import { isObject } from "../../base/json.js";
import type { ModelContext } from "../../provider/provider.js";

type Head = Pick<ModelContext, "systemPrompt" | "tools">;

const heads = new WeakMap<object, Head>();

export function transcriptOf({ systemPrompt, tools, messages }: ModelContext): ModelContext {
  const list = [...messages];
  heads.set(list, { systemPrompt, tools });
  return { systemPrompt, tools, messages: list };
}

/** Whatever form it was given in. */
export function contextOf(given: Partial<ModelContext> & Pick<ModelContext, "messages">): ModelContext {
  const { systemPrompt = "", tools = [] } = headOf(given.messages);
  const messages = given.messages.filter((message) => (message.role as string) !== "system");
  return { systemPrompt: given.systemPrompt ?? systemPrompt, tools: given.tools ?? tools, messages };
}

export const transcriptFunctions = {
  normalizeContext: (context: Partial<ModelContext> & Pick<ModelContext, "messages">) =>
    transcriptOf(contextOf(context)),
  getCurrentSystemPrompt: (messages: readonly unknown[]) => headOf(messages).systemPrompt ?? "",
  getCurrentTools: (messages: readonly unknown[]) => [...(headOf(messages).tools ?? [])],
  collapseSystemMessages: (context: ModelContext) => transcriptOf(contextOf(context)),
  withoutInitialSystemMessage: (messages: readonly unknown[]) => messages.filter((one) => !isSystem(one)),
};

/** Of a list that we made, or of the system messages in one of pi's. */
function headOf(messages: readonly unknown[]): Partial<Head> {
  const known = heads.get(messages);
  if (known) return known;
  let systemPrompt: string | undefined;
  const tools = new Map<string, ModelContext["tools"][number]>();
  for (const message of messages) {
    if (!isSystem(message)) continue;
    const { content, sections, toolsAdded = [], toolsRemoved = [] } = message;
    const texts = [content, ...Object.values(sections ?? {})].filter((part) => typeof part === "string" && part !== "");
    if (texts.length > 0) systemPrompt = [systemPrompt, ...texts].filter((part) => part !== undefined).join("\n\n");
    for (const tool of toolsAdded) tools.set(tool.name, tool);
    for (const { name } of toolsRemoved) tools.delete(name);
  }
  return { systemPrompt, tools: tools.size > 0 ? [...tools.values()] : undefined };
}

interface SystemMessage {
  readonly content?: unknown;
  readonly sections?: Readonly<Record<string, string | null>>;
  readonly toolsAdded?: ModelContext["tools"];
  readonly toolsRemoved?: readonly { readonly name: string }[];
}

function isSystem(message: unknown): message is SystemMessage {
  return isObject(message) && message.role === "system";
}
