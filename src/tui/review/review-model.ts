// What the review view knows and wants: its state, what a key would decide about, and what it asks of those who made it.

import type { AgreedPart } from "../../sdk/review/apply-questions.js";
import type { ReviewAction, ReviewChange, ReviewDecision } from "../../sdk/review/review-source.js";
import type { ReviewDoc, Unit } from "./review-doc.js";
import type { ReviewAct, ReviewKeyTable } from "./review-keys.js";

export interface ReviewState {
  readonly keys: ReviewKeyTable;
  readonly tab: "pending" | "changes";
  readonly pane: "list" | "diff";
  /** List and diff are both on the screen. */
  readonly isWide: boolean;
  readonly actions: readonly ReviewAction[];
  readonly changes: readonly ReviewChange[];
  readonly actionKey?: string | undefined;
  /** The file that is selected in the list, by its index; absent: the action itself. */
  readonly listFile?: number | undefined;
  readonly changeId?: string | undefined;
  /** What the diff pane shows. */
  readonly doc?: ReviewDoc | undefined;
  /** Why it shows nothing. */
  readonly docProblem?: string | undefined;
  readonly unit: number;
  readonly marks: ReadonlySet<number>;
  readonly mode: Mode;
  /** A decision is under way. */
  readonly busy?: { readonly key: string; readonly word: string } | undefined;
  readonly message?: { readonly level: "info" | "failure"; readonly text: string } | undefined;
  /** The model waits for the answer about this action. */
  readonly question?: { readonly key: string; readonly revision: number } | undefined;
  /** The selected action is no longer pending: it keeps its row until another one is selected. */
  readonly gone?: { readonly key: string; readonly text: string } | undefined;
  readonly isSplit: boolean;
  readonly isCut: boolean;
}

export type Mode =
  | { readonly kind: "normal" }
  | { readonly kind: "again"; readonly act: ReviewAct; readonly scope: Scope; readonly text: string }
  | { readonly kind: "reason"; readonly scope: Scope; readonly text: string }
  | { readonly kind: "rest"; readonly scope: Scope }
  | { readonly kind: "find"; readonly text: string }
  | { readonly kind: "help"; readonly from: number };

export type Wish =
  | { readonly kind: "decide"; readonly decision: ReviewDecision; readonly scope: Scope }
  | { readonly kind: "answer"; readonly answer: true | "postponed" | AgreedPart }
  | { readonly kind: "close" }
  | { readonly kind: "scroll"; readonly by: "line" | "page" | "end"; readonly direction: -1 | 1 }
  | { readonly kind: "show" }
  | { readonly kind: "load" }
  | { readonly kind: "find"; readonly text: string; readonly isNext: boolean }
  | { readonly kind: "edit"; readonly unit: Unit }
  | { readonly kind: "openFile"; readonly path: string }
  | { readonly kind: "split" }
  | { readonly kind: "undo"; readonly changeId?: string | undefined }
  | { readonly kind: "redo" }
  | { readonly kind: "rebase"; readonly key: string; readonly revision: number }
  | { readonly kind: "copy" };

export type Level = "here" | "file" | "action";

export interface Scope extends Pick<ReviewDecision, "key" | "revision" | "files" | "hunks"> {
  /** `hunk 1 of 2`, `the 2 marked hunks`, `file`, `all 3 hunks in 2 files`. */
  readonly words: string;
  readonly units: readonly Unit[];
  readonly isWhole: boolean;
  /** What else an apply would write. */
  readonly also: readonly { readonly key: string; readonly paths: readonly string[] }[];
  /** The protected paths that an apply would write. */
  readonly guarded: readonly string[];
}

export interface Pressed {
  readonly state: ReviewState;
  readonly wish?: Wish;
}
