// How a decision about pending actions ended: facts alone. `decide/words.ts` makes the sentences of them.

import type { ErrorCode } from "../base/errors.js";
import type { AppliedChanges } from "../plans/change-writer.js";
import type { ChosenFile } from "../plans/split-plan.js";
import type { ToolResult } from "../protocol/events.js";
import type { PendingAction } from "../protocol/pending.js";
import type { Decision } from "./decide/decision.js";

/** Of one decision about one action, or about several in their order. */
export interface Decided {
  readonly decision: Decision;
  /** Several were named, or could have been: it is told in rows. */
  readonly isList: boolean;
  readonly outcomes: readonly Outcome[];
  /** What is pending now, the next one first. */
  readonly remaining: readonly { readonly id: string; readonly label: string }[];
}

export type Outcome = Applied | Discarded | Stale | Refused | Failed | Refreshed;

interface About {
  readonly id: string;
  /** As it was when it was decided about. */
  readonly action: Readonly<PendingAction>;
  /** What was carried out: where the user was asked, what the user said. */
  readonly decision: Decision;
}

/** An action that ended with another one, or of which a part did. */
export interface Along {
  readonly id: string;
  readonly label: string;
  /** Of a part: the rest stays pending. */
  readonly part?: readonly ChosenFile[];
  /** What a person made of the proposed text before. */
  readonly edits?: string;
}

/** Files or hunks of a plan; what is left stays pending under the same id. */
export interface DecidedPart {
  readonly chosen: readonly ChosenFile[];
  readonly hunks: number;
  readonly ofHunks: number;
  readonly ofFiles: number;
  /** The user, asked about all of it, agreed to this part: what became of the rest. */
  readonly rest?: "kept" | Discarded;
}

export interface Applied extends About, Partial<AppliedChanges> {
  readonly kind: "applied";
  readonly also: readonly Along[];
  readonly edits?: string;
  readonly part?: DecidedPart;
  /** What the plan says of itself, or what the callback of an extension returned, untouched. */
  readonly returned: ToolResult;
}

export interface Discarded extends About {
  readonly kind: "discarded";
  readonly also: readonly Along[];
  readonly part?: DecidedPart;
  readonly returned?: ToolResult;
  /** What the callback of an extension threw. */
  readonly cleanupError?: string;
}

/** The files are not as they were previewed. Nothing was written. */
export interface Stale extends About {
  readonly kind: "stale";
  readonly files: readonly string[];
  /** Of how many. */
  readonly total: number;
  readonly attempt: number;
}

/** It was not tried. */
export interface Refused extends About {
  readonly kind: "refused";
  readonly why: Refusal;
  readonly attempt: number;
}

export type Refusal =
  | { readonly kind: "protected"; readonly files: readonly string[] }
  | { readonly kind: "misfit"; readonly cause: string }
  | { readonly kind: "for_review" }
  | { readonly kind: "attempts"; readonly attempts: number; readonly lastError: string | undefined }
  | { readonly kind: "cannot_ask" }
  | { readonly kind: "postponed" };

/** It was tried, and is pending as before. */
export interface Failed extends About {
  readonly kind: "failed";
  readonly error: string;
  readonly code: ErrorCode | undefined;
  readonly attempt: number;
}

/** A new preview was made for the files as they are. Nothing was written. */
export interface Refreshed extends About {
  readonly kind: "refreshed";
  readonly revision: number;
  readonly returned: ToolResult;
}
