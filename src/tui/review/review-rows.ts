// The items of a diff as rows of the screen, laid out when they are looked at. Promises: no row is wider than the pane; a long
// line goes on in the next row, marked, or is cut with the number of columns that are missing.

import { visibleWidth } from "@earendil-works/pi-tui";
import { writtenOut } from "../../base/written-out.js";
import { changedWords, type Range } from "../../render/changed-words.js";
import type { Token } from "../../render/highlight.js";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import { type Piece, piecesOf, wrapPieces } from "./line-pieces.js";
import type { DocLine, Item, Layout, ReviewDoc } from "./review-doc.js";

export interface RowsOptions {
  readonly doc: ReviewDoc;
  readonly layout: Layout;
  readonly theme: Theme;
  /** Of the pane, without the column at its edge. */
  readonly columns: number;
  readonly withNumbers: boolean;
  /** Long lines are cut instead of wrapped. */
  readonly isCut: boolean;
  /** The tokens of a line of a file, where its language is known. */
  tokens?(file: number, text: string): readonly Token[];
}

export interface ItemRows {
  readonly rows: readonly string[];
  /** The changed lines that are read when all rows are on the screen. */
  readonly lines: readonly number[];
}

const maxKept = 4000;

export class ReviewRows {
  readonly options: RowsOptions;
  readonly #kept = new Map<number, ItemRows>();
  readonly #digits: number;
  readonly #hasBackgrounds: boolean;

  constructor(options: RowsOptions) {
    this.options = options;
    const last = options.doc.files.reduce(
      (most, { hunks }) =>
        hunks.reduce(
          (high, { oldStart, oldLines, newStart, newLines }) =>
            Math.max(high, oldStart + oldLines, newStart + newLines),
          most,
        ),
      0,
    );
    this.#digits = options.withNumbers ? String(last).length : 0;
    this.#hasBackgrounds = options.theme.getBgAnsi("diffAddedBg") !== "";
  }

  get count(): number {
    return this.options.layout.items.length;
  }

  heightOf(item: number): number {
    return this.at(item).rows.length;
  }

  at(index: number): ItemRows {
    const kept = this.#kept.get(index);
    if (kept) return kept;
    if (this.#kept.size >= maxKept) this.#kept.clear();
    const item = this.options.layout.items[index];
    const made = item ? this.#draw(item) : { rows: [""], lines: [] };
    this.#kept.set(index, made);
    return made;
  }

  #draw(item: Item): ItemRows {
    const { theme, doc, columns } = this.options;
    switch (item.kind) {
      case "blank":
        return { rows: [""], lines: [] };
      case "file":
        return { rows: [this.#fileHead(item.file)], lines: [] };
      case "hunk":
        return { rows: [theme.fg("accent", cutTo(item.head, columns))], lines: [] };
      case "end":
        return {
          rows: [theme.fg("muted", cutTo(`${this.#blank()}  no newline at the end of the file`, columns))],
          lines: [],
        };
      case "note":
        return this.#plain(item.text, item.id, (text) => theme.fg("warning", text));
      case "text":
        return this.#plain(item.text, item.id, (text) => text);
      case "line":
        return this.#line(item, doc.units[item.unit]?.file ?? 0);
      case "pair":
        return this.#pair(item, doc.units[item.unit]?.file ?? 0);
    }
  }

  #fileHead(index: number): string {
    const { theme, doc, columns } = this.options;
    const file = doc.files[index];
    if (!file) return "";
    const hunks = doc.units.filter((unit) => unit.file === index && unit.hunk !== undefined).length;
    const facts = `  ${file.kind}  +${file.added} -${file.removed}${hunks > 0 ? `  ${hunks} h` : ""}`;
    const name = writtenOut(file.shown);
    const room = Math.max(8, columns - facts.length);
    return `${theme.bold(shortened(name, room))}${theme.fg("muted", cutTo(facts, Math.max(0, columns - Math.min(room, visibleWidth(name)))))}`;
  }

  #plain(text: string, id: number, look: (text: string) => string): ItemRows {
    const rows = wrapPieces([{ text, isWord: false }], this.options.columns).map((row) =>
      look(row.map((piece) => piece.text).join("")),
    );
    return { rows, lines: [id] };
  }

  #blank(): string {
    return this.#digits === 0 ? "" : " ".repeat(this.#digits * 2 + 2);
  }

  #line(line: Extract<Item, { kind: "line" }>, file: number): ItemRows {
    const { theme, columns } = this.options;
    const { sign, number, old } = line;
    const digits = this.#digits;
    const pad = (value: number | undefined) => String(value ?? "").padStart(digits);
    const numbers = { " ": [old, number], "-": [number, undefined], "+": [undefined, number] }[sign];
    const gutter = digits === 0 ? "" : theme.fg("muted", `${pad(numbers[0])} ${pad(numbers[1])} `);
    const width = Math.max(4, columns - (digits === 0 ? 0 : digits * 2 + 2) - 2);
    const { texts, isWhole } = this.#texts(line, { file, width, sign });
    const rows = texts.map(
      (text, index) =>
        `${index === 0 ? gutter : this.#blank()}${this.#signed(index === 0 ? sign : "↪", text, { sign, width })}`,
    );
    return { rows, lines: isWhole && line.id !== undefined ? [line.id] : [] };
  }

  #pair(pair: Extract<Item, { kind: "pair" }>, file: number): ItemRows {
    const { theme, columns } = this.options;
    const half = Math.floor((columns - 1) / 2);
    const digits = this.#digits;
    const gutter = digits === 0 ? 0 : digits + 1;
    const width = Math.max(4, half - gutter - 2);
    const lines: number[] = [];
    const sides = (["old", "new"] as const).map((which) => {
      const line = pair[which];
      if (!line) return [];
      const sign = !pair.isChanged ? " " : which === "old" ? "-" : "+";
      const { texts, isWhole } = this.#texts(line, { file, width, sign });
      if (isWhole && line.id !== undefined) lines.push(line.id);
      const ends = line.endsFile ? [theme.fg("muted", "no newline at the end".slice(0, width))] : [];
      return [...texts, ...ends].map((text, index) => {
        const number = index === 0 ? String(line.number).padStart(digits) : " ".repeat(digits);
        const mark = index === 0 ? sign : index < texts.length ? "↪" : " ";
        return `${digits === 0 ? "" : theme.fg("muted", `${number} `)}${this.#signed(mark, text, { sign, width })}`;
      });
    });
    const [left = [], right = []] = sides;
    const rows = Array.from({ length: Math.max(left.length, right.length, 1) }, (_, index) => {
      const one = left[index] ?? "";
      const fill = " ".repeat(Math.max(0, half - visibleWidth(one)));
      return `${one}${fill}${theme.fg("border", "│")}${right[index] ?? ""}`;
    });
    return { rows, lines };
  }

  #signed(mark: string, text: string, { sign, width }: { sign: string; width: number }): string {
    const { theme } = this.options;
    if (sign === " ") return `${mark === " " ? " " : theme.fg("muted", mark)} ${text}`;
    const colour = sign === "+" ? "toolDiffAdded" : "toolDiffRemoved";
    const start = theme.fg(colour, `${mark} `);
    if (!this.#hasBackgrounds) return `${start}${text}`;
    const fill = " ".repeat(Math.max(0, width - visibleWidth(text)));
    const back = sign === "+" ? "diffAddedBg" : "diffRemovedBg";
    return `${theme.bg(back, start)}${text}${theme.bg(back, fill)}`;
  }

  /** `isWhole`: nothing of it is cut off. */
  #texts(line: DocLine, { file, width, sign }: { file: number; width: number; sign: string }) {
    const { doc, isCut, tokens } = this.options;
    const strip = doc.files[file]?.hasCrlf && line.text.endsWith("\r");
    const text = strip ? line.text.slice(0, -1) : line.text;
    const words = this.#wordsOf(line, sign);
    const rows = wrapPieces(piecesOf(text, words, tokens?.(file, text) ?? []), width, { withTabs: sign !== " " });
    const look = (row: readonly Piece[]) => row.map((piece) => this.#look(piece, sign)).join("");
    const [first = []] = rows;
    if (!isCut || rows.length < 2) return { texts: rows.map(look), isWhole: true };
    const missing = rows.slice(1).reduce((sum, row) => sum + visibleWidth(row.map((piece) => piece.text).join("")), 0);
    const note = `…+${missing}`;
    return { texts: [`${cutTo(look(first), Math.max(1, width - note.length), "")}\u001b[0m${note}`], isWhole: false };
  }

  #wordsOf({ text, other }: DocLine, sign: string): readonly Range[] {
    if (other === undefined || sign === " ") return [];
    const words = sign === "-" ? changedWords(text, other)?.old : changedWords(other, text)?.new;
    return words ?? [];
  }

  #look({ text, isWord, kind }: Piece, sign: string): string {
    const { theme } = this.options;
    const colour = kind && theme.fg(syntaxColours[kind], "x") !== "x" ? syntaxColours[kind] : undefined;
    if (sign === " ") return colour ? theme.fg(colour, text) : text;
    const own = sign === "+" ? "toolDiffAdded" : "toolDiffRemoved";
    if (!this.#hasBackgrounds) return theme.fg(own, isWord ? theme.underline(text) : text);
    const back =
      sign === "+" ? (isWord ? "diffAddedWord" : "diffAddedBg") : isWord ? "diffRemovedWord" : "diffRemovedBg";
    return theme.bg(back, theme.fg(own, text));
  }
}

const syntaxColours = {
  keyword: "syntaxKeyword",
  string: "syntaxString",
  comment: "syntaxComment",
  number: "syntaxNumber",
  name: "syntaxFunction",
  type: "syntaxType",
  meta: "syntaxKeyword",
} as const;

/** The end of a name tells more than its beginning. */
export function shortened(name: string, columns: number): string {
  if (visibleWidth(name) <= columns) return name;
  let end = name;
  while (end !== "" && visibleWidth(end) > columns - 1) end = [...end].slice(1).join("");
  return `…${end}`;
}
