// The tree of a session as rows: the path of now, and at each fork the other branches, folded. Pure, without a terminal.

import { oneLine } from "../../base/sanitize.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { AgentSession } from "../../sdk/index.js";

export type EntryTree = Pick<AgentSession["sessionManager"]["tree"], "children" | "pathTo" | "leafId" | "labels">;

export interface TreeRow {
  readonly entry: SessionEntry;
  /** How many forks away from the path of now. */
  readonly depth: number;
  readonly text: string;
  /** Where a branch begins: the number of messages in it, and whether they are shown. */
  readonly branch?: { readonly messages: number; readonly isFolded: boolean };
  readonly label?: string;
  readonly isHere: boolean;
  readonly isUser: boolean;
}

/** `unfolded`: the first entries of the branches that are open. */
export function treeRows(tree: EntryTree, unfolded: ReadonlySet<string>): TreeRow[] {
  const path = tree.pathTo();
  const onPath = new Set(path.map(({ id }) => id));
  const here = path.findLast((entry) => textOf(entry) !== undefined)?.id;
  const rows: TreeRow[] = [];
  const add = (entry: SessionEntry, depth: number, branch?: TreeRow["branch"]) => {
    const text = textOf(entry) ?? (branch ? "(empty)" : undefined);
    if (text === undefined) return;
    const label = tree.labels.get(entry.id);
    rows.push({
      entry,
      depth,
      text,
      ...(branch ? { branch } : {}),
      label,
      isHere: entry.id === here,
      isUser: isUser(entry),
    });
  };
  /** Along one branch; recursion only at its forks. */
  const walk = (parent: string | null, depth: number): void => {
    for (let at: string | null | undefined = parent; at !== undefined; ) {
      const kids: SessionEntry[] = tree.children(at).filter((entry) => !isBookkeeping(entry));
      const main: SessionEntry | undefined = kids.find(({ id }) => onPath.has(id)) ?? (depth > 0 ? kids[0] : undefined);
      for (const kid of kids) if (kid !== main) addBranch(kid, depth + 1);
      if (main) add(main, depth);
      at = main?.id;
    }
  };
  const addBranch = (first: SessionEntry, depth: number) => {
    const shown = firstShown(tree, first);
    const isFolded = !unfolded.has(shown.id);
    add(shown, depth, { messages: countBelow(tree, first), isFolded });
    if (!isFolded) walk(shown.id, depth);
  };
  walk(null, 0);
  return rows;
}

/** A branch may begin with a change of the model: the first thing that was said stands for it. */
function firstShown(tree: EntryTree, first: SessionEntry): SessionEntry {
  let entry = first;
  while (textOf(entry) === undefined) {
    const next = tree.children(entry.id).find((kid) => !isBookkeeping(kid));
    if (!next) return first;
    entry = next;
  }
  return entry;
}

function countBelow(tree: EntryTree, first: SessionEntry): number {
  let count = 0;
  for (const todo = [first]; todo.length > 0; ) {
    const entry = todo.pop() as SessionEntry;
    if (entry.type === "message") count++;
    todo.push(...tree.children(entry.id));
  }
  return count;
}

/** What a row says; undefined for what is no part of the talk. */
function textOf(entry: SessionEntry): string | undefined {
  if (entry.type === "compaction") return "∑ summary of what came before";
  if (entry.type === "branch_summary") return "∑ summary of another branch";
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  if (message.role === "user") return `› ${oneLine(plain(message.content), 200)}`;
  if (message.role === "bashExecution") return `! ${oneLine(message.command, 200)}`;
  if (message.role !== "assistant") return undefined;
  const said = oneLine(plain(message.content), 200);
  if (said !== "") return `  ${said}`;
  const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [oneLine(block.name, 40)] : []));
  return calls.length === 0 ? undefined : `  ● ${calls.join(", ")}`;
}

function plain(content: string | readonly ({ type: "text"; text: string } | { type: string })[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => ("text" in block && block.type === "text" ? block.text : "")).join(" ");
}

function isUser(entry: SessionEntry): boolean {
  return entry.type === "message" && entry.message.role === "user";
}

function isBookkeeping({ type }: SessionEntry): boolean {
  return type === "label" || type === "session_info" || type === "leaf";
}
