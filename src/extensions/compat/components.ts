// What modules find under the name of the component library: the library itself, as the terminal program draws with it.
// Left out is what would open a terminal of its own or write pictures past the screen. Then what belongs to it in the
// host's own module, without colours: a terminal has its own themes.

import * as library from "@earendil-works/pi-tui";

const { Container, CancellableLoader, Editor, getKeybindings, truncateToWidth } = library;

const leftOut = new Set(["ProcessTerminal", "StdinBuffer", "renderImage", "encodeKitty", "encodeITerm2"]);

export function componentLibrary(): object {
  return { ...Object.fromEntries(Object.entries(library).filter(([name]) => !leftOut.has(name))), ...ofTheHost };
}

type Paint = (text: string) => string;
const asIs: Paint = (text) => text;

function plainly<Name extends string>(names: readonly Name[]): Record<Name, Paint> {
  return Object.fromEntries(names.map((name) => [name, asIs])) as Record<Name, Paint>;
}

const markdownTheme = plainly([
  ...(["heading", "link", "linkUrl", "code", "codeBlock", "codeBlockBorder", "quote", "quoteBorder", "hr"] as const),
  ...(["listBullet", "bold", "italic", "strikethrough", "underline"] as const),
]);
const selectListTheme = plainly(["selectedPrefix", "selectedText", "description", "scrollInfo", "noMatch"]);

/** Shown instead of a picture. */
class Image extends library.TruncatedText {
  constructor(_data: string, mimeType: string, _theme?: unknown, { filename }: { filename?: string } = {}) {
    super(`[Image: ${[filename, mimeType].filter(Boolean).join(", ")}]`);
  }
}

class DynamicBorder implements library.Component {
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
class BorderedLoader extends Container {
  readonly #loader: library.CancellableLoader;

  constructor(screen: library.TUI, _theme: unknown, message: string) {
    super();
    this.#loader = new CancellableLoader(screen, asIs, asIs, message);
    for (const child of [new DynamicBorder(), this.#loader, new DynamicBorder()]) this.addChild(child);
  }

  get signal(): AbortSignal {
    return this.#loader.signal;
  }

  set onAbort(listener: (() => void) | undefined) {
    this.#loader.onAbort = listener;
  }

  handleInput(data: string): void {
    this.#loader.handleInput(data);
  }

  dispose(): void {
    this.#loader.dispose();
  }
}

class CustomEditor extends Editor {
  onEscape?: () => void;
  onCtrlD?: () => void;
  readonly actionHandlers = new Map<string, () => void>();

  onAction(action: string, handler: () => void): void {
    this.actionHandlers.set(action, handler);
  }

  override handleInput(data: string): void {
    const action = [...this.actionHandlers.keys()].find((name) => isPressed(data, name));
    if (action !== undefined) this.actionHandlers.get(action)?.();
    else if (data === "\x1b" && this.onEscape) this.onEscape();
    else if (data === "\x04" && this.getText() === "" && this.onCtrlD) this.onCtrlD();
    else super.handleInput(data);
  }
}

/** Earlier versions of the library called `tui.select.cancel` `selectCancel`. */
function bindingOf(action: string): library.Keybinding {
  if (action.includes(".")) return action as library.Keybinding;
  const [, choice] = /^select([A-Z].*)$/.exec(action) ?? [];
  if (choice !== undefined)
    return `tui.select.${choice.charAt(0).toLowerCase()}${choice.slice(1)}` as library.Keybinding;
  const room = ["newLine", "submit", "tab", "copy"].includes(action) ? "input" : "editor";
  return `tui.${room}.${action}` as library.Keybinding;
}

function keysOf(action: string): string[] {
  return getKeybindings().getKeys(bindingOf(action)) ?? [];
}

function isPressed(data: string, action: string): boolean {
  return getKeybindings().matches(data, bindingOf(action));
}

const keyText = (action: string) => keysOf(action).join("/") || action;

const ofTheHost = {
  Image,
  DynamicBorder,
  BorderedLoader,
  CustomEditor,
  getEditorKeybindings: () => ({ getKeys: keysOf, matches: isPressed }),
  getMarkdownTheme: () => ({ ...markdownTheme }),
  getSelectListTheme: () => ({ ...selectListTheme }),
  getSettingsListTheme: () => ({ label: asIs, value: asIs, description: asIs, hint: asIs, cursor: "→ " }),
  keyText,
  keyHint: (action: string, description: string) => `${keysOf(action)[0] ?? action} ${description}`,
  rawKeyHint: (key: string, description: string) => `${key} ${description}`,
  replaceTabs: (text: string) => text.replaceAll("\t", "   "),
  truncateToVisualLines,
};

/** The last lines of a text as they are drawn. */
function truncateToVisualLines(text: string, maxLines: number, width: number, paddingX = 0) {
  if (text === "") return { visualLines: [], skippedCount: 0 };
  const lines = new library.Text(text, paddingX, 0).render(width);
  const skippedCount = Math.max(0, lines.length - maxLines);
  return { visualLines: lines.slice(skippedCount).map((line) => truncateToWidth(line, width)), skippedCount };
}
