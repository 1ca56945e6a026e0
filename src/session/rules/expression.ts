// One condition of a rule, compiled for a text that arrives in pieces. Promises: the answer does not depend on where
// the pieces were cut, as long as a match is not longer than the overlap.

import { GalleyError } from "../../base/errors.js";
import { analyzeExpression } from "./analyze-expression.js";

/** How far back a match may begin before the newest piece. */
export const overlapLength = 4096;
/** A longer delta is taken in pieces of this size, which bounds the text of one test. */
export const maxPieceLength = 4096;

export interface Expression {
  readonly source: string;
  /** Finds a match that no further text can undo. Absent if only the end of the text can tell. */
  readonly early: RegExp | undefined;
  /** Finds any match; for the end of the text. Absent if `early` has already found all there are. */
  readonly final: RegExp | undefined;
  /** How far before the newest piece a test must begin. */
  readonly overlap: number;
  /** Every match holds these texts: without one of them there is nothing to test. */
  readonly literals: readonly string[];
  /** Proven to be quick on any text; the others run under a time limit. */
  readonly isQuick: boolean;
}

const maxSourceLength = 1000;
/** V8 takes about a microsecond for each. */
const maxTranslatedPaths = 2 ** 16;

const windowLength = overlapLength + maxPieceLength + 1;
/** About ten milliseconds of the worst that can be. */
const maxQuickSteps = 4_000_000;
const maxAhead = 1024;

/** Throws for a source that is not a regular expression, or more of one than can be handled. */
export function compileExpression(source: string): Expression {
  if (source.length > maxSourceLength)
    throw new GalleyError("invalid_config", `longer than ${maxSourceLength} characters`);
  const plain = new RegExp(source, "g");
  const { paths, reach, ahead, literals } = analyzeExpression(source, windowLength);
  if (paths > maxTranslatedPaths) throw new GalleyError("invalid_config", "too complex");
  // A match that may look at what follows it counts once enough has followed: `\bany\b` must not fire on the first
  // half of "anything". The matcher itself is told so, and finds a shorter match that is safe where a longer is not.
  const stable = ahead < 0 ? source : `(?:${source})(?=[^]{${ahead + 1}})`;
  const { work } = analyzeExpression(ahead <= maxAhead ? stable : source, windowLength);
  return {
    source,
    early: ahead < 0 ? plain : ahead <= maxAhead ? new RegExp(stable, "g") : undefined,
    final: ahead < 0 ? undefined : plain,
    overlap: Math.min(overlapLength, reach + Math.max(ahead, 0) + 1),
    literals,
    isQuick: work * windowLength <= maxQuickSteps,
  };
}
