// A plan as people see it: per file what kind of change it is, its hunks and its unified diff.

import { compareTexts } from "./compare-texts.js";
import { diffFile, type Hunk, hunksOf, type Span } from "./file-diff.js";
import type { Plan, PlannedChange } from "./plan.js";

export interface Figures {
  readonly added: number;
  readonly removed: number;
  readonly hunks: number;
}

export interface ChangeDiff extends Figures {
  diff(maxLength: number): string;
}

export async function diffOf(change: PlannedChange): Promise<ChangeDiff> {
  const compared = await compare(change);
  return { ...noteFigures(change, compared), diff: (maxLength) => diffText(change, compared, maxLength) };
}

/** A change never changes, so its figures are computed once. */
const figures = new WeakMap<PlannedChange, Figures>();

export async function figuresOf(change: PlannedChange): Promise<Figures> {
  return figures.get(change) ?? noteFigures(change, await compare(change));
}

function noteFigures(change: PlannedChange, { hunks }: Compared): Figures {
  const noted = {
    added: hunks.reduce((sum, { added }) => sum + added, 0),
    removed: hunks.reduce((sum, { removed }) => sum + removed, 0),
    hunks: hunks.length,
  };
  figures.set(change, noted);
  return noted;
}

/** What one decides about: a file without hunks counts as one. */
export async function hunksIn({ changes }: Pick<Plan, "changes">): Promise<number> {
  let total = 0;
  for (const change of changes) {
    // Waiting for what is known would cost more than counting it.
    const { hunks } = figures.get(change) ?? (await figuresOf(change));
    total += Math.max(hunks, 1);
  }
  return total;
}

function diffText(change: PlannedChange, sides: Sides, maxLength: number): string {
  const { kind, stamp } = change;
  const modes = modeLines(change);
  if (modes !== "" && sides.spans.length === 0) return modes;
  const side = kind === "create" || kind === "delete" ? kind : undefined;
  return modes + diffFile({ ...sides, displayPath: stamp.path, kind: side }, maxLength).diff;
}

/** As git writes them; nothing where the permissions stay. */
function modeLines({ kind, mode, stamp }: PlannedChange): string {
  if (kind !== "modify" || mode === undefined || mode === stamp.mode) return "";
  const [old, fresh] = [stamp.mode, mode].map((bits) => (0o100000 | bits).toString(8));
  return `diff --git a/${stamp.path} b/${stamp.path}\nold mode ${old}\nnew mode ${fresh}\n`;
}

interface Sides {
  before: Buffer;
  after: Buffer;
  spans: Span[];
}

export interface Compared extends Sides {
  readonly hunks: readonly Hunk[];
}

/** The two sides of a change and its hunks, in the order of its diff. */
export async function compare(change: PlannedChange): Promise<Compared> {
  const sides = await sidesOf(change);
  return { ...sides, hunks: hunksOf(sides) };
}

async function sidesOf({ before, after }: PlannedChange): Promise<Sides> {
  const [old, fresh] = [asBuffer(before), asBuffer(after)];
  const replacements = await compareTexts(old, fresh);
  const spans = replacements.map(({ start, end, newStart, newEnd }) => ({ start, end, length: newEnd - newStart }));
  return { before: old, after: fresh, spans };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
