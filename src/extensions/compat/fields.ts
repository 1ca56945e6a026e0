// Components that take keys: a line of text, a text, lists to choose from. They hold what was typed and chosen and
// report it; the front end draws them and passes them the keys.

import type { Component } from "./components.js";
import { CURSOR_MARKER, fuzzyMatch, getEditorKeybindings } from "./keys.js";
import { truncateToWidth, wrapTextWithAnsi } from "./terminal-text.js";

type Paint = (text: string) => string;

const keys = getEditorKeybindings();
const asIs: Paint = (text) => text;

export interface SelectItem {
  value: string;
  label?: string;
  description?: string;
}

type SelectListTheme = Partial<
  Record<"selectedPrefix" | "selectedText" | "description" | "scrollInfo" | "noMatch", Paint>
>;

export class SelectList implements Component {
  onSelect?: (item: SelectItem) => void;
  onCancel?: () => void;
  onSelectionChange?: (item: SelectItem) => void;
  readonly #items: readonly SelectItem[];
  readonly #maxVisible: number;
  readonly #theme: SelectListTheme;
  #shown: readonly SelectItem[];
  #selected = 0;

  constructor(items: readonly SelectItem[], maxVisible = 10, theme: SelectListTheme = {}) {
    this.#items = items;
    this.#shown = items;
    this.#maxVisible = Math.max(1, maxVisible);
    this.#theme = theme;
  }

  setFilter(filter: string): void {
    this.#shown = this.#items.filter(({ value, label = value }) => fuzzyMatch(filter, label).matches);
    this.#selected = 0;
  }

  setSelectedIndex(index: number): void {
    this.#selected = Math.max(0, Math.min(index, this.#shown.length - 1));
  }

  getSelectedItem(): SelectItem | null {
    return this.#shown[this.#selected] ?? null;
  }

  invalidate(): void {}

  handleInput(data: string): void {
    const item = this.getSelectedItem();
    if (keys.matches(data, "selectCancel")) this.onCancel?.();
    else if (keys.matches(data, "selectConfirm")) {
      if (item) this.onSelect?.(item);
    } else if (keys.matches(data, "selectUp")) this.#move(-1);
    else if (keys.matches(data, "selectDown")) this.#move(1);
  }

  render(width: number): string[] {
    const {
      selectedPrefix = asIs,
      selectedText = asIs,
      description: paint = asIs,
      noMatch = asIs,
      scrollInfo = asIs,
    } = this.#theme;
    const count = this.#shown.length;
    if (count === 0) return [noMatch(truncateToWidth("  No matching items", width))];
    const first = Math.max(0, Math.min(this.#selected - Math.floor(this.#maxVisible / 2), count - this.#maxVisible));
    const lines = this.#shown
      .slice(first, first + this.#maxVisible)
      .map(({ value, label = value, description }, index) => {
        const isSelected = first + index === this.#selected;
        const text = `${isSelected ? selectedPrefix("→ ") : "  "}${isSelected ? selectedText(label) : label}`;
        return truncateToWidth(description === undefined ? text : `${text}  ${paint(description)}`, width);
      });
    return count > this.#maxVisible ? [...lines, scrollInfo(`  (${this.#selected + 1}/${count})`)] : lines;
  }

  /** Wraps around at both ends. */
  #move(step: number): void {
    const count = this.#shown.length;
    if (count === 0) return;
    this.#selected = (this.#selected + step + count) % count;
    this.onSelectionChange?.(this.#shown[this.#selected] as SelectItem);
  }
}

export interface SettingItem {
  id: string;
  label: string;
  description?: string;
  currentValue: string;
  /** The values that the key cycles through. */
  values?: string[];
}

interface SettingsListTheme {
  label?(text: string, isSelected: boolean): string;
  value?(text: string, isSelected: boolean): string;
  description?: Paint;
  cursor?: string;
  hint?: Paint;
}

export class SettingsList implements Component {
  readonly #items: readonly SettingItem[];
  readonly #maxVisible: number;
  readonly #theme: SettingsListTheme;
  readonly #onChange: (id: string, value: string) => void;
  readonly #onCancel: () => void;
  #selected = 0;

  constructor(
    items: readonly SettingItem[],
    maxVisible: number,
    theme: SettingsListTheme,
    onChange: (id: string, value: string) => void,
    onCancel: () => void,
  ) {
    this.#items = items.map((item) => ({ ...item }));
    this.#maxVisible = Math.max(1, maxVisible);
    this.#theme = theme;
    this.#onChange = onChange;
    this.#onCancel = onCancel;
  }

  updateValue(id: string, value: string): void {
    const item = this.#items.find((one) => one.id === id);
    if (item) item.currentValue = value;
  }

  invalidate(): void {}

  handleInput(data: string): void {
    const count = this.#items.length;
    if (keys.matches(data, "selectCancel")) this.#onCancel();
    else if (keys.matches(data, "selectUp")) this.#selected = (this.#selected + count - 1) % Math.max(count, 1);
    else if (keys.matches(data, "selectDown")) this.#selected = (this.#selected + 1) % Math.max(count, 1);
    else if (keys.matches(data, "selectConfirm") || data === " ") this.#next();
  }

  render(width: number): string[] {
    const { label = asIs, value = asIs, cursor = "→ ", description: paint = asIs } = this.#theme;
    const first = Math.max(0, Math.min(this.#selected, this.#items.length - this.#maxVisible));
    const lines = this.#items.slice(first, first + this.#maxVisible).map((item, index) => {
      const isSelected = first + index === this.#selected;
      const text = `${label(item.label, isSelected)}  ${value(item.currentValue, isSelected)}`;
      return truncateToWidth(`${isSelected ? cursor : "  "}${text}`, width);
    });
    const description = this.#items[this.#selected]?.description;
    return description === undefined ? lines : [...lines, "", truncateToWidth(paint(`  ${description}`), width)];
  }

  #next(): void {
    const item = this.#items[this.#selected];
    if (!item?.values?.length) return;
    item.currentValue = item.values[(item.values.indexOf(item.currentValue) + 1) % item.values.length] as string;
    this.#onChange(item.id, item.currentValue);
  }
}

/** A text and a cursor. */
class TextField {
  text = "";
  cursor = 0;

  set(text: string): void {
    this.text = text;
    this.cursor = text.length;
  }

  /** False for a key that edits nothing. */
  edit(data: string): boolean {
    const { text, cursor } = this;
    if (keys.matches(data, "deleteCharBackward")) this.#replace(cursor - lengthBefore(text, cursor), cursor, "");
    else if (keys.matches(data, "deleteCharForward")) this.#replace(cursor, cursor + lengthAfter(text, cursor), "");
    else if (keys.matches(data, "deleteToLineStart")) this.#replace(lineStart(text, cursor), cursor, "");
    else if (keys.matches(data, "deleteToLineEnd")) this.#replace(cursor, lineEnd(text, cursor), "");
    else if (keys.matches(data, "deleteWordBackward")) this.#replace(wordStart(text, cursor), cursor, "");
    else if (keys.matches(data, "cursorLeft")) this.cursor -= lengthBefore(text, cursor);
    else if (keys.matches(data, "cursorRight")) this.cursor += lengthAfter(text, cursor);
    else if (keys.matches(data, "cursorLineStart")) this.cursor = lineStart(text, cursor);
    else if (keys.matches(data, "cursorLineEnd")) this.cursor = lineEnd(text, cursor);
    else if (/^\P{Cc}+$/u.test(data)) this.#replace(cursor, cursor, data);
    else return false;
    return true;
  }

  insert(text: string): void {
    this.#replace(this.cursor, this.cursor, text);
  }

  get shown(): string {
    return `${this.text.slice(0, this.cursor)}${CURSOR_MARKER}${this.text.slice(this.cursor)}`;
  }

  #replace(from: number, to: number, text: string): void {
    this.text = this.text.slice(0, from) + text + this.text.slice(to);
    this.cursor = from + text.length;
  }
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function lengthBefore(text: string, at: number): number {
  return [...segmenter.segment(text.slice(0, at))].at(-1)?.segment.length ?? 0;
}

function lengthAfter(text: string, at: number): number {
  return [...segmenter.segment(text.slice(at, at + 64))][0]?.segment.length ?? 0;
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function wordStart(text: string, at: number): number {
  return text.slice(0, at).trimEnd().replace(/\S*$/, "").length;
}

/** One line. */
export class Input implements Component {
  onSubmit?: (value: string) => void;
  onEscape?: () => void;
  focused = false;
  readonly #field = new TextField();

  getValue(): string {
    return this.#field.text;
  }

  setValue(value: string): void {
    this.#field.set(value.replaceAll("\n", " "));
  }

  invalidate(): void {}

  handleInput(data: string): void {
    if (keys.matches(data, "submit")) this.onSubmit?.(this.#field.text);
    else if (keys.matches(data, "selectCancel")) this.onEscape?.();
    else this.#field.edit(data);
  }

  render(width: number): string[] {
    return [truncateToWidth(`> ${this.#field.shown}`, width)];
  }
}

/** Several lines: enter hands them over, shift+enter begins another. */
export class Editor implements Component {
  onSubmit?: (text: string) => void;
  onChange?: (text: string) => void;
  disableSubmit = false;
  focused = false;
  readonly #field = new TextField();

  getText(): string {
    return this.#field.text;
  }

  setText(text: string): void {
    this.#field.set(text);
    this.onChange?.(text);
  }

  insertTextAtCursor(text: string): void {
    this.#field.insert(text);
    this.onChange?.(this.#field.text);
  }

  getLines(): string[] {
    return this.#field.text.split("\n");
  }

  invalidate(): void {}

  handleInput(data: string): void {
    const isNewLine = keys.matches(data, "newLine") && data !== "\r";
    if (isNewLine) this.insertTextAtCursor("\n");
    else if (keys.matches(data, "submit")) {
      if (!this.disableSubmit) this.onSubmit?.(this.#field.text);
    } else if (this.#field.edit(data)) this.onChange?.(this.#field.text);
  }

  render(width: number): string[] {
    const border = "─".repeat(Math.max(width, 0));
    return [border, ...wrapTextWithAnsi(this.#field.shown, Math.max(width, 1)), border];
  }
}

/** An editor that also passes on keys with a meaning of their own. */
export class CustomEditor extends Editor {
  onEscape?: () => void;
  onCtrlD?: () => void;
  readonly #actions = new Map<string, () => void>();

  onAction(action: string, handler: () => void): void {
    this.#actions.set(action, handler);
  }

  override handleInput(data: string): void {
    const action = [...this.#actions.keys()].find((name) => keys.matches(data, name));
    if (action !== undefined) this.#actions.get(action)?.();
    else if (data === "\x1b" && this.onEscape) this.onEscape();
    else if (data === "\x04" && this.getText() === "" && this.onCtrlD) this.onCtrlD();
    else super.handleInput(data);
  }
}
