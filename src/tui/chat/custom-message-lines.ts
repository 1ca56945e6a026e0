// A message of an extension: drawn by the renderer that it registered for this type, else as a label and its text.

import { type Component, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { oneLine, sanitizeForTerminal } from "../../base/sanitize.js";
import type { AgentMessage } from "../../sdk/index.js";
import { cleanLines } from "../extension-ui/clean-lines.js";
import type { ChatLook } from "./chat-look.js";

export type CustomMessage = Extract<AgentMessage, { role: "custom" }>;

export function customMessageLines(message: CustomMessage, look: ChatLook, width: number): string[] {
  const { theme } = look;
  const own = look.drawMessage(message, (renderer) => {
    const made = renderer(message, { expanded: look.areToolsUnfolded }, theme) as Component | string | null | undefined;
    if (made === undefined || made === null) return undefined;
    return typeof made === "string" ? made.split("\n") : cleanLines(made.render(width));
  });
  if (own) return ["", ...cleanLines(own)];
  const { content, customType } = message;
  const text =
    typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("\n");
  const label = theme.fg("customMessageLabel", `[${oneLine(customType, 60)}]`);
  const lines = wrapTextWithAnsi(sanitizeForTerminal(text).replaceAll("\t", "    "), Math.max(1, width - 3));
  return ["", ` ${label}`, ...lines.map((line) => `   ${theme.fg("customMessageText", line)}`)];
}
