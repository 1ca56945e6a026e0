// One command in the staged view: the view shows what is staged, the command runs confined in it, and what it did to files
// becomes one pending action. Nothing of it reaches the disk.

import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import type {
  DroppedEffects,
  Effects,
  FileState,
  OpenView,
  StagedState,
  StageView,
} from "../../files/layer/stage-view.js";
import type { PendingActions } from "../../pending/pending-actions.js";
import type { PendingActionStore } from "../../pending/store/pending-action-store.js";
import { actionsNeeded, inStagedOrder, planOf, stagedFor } from "../../pending/store/stack.js";
import { gitSummary, isGrouped } from "../../plans/diff/git-group.js";
import { figuresOf } from "../../plans/diff/plan-diff.js";
import { figuresText, filesText, type PlannedEffects } from "../../plans/effects/plan-effects.js";
import { crossDeviceHint, stagedCommandText } from "../../plans/effects/staged-command-text.js";
import { isMadeFor, type PlannedChange, typeAfter, typeBefore } from "../../plans/plan.js";
import type { Box, BoxRules } from "../../processes/sandbox/box.js";
import type { StagedEffects } from "../../protocol/data.js";
import type { CommandEnd, CommandWish, RanCommand, StartCommand } from "../../tools/confinement.js";
import { changedSinceRead } from "../../tools/staging.js";
import { confinedNotes } from "./command-notes.js";
import { plannedEffects } from "./effect-naming.js";
import type { SandboxEnvironment } from "./sandbox-machine.js";

export interface StagedRunDeps {
  readonly view: StageView;
  readonly pending: Pick<PendingActions, "stage" | "store">;
  /** Of a command in this view. */
  box(view: Pick<OpenView, "holder" | "roots">): Promise<Box>;
  readonly environment: SandboxEnvironment;
  readonly mode: BoxRules["mode"];
  readonly network: "off" | "hosts" | "on";
  /** Only the user or the host decides about it. */
  readonly isForReview: boolean;
}

/** A look at the repository must not write its index: it would be staged. */
const commandEnvironment = { GIT_OPTIONAL_LOCKS: "0" };
const maxCommandLength = 60;

/** Throws what the view and `start` throw; then nothing was staged. */
export async function runStaged<End extends CommandEnd>(
  wish: CommandWish,
  start: StartCommand<End>,
  deps: StagedRunDeps,
): Promise<RanCommand<End>> {
  const { view, pending, mode, network } = deps;
  const open = await view
    .open(stagedStates(pending.store))
    .catch(cannotKeep("The staged view cannot be made", "Nothing was run"));
  try {
    const end = await start({ box: await deps.box(open), env: commandEnvironment, signal: open.overflow });
    const lost = cannotKeep("What the command did cannot be kept", "Its effects were dropped");
    const collected = await open.collect().catch(lost);
    const { changes, stalePaths, pendingId, dropped } = await stageEffects(wish, collected, deps).catch(lost);
    const { kept } = collected;
    const notStaged = [...collected.notStaged];
    const text = await stagedCommandText({
      pendingId,
      changes,
      stalePaths,
      notStaged,
      kept,
      network,
      gitGroup: gitLine(changes),
      dropped,
    });
    const hint = end.exitCode === 0 ? undefined : crossDeviceHint(end.printed);
    const lines = [...confinedNotes(end, { mayEscalate: false, mode }), ...(hint === undefined ? [] : [hint]), text];
    const id = pendingId === undefined ? {} : { pendingId };
    const staged = { ...id, files: await stagedFiles(changes), notStaged, kept, view: view.mechanism };
    return { end, notes: { lines, staged, dropped } };
  } finally {
    await open.release();
  }
}

/** A disk that is full or closed speaks of bytes and calls; the user asked about a command. */
function cannotKeep(what: string, outcome: string): (error: unknown) => never {
  return (error) => {
    const isOfDisk = !(error instanceof GalleyError) && /^E[A-Z]+$/.test(systemCode(error) ?? "");
    if (!isOfDisk) throw error;
    throw new GalleyError("tool_failed", `${what}: ${messageOf(error)}. ${outcome}.`, { cause: error });
  };
}

interface Outcome {
  readonly changes: PlannedEffects["changes"];
  readonly stalePaths?: PlannedEffects["stalePaths"];
  readonly pendingId?: string;
  readonly dropped?: DroppedEffects;
}

/** All of them or none. */
async function stageEffects(
  { command, sourceToolName, toolCallId }: CommandWish,
  { effects, dropped }: Effects,
  { pending, environment, isForReview }: StagedRunDeps,
): Promise<Outcome> {
  if (dropped !== undefined) return { changes: [], dropped };
  if (effects.length === 0) return { changes: [] };
  const there = stagedStates(pending.store).flatMap(({ path, state }) => (state ? [path] : []));
  const { changes, stalePaths } = plannedEffects(effects, there, environment);
  try {
    const pendingId = await pending.stage({
      sourceToolName,
      toolCallId,
      isForReview,
      dependsOn: below(pending, changes),
      label: `${filesText(changes)} changed by ${oneLine(command, maxCommandLength)}`,
      work: { kind: "plan", plan: { changes, fromCommand: true, applied: { text: `Wrote ${figuresText(changes)}.` } } },
    });
    const stale = new Set(stalePaths);
    const stamps = changes.filter(({ stamp }) => stale.has(stamp.path)).map(({ stamp }) => stamp);
    if (stamps.length > 0) pending.store.markStale(pendingId, stamps);
    return { changes, stalePaths, pendingId };
  } catch (error) {
    if (!GalleyError.is(error, "file_changed")) throw error;
    const bytes = changes.reduce((sum, { before, after }) => sum + before.length + after.length, 0);
    const text = `${messageOf(error)} The command's effects were dropped.`;
    return { changes: [], dropped: { files: changes.length, bytes, text } };
  }
}

/** What the command saw is what is staged now; another call may have staged something meanwhile. */
function below({ store }: Pick<PendingActions, "store">, changes: readonly PlannedChange[]): string[] {
  const ids = new Set<string>();
  for (const change of changes) {
    const staged = stagedFor(store, change.path);
    const top = staged.at(-1)?.change;
    if (top && !isMadeFor(change, top)) throw changedSinceRead(change.stamp.path);
    for (const { id } of staged) ids.add(id);
  }
  for (const id of actionsNeeded(store, changes)) ids.add(id);
  return [...ids];
}

/** What git keeps for itself, in one line. */
function gitLine(changes: PlannedEffects["changes"]): string | undefined {
  const summary = gitSummary({ changes, fromCommand: true });
  return summary === undefined ? undefined : `git: ${summary}`;
}

// The files of a staged command as hosts are told of them. What git keeps for itself is not among them: it has no lines to
// show, and is one line of the report.

/** Figures of more files than a reader looks at would only cost time. */
const maxCompared = 1000;

async function stagedFiles(changes: readonly PlannedChange[]): Promise<StagedEffects["files"]> {
  const files: StagedEffects["files"] = [];
  for (const change of changes.filter((one) => !isGrouped({ fromCommand: true }, one))) {
    const { stamp, kind, after, renamedFrom, protected: isProtected } = change;
    const type = kind === "delete" ? typeBefore(change) : (change.type ?? "file");
    const figures = files.length < maxCompared && type === "file" ? await figuresOf(change) : undefined;
    files.push({
      path: stamp.path,
      kind,
      ...(type === "symlink" || type === "directory" ? { type } : {}),
      ...(figures ? { added: figures.added, removed: figures.removed } : {}),
      ...(type === "symlink" && kind !== "delete" ? { target: Buffer.from(after).toString() } : {}),
      renamedFrom,
      ...(isProtected ? { protected: true as const } : {}),
    });
  }
  return files;
}

/** The bits of a file or directory that no plan names. */
const usualFileMode = 0o644;
const usualDirectoryMode = 0o755;

function stagedStates(store: PendingActionStore): StagedState[] {
  const states = new Map<string, StagedState>();
  for (const stored of inStagedOrder(store))
    for (const change of planOf(stored)?.changes ?? []) {
      const below = states.get(change.path)?.state;
      states.set(change.path, { path: change.path, state: stateAfter(change, below, stored.action.createdAt) });
    }
  return [...states.values()];
}

function stateAfter(change: PlannedChange, below: FileState | undefined, stagedAt: number): FileState | undefined {
  const type = typeAfter(change);
  const { stamp, after, mtimeMs = stagedAt } = change;
  const earlier = below && below.type !== "symlink" ? below.mode : stamp.exists ? stamp.mode & 0o7777 : undefined;
  const mode = change.mode ?? earlier;
  if (type === undefined) return undefined;
  if (type === "symlink") return { type, target: after };
  if (type === "directory") return { type, mode: mode ?? usualDirectoryMode };
  return { type, bytes: after, mode: mode ?? usualFileMode, mtimeMs };
}
