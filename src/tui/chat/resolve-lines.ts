// A call of `resolve` as lines: what the model wanted, what became of it, and why.

import { visibleWidth } from "@earendil-works/pi-tui";
import { oneLine } from "../../base/sanitize.js";
import { writtenOut } from "../../base/written-out.js";
import { cutTo } from "../cut-to.js";
import type { ToolItem } from "./chat-log.js";
import type { ChatLook } from "./chat-look.js";

const maxReasonLength = 72;

/** `Resolve apply  proposed -> resolved`, for the first line. */
export function resolveTitle(item: Pick<ToolItem, "args" | "state">): string {
  const { action, reason } = (item.args ?? {}) as { action?: unknown; reason?: unknown };
  const becomes = action === "apply" ? "resolved" : "rejected";
  const road = item.state === "done" ? `proposed -> ${becomes}` : "proposed";
  const why = typeof reason === "string" && reason.trim() !== "" ? `  ${oneLine(reason, maxReasonLength)}` : "";
  return `${action === "apply" ? "apply" : "discard"}  ${road}${why}`;
}

/** Undefined where the result is not about one action: then its text says it. */
export function resolveLines({ result, state }: ToolItem, look: ChatLook, width: number): string[] | undefined {
  const details = (result?.details ?? {}) as { action?: unknown; label?: unknown; reason?: unknown; partial?: unknown };
  const { action, label = "pending action", reason } = details;
  if (state !== "done" || details.partial === true || typeof label !== "string") return undefined;
  if (action !== "apply" && action !== "discard") return undefined;
  const { theme } = look;
  const at = label.indexOf(": ");
  const [source, summary] = at === -1 ? ["", label] : [label.slice(0, at), label.slice(at + 2)];
  const said = action === "apply" ? "✓ Accept: " : "✗ Discard: ";
  const badge = source === "" ? "" : ` [${writtenOut(source)}]`;
  const bar = cutTo(` ${said}${writtenOut(summary)}${badge}`, Math.max(1, width - 2));
  const filled = bar + " ".repeat(Math.max(0, width - 2 - visibleWidth(bar)));
  const why = typeof reason === "string" && reason.trim() !== "" ? oneLine(reason, 300) : "No reason provided";
  return [
    ` ${theme.inverse(theme.fg(action === "apply" ? "success" : "warning", filled))}`,
    "",
    `   ${theme.italic(cutTo(why, Math.max(1, width - 4)))}`,
  ];
}
