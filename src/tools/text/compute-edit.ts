// An edit as a pure step: the bytes of a file in, its new bytes out. Only the bytes that differ are replaced; the file
// is never decoded and written back, so whatever it holds elsewhere stays as it is.

import { isUtf8 } from "node:buffer";
import { GalleyError } from "../../base/errors.js";
import { compareTexts, type Replacement } from "../../plans/diff/compare-texts.js";
import { toolFailure } from "../tool.js";
import { looseMatch } from "./find-loosely.js";
import { findText } from "./find-text.js";
import { applySplices, composeSpans, type Span, type Splice } from "./splice.js";
import { isUtf16, type TextView, viewOf } from "./text-view.js";

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  /** Replace every occurrence; otherwise there has to be exactly one. */
  readonly all: boolean;
}

export interface ComputedEdit {
  readonly after: Buffer;
  /** What became of the bytes of the file, ascending. */
  readonly spans: readonly Span[];
  /** How many occurrences were replaced. */
  readonly replaced: number;
  /** The lines where a text was found that is not exactly the one asked for. */
  readonly looseLines: readonly number[];
}

export interface EditLeniency {
  /** How like the text in the file has to be; without it only the exact text counts. */
  readonly fuzzyThreshold?: number | undefined;
}

/**
 * Makes the edits one after another, each on what the one before it left. Throws sentences for the model; what is wrong
 * with one edit carries its index as `details.failedEdit`.
 */
export async function computeEdit(
  displayPath: string,
  before: Buffer,
  edits: readonly TextEdit[],
  { fuzzyThreshold }: EditLeniency = {},
): Promise<ComputedEdit> {
  if (isUtf16(before)) throw toolFailure(`Cannot edit ${displayPath}: it is UTF-16 text. Only UTF-8 can be edited.`);
  const isValid = isUtf8(before);
  let after = before;
  let spans: Span[] = [];
  let replaced = 0;
  const looseLines: number[] = [];
  for (const [index, edit] of edits.entries()) {
    try {
      checkNewText(displayPath, edit, isValid);
      const step = await splicesOf(displayPath, after, { ...edit, fuzzyThreshold });
      after = applySplices(after, step.splices);
      spans = composeSpans(spans, step.splices.map(spanOf));
      replaced += step.replaced;
      if (step.looseLine !== undefined) looseLines.push(step.looseLine);
    } catch (error) {
      if (!(error instanceof GalleyError)) throw error;
      throw new GalleyError(error.code, error.message, { cause: error, details: { failedEdit: index } });
    }
  }
  if (after.equals(before))
    throw toolFailure(
      `No changes made to ${displayPath}. The replacement gives exactly what is there; check new_text, or move on.`,
    );
  return { after, spans, replaced, looseLines };
}

async function splicesOf(displayPath: string, file: Buffer, edit: TextEdit & EditLeniency) {
  const { oldText, newText, all, fuzzyThreshold } = edit;
  const view = viewOf(file);
  const asked = { wanted: view.encode(oldText), wished: view.encode(newText) };
  const isLenient = fuzzyThreshold !== undefined && !all && !view.bytes.includes(asked.wanted);
  const loose = isLenient ? looseMatch(view.bytes, asked, fuzzyThreshold) : undefined;
  const { wanted, wished } = loose ? { wanted: loose.found, wished: loose.wished } : asked;
  const places = loose ? [loose.at] : findText({ displayPath, view, wanted, all });
  const given = newText.includes("\r\n") ? "\r\n" : "\n";
  const splices = splicesAt(places, { file, view, wished, given }, await compareTexts(wanted, wished));
  return { splices, replaced: places.length, looseLine: loose?.line };
}

function checkNewText(displayPath: string, { oldText, newText }: TextEdit, isValid: boolean): void {
  if (/\p{Surrogate}/u.test(newText))
    throw toolFailure("new_text holds half of a surrogate pair, which cannot be written as UTF-8.");
  if (isValid) return;
  // What the file means by bytes beyond ASCII is not known, except for those that just matched as UTF-8.
  const known = new Set(oldText);
  for (const character of newText)
    if (character > "\u007f" && !known.has(character))
      throw toolFailure(
        `Cannot write '${character}' into ${displayPath}: the file is not valid UTF-8, so its encoding is unknown. ` +
          "Only ASCII can be added to it.",
      );
}

interface Replacing {
  readonly file: Buffer;
  readonly view: TextView;
  readonly wished: Buffer;
  /** The ending for a file that has none. */
  readonly given: string;
}

function splicesAt(places: readonly number[], text: Replacing, replacements: readonly Replacement[]): Splice[] {
  const { file, view, wished } = text;
  const splices: Splice[] = [];
  for (const at of places)
    for (const { start, end, newStart, newEnd } of replacements) {
      const [from, to] = [view.offsetOf(at + start), view.offsetOf(at + end)];
      const bytes = withEndings(text, wished.subarray(newStart, newEnd), file.subarray(from, to), to);
      splices.push({ start: from, end: to, bytes });
    }
  return splices;
}

/** New lines end like the old lines they replace, one by one; further ones like the last of those, or their neighbours. */
function withEndings({ view, given }: Replacing, text: Buffer, replaced: Buffer, end: number): Buffer {
  if (!text.includes("\n")) return text;
  const endings = view.endingsIn(replaced);
  const last = endings.at(-1) ?? view.endingNear(end) ?? given;
  let line = 0;
  // As Latin-1 a character is a byte: nothing is decoded here.
  return Buffer.from(
    text.toString("latin1").replace(/\n/g, () => endings[line++] ?? last),
    "latin1",
  );
}

function spanOf({ start, end, bytes }: Splice): Span {
  return { start, end, length: bytes.length };
}
