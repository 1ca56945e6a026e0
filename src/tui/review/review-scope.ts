// What a key would decide about, exactly: the same answer is drawn on the last line and carried out.

import type { ReviewAction } from "../../sdk/review/review-source.js";
import type { Unit } from "./review-doc.js";
import type { Level, ReviewState, Scope } from "./review-model.js";

export function selectedAction({ actions, actionKey }: ReviewState): ReviewAction | undefined {
  return actions.find((action) => action.key === actionKey);
}

/** Undefined: nothing can be decided now. */
export function scopeOf(state: ReviewState, level: Level): Scope | undefined {
  const { doc, tab, gone } = state;
  const action = selectedAction(state);
  if (tab !== "pending" || !action || gone?.key === action.key) return undefined;
  if (doc?.key !== action.key || doc.revision !== action.revision) return undefined;
  const { key, revision } = action;
  const units = unitsOf(state, doc.units, level);
  if (units.length === 0) return undefined;
  const isWhole = units.length === doc.units.length;
  const paths = new Set(units.map(({ file }) => doc.files[file]?.path ?? ""));
  const also = action.restsOn.filter((below) => below.paths.some((path) => paths.has(path)));
  const words = wordsOf(state, { level, units });
  const guarded = action.files.filter(({ path, isProtected }) => isProtected && (isWhole || paths.has(path)));
  const asked = { also, guarded: guarded.map(({ shown }) => shown) };
  if (isWhole) return { key, revision, words, units, isWhole, ...asked };
  const named = units.filter(({ hunk }) => hunk === undefined).map(({ file }) => doc.files[file]?.path ?? "");
  const grouped = new Map(action.files.flatMap(({ path, group }) => (group ? [[path, group.paths] as const] : [])));
  const wholeFiles = named.flatMap((path) => grouped.get(path) ?? [path]);
  const hunks = new Map<string, number[]>();
  for (const { file, hunk } of units)
    if (hunk !== undefined) {
      const path = doc.files[file]?.path ?? "";
      hunks.set(path, [...(hunks.get(path) ?? []), hunk]);
    }
  return {
    key,
    revision,
    words,
    units,
    isWhole,
    ...asked,
    ...(wholeFiles.length > 0 ? { files: wholeFiles } : {}),
    ...(hunks.size > 0 ? { hunks: Object.fromEntries(hunks) } : {}),
  };
}

function unitsOf(state: ReviewState, all: readonly Unit[], level: Level): readonly Unit[] {
  const { marks, unit, pane, listFile } = state;
  if (level === "action") return all;
  const here = all[unit];
  const isList = pane === "list";
  if (level === "here" && marks.size > 0) return all.filter(({ index }) => marks.has(index));
  if (level === "here" && isList && listFile === undefined) return all;
  if (!here) return [];
  if (level === "here" && !isList) return [here];
  return all.filter(({ file }) => file === here.file);
}

function wordsOf(state: ReviewState, { level, units }: { level: Level; units: readonly Unit[] }): string {
  const { doc, marks, pane, listFile } = state;
  if (!doc) return "";
  if (doc.files.length === 0) return "it";
  const isMarked = level === "here" && marks.size > 0;
  const hunks = units.filter(({ hunk }) => hunk !== undefined).length;
  const files = new Set(units.map(({ file }) => file)).size;
  if (isMarked) return `the ${countOf(units.length - hunks, hunks)}`;
  if (level === "action" || (level === "here" && pane === "list" && listFile === undefined))
    return `${units.length === 1 ? "" : "all "}${hunks === 0 ? "" : `${plural(hunks, "hunk")} in `}${plural(files, "file")}`;
  const [first] = units;
  if (level === "file" || first?.hunk === undefined || pane === "list") return "file";
  const of = doc.units.filter(({ file }) => file === first.file).length;
  return `hunk ${first.hunk} of ${of}`;
}

function countOf(files: number, hunks: number): string {
  const parts = [
    ...(hunks > 0 ? [plural(hunks, "marked hunk")] : []),
    ...(files > 0 ? [plural(files, "marked file")] : []),
  ];
  return parts.join(" and ");
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
