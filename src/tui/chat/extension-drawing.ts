// How the blocks of the conversation find what extensions draw. A renderer of messages that fails is logged once and not
// asked again.

import { messageOf } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import type { AgentSession, ToolRenderer } from "../../sdk/index.js";
import type { ChatLook } from "./chat-look.js";

export function extensionDrawing(
  session: AgentSession,
  log: { warn(text: string): void },
): Pick<ChatLook, "toolRenderer" | "drawMessage"> {
  const failed = new Set<string>();
  return {
    toolRenderer: (name) => session.toolRenderer(name) as ToolRenderer | undefined,
    drawMessage({ customType }, draw) {
      const renderer = session.messageRenderer(customType);
      if (typeof renderer !== "function" || failed.has(customType)) return undefined;
      try {
        return draw(renderer as (...args: unknown[]) => unknown);
      } catch (error) {
        failed.add(customType);
        log.warn(`the renderer of ${oneLine(customType, 60)} failed: ${messageOf(error)}`);
        return undefined;
      }
    },
  };
}
