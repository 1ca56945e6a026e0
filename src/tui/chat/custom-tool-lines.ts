// A call of a tool that draws itself: its own lines in a box whose background tells the state; without colours a left edge.
// What its renderer cannot draw is drawn as text, by the renderer's own fallback.

import { Box, type Component, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { oneLine, sanitizeForTerminal } from "../../base/sanitize.js";
import type { AgentMessage, ToolRenderer } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import { cleanLines } from "../extension-ui/clean-lines.js";
import type { ToolItem } from "./chat-log.js";
import type { ChatLook } from "./chat-look.js";

/** What the tool keeps for as long as the call is shown. */
export interface CustomCall {
  readonly renderer: ToolRenderer;
  readonly state: Record<string, unknown>;
  invalidate(): void;
}

export function customToolLines(item: ToolItem, call: CustomCall, look: ChatLook, width: number): string[] {
  const { theme } = look;
  const isDone = item.state === "done" || item.state === "failed";
  const view = {
    theme,
    toolCallId: item.callId,
    cwd: look.cwd,
    state: call.state,
    invalidate: call.invalidate,
    expanded: look.areToolsUnfolded,
    isPartial: !isDone,
    isError: item.state === "failed",
    executionStarted: item.startedAt !== undefined,
    argsComplete: true,
    showImages: false,
    ...(isDone ? {} : { spinnerFrame: Math.floor(look.now() / 80) % 10 }),
  };
  const { renderer } = call;
  const inner = Math.max(1, width - 4);
  const head = renderer.mergesCallAndResult && item.result ? [] : renderer.call(item.args, view, inner);
  const body = item.result ? renderer.result(item.result, item.args, view, inner) : [];
  const lines = cleanLines([...head, ...body]).map((line) => cutTo(line, inner));
  if (renderer.hasOwnShell) return ["", ...lines.map((line) => `  ${line}`)];
  const background = {
    waiting: "toolPendingBg",
    running: "toolPendingBg",
    done: "toolSuccessBg",
    failed: "toolErrorBg",
  };
  const name = background[item.state];
  if (theme.getBgAnsi(name) === "") return ["", ...lines.map((line) => ` ${theme.fg("border", "│")} ${line}`)];
  const box = new Box(1, 0, (text) => theme.bg(name, text));
  box.addChild({ render: () => lines, invalidate: () => {} });
  return ["", ...box.render(width - 2).map((line) => ` ${line}`)];
}

// A message of an extension: drawn by the renderer that it registered for this type, else as a label and its text.

type CustomMessage = Extract<AgentMessage, { role: "custom" }>;

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
