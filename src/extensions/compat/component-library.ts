// Everything that modules find under the name of the component library, and what belongs to it: formatted texts,
// spinners, borders, and the themes they are drawn with. Plain, because there may be no screen.

import { type Component, Container, Text } from "./components.js";
import { getEditorKeybindings } from "./keys.js";
import { replaceTabs, truncateToWidth, wrapTextWithAnsi } from "./terminal-text.js";
import { plainTheme } from "./theme.js";

export * from "./components.js";
export * from "./fields.js";
export * from "./keys.js";

type Paint = (text: string) => string;
const asIs: Paint = (text) => text;

const markdownParts = [
  ...["heading", "link", "linkUrl", "code", "codeBlock", "codeBlockBorder", "quote", "quoteBorder", "hr"],
  ...["listBullet", "bold", "italic", "strikethrough", "underline"],
] as const;

export type MarkdownTheme = Partial<Record<(typeof markdownParts)[number], Paint>>;

export function getMarkdownTheme(): MarkdownTheme {
  return Object.fromEntries(markdownParts.map((name) => [name, asIs]));
}

export function getSettingsListTheme() {
  return { label: asIs, value: asIs, description: asIs, hint: asIs, cursor: "→ " };
}

export function getSelectListTheme() {
  return { selectedPrefix: asIs, selectedText: asIs, description: asIs, scrollInfo: asIs, noMatch: asIs };
}

/** Headings, lists, quotes and code stand out; everything else is text. */
export class Markdown implements Component {
  #text: string;
  readonly #paddingX: number;
  readonly #paddingY: number;
  readonly #theme: MarkdownTheme;

  constructor(text = "", paddingX = 1, paddingY = 1, theme: MarkdownTheme = {}) {
    this.#text = text;
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#theme = theme;
  }

  setText(text: string): void {
    this.#text = text;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const lines = markdownLines(this.#text, this.#theme);
    return new Text(lines.join("\n"), this.#paddingX, this.#paddingY).render(width);
  }
}

function markdownLines(text: string, theme: MarkdownTheme): string[] {
  let isCode = false;
  return replaceTabs(text)
    .split("\n")
    .map((line) => {
      if (/^\s*(?:```|~~~)/.test(line)) {
        isCode = !isCode;
        return (theme.codeBlockBorder ?? asIs)(line);
      }
      if (isCode) return (theme.codeBlock ?? asIs)(line);
      return markdownLine(line, theme);
    });
}

function markdownLine(line: string, theme: MarkdownTheme): string {
  const { heading = asIs, bold = asIs, hr = asIs, quote = asIs, quoteBorder = asIs, listBullet = asIs } = theme;
  const [, title] = /^#{1,6}\s+(.*)$/.exec(line) ?? [];
  if (title !== undefined) return heading(bold(inline(title, theme)));
  if (/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line)) return hr("───");
  const [, quoted] = /^\s*>\s?(.*)$/.exec(line) ?? [];
  if (quoted !== undefined) return `${quoteBorder("│ ")}${quote(inline(quoted, theme))}`;
  const [, indent, mark, item] = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/.exec(line) ?? [];
  if (mark !== undefined) return `${indent}${listBullet(/\d/.test(mark) ? mark : "•")} ${inline(item ?? "", theme)}`;
  return inline(line, theme);
}

function inline(text: string, theme: MarkdownTheme): string {
  const { code = asIs, bold = asIs, italic = asIs, strikethrough = asIs, link = asIs, linkUrl = asIs } = theme;
  return text
    .replace(/`([^`]+)`/g, (_, part: string) => code(part))
    .replace(/\*\*([^*]+)\*\*/g, (_, part: string) => bold(part))
    .replace(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, (_, part: string) => italic(part))
    .replace(/~~([^~]+)~~/g, (_, part: string) => strikethrough(part))
    .replace(
      /\[([^[\]]+)\]\(([^)\s]{1,2048})\)/g,
      (_, name: string, url: string) => `${link(name)} ${linkUrl(`(${url})`)}`,
    );
}

/** One line, cut to the width. */
export class TruncatedText implements Component {
  readonly #text: string;
  readonly #paddingX: number;
  readonly #paddingY: number;

  constructor(text: string, paddingX = 0, paddingY = 0) {
    this.#text = text;
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const [line = ""] = replaceTabs(this.#text).split("\n");
    const edge = Array.from({ length: this.#paddingY }, () => "");
    const padding = " ".repeat(this.#paddingX);
    return [...edge, truncateToWidth(`${padding}${line}`, width), ...edge];
  }
}

/** Shown instead of a picture. */
export class Image implements Component {
  readonly #mimeType: string;
  readonly #filename: string | undefined;

  constructor(_data: string, mimeType: string, _theme?: unknown, { filename }: { filename?: string } = {}) {
    this.#mimeType = mimeType;
    this.#filename = filename;
  }

  invalidate(): void {}

  render(width: number): string[] {
    return [truncateToWidth(`[Image: ${[this.#filename, this.#mimeType].filter(Boolean).join(", ")}]`, width)];
  }
}

interface Screen {
  requestRender?(): void;
}

const frameMs = 80;

/** A message with a spinner; while it turns, the screen is asked to draw. */
export class Loader implements Component {
  readonly #screen: Screen | undefined;
  readonly #paint: Paint;
  readonly #paintMessage: Paint;
  #message: string;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(screen?: Screen, paint: Paint = asIs, paintMessage: Paint = asIs, message = "Loading...") {
    this.#screen = screen;
    this.#paint = paint;
    this.#paintMessage = paintMessage;
    this.#message = message;
    this.start();
  }

  start(): void {
    // Without a screen it is not drawn.
    if (this.#timer || !this.#screen?.requestRender) return;
    this.#timer = setInterval(() => {
      this.#frame++;
      this.#screen?.requestRender?.();
    }, frameMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  dispose(): void {
    this.stop();
  }

  setMessage(message: string): void {
    this.#message = message;
    this.#screen?.requestRender?.();
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { spinnerFrames } = plainTheme;
    const frame = spinnerFrames[this.#frame % spinnerFrames.length] ?? "";
    return ["", ...wrapTextWithAnsi(` ${this.#paint(frame)} ${this.#paintMessage(this.#message)}`, width)];
  }
}

export class CancellableLoader extends Loader {
  onAbort?: () => void;
  readonly #abort = new AbortController();

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }

  handleInput(data: string): void {
    if (this.aborted || !getEditorKeybindings().matches(data, "selectCancel")) return;
    this.#abort.abort();
    this.onAbort?.();
  }
}

export class DynamicBorder implements Component {
  readonly #paint: Paint;

  constructor(paint: Paint = asIs) {
    this.#paint = paint;
  }

  invalidate(): void {}

  render(width: number): string[] {
    return [this.#paint("─".repeat(Math.max(1, width)))];
  }
}

/** A spinner between two borders that can be cancelled. */
export class BorderedLoader extends Container {
  readonly #loader: CancellableLoader;

  constructor(screen: Screen | undefined, _theme: unknown, message: string) {
    super();
    this.#loader = new CancellableLoader(screen, asIs, asIs, message);
    this.addChild(new DynamicBorder());
    this.addChild(this.#loader);
    this.addChild(new DynamicBorder());
  }

  get signal(): AbortSignal {
    return this.#loader.signal;
  }

  set onAbort(listener: (() => void) | undefined) {
    if (listener) this.#loader.onAbort = listener;
    else delete this.#loader.onAbort;
  }

  handleInput(data: string): void {
    this.#loader.handleInput(data);
  }

  dispose(): void {
    this.#loader.dispose();
  }
}
