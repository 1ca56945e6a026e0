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
  "review.applyHunk": { keys: ["a"], help: "apply the marked hunks, else the hunk at the cursor" },
  "review.applyFile": { keys: ["A"], help: "apply this file" },
  "review.applyAll": { keys: ["Y"], help: "apply the whole action" },
  "review.discardHunk": { keys: ["x"], help: "discard the marked hunks, else the hunk at the cursor" },
  "review.discardFile": { keys: ["X"], help: "discard this file" },
  "review.discardAll": { keys: ["D"], help: "discard the whole action" },
  "review.mark": { keys: ["space"], help: "mark the hunk, the file or the action" },
  "review.edit": { keys: ["e"], help: "edit the new side of the hunk in your editor" },
  "review.openFile": { keys: ["o"], help: "open the file in your editor" },
  "review.sideBySide": { keys: ["s"], help: "side by side" },
  "review.wrap": { keys: ["w"], help: "wrap long lines, or cut them" },
  "review.find": { keys: ["/"], help: "find; Enter next, Esc ends" },
  "review.pendingTab": { keys: ["1"], help: "what is pending" },
  "review.changesTab": { keys: ["2"], help: "what was changed" },
  "review.undo": { keys: ["u"], help: "stage the undo of the selected or newest change" },
  "review.redo": { keys: ["U"], help: "stage the redo" },
  "review.rebase": { keys: ["R"], help: "make a stale one anew for the files as they are" },
  "review.copy": { keys: ["c"], help: "copy the diff" },
  "review.help": { keys: ["?"], help: "all keys" },
} as const satisfies Readonly<Record<string, ReviewKeyRow>>;

export type ReviewAct = keyof typeof reviewKeys;

const actByKey = new Map<string, ReviewAct>(
  Object.entries(reviewKeys).flatMap(([act, { keys }]) => keys.map((key) => [key, act as ReviewAct] as const)),
);

/** What a key does; undefined: nothing. */
export function actOf(key: string): ReviewAct | undefined {
  return actByKey.get(key);
}

/** How a key is named on the screen. */
export function keyOf(act: ReviewAct): string {
  return reviewKeys[act].keys[0];
}
