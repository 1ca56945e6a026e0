// A part of a plan, chosen by file or by hunk, and what is left of the plan without it. Only the files concerned are
// compared, so that deciding about one hunk of a plan costs the same whatever the plan holds besides.

import { sha256Of } from "../base/digest.js";
import { GalleyError } from "../base/errors.js";
import { compareChange } from "./diff/compare-change.js";
import type { Hunk } from "./diff/file-diff.js";
import { withNeeded } from "./needed-changes.js";
import { isOfFiles, type Plan, type PlannedChange, stampOf } from "./plan.js";

/** Which part of a plan: whole files, or hunks of a file counted from 1. */
export interface Subset {
  readonly files?: readonly string[];
  readonly hunks?: Readonly<Record<string, readonly number[]>>;
}

/** What was decided: a whole file, or some of its hunks. */
export interface ChosenFile {
  readonly path: string;
  readonly hunks?: readonly number[];
}

/** What a decision leaves of a plan. */
export interface RestOfPlan {
  readonly changes: readonly PlannedChange[];
  /** Those of the files concerned. */
  readonly concerned: readonly PlannedChange[];
}

export interface SplitPlan {
  readonly chosen: readonly PlannedChange[];
  readonly chosenHunks: number;
  readonly settled: readonly ChosenFile[];
  /** Made for the files as the chosen part leaves them. */
  readonly ifApplied: RestOfPlan;
  /** When the chosen part is dropped instead. */
  readonly ifDiscarded: RestOfPlan;
}

/**
 * Paths are those that people see. What the chosen part cannot be decided without belongs to it: the directories that a
 * file needs, what is in a directory that goes. Throws `invalid_argument`, before anything is decided, for what is not in
 * the plan.
 */
export async function splitPlan(
  { changes }: Plan,
  { files = [], hunks = {} }: Subset,
  action: "apply" | "discard" = "apply",
): Promise<SplitPlan> {
  const whole = new Set(files);
  const named = new Set([...files, ...Object.keys(hunks)]); // files are called anything, also `constructor`
  if (named.size === 0) throw new GalleyError("invalid_argument", "Neither a file nor a hunk is named.");
  const found = changes.filter(({ stamp }) => named.has(stamp.path));
  if (found.length < named.size) {
    const known = new Set(found.map(({ stamp }) => stamp.path));
    const unknown = [...named].find((path) => !known.has(path));
    if (unknown !== undefined)
      throw new GalleyError("invalid_argument", `${unknown} is not part of this pending action.`);
  }
  const parts = new Map<PlannedChange, FilePart>();
  for (const change of withNeeded(changes, found, action)) {
    const { path } = change.stamp;
    const isAll = whole.has(path) || !named.has(path);
    parts.set(change, await partOf(change, isAll ? "all" : (hunks[path] ?? [])));
  }
  const rest = (leftOf: (part: FilePart) => PlannedChange | undefined): RestOfPlan => ({
    changes: changes.flatMap((change) => {
      const part = parts.get(change);
      return part ? (leftOf(part) ?? []) : change;
    }),
    concerned: [...parts.values()].flatMap((part) => leftOf(part) ?? []),
  });
  const all = [...parts.values()];
  return {
    chosen: all.map(({ chosen }) => chosen),
    chosenHunks: all.reduce((sum, { chosenHunks }) => sum + chosenHunks, 0),
    settled: all.map(({ settled }) => settled),
    ifApplied: rest(({ ifApplied }) => ifApplied),
    ifDiscarded: rest(({ ifDiscarded }) => ifDiscarded),
  };
}

/** Tells whether a part that is repeated leaves what it left. */
export function digestOf(changes: readonly PlannedChange[]): string {
  const told = changes.map(({ kind, stamp, after, type }) => [
    ...[stamp.path, kind, stamp.sha256, sha256Of(after)],
    ...(type === undefined ? [] : [type]),
  ]);
  return sha256Of(JSON.stringify(told));
}

interface FilePart {
  readonly chosen: PlannedChange;
  /** Absent where nothing of the file is left. */
  readonly ifApplied?: PlannedChange;
  readonly ifDiscarded?: PlannedChange;
  readonly settled: ChosenFile;
  readonly chosenHunks: number;
}

async function partOf(change: PlannedChange, choice: "all" | readonly number[]): Promise<FilePart> {
  const { path } = change.stamp;
  const { before, hunks } = await compareChange(change);
  const numbers = choice === "all" ? hunks.map((_, index) => index + 1) : [...new Set(choice)].sort((a, b) => a - b);
  if (choice !== "all") {
    if (change.kind !== "modify" || !isOfFiles(change))
      throw new GalleyError("invalid_argument", `${path} has no hunks: it is a ${whatOf(change)}.`);
    for (const number of numbers) hunkAt(path, hunks, number);
    if (numbers.length === 0) throw new GalleyError("invalid_argument", `No hunk of ${path} is named.`);
  }
  if (choice === "all" || numbers.length === hunks.length)
    return { chosen: change, settled: { path }, chosenHunks: Math.max(hunks.length, 1) };
  // Hunks of other bytes than the stamp's would overwrite the stamp's bytes.
  if (sha256Of(change.before) !== change.stamp.sha256)
    throw new GalleyError(
      "stale_preview",
      `Hunks of ${path} cannot be chosen: the file was not as the preview says when it was made. Decide about all of it, or preview again.`,
      { details: { files: [path] } },
    );
  const isChosen = (_: Hunk, index: number) => numbers.includes(index + 1);
  const onlyChosen = withHunks(before, hunks.filter(isChosen));
  const onlyRest = withHunks(
    before,
    hunks.filter((hunk, index) => !isChosen(hunk, index)),
  );
  // Each hunk has one of the units or more: where the numbers agree, each has exactly one.
  const { units, ...counted } = change;
  const withUnits = (count: number) => (units === hunks.length ? { ...counted, units: count } : counted);
  const rest = withUnits(hunks.length - numbers.length);
  return {
    chosen: { ...withUnits(numbers.length), after: onlyChosen },
    ifApplied: { ...rest, before: onlyChosen, stamp: stampOf(path, { bytes: onlyChosen, mode: change.stamp.mode }) },
    ifDiscarded: { ...rest, after: onlyRest },
    settled: { path, hunks: numbers },
    chosenHunks: numbers.length,
  };
}

function whatOf({ kind, type, stamp }: PlannedChange): string {
  if (kind !== "modify") return kind;
  return [type, stamp.type].includes("directory") ? "directory" : "link";
}

/** Throws `invalid_argument` where there is no such hunk. */
export function hunkAt(path: string, hunks: readonly Hunk[], number: number): Hunk {
  const found = hunks[number - 1];
  if (found) return found;
  throw new GalleyError("invalid_argument", `${path} has no hunk ${number}; it has ${hunks.length}.`);
}

/** The bytes with some of the hunks in place. */
export function withHunks(before: Buffer, hunks: readonly Hunk[]): Buffer {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const { start, end, bytes } of hunks.flatMap((hunk) => hunk.changes)) {
    pieces.push(before.subarray(position, start), bytes);
    position = end;
  }
  return Buffer.concat([...pieces, before.subarray(position)]);
}
