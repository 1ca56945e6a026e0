// The view while one command runs: its size is watched, then its effects are collected, all of them or none.

import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { displayPath } from "../paths/resolve-path.js";
import { createBeforeTree } from "./before-tree.js";
import { copyReader, type LayerReader, overlayReader } from "./changed-entries.js";
import { collectEffects } from "./collect-effects.js";
import type { CompareOptions } from "./compare-node.js";
import type { CopyMarks } from "./copy-tree.js";
import { withoutSlash } from "./fill-layer.js";
import { type ChangedNode, findChanges } from "./find-changes.js";
import { watchFirstStates } from "./first-states.js";
import { createIgnoredPaths } from "./ignored-paths.js";
import { entryAt } from "./layer-entries.js";
import type { Layer } from "./layer-place.js";
import { hasChangedSince, measureTree } from "./measure-tree.js";
import { layerTooLarge, type StageLimits, tooManyChanges } from "./stage-limits.js";
import type { DroppedEffects, Effect, Effects, FileState, OpenView, StagedState } from "./stage-view.js";
import type { RunInView, ViewHolder } from "./view-programs.js";

export interface HeldLayer {
  readonly layer: Layer;
  /** The root in the namespace of the holder. */
  readonly merged: string;
  /** What was in the view only when it was opened. */
  readonly kept: readonly string[];
  /** Of a copy. */
  readonly marks: CopyMarks | undefined;
}

export interface OpenViewOptions {
  readonly layers: readonly HeldLayer[];
  readonly holder: ViewHolder;
  readonly staged: readonly StagedState[];
  readonly startNs: bigint;
  readonly limits: StageLimits;
  readonly ignored: "keep" | "plan" | "drop";
  readonly cwd: string;
  readonly directoryMode: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly runInView: RunInView;
  /** The kept paths of a layer, as of now. */
  onKept(layer: Layer, kept: readonly string[]): void;
  onReleased(): void;
}

const watchMs = 1000;

export function openView(options: OpenViewOptions): OpenView {
  const { holder } = options;
  const overflow = new AbortController();
  const firstStates = options.layers.map(({ layer }) => watchFirstStates(layer, options));
  const stopMeasuring = watchSize(options, overflow);
  const stopWatching = () => {
    stopMeasuring();
    for (const states of firstStates) states.stop();
  };
  let isReleased = false;
  return {
    holder: holder.pid,
    roots: options.layers.map(({ layer }) => layer.root),
    overflow: overflow.signal,
    async collect() {
      stopWatching();
      if (isReleased || !holder.isAlive()) throw new GalleyError("tool_failed", "The staged view is gone.");
      const firstState = (path: string) => firstStates.map((states) => states.of(path)).find(Boolean);
      return collectAll({ ...options, firstState }, overflow.signal.aborted);
    },
    async release() {
      if (isReleased) return;
      isReleased = true;
      stopWatching();
      try {
        await holder.end();
      } finally {
        options.onReleased();
      }
    },
  };
}

/** Looks again a second after the last look has ended. */
function watchSize({ layers, limits, clock, log }: OpenViewOptions, overflow: AbortController): () => void {
  let isStopped = false;
  let cancel = () => {};
  const look = async () => {
    let bytes = 0;
    for (const { layer } of layers) bytes += (await measureTree(layer.up)).diskBytes;
    if (isStopped) return;
    if (bytes > limits.maxLayerBytes) overflow.abort(new GalleyError("limit", layerTooLarge(limits)));
    else wait();
  };
  const wait = () => {
    cancel = clock.after(watchMs, () => {
      look().catch((error: unknown) => log.warn(`The size of the staged view is not known: ${messageOf(error)}`));
    });
  };
  wait();
  return () => {
    isStopped = true;
    cancel();
  };
}

interface CollectedView extends OpenViewOptions, Pick<CompareOptions, "firstState"> {}

async function collectAll(options: CollectedView, hasOverflowed: boolean): Promise<Effects> {
  const { limits, cwd } = options;
  const effects: Effect[] = [];
  const notStaged: { path: string; why: string }[] = [];
  const changed = { files: 0, bytes: 0 };
  const kept = { files: 0, bytes: 0 };
  let isTooMuch = hasOverflowed;
  for (const held of options.layers) {
    await collectLayer(held, options, {
      onEffect(effect) {
        changed.files++;
        changed.bytes += bytesOf(effect.before) + bytesOf(effect.after);
        isTooMuch ||= changed.files > limits.maxFiles || changed.bytes > limits.maxBytes;
        if (isTooMuch) effects.length = 0;
        else effects.push(effect);
      },
      onLeftOut: (name, why) => notStaged.push({ path: displayPath(join(held.layer.root, name), cwd), why }),
      onKept(files, bytes) {
        kept.files += files;
        kept.bytes += bytes;
      },
    });
  }
  if (isTooMuch) return { effects: [], notStaged: [], kept, dropped: droppedBy(limits, changed, hasOverflowed) };
  effects.sort((one, other) => (one.path < other.path ? -1 : 1));
  notStaged.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { effects, notStaged, kept };
}

function droppedBy(
  limits: StageLimits,
  changed: { files: number; bytes: number },
  hasOverflowed: boolean,
): DroppedEffects {
  if (hasOverflowed) return { ...changed, limit: { bytes: limits.maxLayerBytes }, text: layerTooLarge(limits) };
  const limit = { files: limits.maxFiles, bytes: limits.maxBytes };
  return { ...changed, limit, text: tooManyChanges(changed, limits) };
}

interface LayerFindings {
  onEffect(effect: Effect): void;
  onLeftOut(name: string, why: string): void;
  onKept(files: number, bytes: number): void;
}

async function collectLayer(held: HeldLayer, options: CollectedView, findings: LayerFindings): Promise<void> {
  const { layer, merged, marks } = held;
  const { holder, staged, startNs, limits, directoryMode, runInView } = options;
  const reader = marks ? copyReader(layer, marks) : overlayReader(layer, merged, startNs);
  try {
    const gitDir = join(layer.directory, "git");
    const ignored =
      options.ignored === "plan"
        ? undefined
        : createIgnoredPaths({ root: layer.root, merged, holder: holder.pid, gitDir, runInView });
    const before = createBeforeTree(staged, directoryMode);
    const { maxFileBytes } = limits;
    const former = new Set(held.kept.map(withoutSlash));
    const isStillKept = ({ name, path }: ChangedNode) =>
      former.has(name) && !hasChangedSince(reader.placeOf(path), startNs);
    const top = await findChanges({ root: layer.root, reader, before, ignored, maxFileBytes, isStillKept });
    const ignoredNodes: ChangedNode[] = [];
    await collectEffects(top, {
      placeOf: reader.placeOf,
      maxFileBytes,
      startNs,
      firstState: options.firstState,
      knowsOwners: marks === undefined,
      directoryMode,
      onEffect: findings.onEffect,
      onLeftOut: findings.onLeftOut,
      onIgnored: (node) => ignoredNodes.push(node),
    });
    await keep(layer, options.ignored === "keep" ? ignoredNodes : [], { reader, options, findings });
  } finally {
    reader.restore();
  }
}

async function keep(
  layer: Layer,
  nodes: readonly ChangedNode[],
  { reader, options, findings }: { reader: LayerReader; options: OpenViewOptions; findings: LayerFindings },
): Promise<void> {
  const kept: string[] = [];
  for (const { name, path, view } of nodes) {
    const place = reader.placeOf(path);
    if (!entryAt(place)) continue; // deleted without a trace: it shows again with the next command
    kept.push(view?.kind === "directory" ? `${name}/` : name);
    if (!view) continue;
    const { files, bytes } = await measureTree(place);
    findings.onKept(files, bytes);
  }
  options.onKept(layer, kept);
}

function bytesOf(state: FileState | undefined): number {
  if (state?.type === "file") return state.bytes.length;
  return state?.type === "symlink" ? state.target.length : 0;
}
