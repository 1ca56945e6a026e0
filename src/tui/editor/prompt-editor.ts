// The editor of prompts: the library's, with the history of the project, images that are pasted by their path, and a question
// mark that shows the keys.

import { decodeKittyPrintable, Editor, type EditorTheme, getKeybindings, type TUI } from "@earendil-works/pi-tui";
import type { ImageContent } from "../../protocol/content.js";
import { imagePath } from "./attachments.js";
import { PromptHistory } from "./prompt-history.js";

export interface PromptEditorDeps {
  readonly history: { load(): readonly string[]; add(text: string): void };
  readImage(path: string): Promise<ImageContent | undefined>;
  /** Returns the mark for the text. */
  attach(name: string, image: ImageContent): string;
  /** A question mark was typed where nothing is. */
  showKeys(): void;
}

const pasteBegins = "\u001b[200~";
const pasteEnds = "\u001b[201~";

export class PromptEditor extends Editor {
  readonly #deps: PromptEditorDeps;
  readonly #history: PromptHistory;
  /** The text began with a space when it was sent: then it is no command. */
  #isIndented = false;

  constructor(screen: TUI, theme: EditorTheme, deps: PromptEditorDeps) {
    super(screen, theme, { paddingX: 1, autocompleteMaxVisible: 8 });
    this.#deps = deps;
    this.#history = new PromptHistory(deps.history.load());
  }

  /** As it was typed: the library cuts the space that tells a text from a command. */
  asTyped(sent: string): string {
    return this.#isIndented ? ` ${sent}` : sent;
  }

  override addToHistory(text: string): void {
    if (this.#history.add(text)) this.#deps.history.add(text.trim());
  }

  override handleInput(data: string): void {
    if (data.startsWith(pasteBegins) && data.endsWith(pasteEnds)) return this.#paste(data);
    const keys = getKeybindings();
    if (!this.isShowingAutocomplete()) {
      if (keys.matches(data, "tui.editor.cursorUp") && this.#goBack()) return;
      if (keys.matches(data, "tui.editor.cursorDown") && this.#goForward()) return;
      if ((decodeKittyPrintable(data) ?? data) === "?" && this.getText() === "") return this.#deps.showKeys();
    }
    this.#isIndented = /^\s/.test(this.getText());
    const before = this.getText();
    super.handleInput(data);
    if (this.getText() !== before) this.#history.end();
  }

  /** Takes the text, whole, out of the editor. */
  take(): string {
    this.#isIndented = /^\s/.test(this.getText());
    const text = this.getExpandedText();
    this.setText("");
    return this.asTyped(text.trim());
  }

  override render(width: number): string[] {
    // The library's mark for a long paste has the same width as ours.
    return super.render(width).map((line) => line.replace(/\[paste #(\d+) \+(\d+ lines)\]/g, "[paste #$1: $2]"));
  }

  #goBack(): boolean {
    if (!this.#lines.isOnFirstVisualLine()) return false;
    const text = this.#history.older(this.getText());
    if (text !== undefined) this.setText(text);
    return text !== undefined || this.#history.isSearching;
  }

  #goForward(): boolean {
    if (!this.#history.isSearching || !this.#lines.isOnLastVisualLine()) return false;
    const text = this.#history.newer();
    if (text !== undefined) this.setText(text);
    return true;
  }

  /** The library knows where lines break on the screen, and keeps it to itself. */
  get #lines(): { isOnFirstVisualLine(): boolean; isOnLastVisualLine(): boolean } {
    return this as unknown as { isOnFirstVisualLine(): boolean; isOnLastVisualLine(): boolean };
  }

  #paste(data: string): void {
    const text = data.slice(pasteBegins.length, -pasteEnds.length);
    const path = imagePath(text);
    this.#history.end();
    if (path === undefined) return super.handleInput(data);
    void this.#deps.readImage(path).then((image) => {
      if (!image) super.handleInput(data);
      else this.insertTextAtCursor(this.#deps.attach(path.slice(path.lastIndexOf("/") + 1), image));
      this.tui.requestRender();
    });
  }
}
