// A list in place of the editor: typing filters, the arrows move, Enter chooses, Esc closes. An empty one says what to do.

import {
  type Component,
  decodeKittyPrintable,
  getKeybindings,
  matchesKey,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import { type ListRow, ListState } from "./list-state.js";

export interface ListPickerOptions<T> {
  readonly title: string;
  /** What the keys do, and where a choice is stored; the first are shown in a small window too. */
  hints(selected: ListRow<T> | undefined): readonly string[];
  /** What to do where there is nothing to choose. */
  readonly empty: string;
  readonly rows: readonly ListRow<T>[];
  isSelected?(value: T): boolean;
  /** Letters filter only after `/`, because they are keys here. */
  readonly filtersAfterSlash?: boolean;
  /** How many rows the terminal has. */
  screenRows(): number;
  /** Another row is selected now. */
  onSelected?(value: T): void;
  choose(value: T): void;
  cancel(): void;
  /** A key of this list, before any other meaning; true when it was used. */
  onKey?(data: string, selected: ListRow<T> | undefined): boolean;
  /** The rows that are on the screen now. */
  onShown?(rows: readonly ListRow<T>[]): void;
}

export class ListPicker<T> implements Component {
  readonly list: ListState<T>;
  title: string;
  /** In place of the empty text, while the rows are being found. */
  isLoading = false;
  readonly #theme: Theme;
  readonly #options: ListPickerOptions<T>;
  #isFiltering: boolean;

  constructor(theme: Theme, options: ListPickerOptions<T>) {
    this.#theme = theme;
    this.#options = options;
    this.title = options.title;
    this.#isFiltering = !options.filtersAfterSlash;
    this.list = new ListState(options.rows, options.isSelected);
  }

  invalidate(): void {}

  render(width: number): string[] {
    const theme = this.#theme;
    const { list } = this;
    const screenRows = this.#options.screenRows();
    const hints = this.#hintLines(width).slice(0, Math.max(3, screenRows - 12)); // the first matter most
    const height = Math.max(2, Math.min(12, screenRows - 7 - hints.length));
    const { from, rows } = list.window(height);
    this.#options.onShown?.(rows);
    const edge = theme.fg("border", "─".repeat(width));
    const count =
      list.found.length > rows.length ? `${list.index + 1} of ${list.found.length.toLocaleString("en")}` : "";
    return [
      edge,
      this.#headline(width, count),
      ...(rows.length > 0 ? rows.map((row, at) => this.#row(row, from + at === list.index, width)) : [this.#nothing()]),
      ...hints,
      edge,
    ];
  }

  handleInput(data: string): void {
    const before = this.list.selected?.value;
    this.#press(data);
    const now = this.list.selected?.value;
    if (now !== undefined && now !== before) this.#options.onSelected?.(now);
  }

  #press(data: string): void {
    const { list } = this;
    const keys = getKeybindings();
    if (this.#options.onKey?.(data, list.selected) && !(this.#options.filtersAfterSlash && this.#isFiltering)) return;
    if (keys.matches(data, "tui.select.cancel")) return this.#cancel();
    if (keys.matches(data, "tui.select.up")) return list.move(-1);
    if (keys.matches(data, "tui.select.down")) return list.move(1);
    if (keys.matches(data, "tui.select.pageUp")) return list.move(-10);
    if (keys.matches(data, "tui.select.pageDown")) return list.move(10);
    if (keys.matches(data, "tui.select.confirm")) {
      if (list.selected) this.#options.choose(list.selected.value);
      return;
    }
    if (matchesKey(data, "backspace")) return list.setFilter(list.filter.slice(0, -1));
    if (matchesKey(data, "ctrl+u")) return list.setFilter("");
    this.#type(decodeKittyPrintable(data) ?? data);
  }

  #cancel(): void {
    if (this.#options.filtersAfterSlash && this.#isFiltering) {
      this.#isFiltering = false;
      return this.list.setFilter("");
    }
    this.#options.cancel();
  }

  #type(text: string): void {
    if (!/^[^\p{Cc}]+$/u.test(text)) return;
    if (this.#isFiltering) this.list.setFilter(this.list.filter + text);
    else if (text === "/") this.#isFiltering = true;
  }

  #headline(width: number, count: string): string {
    const theme = this.#theme;
    const isOpen = this.#options.filtersAfterSlash ? this.#isFiltering : this.list.filter !== "";
    const filter = isOpen ? `  ${theme.fg("accent", "/")}${this.list.filter}▌` : "";
    const left = cutTo(` ${theme.bold(this.title)}${filter}`, Math.max(1, width - count.length - 2));
    const gap = " ".repeat(Math.max(1, width - visibleWidth(left) - count.length - 1));
    return `${left}${gap}${theme.fg("muted", count)}`;
  }

  #row({ text, detail = "" }: ListRow<T>, isSelected: boolean, width: number): string {
    const theme = this.#theme;
    const room = width - 4;
    // The detail goes before the name is cut to less than half.
    const shown = visibleWidth(detail) > room / 2 ? cutTo(detail, Math.floor(room / 2)) : detail;
    const name = cutTo(text, Math.max(1, room - visibleWidth(shown) - 1));
    const gap = " ".repeat(Math.max(1, room - visibleWidth(name) - visibleWidth(shown)));
    const line = `${name}${gap}${theme.fg("muted", shown)}`;
    return isSelected ? ` ${theme.fg("accent", "›")} ${theme.bold(line)}` : `   ${line}`;
  }

  #nothing(): string {
    const isFiltered = this.list.total > 0;
    const text = this.isLoading
      ? "Reading…"
      : isFiltered
        ? "Nothing matches. Backspace widens the search."
        : this.#options.empty;
    return `   ${this.#theme.fg("muted", text)}`;
  }

  /** As many on a line as fit; a long one is wrapped. */
  #hintLines(width: number): string[] {
    const room = Math.max(1, width - 2);
    const lines: string[] = [];
    for (const hint of this.#options.hints(this.list.selected).flatMap((text) => text.split(" · "))) {
      const joined = `${lines.at(-1)} · ${hint}`;
      if (lines.length > 0 && visibleWidth(joined) <= room) lines[lines.length - 1] = joined;
      else lines.push(...wrapTextWithAnsi(hint, room));
    }
    return lines.map((line) => ` ${this.#theme.fg("muted", line)}`);
  }
}
