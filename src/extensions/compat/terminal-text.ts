// Text on a terminal: how wide it is, cut and wrapped to a width. Escape sequences take no room and are never cut in
// two; a style that is open at a line's end goes on in the next line.

import { stripEscapes } from "../../base/sanitize.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const escapeSequence = /\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])/y;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const invisible = /^[\p{Cc}\p{Cf}\p{Mn}\p{Me}]+$/u;
const reset = "\x1b[0m";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export function replaceTabs(text: string): string {
  return text.replaceAll("\t", "   ");
}

export function visibleWidth(text: string): number {
  let width = 0;
  for (const piece of pieces(text)) width += piece.width;
  return width;
}

/** At most `width` columns, `mark` included. */
export function truncateToWidth(text: string, width: number, mark = "…"): string {
  if (visibleWidth(text) <= width) return text;
  const room = width - visibleWidth(mark);
  let cut = "";
  let used = 0;
  for (const piece of pieces(text)) {
    if (used + piece.width > room) break;
    cut += piece.text;
    used += piece.width;
  }
  const end = cut === stripEscapes(cut) ? "" : reset;
  return room < 0 ? "" : `${cut}${end}${mark}`;
}

/** Breaks at spaces, and inside a word only where it is longer than a line. */
export function wrapTextWithAnsi(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(width, 1)));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let style = "";
  let current = "";
  let used = 0;
  const close = () => {
    lines.push(style === "" ? current.trimEnd() : `${current.trimEnd()}${reset}`);
    current = style;
    used = 0;
  };
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    const length = visibleWidth(word.trimEnd());
    if (used > 0 && used + length > width) close();
    for (const piece of pieces(word)) {
      // The spaces at a line's end may exceed the width; they are dropped.
      if (used + piece.width > width && piece.text !== " ") close();
      current += piece.text;
      used += piece.width;
      if (piece.isEscape) style = piece.text === reset || piece.text === "\x1b[m" ? "" : style + piece.text;
    }
  }
  lines.push(current.trimEnd());
  return lines;
}

interface Piece {
  readonly text: string;
  readonly width: number;
  readonly isEscape: boolean;
}

/** Escape sequences and graphemes. */
function* pieces(text: string): Generator<Piece> {
  let plainFrom = 0;
  for (let index = text.indexOf("\x1b"); index !== -1; index = text.indexOf("\x1b", plainFrom)) {
    escapeSequence.lastIndex = index;
    const found = escapeSequence.exec(text)?.[0] ?? "\x1b";
    yield* graphemes(text.slice(plainFrom, index));
    yield { text: found, width: 0, isEscape: true };
    plainFrom = index + found.length;
  }
  yield* graphemes(text.slice(plainFrom));
}

/** The segmenter's time grows with the square of a text, so it gets a long one in pieces of this length. */
const windowLength = 256;

function* graphemes(text: string): Generator<Piece> {
  for (let start = 0; start < text.length; ) {
    const isLast = text.length - start <= windowLength;
    const window = text.slice(start, start + windowLength);
    const whole = isLast ? window : window.replace(/[\ud800-\udbff]$/, ""); // no half of a pair
    const segments = Array.from(segmenter.segment(whole), ({ segment }) => segment);
    // The last one may go on behind the window: the next begins with it, unless it fills all of this one.
    if (!isLast && segments.length > 1) segments.pop();
    for (const segment of segments) {
      const width = segment === "\t" ? 3 : invisible.test(segment) ? 0 : wide.test(segment) ? 2 : 1;
      yield { text: segment, width, isEscape: false };
      start += segment.length;
    }
  }
}
