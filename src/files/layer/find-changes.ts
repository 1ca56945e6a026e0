// Goes through a layer, from the root down, and finds what the command touched and what of it is ignored. Nothing is
// compared yet. The cost follows what is in the layer; an ignored directory is not gone through.

import { join } from "node:path";
import { TimeSlices } from "../../base/time-slices.js";
import { type Before, type BeforeTree, isDirectory } from "./before-tree.js";
import type { LayerReader } from "./changed-entries.js";
import type { AskedPath, IgnoredPaths } from "./ignored-paths.js";
import { type Entry, entryAt, namesIn } from "./layer-entries.js";

export interface ChangedNode {
  readonly path: string;
  /** Below the root; empty for the root itself. */
  readonly name: string;
  readonly parent: ChangedNode | undefined;
  readonly children: ChangedNode[];
  /** What the view has there; undefined where it has nothing. */
  readonly view: Entry | undefined;
  readonly before: Before;
  isIgnored: boolean;
  /** Names in it that are no UTF-8 and can only stay as they are, as they are shown. */
  unreadable: readonly string[];
}

export interface FindChangesOptions {
  readonly root: string;
  readonly reader: LayerReader;
  readonly before: BeforeTree;
  /** Undefined: nothing counts as ignored. */
  readonly ignored: IgnoredPaths | undefined;
  /** It was in the view only before the command, which left it alone: it stays so, whatever the rules say by now. */
  isStillKept(node: ChangedNode): boolean;
  /** A longer file is left out, and what was in its place before stays. */
  readonly maxFileBytes: number;
}

/** How many paths git is asked about at first. Each costs it a look at the whole index. */
const firstBatch = 256;

/** Answers the root. Nodes that are ignored have no children. */
export async function findChanges(options: FindChangesOptions): Promise<ChangedNode> {
  const { root, reader, ignored } = options;
  const top = createNode(undefined, "", entryAt(reader.placeOf(root)), options);
  const slices = new TimeSlices({ sliceMs: 10 });
  let waiting: ChangedNode[] = [top];
  for (let size = firstBatch; waiting.length > 0; size *= 4) {
    const batch: ChangedNode[] = [];
    // Children are looked for before it is known whether their directory is ignored: then one question mostly is enough.
    for (let next = 0; next < waiting.length && batch.length < size; next++) {
      const turn = slices.turn();
      if (turn) await turn;
      const node = waiting[next] as ChangedNode;
      expand(node, options);
      for (const child of node.children) waiting.push(child);
      batch.push(node);
    }
    waiting = waiting.slice(batch.length);
    if (!ignored) continue;
    const names = await ignored.ask(batch.filter(isAskable).map(asked));
    for (const node of batch) {
      node.isIgnored = node.parent?.isIgnored === true || names.has(node.name) || options.isStillKept(node);
      if (node.isIgnored) node.children.length = 0;
    }
    waiting = waiting.filter(({ parent }) => !parent?.isIgnored);
  }
  return top;
}

function createNode(
  parent: ChangedNode | undefined,
  ownName: string,
  view: Entry | undefined,
  { root, before }: FindChangesOptions,
): ChangedNode {
  const name = parent ? join(parent.name, ownName) : "";
  const path = name === "" ? root : join(root, name);
  return { path, name, parent, children: [], view, before: before.look(path), isIgnored: false, unreadable: [] };
}

function expand(node: ChangedNode, options: FindChangesOptions): void {
  const { reader, before, maxFileBytes } = options;
  const { view, path } = node;
  const add = (name: string, entry: Entry | undefined) => node.children.push(createNode(node, name, entry, options));
  if (view?.kind === "directory") {
    const { entries, unreadable } = reader.changedIn(path);
    for (const [name, entry] of entries) add(name, entry);
    node.unreadable = unreadable;
    if (!isDirectory(node.before)) return;
    const others = before.names(path).filter((name) => !entries.has(name));
    for (const name of reader.missingIn(path, others)) add(name, undefined);
    return;
  }
  const isLeftOut = view?.kind === "special" || (view?.kind === "file" && view.size > maxFileBytes);
  if (!isDirectory(node.before) || isLeftOut) return;
  for (const name of before.names(path)) add(name, undefined);
  if (node.before.from === "disk") node.unreadable = unreadableIn(path);
}

function unreadableIn(path: string): readonly string[] {
  try {
    return namesIn(path).unreadable;
  } catch {
    return []; // nothing in it can be named at all; the journal finds that the directory is not empty
  }
}

/** Git refuses every answer where one path leads through a link. */
function isAskable({ name, parent }: ChangedNode): boolean {
  if (name === "") return false;
  for (let at = parent; at; at = at.parent) if (at.view && at.view.kind !== "directory") return false;
  return true;
}

function asked({ name, view, before }: ChangedNode): AskedPath {
  return { name, isDirectory: view ? view.kind === "directory" : isDirectory(before) };
}
