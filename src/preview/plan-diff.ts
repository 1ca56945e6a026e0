// A plan as people see it: per file what kind of change it is, its hunks and its unified diff.

import { type ComparedChange, compareChange } from "./compare-change.js";
import { diffFile } from "./file-diff.js";
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
  const compared = await compareChange(change);
  return { ...(await figuresOf(change)), diff: (maxLength) => diffText(change, compared, maxLength) };
}

export async function figuresOf(change: PlannedChange): Promise<Figures> {
  const { added, removed, hunks } = await compareChange(change);
  return { added, removed, hunks: hunks.length };
}

/** What one decides about: a file without hunks counts as one. */
export async function hunksIn({ changes }: Pick<Plan, "changes">): Promise<number> {
  let total = 0;
  for (const change of changes) total += Math.max((await compareChange(change)).hunks.length, 1);
  return total;
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
