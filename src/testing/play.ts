// Plays one prompt and returns what to compare: the model's text, the tool results, and the files afterwards.

import type { AgentMessage } from "../protocol/messages.js";
import type { AgentSession } from "../sdk/index.js";
import { type OpenSessionOptions, openSession } from "./open-session.js";

export interface Played {
  session: AgentSession;
  messages: readonly AgentMessage[];
  /** The texts that a tool's calls gave the model, in order. */
  results(toolName: string): string[];
}

/** Fails unless the script was used up exactly. */
export async function play({ prompt, ...options }: OpenSessionOptions & { prompt: string }): Promise<Played> {
  const { session, model } = await openSession(options);
  await session.prompt(prompt);
  model.verify();
  return {
    session,
    messages: session.messages,
    results: (toolName) =>
      session.messages.flatMap((message) =>
        message.role === "toolResult" && message.toolName === toolName
          ? [message.content.map((block) => (block.type === "text" ? block.text : `[${block.mimeType}]`)).join("\n")]
          : [],
      ),
  };
}
