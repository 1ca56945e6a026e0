// One block of the conversation as lines. Everything that is not ours is cleaned before it is laid out. What a block looked
// like is kept until it changes: most frames change one block.

import { Markdown, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import type { ChatBlock } from "../screen.js";
import type { ChatItem, ToolItem } from "./chat-log.js";
import type { ChatLook } from "./chat-look.js";
import { type CustomCall, customMessageLines, customToolLines } from "./custom-tool-lines.js";
import { toolLines } from "./tool-lines.js";

export class BlockView implements ChatBlock {
  readonly item: ChatItem;
  readonly #look: ChatLook;
  readonly #markdown: Markdown | undefined;
  #custom: CustomCall | undefined;
  #kept: { state: string; lines: string[] } | undefined;

  constructor(item: ChatItem, look: ChatLook) {
    this.item = item;
    this.#look = look;
    this.#markdown = item.kind === "text" && item.isMarkdown ? new Markdown("", 1, 0, look.markdown) : undefined;
  }

  get isFinal(): boolean {
    return this.item.isFinal;
  }

  render(width: number): string[] {
    const state = this.#stateFor(width);
    if (this.#kept?.state !== state) this.#kept = { state, lines: this.#draw(width) };
    return this.#kept.lines;
  }

  invalidate(): void {
    this.#kept = undefined;
    this.#markdown?.invalidate();
  }

  /** Changes when the lines do. */
  #stateFor(width: number): string {
    const { item } = this;
    const { areToolsUnfolded, areThoughtsUnfolded, now } = this.#look;
    const folds = `${width} ${areToolsUnfolded} ${areThoughtsUnfolded} ${item.isFinal}`;
    if (item.kind === "custom") return folds;
    if (item.kind !== "tool") return `${folds} ${item.text.length}`;
    const shown = item.result?.content.map((block) => (block.type === "text" ? block.text.length : 0)).join();
    const moment = item.state === "running" ? Math.floor(now() / 100) : 0;
    return `${folds} ${item.state} ${item.outcome} ${shown} ${moment}`;
  }

  #draw(width: number): string[] {
    const { item } = this;
    const { theme, areThoughtsUnfolded } = this.#look;
    switch (item.kind) {
      case "header":
        return [cutTo(` ${theme.fg("muted", sanitizeForTerminal(item.text))}`, width)];
      case "user":
        return ["", ...prefixed(theme.fg("accent", "›"), item.text, width), ...images(item.images, theme)];
      case "text":
        if (!this.#markdown) return ["", ...prefixed("", item.text, width)];
        this.#markdown.setText(sanitizeForTerminal(item.text));
        return ["", ...this.#markdown.render(width)];
      case "thinking":
        return ["", ...thoughtLines(item.text, { theme, width, isUnfolded: areThoughtsUnfolded })];
      case "tool":
        return this.#toolLines(item, width);
      case "custom":
        return customMessageLines(item.message, this.#look, width);
      case "notice": {
        const colour = { info: "muted", warning: "warning", error: "error" }[item.level];
        const sign = { info: "·", warning: "⚠", error: "✗" }[item.level];
        const lines = prefixed(theme.fg(colour, sign), item.text, width).map((line) => theme.fg(colour, line));
        return item.isFirst || item.text.includes("\n") ? ["", ...lines] : lines; // a list stands by itself
      }
    }
  }

  /** Extensions may be loaded after the first frame, so that the tool's own renderer is looked for until it is found. */
  #toolLines(item: ToolItem, width: number): string[] {
    if (!this.#custom) {
      const renderer = this.#look.toolRenderer(item.name);
      const invalidate = () => {
        this.#kept = undefined;
      };
      if (renderer) this.#custom = { renderer, state: {}, invalidate };
    }
    if (!this.#custom) return toolLines(item, this.#look, width);
    return customToolLines(item, this.#custom, this.#look, width);
  }
}

/** A sign before the first line, and the others set in below it. An empty one takes no place. */
function prefixed(sign: string, text: string, width: number): string[] {
  const lines = sanitizeForTerminal(text.trim())
    .split("\n")
    .flatMap((line) => wrapTextWithAnsi(line.replaceAll("\t", "    "), Math.max(1, width - 3)));
  if (sign === "") return lines.map((line) => ` ${line}`);
  return lines.map((line, index) => ` ${index === 0 ? sign : " ".repeat(visibleWidth(sign))} ${line}`);
}

function images(count: number, theme: Theme): string[] {
  return count === 0 ? [] : [`   ${theme.fg("muted", `[${count} image${count === 1 ? "" : "s"}]`)}`];
}

function thoughtLines(
  text: string,
  { theme, width, isUnfolded }: { theme: Theme; width: number; isUnfolded: boolean },
): string[] {
  const clean = sanitizeForTerminal(text.trim());
  const dim = (line: string) => theme.italic(theme.fg("thinkingText", line));
  if (isUnfolded) return wrapTextWithAnsi(clean, Math.max(1, width - 3)).map((line) => `   ${dim(line)}`);
  const first = clean.split("\n", 1)[0] ?? "";
  return [`   ${dim(cutTo(`Thinking… ${first}`, Math.max(1, width - 12)))} ${theme.fg("muted", "(ctrl+t)")}`];
}
