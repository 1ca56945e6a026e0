// A diff as a list of items to draw: heads of files and hunks, notes, lines. What can be decided by itself is a unit: a hunk,
// or a file without hunks. Made once for a revision; nothing is laid out here, so that a long diff costs only its length.

import type { DiffFile, DiffHunk } from "../../protocol/diff.js";
import { blocksOf, type DiffBlock, type SideLine } from "../../render/diff-rows.js";
import type { ReviewAction, ReviewDiff, ReviewFile } from "../../sdk/review/review-source.js";
import { hasCrlf, notesOf } from "./file-notes.js";
import { headOf } from "./review-text.js";

export interface Unit {
  readonly index: number;
  /** An index of the document's files. */
  readonly file: number;
  /** From 1; absent: the file is decided about as a whole. */
  readonly hunk?: number;
  readonly firstLine: number;
  readonly endLine: number;
}

/** A line of one side as it is drawn. `id`: counted among the changed lines of the document. */
export interface DocLine extends Pick<SideLine, "number" | "text" | "endsFile"> {
  readonly id?: number;
  /** What it became, or was: the words that changed are looked for when it is drawn. */
  readonly other?: string;
}

export type Item =
  | { readonly kind: "blank"; readonly unit: number }
  | { readonly kind: "file"; readonly file: number; readonly unit: number }
  | { readonly kind: "note"; readonly text: string; readonly unit: number; readonly id: number }
  | { readonly kind: "hunk"; readonly head: string; readonly unit: number }
  | { readonly kind: "text"; readonly text: string; readonly unit: number; readonly id: number }
  | { readonly kind: "end"; readonly unit: number }
  | ({ readonly kind: "line"; readonly sign: " " | "-" | "+"; readonly unit: number; readonly old?: number } & DocLine)
  | {
      readonly kind: "pair";
      readonly unit: number;
      readonly isChanged: boolean;
      readonly old?: DocLine;
      readonly new?: DocLine;
    };

export interface DocFile extends DiffFile {
  readonly shown: string;
  readonly added: number;
  readonly removed: number;
  readonly hasCrlf: boolean;
}

export interface Layout {
  readonly items: readonly Item[];
  /** Of each unit: its first item. */
  readonly starts: readonly number[];
}

/** What a closure says, which galley cannot check. */
export function closureDoc(action: ReviewAction): ReviewDoc {
  return new ReviewDoc({ key: action.key, revision: action.revision, files: [], closure: action });
}

export interface DocSource {
  readonly key: string;
  readonly revision?: number | undefined;
  readonly files: readonly DiffFile[];
  /** How the action names and counts its files. */
  readonly about?: readonly ReviewFile[];
  readonly closure?: ReviewAction;
  readonly binaries?: ReviewDiff["binaries"];
}

export class ReviewDoc {
  readonly key: string;
  readonly revision: number | undefined;
  readonly files: readonly DocFile[];
  readonly units: readonly Unit[];
  readonly lineCount: number;
  readonly unified: Layout;
  #split: Layout | undefined;
  #searched: Searched | undefined;

  constructor({ key, revision, files, about = [], closure, binaries }: DocSource) {
    this.key = key;
    this.revision = revision;
    const named = new Map(about.map((file) => [file.path, file]));
    this.files = files.map((file) => docFile(file, named.get(file.path)));
    const made = closure ? closureItems(closure) : itemsOf(this.files, named, binaries);
    this.units = made.units;
    this.lineCount = made.lineCount;
    this.unified = made.layout;
  }

  /** Both sides beside each other. */
  get split(): Layout {
    this.#split ??= splitLayout(this.files, this.unified, this.units);
    return this.#split;
  }

  /** Tells a hunk from others, also when the numbers of its lines have changed. */
  signatureOf({ file, hunk }: Unit): string {
    const { path, hunks } = this.files[file] ?? { path: "", hunks: [] };
    const lines = hunks.find(({ number }) => number === hunk)?.lines ?? [];
    return `${path}\n${lines.filter((line) => line[0] !== " ").join("\n")}`;
  }

  /** The first item from `from` on that holds the text, in a circle; -1: none does. Small letters find large ones too. */
  find(wanted: string, from: number, layout: Layout): number {
    if (wanted === "") return -1;
    const isExact = wanted !== wanted.toLowerCase();
    const { text, starts } = this.#textOf(layout);
    const hay = isExact ? text.exact : text.lower;
    let at = hay.indexOf(wanted, starts[from] ?? 0);
    if (at === -1) at = hay.indexOf(wanted);
    return at === -1 ? -1 : itemAt(starts, at);
  }

  #textOf(layout: Layout) {
    if (this.#searched?.layout !== layout) this.#searched = searchedText(layout, this.files);
    return this.#searched;
  }
}

interface Searched {
  readonly layout: Layout;
  readonly text: { readonly exact: string; readonly lower: string };
  /** Of each item: where it begins. */
  readonly starts: readonly number[];
}

function searchedText(layout: Layout, files: readonly DocFile[]): Searched {
  const starts: number[] = [];
  const pieces: string[] = [];
  let at = 0;
  for (const item of layout.items) {
    starts.push(at);
    const piece = textOf(item, files);
    pieces.push(piece);
    at += piece.length + 1;
  }
  const exact = pieces.join("\n");
  const lower = exact.toLowerCase();
  // Few characters change their length with their size; then places would not fit.
  return { layout, text: { exact, lower: lower.length === exact.length ? lower : exact }, starts };
}

function textOf(item: Item, files: readonly DocFile[]): string {
  if (item.kind === "line" || item.kind === "note" || item.kind === "text") return item.text;
  if (item.kind === "pair") return `${item.old?.text ?? ""}\u0000${item.new?.text ?? ""}`;
  return item.kind === "file" ? (files[item.file]?.shown ?? "") : "";
}

/** The last that begins at or before a place. */
function itemAt(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

function docFile(file: DiffFile, about: ReviewFile | undefined): DocFile {
  const count = (sign: string) =>
    file.hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line[0] === sign).length, 0);
  return {
    ...file,
    shown: about?.shown ?? file.path,
    added: about?.added ?? count("+"),
    removed: about?.removed ?? count("-"),
    hasCrlf: hasCrlf(file),
  };
}

interface Made {
  readonly units: Unit[];
  readonly layout: Layout;
  readonly lineCount: number;
}

function closureItems({ sourceToolName, text }: ReviewAction): Made {
  const lines = text === "" ? [] : text.split("\n");
  const items: Item[] = [
    { kind: "note", text: `Proposed by ${sourceToolName}: galley cannot check it`, unit: 0, id: 0 },
    ...lines.map((line, index): Item => ({ kind: "text", text: line, unit: 0, id: index + 1 })),
  ];
  const unit = { index: 0, file: 0, firstLine: 0, endLine: items.length };
  return { units: [unit], layout: { items, starts: [0] }, lineCount: items.length };
}

function itemsOf(
  files: readonly DocFile[],
  about: ReadonlyMap<string, ReviewFile>,
  binaries: ReviewDiff["binaries"],
): Made {
  const items: Item[] = [];
  const starts: number[] = [];
  const units: Unit[] = [];
  let lines = 0;
  for (const [index, file] of files.entries()) {
    // Only the hunks of a modified file can be decided about one by one.
    const isWhole = file.kind !== "modify" || file.hunks.length === 0;
    const open = (hunk?: number) => {
      starts.push(items.length);
      units.push({ index: units.length, file: index, hunk, firstLine: lines, endLine: lines });
    };
    const close = () => {
      const unit = units.at(-1) as Unit;
      units[unit.index] = { ...unit, endLine: lines };
    };
    const [first] = file.hunks;
    open(isWhole ? undefined : first?.number);
    const unit = () => units.length - 1;
    // The head of the pane names the file at the cursor, which is the first one at the top.
    if (index > 0) items.push({ kind: "blank", unit: unit() }, { kind: "file", file: index, unit: unit() });
    for (const text of notesOf(file, about.get(file.path), binaries?.get(file.path)))
      items.push({ kind: "note", text, unit: unit(), id: lines++ });
    for (const hunk of file.hunks) {
      if (!isWhole && hunk !== first) {
        close();
        open(hunk.number);
      }
      items.push({ kind: "hunk", head: headOf(hunk), unit: unit() });
      lines = addLines(items, { blocks: blocksOf(hunk, { withWords: false }), unit: unit(), lines });
    }
    if (starts.at(-1) === items.length)
      items.push({ kind: "note", text: "No line changes", unit: unit(), id: lines++ });
    close();
  }
  return { units, layout: { items, starts }, lineCount: lines };
}

interface Numbered {
  readonly blocks: readonly DiffBlock[];
  readonly unit: number;
  /** The id of the next changed line. */
  readonly lines: number;
}

function addLines(items: Item[], { blocks, unit, lines }: Numbered): number {
  let id = lines;
  for (const block of blocks) {
    if (block.kind === "same")
      for (const line of block.lines) {
        items.push({ kind: "line", sign: " ", unit, old: line.old.number, ...line.new });
        if (line.new.endsFile) items.push({ kind: "end", unit });
      }
    else
      for (const sign of ["-", "+"] as const) {
        const [own, others] = sign === "-" ? [block.old, block.new] : [block.new, block.old];
        for (const line of docLines(own, others, id)) {
          items.push({ kind: "line", sign, unit, ...line });
          if (line.endsFile) items.push({ kind: "end", unit });
        }
        id += own.length;
      }
  }
  return id;
}

/** Lines are compared one by one where both sides have as many: else it is not clear which became which. */
function docLines(own: readonly SideLine[], others: readonly SideLine[], firstId: number): DocLine[] {
  const arePairs = own.length === others.length;
  return own.map((line, index) => {
    const other = arePairs ? others[index]?.text : undefined;
    return { ...line, id: firstId + index, ...(other === undefined ? {} : { other }) };
  });
}

/** The same files and units; a row holds a line of each side. */
function splitLayout(files: readonly DocFile[], unified: Layout, units: readonly Unit[]): Layout {
  const items: Item[] = [];
  const starts: number[] = [];
  let [hunkAt, id] = [0, 0];
  const hunks = files.flatMap((file) => file.hunks);
  for (const item of unified.items) {
    if (starts.length === item.unit && item.unit < units.length) starts.push(items.length);
    if (item.kind === "line" || item.kind === "end") continue;
    if (item.kind === "note") id = item.id + 1;
    items.push(item);
    if (item.kind !== "hunk") continue;
    const hunk = hunks[hunkAt++] as DiffHunk;
    id = addPairs(items, { blocks: blocksOf(hunk, { withWords: false }), unit: item.unit, lines: id });
  }
  return { items, starts };
}

function addPairs(items: Item[], { blocks, unit, lines }: Numbered): number {
  let id = lines;
  for (const block of blocks) {
    if (block.kind === "same")
      for (const line of block.lines)
        items.push({ kind: "pair", unit, isChanged: false, old: line.old, new: line.new });
    else {
      const old = docLines(block.old, block.new, id);
      const fresh = docLines(block.new, block.old, id + block.old.length);
      for (let index = 0; index < Math.max(old.length, fresh.length); index++) {
        const [left, right] = [old[index], fresh[index]];
        items.push({ kind: "pair", unit, isChanged: true, ...(left && { old: left }), ...(right && { new: right }) });
      }
      id += block.old.length + block.new.length;
    }
  }
  return id;
}
