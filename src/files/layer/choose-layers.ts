// Finds out, by real mounts, how this machine can show a view: by an overlay whose layer is in the first place that can
// hold one, else by a copy, else not at all, with the reason.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { removeLayer } from "./clean-layers.js";
import { type CopyAmount, copyTree } from "./copy-tree.js";
import { entryAt } from "./layer-entries.js";
import {
  isApart,
  type Layer,
  type LayerPlaces,
  layerAt,
  layerBases,
  layerIn,
  makeLayerDirectory,
} from "./layer-place.js";
import { removeTree } from "./remove-tree.js";
import { noUserNamespaces, type StageLimits, viewRefusal } from "./stage-limits.js";
import { holderScript, mountArguments, type StartHolder, type ViewMount } from "./view-programs.js";

export interface ChosenLayers {
  readonly mechanism: "overlay" | "copy";
  readonly layers: readonly Layer[];
}

export interface ChooseOptions extends LayerPlaces {
  readonly roots: readonly string[];
  readonly sessionId: string;
  readonly limits: StageLimits;
  readonly startHolder: StartHolder;
  /** Before anything is made in these directories. Throws where another process uses one of them. */
  claim(layers: readonly Layer[]): Promise<void>;
  /** They are not used after all. */
  giveBack(): Promise<void>;
}

/** Throws `unsupported`, `Staging commands is not possible here: <reason>`, with `details.reason`. */
export async function chooseLayers(options: ChooseOptions): Promise<ChosenLayers> {
  const { roots, limits } = options;
  if (process.platform !== "linux") throw refused("it needs Linux");
  const bases = layerBases(options).filter((base) => isApart(base, roots));
  let reason = "no directory can hold the layer";
  for (const base of bases) {
    const problem = await tryBase(base, "overlay", options);
    if (typeof problem !== "string") return problem;
    if (problem === noUserNamespaces) throw refused(problem);
    reason = problem;
  }
  // No overlay, but namespaces: the tree may be small enough to be copied.
  const amount: CopyAmount = { files: 0, bytes: 0 };
  for (const root of roots) await copyTree(root, undefined, { amount, limits });
  for (const base of bases) {
    const problem = await tryBase(base, "copy", options);
    if (typeof problem !== "string") return problem;
    reason = problem;
  }
  throw refused(reason);
}

export function refused(reason: string): GalleyError {
  return new GalleyError("unsupported", viewRefusal(reason), { details: { reason } });
}

/** Answers the problem where it does not work. */
async function tryBase(
  base: string,
  mechanism: ChosenLayers["mechanism"],
  options: ChooseOptions,
): Promise<ChosenLayers | string> {
  const layers = options.roots.map((root) => layerAt(base, root, options.sessionId));
  await options.claim(layers);
  try {
    for (const layer of layers) makeLayerDirectory(layer, base);
    await probe(layers, mechanism, options);
    return { mechanism, layers };
  } catch (error) {
    for (const { directory } of layers) await removeUnused(directory).catch(() => {}); // it may never have been made
    await options.giveBack();
    return problemText(error);
  }
}

/** A layer with kept files is that of a session which goes on: the mount may work the next time. */
async function removeUnused(directory: string): Promise<void> {
  if (!entryAt(join(directory, "kept.json"))) await removeLayer(directory);
}

function problemText(error: unknown): string {
  const text = messageOf(error);
  return /^(?:unshare|setpriv): /.test(text) ? noUserNamespaces : text;
}

/** The mounts of the real roots, and one of a small tree in which something is deleted and made again. */
async function probe(
  layers: readonly Layer[],
  mechanism: ChosenLayers["mechanism"],
  { startHolder, roots }: ChooseOptions,
): Promise<void> {
  const trial = join(layers[0]?.directory ?? "", "probe");
  await removeTree(trial);
  try {
    mkdirSync(join(trial, "root", "old"), { recursive: true, mode: 0o700 });
    writeFileSync(join(trial, "root", "old", "file"), "");
    const tried = [
      { kind: "probe" as const, ...tryLayer(trial, "trial", join(trial, "root")) },
      ...roots.map((root, index) => ({ kind: "overlay" as const, ...tryLayer(trial, String(index), root) })),
    ];
    const mounts: ViewMount[] =
      mechanism === "overlay" ? tried : tried.slice(0, 1).map((one) => ({ ...one, kind: "copy" }));
    const holder = await startHolder({ script: holderScript, args: mountArguments(mounts) });
    await holder.end();
  } finally {
    await removeTree(trial);
  }
}

function tryLayer(trial: string, name: string, root: string): Omit<ViewMount, "kind"> {
  const layer = layerIn(join(trial, name), root);
  makeLayerDirectory(layer, trial);
  const marker = "probe";
  writeFileSync(join(layer.up, marker), "");
  return { layer: layer.directory, root, marker };
}
