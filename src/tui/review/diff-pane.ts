// The pane with the diff: where it is scrolled to, which lines have been on the screen, and the hunk at the cursor.

import type { Token } from "../../render/highlight.js";
import type { Theme } from "../../sdk/index.js";
import type { Layout } from "./review-doc.js";
import { atUnit } from "./review-list.js";
import type { ReviewState, Wish } from "./review-model.js";
import { ReviewRows } from "./review-rows.js";
import { ReviewScroll } from "./review-scroll.js";
import type { SeenLines } from "./seen-lines.js";

/** Side by side needs as many columns of diff. */
export const splitColumns = 100;
const numberColumns = 60;

interface Size {
  readonly columns: number;
  readonly rows: number;
  /** Of the whole window. */
  readonly window: number;
}

export class DiffPane {
  readonly #theme: Theme;
  readonly #scroll = new ReviewScroll();
  #rows: ReviewRows | undefined;
  #size: Size = { columns: 80, rows: 10, window: 80 };
  /** Of items higher than the window: how far they were read. */
  readonly #read = new Map<number, number>();
  /** The item that was found last. */
  #found: number | undefined;
  /** Of each line that was drawn last. */
  #drawnUnits: number[] = [];
  #tokens: ((file: string, text: string) => readonly Token[]) | undefined;

  constructor(theme: Theme, draw: () => void) {
    this.#theme = theme;
    void import("../../render/highlight.js").then(
      ({ highlight, languageOf }) => {
        const languages = new Map<string, string | undefined>();
        this.#tokens = (file, text) => {
          if (!languages.has(file)) languages.set(file, languageOf(file));
          return text.length > 400 ? [] : highlight(text, languages.get(file));
        };
        this.#rows = undefined;
        draw();
      },
      () => {},
    ); // without colours the text is the same
  }

  /** The colours have changed. */
  recolour(): void {
    this.#rows = undefined;
  }

  /** The rows of the pane; what is on the screen now has been seen. The cursor stays with a hunk that is visible. */
  draw(state: ReviewState, size: Size, seen: SeenLines | undefined): { lines: string[]; state: ReviewState } {
    const isOtherSize = size.columns !== this.#size.columns || size.rows !== this.#size.rows;
    this.#size = size;
    const rows = this.#rowsFor(state);
    if (!rows) return { lines: [], state };
    const { items } = rows.options.layout;
    let visible = this.#scroll.visible(rows, size.rows);
    if (isOtherSize && !visible.some(({ item }) => items[item]?.unit === state.unit)) {
      this.showUnit(state);
      visible = this.#scroll.visible(rows, size.rows);
    }
    const lines: string[] = [];
    this.#drawnUnits = [];
    for (const { item, from, to } of visible) {
      const drawn = rows.at(item);
      this.#note(item, { from, to, height: drawn.rows.length }, () => {
        for (const line of drawn.lines) seen?.mark(line);
      });
      const unit = items[item]?.unit ?? 0;
      const isFirst = rows.options.layout.starts[unit] === item || items[item]?.kind === "hunk";
      const isFound = state.mode.kind === "find" && item === this.#found;
      for (const [index, text] of drawn.rows.slice(from, to).entries())
        lines.push(`${this.#edge(state, { unit, isFirst: isFirst && index + from === 0, isFound })}${text}`);
      this.#drawnUnits.push(...drawn.rows.slice(from, to).map(() => unit));
    }
    return { lines, state };
  }

  /** The hunk of a line that was drawn last. */
  unitAt(line: number): number | undefined {
    return this.#drawnUnits[line];
  }

  scroll(state: ReviewState, { by, direction }: Extract<Wish, { kind: "scroll" }>): ReviewState {
    const rows = this.#rowsFor(state);
    if (!rows) return state;
    const { rows: height } = this.#size;
    if (by === "end") direction < 0 ? this.#scroll.toItem(0, rows, height) : this.#scroll.toEnd(rows, height);
    else this.#scroll.by(direction * (by === "line" ? 1 : Math.max(1, height - 1)), rows, height);
    return this.#withVisibleUnit(state, rows, direction);
  }

  /** Scrolls to the hunk at the cursor, unless all of it is visible. */
  showUnit(state: ReviewState): void {
    const rows = this.#rowsFor(state);
    const start = rows?.options.layout.starts[state.unit];
    if (!rows || start === undefined) return;
    const end = (rows.options.layout.starts[state.unit + 1] ?? rows.count) - 1;
    const visible = this.#scroll.visible(rows, this.#size.rows);
    const isWhole =
      visible.some(({ item, from }) => item === start && from === 0) &&
      visible.some(({ item, to }) => item === end && to === rows.heightOf(end));
    if (!isWhole) this.#scroll.toItem(start, rows, this.#size.rows);
  }

  toTop(state: ReviewState): void {
    const rows = this.#rowsFor(state);
    if (rows) this.#scroll.toItem(0, rows, this.#size.rows);
  }

  /** Undefined: it is not there. */
  find(state: ReviewState, { text, isNext }: Extract<Wish, { kind: "find" }>): ReviewState | undefined {
    const rows = this.#rowsFor(state);
    if (!rows || !state.doc) return undefined;
    const { layout } = rows.options;
    const from = this.#found !== undefined ? this.#found + (isNext ? 1 : 0) : this.#scroll.item;
    const item = state.doc.find(text, Math.min(from, layout.items.length - 1), layout);
    if (item === -1) return undefined;
    this.#found = item;
    this.#scroll.toItem(Math.max(0, item - Math.floor(this.#size.rows / 3)), rows, this.#size.rows);
    return atUnit(state, layout.items[item]?.unit ?? state.unit);
  }

  toggleSplit(state: ReviewState): ReviewState {
    const { columns } = this.#size;
    if (!state.isSplit && columns < splitColumns) {
      const text = `Side by side needs ${splitColumns} columns of diff; here are ${columns}.`;
      return { ...state, message: { level: "info", text } };
    }
    const next = { ...state, isSplit: !state.isSplit };
    this.#found = undefined;
    this.showUnit(next);
    return next;
  }

  #rowsFor(state: ReviewState): ReviewRows | undefined {
    const { doc, isCut } = state;
    if (!doc) return undefined;
    const columns = Math.max(10, this.#size.columns - 2);
    const withNumbers = this.#size.window >= numberColumns;
    const layout: Layout = state.isSplit && this.#size.columns >= splitColumns ? doc.split : doc.unified;
    const known = this.#rows?.options;
    const isSame =
      known?.layout === layout &&
      known.columns === columns &&
      known.isCut === isCut &&
      known.withNumbers === withNumbers;
    if (this.#rows && isSame) return this.#rows;
    if (known?.layout !== layout) this.#found = undefined;
    this.#read.clear();
    const tokens = (file: number, text: string) => this.#tokens?.(doc.files[file]?.path ?? "", text) ?? [];
    this.#rows = new ReviewRows({ doc, layout, theme: this.#theme, columns, withNumbers, isCut, tokens });
    return this.#rows;
  }

  #edge(state: ReviewState, { unit, isFirst, isFound }: { unit: number; isFirst: boolean; isFound: boolean }): string {
    const isHere = unit === state.unit && state.tab === "pending";
    const cursor = isHere ? this.#theme.fg("accent", state.pane === "diff" ? "▌" : "▏") : " ";
    if (isFound) return `${cursor}${this.#theme.fg("warning", "›")}`;
    return `${cursor}${isFirst && state.marks.has(unit) ? this.#theme.fg("accent", "●") : " "}`;
  }

  #note(item: number, { from, to, height }: { from: number; to: number; height: number }, seen: () => void): void {
    if (from === 0 && to === height) return seen();
    const read = this.#read.get(item) ?? 0;
    if (from > read) return;
    this.#read.set(item, Math.max(read, to));
    if (Math.max(read, to) >= height) seen();
  }

  #withVisibleUnit(state: ReviewState, rows: ReviewRows, direction: -1 | 1): ReviewState {
    const { items } = rows.options.layout;
    const units = this.#scroll.visible(rows, this.#size.rows).map(({ item }) => items[item]?.unit ?? 0);
    if (units.length === 0 || units.includes(state.unit)) return state;
    return atUnit(state, (direction > 0 ? units[0] : units.at(-1)) ?? state.unit);
  }
}
