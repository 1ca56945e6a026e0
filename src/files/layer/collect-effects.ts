// What a command did in one root, as effects that can be staged: every touched path is compared, and what is staged must
// be possible on the disk. A directory is only deleted if nothing of it stays there.

import { join } from "node:path";
import { TimeSlices } from "../../base/time-slices.js";
import { isDirectory } from "./before-tree.js";
import { type Compared, type CompareOptions, compareNode } from "./compare-node.js";
import type { ChangedNode } from "./find-changes.js";
import type { Effect } from "./stage-view.js";

export interface CollectOptions extends CompareOptions {
  /** What a new directory gets on the disk if nothing else is said. */
  readonly directoryMode: number;
  onEffect(effect: Effect): void;
  onLeftOut(name: string, why: string): void;
  /** The topmost ignored paths. */
  onIgnored(node: ChangedNode): void;
}

/** What becomes of a path on the disk once the effects are applied. */
interface Outcome {
  /** Something of what was there before is still there. */
  readonly remains: boolean;
  /** It is part of the plan. */
  readonly isPlanned: boolean;
  /** Something in it is in the view alone. */
  readonly holdsKept: boolean;
}

export async function collectEffects(top: ChangedNode, options: CollectOptions): Promise<void> {
  const slices = new TimeSlices({ sliceMs: 10 });
  await collect(top, options, slices);
}

async function collect(node: ChangedNode, options: CollectOptions, slices: TimeSlices): Promise<Outcome> {
  const turn = slices.turn();
  if (turn) await turn;
  if (node.isIgnored) {
    options.onIgnored(node);
    return { remains: node.before.from === "disk", isPlanned: false, holdsKept: node.view !== undefined };
  }
  for (const name of node.unreadable) options.onLeftOut(join(node.name, name), "name is not UTF-8");
  const wasDirectory = isDirectory(node.before);
  let remains = node.unreadable.length > 0 && wasDirectory;
  let hasPlanned = false;
  let holdsKept = false;
  for (const child of node.children) {
    const outcome = await collect(child, options, slices);
    remains ||= outcome.remains;
    hasPlanned ||= outcome.isPlanned;
    holdsKept ||= outcome.holdsKept;
  }
  if (node.view?.kind === "directory") return collectDirectory(node, options, { hasPlanned, holdsKept });
  // The disk keeps the directory for the sake of what stays in it.
  if (wasDirectory && remains) {
    if (node.view) options.onLeftOut(node.name, "replaces a directory in which something stays");
    return { remains: true, isPlanned: hasPlanned, holdsKept };
  }
  const isPlanned = emit(node, compareNode(node, options), options);
  return { remains: !isPlanned && node.before.from !== "nothing", isPlanned: isPlanned || hasPlanned, holdsKept };
}

function collectDirectory(
  node: ChangedNode,
  options: CollectOptions,
  { hasPlanned, holdsKept }: { hasPlanned: boolean; holdsKept: boolean },
): Outcome {
  const compared = compareNode(node, options);
  const isOther = compared.result === "effect" && compared.effect.after?.type === "directory";
  if (node.name === "") {
    if (isOther) options.onLeftOut(".", "mode of the project's directory");
    return { remains: true, isPlanned: hasPlanned, holdsKept };
  }
  if (isOther && node.before.from === "nothing") {
    // It comes with what is in it, unless it is empty or has permissions of its own.
    const { mode } = compared.effect.after as { mode: number };
    const isPlain = mode === options.directoryMode;
    if (isPlain ? hasPlanned || holdsKept : holdsKept && !hasPlanned)
      return { remains: false, isPlanned: hasPlanned, holdsKept };
  }
  const isPlanned = emit(node, compared, options);
  return { remains: true, isPlanned: isPlanned || hasPlanned, holdsKept };
}

function emit({ name }: ChangedNode, compared: Compared, options: CollectOptions): boolean {
  if (compared.result === "left out") options.onLeftOut(name, compared.why);
  if (compared.result !== "effect") return false;
  options.onEffect(compared.effect);
  for (const why of compared.lost) options.onLeftOut(name, why);
  return true;
}
