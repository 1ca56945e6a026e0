// The text of a line cut into pieces of one look, written out and laid out in rows of a width. Nothing invisible is left.

import { visibleWidth } from "@earendil-works/pi-tui";
import { writtenOutLine } from "../../base/written-out.js";
import type { Range } from "../../render/changed-words.js";
import type { Token, TokenKind } from "../../render/highlight.js";

export interface Piece {
  readonly text: string;
  readonly isWord: boolean;
  readonly kind?: TokenKind | undefined;
}

/** The changed words and the tokens of a text; both are in order, and neither overlaps itself. */
export function piecesOf(text: string, words: readonly Range[], tokens: readonly Token[]): Piece[] {
  const edges = new Set([0, text.length]);
  for (const [start, end] of words) edges.add(start).add(end);
  for (const { start, end } of tokens) edges.add(start).add(end);
  const sorted = [...edges].filter((edge) => edge <= text.length).sort((a, b) => a - b);
  const pieces: Piece[] = [];
  let [word, token] = [0, 0];
  for (const [index, start] of sorted.entries()) {
    const end = sorted[index + 1];
    if (end === undefined) break;
    while ((words[word]?.[1] ?? Number.POSITIVE_INFINITY) <= start) word++;
    while ((tokens[token]?.end ?? Number.POSITIVE_INFINITY) <= start) token++;
    const isWord = (words[word]?.[0] ?? Number.POSITIVE_INFINITY) <= start;
    const own = tokens[token];
    pieces.push({ text: text.slice(start, end), isWord, kind: own && own.start <= start ? own.kind : undefined });
  }
  return pieces;
}

const tabWidth = 4;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Rows of pieces, none wider than `width`; `withTabs`: tabs are told from spaces. */
export function wrapPieces(pieces: readonly Piece[], width: number, { withTabs = false } = {}): Piece[][] {
  const rows: Piece[][] = [[]];
  let column = 0; // of the text, for its tabs
  let room = width;
  const put = (piece: Piece, text: string, columns: number) => {
    if (columns > room) {
      rows.push([]);
      room = width;
    }
    (rows.at(-1) as Piece[]).push({ ...piece, text });
    room -= columns;
    column += columns;
  };
  for (const piece of pieces)
    for (const [index, part] of writtenOutLine(piece.text).split("\t").entries()) {
      if (index > 0) {
        const size = tabWidth - (column % tabWidth);
        put(piece, (withTabs ? "→" : " ").padEnd(Math.min(size, width)), Math.min(size, width));
      }
      for (const { text, columns } of runsOf(part, () => room, width)) put(piece, text, columns);
    }
  return rows;
}

/** Pieces of a text that fit into what is left of a row, then into whole rows. */
function* runsOf(text: string, room: () => number, width: number): Generator<{ text: string; columns: number }> {
  if (/^[ -~]*$/.test(text)) {
    for (let at = 0; at < text.length; ) {
      const left = room() > 0 ? room() : width;
      const run = text.slice(at, at + left);
      yield { text: run, columns: run.length };
      at += run.length;
    }
    return;
  }
  let run = "";
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) {
    const own = visibleWidth(segment);
    const left = room() > 0 ? room() : width;
    if (columns + own > left && run !== "") {
      yield { text: run, columns };
      [run, columns] = ["", 0];
    }
    run += segment;
    columns += own;
  }
  if (run !== "") yield { text: run, columns };
}
