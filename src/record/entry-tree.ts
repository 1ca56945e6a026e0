// The entries of one session as a tree with a leaf, the parent of the next entry. Entries are only added; navigation
// moves the leaf. Labels, names and leaf moves are bookkeeping: they never become the leaf.

import { GalleyError } from "../base/errors.js";
import { isObject } from "../base/json.js";
import type { CustomEntry, SessionEntry, SessionHeader } from "../protocol/entries.js";

export interface EntryNode {
  entry: SessionEntry;
  children: EntryNode[];
  label?: string;
}

export interface BranchPoint {
  entryId: string;
  text: string;
  onPath: boolean;
}

/** Each takes two levels of JSON, so half of a frame's nesting limit is left for the entries themselves. */
export const maxTreeDepth = 32;

export type NameSource = "auto" | "user";

export class EntryTree {
  readonly #entries: SessionEntry[] = [];
  readonly #custom: CustomEntry[] = [];
  readonly #indexById = new Map<string, number>();
  readonly #labels = new Map<string, string>();
  readonly #header: SessionHeader | undefined;
  /** Built on first use. */
  #children: Map<string | null, SessionEntry[]> | undefined;
  #leafId: string | null = null;
  #name: { readonly text: string; readonly source: NameSource } | undefined;

  constructor(header?: SessionHeader, entries: readonly SessionEntry[] = []) {
    this.#header = header;
    if (typeof header?.title === "string") this.#take(header.title, header.titleSource ?? "auto");
    for (const entry of entries) this.append(entry);
  }

  /** In the order in which they were appended. */
  get entries(): readonly SessionEntry[] {
    return this.#entries;
  }

  /** Those of type `custom`, in the same order: what is kept in them is found without a walk over the conversation. */
  get custom(): readonly CustomEntry[] {
    return this.#custom;
  }

  get leafId(): string | null {
    return this.#leafId;
  }

  get name(): string | undefined {
    return this.#name?.text;
  }

  get nameSource(): NameSource | undefined {
    return this.#name?.source;
  }

  /** As it was when the leaf was last on this path, its end included. */
  namedOn(path: readonly SessionEntry[]): EntryTree {
    const ids = new Set<string | null>(path.map(({ id }) => id)).add(null);
    const named = new EntryTree(this.#header);
    for (const entry of this.#entries)
      if (entry.type === "session_info" && (ids.has(entry.id) || ids.has(entry.parentId))) named.append(entry);
    return named;
  }

  get labels(): ReadonlyMap<string, string> {
    return this.#labels;
  }

  has(id: string): boolean {
    return this.#indexById.has(id);
  }

  get(id: string): SessionEntry | undefined {
    const index = this.#indexById.get(id);
    return index === undefined ? undefined : this.#entries[index];
  }

  /** Throws when the id is taken. */
  append(entry: SessionEntry): void {
    if (this.has(entry.id)) throw new GalleyError("invalid_argument", `Entry ${entry.id} exists already`);
    this.#indexById.set(entry.id, this.#entries.push(entry) - 1);
    if (this.#children) addTo(this.#children, entry);
    this.#note(entry);
  }

  /** Updates labels, name and leaf for a new entry. */
  #note(entry: SessionEntry): void {
    switch (entry.type) {
      case "label":
        return this.#noteLabel(entry.targetId, entry.label);
      case "session_info":
        return this.#noteName(entry.name, entry.source);
      case "leaf":
        // Its target may have been on a line that could not be read; then the leaf stays where it was.
        if (entry.targetId === null || this.has(entry.targetId)) this.#leafId = entry.targetId;
        return;
      case "custom":
        this.#custom.push(entry);
        break;
    }
    this.#leafId = entry.id;
  }

  /** In memory only: where there is a file, append a `leaf` entry instead. `null` puts the leaf before the first entry. */
  moveLeaf(targetId: string | null): void {
    if (targetId !== null && !this.has(targetId)) throw entryNotFound(targetId);
    this.#leafId = targetId;
  }

  /** From the root to the entry, or to the leaf. */
  pathTo(id: string | null = this.#leafId): SessionEntry[] {
    const path: SessionEntry[] = [];
    const visited = new Uint8Array(this.#entries.length);
    for (let index = this.#indexOf(id, 0); index !== undefined && visited[index] === 0; ) {
      const entry = this.#entries[index] as SessionEntry;
      visited[index] = 1;
      path.push(entry);
      index = this.#indexOf(entry.parentId, index);
    }
    return path.reverse();
  }

  /** Looks right before the entry that names it first: the parent is nearly always there. */
  #indexOf(id: string | null, before: number): number | undefined {
    if (id === null) return undefined;
    return before > 0 && this.#entries[before - 1]?.id === id ? before - 1 : this.#indexById.get(id);
  }

  children(id: string | null): readonly SessionEntry[] {
    if (!this.#children) {
      this.#children = new Map();
      for (const entry of this.#entries) addTo(this.#children, entry);
    }
    return this.#children.get(id) ?? [];
  }

  /**
   * Every entry; children by time. An entry without a parent here is a root, and so is one that would be nested deeper
   * than `maxDepth`: its `parentId` tells where it belongs. A conversation is one long chain, and JSON readers limit
   * nesting.
   */
  tree(maxDepth = maxTreeDepth): EntryNode[] {
    const nodes = new Map<string, EntryNode>();
    for (const entry of this.#entries) {
      const label = this.#labels.get(entry.id);
      nodes.set(entry.id, { entry, children: [], label });
    }
    const roots: EntryNode[] = [];
    for (const node of nodes.values()) {
      const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
      (parent?.children ?? roots).push(node);
    }
    for (const { children } of nodes.values()) if (children.length > 1) children.sort(byTime);
    for (let level = [...roots], depth = 1; level.length > 0; depth++) {
      const next = level.flatMap(({ children }) => children);
      if (depth % maxDepth === 0) {
        for (const node of level) node.children = [];
        for (const node of next) roots.push(node);
      }
      level = next;
    }
    return roots.sort(byTime);
  }

  /** What was appended after this entry. */
  entriesSince(id: string): SessionEntry[] {
    const index = this.#indexById.get(id);
    if (index === undefined) throw entryNotFound(id);
    return this.#entries.slice(index + 1);
  }

  /** Where a branch can start: every user message with a text, in the order in which they were appended. */
  userMessages(): BranchPoint[] {
    const path = new Set(this.pathTo());
    return this.#entries.flatMap((entry) => {
      const text = userText(entry);
      return text ? [{ entryId: entry.id, text, onPath: path.has(entry) }] : [];
    });
  }

  #noteLabel(targetId: string, label: string | undefined): void {
    if (typeof label === "string" && label !== "") this.#labels.set(targetId, label);
    else this.#labels.delete(targetId);
  }

  /** A name without a source is the user's: programs that name sessions automatically record that. */
  #noteName(name: string, source: NameSource = "user"): void {
    if (typeof name === "string" && !(source === "auto" && this.nameSource === "user")) this.#take(name, source);
  }

  #take(text: string, source: NameSource): void {
    const clean = cleanName(text); // another program may have written anything
    this.#name = isBlank(clean) ? undefined : { text: clean, source };
  }
}

/** One line without control characters; every other character stays as it was chosen. */
export function cleanName(text: string): string {
  return text.replace(/[\p{Cc} ]+/gu, " ").replace(/^ | $/g, "");
}

/** Nothing in it can be seen. */
export function isBlank(name: string): boolean {
  return name.trim() === "";
}

/** Entries that do not move the leaf. */
export function isBookkeeping(entry: SessionEntry): boolean {
  return entry.type === "label" || entry.type === "session_info" || entry.type === "leaf";
}

/**
 * A path without its bookkeeping entries, chained again. A compaction that kept entries from a bookkeeping entry on keeps
 * them from the next one.
 */
export function withoutBookkeeping(path: readonly SessionEntry[]): SessionEntry[] {
  const next = new Map<string, string>();
  let following: string | undefined;
  for (const entry of path.toReversed()) {
    if (!isBookkeeping(entry)) following = entry.id;
    else if (following !== undefined) next.set(entry.id, following);
  }
  let parentId: string | null = null;
  return path.flatMap((entry) => {
    if (isBookkeeping(entry)) return [];
    const chained = entry.parentId === parentId ? entry : { ...entry, parentId };
    parentId = entry.id;
    const kept = chained.type === "compaction" ? next.get(chained.firstKeptEntryId) : undefined;
    return [kept === undefined ? chained : { ...chained, firstKeptEntryId: kept }];
  });
}

/** The text of a user message entry, or undefined for any other entry. */
export function userText(entry: SessionEntry): string | undefined {
  if (entry.type !== "message" || !isObject(entry.message) || entry.message.role !== "user") return undefined;
  const { content } = entry.message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => (block?.type === "text" && typeof block.text === "string" ? block.text : "")).join("");
}

export function entryNotFound(id: string): GalleyError {
  return new GalleyError("not_found", `Entry ${id} not found`);
}

function addTo(children: Map<string | null, SessionEntry[]>, entry: SessionEntry): void {
  const siblings = children.get(entry.parentId);
  if (siblings) siblings.push(entry);
  else children.set(entry.parentId, [entry]);
}

/** Stable, so that entries of one moment, or with a time that cannot be read, stay in file order. */
function byTime(a: EntryNode, b: EntryNode): number {
  return Date.parse(a.entry.timestamp) - Date.parse(b.entry.timestamp) || 0;
}
