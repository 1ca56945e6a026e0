// Which changed lines have been on the screen. A decision about lines that were not asks once more. Lines are counted as a
// document numbers them; what was seen of a hunk holds for the same hunk of a later revision.

import type { ReviewDoc, Unit } from "./review-doc.js";

export class SeenLines {
  readonly doc: ReviewDoc;
  readonly #seen: Uint8Array;

  /** `before`: what was seen of the same action at another revision. */
  constructor(doc: ReviewDoc, before?: SeenLines) {
    this.doc = doc;
    this.#seen = new Uint8Array(doc.lineCount);
    if (before) this.#carryOver(before);
  }

  mark(line: number): void {
    this.#seen[line] = 1;
  }

  /** Of these hunks: how many lines were not seen, and in how many files. */
  unseen(units: readonly Unit[]): { lines: number; files: number } {
    const files = new Set<number>();
    let lines = 0;
    for (const unit of units) {
      const own = this.#unseenIn(unit);
      if (own > 0) files.add(unit.file);
      lines += own;
    }
    return { lines, files: files.size };
  }

  #unseenIn({ firstLine, endLine }: Unit): number {
    let count = 0;
    for (let line = firstLine; line < endLine; line++) if (this.#seen[line] === 0) count++;
    return count;
  }

  /** Hunks that look alike count only when all of them were seen: it is not known which one is left. */
  #carryOver(before: SeenLines): void {
    const wasSeen = new Map<string, boolean>();
    for (const unit of before.doc.units) {
      const mark = before.doc.signatureOf(unit);
      wasSeen.set(mark, (wasSeen.get(mark) ?? true) && before.#unseenIn(unit) === 0);
    }
    for (const unit of this.doc.units)
      if (wasSeen.get(this.doc.signatureOf(unit))) this.#seen.fill(1, unit.firstLine, unit.endLine);
  }
}
