// A plan as people see it: per file what kind of change it is, its hunks and its unified diff; and a part of a plan,
// chosen by file or by hunk.

import { sha256Of } from "../base/digest.js";
import { GalleyError } from "../base/errors.js";
import { type ComparedChange, compareChange } from "./compare-change.js";
import { diffFile, type Hunk } from "./file-diff.js";
import { type Plan, type PlannedChange, stampOf } from "./plan.js";

export interface ChangeDiff {
  readonly added: number;
  readonly removed: number;
  readonly hunks: number;
  diff(maxLength: number): string;
}

export async function diffOf(change: PlannedChange): Promise<ChangeDiff> {
  const sides = await compareChange(change);
  const { added, removed, hunks } = sides;
  return { added, removed, hunks: hunks.length, diff: (maxLength) => diffText(change, sides, maxLength) };
}

function diffText(change: PlannedChange, { before, after, spans }: ComparedChange, maxLength: number): string {
  const { kind, stamp } = change;
  const modes = modeLines(change);
  if (modes !== "" && spans.length === 0) return modes;
  const side = kind === "create" || kind === "delete" ? kind : undefined;
  return modes + diffFile({ before, after, spans, displayPath: stamp.path, kind: side }, maxLength).diff;
}

/** As git writes them; nothing where the permissions stay. */
function modeLines({ kind, mode, stamp }: PlannedChange): string {
  if (kind !== "modify" || mode === undefined || mode === stamp.mode) return "";
  const [old, fresh] = [stamp.mode, mode].map((bits) => (0o100000 | bits).toString(8));
  return `diff --git a/${stamp.path} b/${stamp.path}\nold mode ${old}\nnew mode ${fresh}\n`;
}

/** Which part of a plan: whole files, or hunks of a file counted from 1. */
export interface Subset {
  readonly files?: readonly string[];
  readonly hunks?: Readonly<Record<string, readonly number[]>>;
}

export interface SplitPlan {
  readonly chosen: readonly PlannedChange[];
  /** What is left, made for the files as the chosen part leaves them; undefined where nothing is. */
  readonly restIfApplied: Plan | undefined;
  /** What is left when the chosen part is dropped instead. */
  readonly restIfDiscarded: Plan | undefined;
  readonly settled: readonly { readonly path: string; readonly hunks?: number[] }[];
  readonly chosenHunks: number;
  readonly totalHunks: number;
}

/** Paths are those that people see. Throws `invalid_argument`, before anything is decided, for what is not in the plan. */
export async function splitPlan(plan: Plan, { files = [], hunks = {} }: Subset): Promise<SplitPlan> {
  const known = new Map(plan.changes.map((change) => [change.stamp.path, change]));
  const named = [...files, ...Object.keys(hunks)];
  if (named.length === 0) throw new GalleyError("invalid_argument", "Neither a file nor a hunk is named.");
  for (const path of named)
    if (!known.has(path)) throw new GalleyError("invalid_argument", `${path} is not part of this pending action.`);
  const chosen = (path: string) =>
    files.includes(path) ? "all" : Object.hasOwn(hunks, path) ? hunks[path] : undefined; // files are called anything
  const parts: FilePart[] = [];
  for (const change of plan.changes) parts.push(await partOf(change, chosen(change.stamp.path)));
  const chosenHunks = parts.reduce((sum, part) => sum + part.chosenHunks, 0);
  const totalHunks = parts.reduce((sum, part) => sum + part.totalHunks, 0);
  const withPlan = (changes: PlannedChange[]): Plan | undefined => {
    if (changes.length === 0) return undefined;
    const left = totalHunks - chosenHunks;
    const text = `Applied the remaining ${left} hunk${left === 1 ? "" : "s"} in ${changes.length} file${changes.length === 1 ? "" : "s"}.`;
    return { ...plan, changes, applied: { ...plan.applied, text } };
  };
  return {
    chosen: parts.flatMap(({ chosen }) => chosen ?? []),
    restIfApplied: withPlan(parts.flatMap(({ restIfApplied }) => restIfApplied ?? [])),
    restIfDiscarded: withPlan(parts.flatMap(({ restIfDiscarded }) => restIfDiscarded ?? [])),
    settled: parts.flatMap(({ settled }) => settled ?? []),
    chosenHunks,
    totalHunks,
  };
}

interface FilePart {
  chosen?: PlannedChange;
  restIfApplied?: PlannedChange;
  restIfDiscarded?: PlannedChange;
  settled?: { path: string; hunks?: number[] };
  chosenHunks: number;
  totalHunks: number;
}

async function partOf(change: PlannedChange, choice: "all" | readonly number[] | undefined): Promise<FilePart> {
  const sides = await compareChange(change);
  const { hunks } = sides;
  const totalHunks = Math.max(hunks.length, 1);
  const { path } = change.stamp;
  if (choice === undefined) return { restIfApplied: change, restIfDiscarded: change, chosenHunks: 0, totalHunks };
  const numbers = choice === "all" ? hunks.map((_, index) => index + 1) : [...new Set(choice)].sort((a, b) => a - b);
  if (choice !== "all") {
    if (change.kind !== "modify")
      throw new GalleyError("invalid_argument", `${path} has no hunks: it is a ${change.kind}.`);
    const unknown = numbers.find((number) => !hunks[number - 1]);
    if (unknown !== undefined)
      throw new GalleyError("invalid_argument", `${path} has no hunk ${unknown}; it has ${hunks.length}.`);
    if (numbers.length === 0) throw new GalleyError("invalid_argument", `No hunk of ${path} is named.`);
  }
  if (choice === "all" || numbers.length === hunks.length)
    return { chosen: change, settled: { path }, chosenHunks: totalHunks, totalHunks };
  // Hunks of other bytes than the stamp's would overwrite the stamp's bytes.
  if (sha256Of(change.before) !== change.stamp.sha256)
    throw new GalleyError(
      "stale_preview",
      `Hunks of ${path} cannot be chosen: the file was not as the preview says when it was made. Decide about all of it, or preview again.`,
    );
  const isChosen = (hunk: Hunk) => numbers.includes(hunks.indexOf(hunk) + 1);
  const onlyChosen = withHunks(sides.before, hunks.filter(isChosen));
  const onlyRest = withHunks(
    sides.before,
    hunks.filter((hunk) => !isChosen(hunk)),
  );
  return {
    chosen: { ...change, after: onlyChosen },
    restIfApplied: {
      ...change,
      before: onlyChosen,
      stamp: stampOf(path, { bytes: onlyChosen, mode: change.stamp.mode }),
    },
    restIfDiscarded: { ...change, after: onlyRest },
    settled: { path, hunks: numbers },
    chosenHunks: numbers.length,
    totalHunks,
  };
}

function withHunks(before: Buffer, hunks: readonly Hunk[]): Buffer {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const { start, end, bytes } of hunks.flatMap((hunk) => hunk.changes)) {
    pieces.push(before.subarray(position, start), bytes);
    position = end;
  }
  return Buffer.concat([...pieces, before.subarray(position)]);
}
