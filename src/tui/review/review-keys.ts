// The keys of the review view, as data: the view, its help and the docs read this table.

export interface ReviewKeyRow {
  /** A character as it is typed, or the name of a key. */
  readonly keys: readonly string[];
  readonly help: string;
}

export const reviewKeys = {
  "review.nextHunk": { keys: ["j"], help: "next hunk" },
  "review.previousHunk": { keys: ["k"], help: "previous hunk" },
  "review.nextFile": { keys: ["J"], help: "next file" },
  "review.previousFile": { keys: ["K"], help: "previous file" },
  "review.up": { keys: ["up"], help: "up" },
  "review.down": { keys: ["down"], help: "down" },
  "review.pageUp": { keys: ["pageUp"], help: "a page up" },
  "review.pageDown": { keys: ["pageDown"], help: "a page down" },
  "review.top": { keys: ["g", "home"], help: "to the beginning" },
  "review.end": { keys: ["G", "end"], help: "to the end" },
  "review.otherPane": { keys: ["tab"], help: "list or diff" },
  "review.open": { keys: ["enter"], help: "open" },
  "review.back": { keys: ["escape"], help: "back" },
  "review.close": { keys: ["q"], help: "close" },
  "review.applyHunk": { keys: ["a"], help: "apply marked hunks, or this" },
  "review.applyFile": { keys: ["A"], help: "apply this file" },
  "review.applyAll": { keys: ["Y"], help: "apply the whole action" },
  "review.discardHunk": { keys: ["x"], help: "discard marked hunks, or this" },
  "review.discardFile": { keys: ["X"], help: "discard this file" },
  "review.discardAll": { keys: ["D"], help: "discard the whole action" },
  "review.mark": { keys: ["space"], help: "mark hunk, file or action" },
  "review.edit": { keys: ["e"], help: "edit the hunk in your editor" },
  "review.openFile": { keys: ["o"], help: "open the file in your editor" },
  "review.sideBySide": { keys: ["s"], help: "side by side" },
  "review.wrap": { keys: ["w"], help: "wrap long lines, or cut them" },
  "review.find": { keys: ["/"], help: "find; Enter next, Esc ends" },
  "review.pendingTab": { keys: ["1"], help: "what is pending" },
  "review.changesTab": { keys: ["2"], help: "what was changed" },
  "review.undo": { keys: ["u"], help: "stage the undo of a change" },
  "review.redo": { keys: ["U"], help: "stage the redo" },
  "review.rebase": { keys: ["R"], help: "rebase a stale action" },
  "review.copy": { keys: ["c"], help: "copy the diff" },
  "review.help": { keys: ["?"], help: "all keys" },
} as const satisfies Readonly<Record<string, ReviewKeyRow>>;

export type ReviewAct = keyof typeof reviewKeys;

/** Which keys do what, in this run: the table, or with what the user's file says. */
export type ReviewKeyTable = Readonly<Record<ReviewAct, readonly string[]>>;

export const defaultReviewKeys: ReviewKeyTable = Object.fromEntries(
  Object.entries(reviewKeys).map(([act, { keys }]) => [act, keys as readonly string[]] as const),
) as ReviewKeyTable; // a row for each act

/** What a key does; undefined: nothing. */
export function actOf(table: ReviewKeyTable, key: string): ReviewAct | undefined {
  return (Object.keys(table) as ReviewAct[]).find((act) => table[act].includes(key));
}

/** How a key is named on the screen; empty where the user's file left the act without one. */
export function keyOf(table: ReviewKeyTable, act: ReviewAct): string {
  const [key = ""] = table[act];
  return key === "escape" ? "esc" : key;
}
