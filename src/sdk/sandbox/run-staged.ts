// One command in the staged view: the view shows what is staged, the command runs confined in it, and what it did to files
// becomes one pending action. Nothing of it reaches the disk.

import { GalleyError, messageOf } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import type { Effect, Effects, StageView } from "../../files/layer/stage-view.js";
import type { PendingActions } from "../../pending/pending.js";
import type { PlannedChange } from "../../preview/plan.js";
import { stagedFor } from "../../preview/stack.js";
import type { Box } from "../../processes/sandbox/box.js";
import type { CommandEnd, CommandNotes, CommandPlace, CommandWish } from "../../tools/confinement.js";
import { count } from "../../tools/output/text.js";
import { changedSinceRead } from "../../tools/staging.js";
import { confinedNotes, renameNote } from "./command-notes.js";
import { gitLineOf, isGitData, stagedFiles } from "./staged-files.js";
import { stagedStates } from "./staged-states.js";
import { figuresText, stagedLines } from "./staged-text.js";

export interface StagedRunDeps {
  readonly view: StageView;
  readonly pending: Pick<PendingActions, "stage" | "store">;
  /** Of a command whose view this process holds. */
  box(viewHolder: number): Promise<Box>;
  plan(effects: readonly Effect[]): Promise<PlannedChange[]>;
  readonly network: "off" | "hosts" | "on";
  /** Only the user or the host decides about it. */
  readonly isForReview: boolean;
}

/** A look at the repository must not write its index: it would be staged. */
const environment = { GIT_OPTIONAL_LOCKS: "0" };
const maxCommandLength = 60;

/** Throws what the view and `start` throw; then nothing was staged. */
export async function runStaged<End extends CommandEnd>(
  wish: CommandWish,
  start: (place: CommandPlace) => Promise<End>,
  deps: StagedRunDeps,
): Promise<{ end: End; notes: CommandNotes }> {
  const { view, pending, network } = deps;
  const open = await view.open(stagedStates(pending.store));
  try {
    const end = await start({ box: await deps.box(open.holder), env: environment, signal: open.overflow });
    const effects = await open.collect();
    const { dropped, changes, pendingId } = await stageEffects(wish, effects, deps);
    const files = await stagedFiles(changes);
    const { kept } = effects;
    const notStaged = [...effects.notStaged];
    const staged = { ...(pendingId === undefined ? {} : { pendingId }), files, notStaged, kept, view: view.mechanism };
    const lines = stagedLines({ ...staged, dropped, network, gitLine: gitLineOf(changes) });
    return { end, notes: { lines: [...confinedNotes(end, { isStaged: true }), ...renameNote(end), ...lines], staged } };
  } finally {
    await open.release();
  }
}

interface Outcome {
  readonly changes: readonly PlannedChange[];
  readonly pendingId?: string;
  readonly dropped?: string;
}

/** All of them or none. */
async function stageEffects(
  { command, sourceToolName, toolCallId }: CommandWish,
  { effects, dropped }: Effects,
  { pending, plan, isForReview }: StagedRunDeps,
): Promise<Outcome> {
  if (dropped !== undefined) return { changes: [], dropped };
  if (effects.length === 0) return { changes: [] };
  const changes = await plan(effects);
  if (changes.length === 0) return { changes };
  try {
    const dependsOn = below(pending, changes);
    const files = await stagedFiles(changes.filter((change) => !isGitData(change)));
    const pendingId = await pending.stage({
      ...{ sourceToolName, toolCallId, isForReview, dependsOn },
      label: `${count(changes.length, "file")} changed by ${oneLine(command, maxCommandLength)}`,
      work: {
        kind: "plan",
        plan: { changes, fromCommand: true, applied: { text: `Wrote ${figuresText(files)}.` } },
      },
    });
    markStale(pending, pendingId, { changes, effects });
    return { changes, pendingId };
  } catch (error) {
    if (!GalleyError.is(error, "file_changed")) throw error;
    return { changes: [], dropped: `${messageOf(error)} The command's effects were dropped.` };
  }
}

/** What the command saw is what is staged now; another call may have staged something meanwhile. */
function below({ store }: Pick<PendingActions, "store">, changes: readonly PlannedChange[]): string[] {
  const ids = new Set<string>();
  for (const change of changes) {
    const staged = stagedFor(store, change.path);
    const top = staged.at(-1)?.change;
    const isSame = !top || isMadeFor(change, top);
    if (!isSame) throw changedSinceRead(change.stamp.path);
    for (const { id } of staged) ids.add(id);
  }
  return [...ids];
}

function isMadeFor(upper: PlannedChange, lower: PlannedChange): boolean {
  const leaves = lower.kind !== "delete";
  if (upper.stamp.exists !== leaves) return false;
  return !leaves || Buffer.compare(upper.before, lower.after) === 0;
}

/** Another program changed the disk there while the command ran. */
function markStale(
  { store }: Pick<PendingActions, "store">,
  id: string,
  { changes, effects }: { changes: readonly PlannedChange[]; effects: readonly Effect[] },
): void {
  const stale = new Set(effects.filter(({ isStale }) => isStale).map(({ path }) => path));
  const stamps = changes.filter(({ path }) => stale.has(path)).map(({ stamp }) => stamp);
  if (stamps.length > 0) store.markStale(id, stamps);
}
