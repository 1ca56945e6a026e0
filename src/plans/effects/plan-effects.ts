// What a staged command did to files, as the changes of a plan: exact bytes before and after, types, permissions and
// times. Pure: paths are shown and judged by functions of the caller.

import { isUtf8 } from "node:buffer";
import { sha256Of } from "../../base/digest.js";
import type { Effect, FileState } from "../../files/layer/stage-view.js";
import { type PlannedChange, stampOf } from "../plan.js";

export interface EffectNaming {
  shownPath(path: string): string;
  isProtected(path: string): boolean;
}

export interface PlannedEffects {
  /** In the order of their paths. */
  readonly changes: readonly PlannedChange[];
  /** Shown paths that another program changed meanwhile: the action begins stale. */
  readonly stalePaths: readonly string[];
}

export function planEffects(effects: readonly Effect[], naming: EffectNaming): PlannedEffects {
  const changes = withRenames(effects.map((effect) => changeOf(effect, naming)));
  const stalePaths = effects
    .filter(({ changedMeanwhile }) => changedMeanwhile)
    .map(({ path }) => naming.shownPath(path));
  return { changes, stalePaths };
}

function changeOf(effect: Effect, { shownPath, isProtected }: EffectNaming): PlannedChange {
  const { path, before, after } = effect;
  const found = before && { bytes: contentOf(before), mode: modeOf(before), type: before.type };
  const isUnknown = effect.changedMeanwhile === "unknown";
  const state = after ?? before;
  const type = state && state.type !== "file" ? { type: state.type } : {};
  const hasOtherMode = !before || before.type !== after?.type || modeOf(before) !== modeOf(after);
  return {
    kind: (before || isUnknown) && after ? "modify" : after ? "create" : "delete",
    path,
    stamp: isUnknown ? unknownStamp(shownPath(path)) : stampOf(shownPath(path), found),
    before: contentOf(before),
    after: contentOf(after),
    ...type,
    ...(after && after.type !== "symlink" && hasOtherMode ? { mode: after.mode } : {}),
    ...(after?.type === "file" ? { mtimeMs: after.mtimeMs } : {}),
    ...(isProtected(path) ? { protected: true as const } : {}),
  };
}

/** No file fits it: nothing of the change can be applied, or placed anew. */
function unknownStamp(path: string): PlannedChange["stamp"] {
  return { path, exists: true, size: 0, sha256: "unknown", mode: 0 };
}

const nothing = new Uint8Array();

function contentOf(state: FileState | undefined): Uint8Array {
  if (state?.type === "file") return state.bytes;
  return state?.type === "symlink" ? state.target : nothing;
}

/** The system gives every link all permissions. */
function modeOf(state: FileState | undefined): number {
  return state?.type === "symlink" ? 0o777 : (state?.mode ?? 0);
}

/** A file that was deleted and one with the same bytes that was created; of several, the one with the same name. */
function withRenames(changes: readonly PlannedChange[]): readonly PlannedChange[] {
  const deleted = new Map<string, PlannedChange[]>();
  for (const change of changes) {
    if (change.kind !== "delete" || change.type || change.before.length === 0) continue;
    const { sha256 } = change.stamp;
    deleted.set(sha256, [...(deleted.get(sha256) ?? []), change]);
  }
  if (deleted.size === 0) return changes;
  return changes.map((change) => {
    if (change.kind !== "create" || change.type || change.after.length === 0) return change;
    const candidates = deleted.get(sha256Of(change.after));
    if (!candidates || candidates.length === 0) return change;
    const name = (path: string) => path.slice(path.lastIndexOf("/") + 1);
    const same = candidates.findIndex(({ path }) => name(path) === name(change.path));
    const [from] = candidates.splice(Math.max(same, 0), 1);
    return from ? { ...change, renamedFrom: from.stamp.path } : change;
  });
}

/** `4 files (1 modified, 2 created, 1 deleted)` */
export function figuresText(changes: readonly PlannedChange[]): string {
  const parts = (["modify", "create", "delete"] as const).map((kind) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return count === 0
      ? []
      : [`${count.toLocaleString("en-US")} ${{ modify: "modified", create: "created", delete: "deleted" }[kind]}`];
  });
  return `${filesText(changes)} (${parts.flat().join(", ")})`;
}

/** `4 files` */
export function filesText({ length }: readonly PlannedChange[]): string {
  return `${length.toLocaleString("en-US")} file${length === 1 ? "" : "s"}`;
}

/** NUL or invalid UTF-8. */
export function isBinaryContent(bytes: Uint8Array): boolean {
  return bytes.includes(0) || !isUtf8(bytes);
}
