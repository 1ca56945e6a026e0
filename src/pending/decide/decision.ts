// A decision about a pending action: what is asked for, and what it needs. `outcome.ts` says how it can end.

import type { ChangeSession, ChangeWriter } from "../../plans/change-writer.js";
import type { Subset } from "../../plans/split-plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { Decider } from "../../protocol/pending.js";
import type { PendingActionStore } from "../store/pending-action-store.js";

export interface Decision {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: Record<string, unknown> | undefined;
  readonly by: Decider;
  /** Stops it until the work begins; work that has begun runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** What the decider saw; anything else is a `revision_mismatch`. */
  readonly revision?: number | undefined;
  /** The parts of lower actions that an apply needs may be written with it, although they are not named. */
  readonly withDeps?: boolean | undefined;
  /** The user's own word that protected paths may be written; else the user is asked. */
  readonly protected?: boolean | undefined;
  /** All actions that the same decision names. */
  readonly named?: readonly string[];
}

export interface DecideSettings {
  readonly maxAttempts: number;
  readonly decider: "model" | "user" | "both";
  /** With `both`, if the user cannot be asked: refuse instead of accepting the model's decision. */
  readonly requireUser: boolean;
}

export interface DecideContext {
  readonly store: PendingActionStore;
  settings(): DecideSettings;
  readonly changes: Pick<ChangeWriter, "apply">;
  /** The session that the changes are made for. */
  readonly session: ChangeSession;
  /** Undefined: the user cannot be asked. Ends, with any answer, when the signal fires. */
  confirm?(stored: StoredAction, signal: AbortSignal | undefined): Promise<ApplyAnswer | undefined>;
  /** Whether protected paths may be written. Anything but `true` is a no; absent where the user cannot be asked. */
  confirmProtected?(question: ProtectedQuestion, signal: AbortSignal | undefined): Promise<boolean>;
}

export interface ProtectedQuestion {
  readonly label: string;
  /** As people see them. */
  readonly files: readonly string[];
}

/** What the user answers when the model wants to apply an action: all of it, nothing, a part, or later. */
export type ApplyAnswer = boolean | "postponed" | AgreedPart;

/** Without a file and a hunk in `apply` nothing is written; with `rest: "discard"` that is a no with a reason. */
export interface AgreedPart {
  readonly apply: Subset;
  readonly rest: "keep" | "discard";
  readonly reason?: string | undefined;
}
