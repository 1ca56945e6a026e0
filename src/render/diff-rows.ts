// The hunks of a diff as what a surface draws: blocks of equal and of changed lines, and from these the rows of one column
// or of two. Pure; a row carries the file's own text, and what draws it writes out what is invisible.

import type { DiffFile, DiffHunk, DiffPage } from "../protocol/diff.js";
import { changedWords, type Range } from "./changed-words.js";

export interface SideLine {
  /** In the file, from 1. */
  readonly number: number;
  readonly text: string;
  /** The words that changed; absent: the whole line did. */
  readonly words?: readonly Range[];
  /** The file ends here, without a newline. */
  readonly endsFile?: true;
}

export type DiffBlock =
  | { readonly kind: "same"; readonly lines: readonly { readonly old: SideLine; readonly new: SideLine }[] }
  | { readonly kind: "changed"; readonly old: readonly SideLine[]; readonly new: readonly SideLine[] };

/** A row of one column. */
export interface DiffRow {
  readonly sign: " " | "-" | "+";
  readonly old?: number;
  readonly new?: number;
  readonly text: string;
  readonly words?: readonly Range[];
  readonly endsFile?: true;
}

/** A row of two columns; a side may be empty. */
export interface DiffPair {
  readonly isChanged: boolean;
  readonly old?: SideLine;
  readonly new?: SideLine;
}

/** The files of several pages, with the hunks that a page's end had cut put together again. */
export function joinPages(pages: readonly Pick<DiffPage, "files">[]): DiffFile[] {
  const files: DiffFile[] = [];
  for (const { files: more } of pages)
    for (const file of more) {
      const last = files.at(-1);
      if (last?.path !== file.path) files.push({ ...file, hunks: [...file.hunks] });
      else
        for (const hunk of file.hunks) {
          const open = hunk.continued ? last.hunks.pop() : undefined;
          last.hunks.push(open ? { ...open, lines: [...open.lines, ...hunk.lines] } : hunk);
        }
    }
  return files;
}

/** `withWords: false`: the words that changed are left to the caller, who may need few of them. */
export function blocksOf(hunk: DiffHunk, { withWords = true } = {}): DiffBlock[] {
  const blocks: DiffBlock[] = [];
  let same: { old: SideLine; new: SideLine }[] = [];
  let changed: { old: SideLine[]; new: SideLine[] } = { old: [], new: [] };
  const closeChanged = () => {
    if (changed.old.length + changed.new.length > 0)
      blocks.push({ kind: "changed", ...(withWords ? compared(changed) : changed) });
    changed = { old: [], new: [] };
  };
  const closeSame = () => {
    if (same.length > 0) blocks.push({ kind: "same", lines: same });
    same = [];
  };
  for (const line of sideLines(hunk)) {
    if (line.old && line.new) {
      closeChanged();
      same.push({ old: line.old, new: line.new });
      continue;
    }
    closeSame();
    if (line.old) changed.old.push(line.old);
    if (line.new) changed.new.push(line.new);
  }
  closeSame();
  closeChanged();
  return blocks;
}

export function rowsOf(blocks: readonly DiffBlock[]): DiffRow[] {
  return blocks.flatMap((block): DiffRow[] => {
    if (block.kind === "same")
      return block.lines.map(({ old, new: fresh }) => row(" ", { old: old.number, new: fresh.number }, fresh));
    return [
      ...block.old.map((line) => row("-", { old: line.number }, line)),
      ...block.new.map((line) => row("+", { new: line.number }, line)),
    ];
  });
}

export function pairsOf(blocks: readonly DiffBlock[]): DiffPair[] {
  return blocks.flatMap((block): DiffPair[] => {
    if (block.kind === "same") return block.lines.map((line) => ({ isChanged: false, ...line }));
    const length = Math.max(block.old.length, block.new.length);
    return Array.from({ length }, (_, index) => {
      const [old, fresh] = [block.old[index], block.new[index]];
      return { isChanged: true, ...(old && { old }), ...(fresh && { new: fresh }) };
    });
  });
}

function row(
  sign: DiffRow["sign"],
  numbers: Pick<DiffRow, "old" | "new">,
  { text, words, endsFile }: SideLine,
): DiffRow {
  return { sign, ...numbers, text, ...(words && { words }), ...(endsFile && { endsFile }) };
}

/** The lines in their order, numbered; the mark of a missing last newline belongs to the line before it. */
function sideLines({ oldStart, newStart, lines }: DiffHunk): { old?: SideLine; new?: SideLine }[] {
  const found: { old?: SideLine; new?: SideLine }[] = [];
  // Without lines on a side, a unified diff names the line before the place.
  let [old, fresh] = [Math.max(oldStart, 1), Math.max(newStart, 1)];
  for (const line of lines) {
    const [sign, text] = [line[0], line.slice(1)];
    const last = found.at(-1);
    if (sign === "\\" && last) {
      if (last.old) last.old = { ...last.old, endsFile: true };
      if (last.new) last.new = { ...last.new, endsFile: true };
    } else if (sign === "-") found.push({ old: { number: old++, text } });
    else if (sign === "+") found.push({ new: { number: fresh++, text } });
    else found.push({ old: { number: old++, text }, new: { number: fresh++, text } });
  }
  return found;
}

/** Lines are compared one by one where both sides have as many: else it is not clear which became which. */
function compared({ old, new: fresh }: { old: SideLine[]; new: SideLine[] }): { old: SideLine[]; new: SideLine[] } {
  if (old.length !== fresh.length) return { old, new: fresh };
  const pairs = old.map((line, index) => {
    const other = fresh[index] as SideLine;
    const words = changedWords(line.text, other.text);
    return words
      ? { old: { ...line, words: words.old }, new: { ...other, words: words.new } }
      : { old: line, new: other };
  });
  return { old: pairs.map((pair) => pair.old), new: pairs.map((pair) => pair.new) };
}
