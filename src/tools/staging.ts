// Where a tool's changes go: straight to the disk, or before somebody's eyes first. A tool works out the exact bytes and
// asks; it never decides by itself.

import type { NewAction } from "../preview/pending-action-store.js";
import type { PlannedChange } from "../preview/plan.js";
import type { AppliedChanges } from "../preview/settle.js";

export interface Staging {
  /** `off`: what would be previewed is applied at once. `all`: also what would be written at once is previewed. */
  mode(): "off" | "auto" | "all";
  /** Safe on record when it resolves, with its id. */
  stage(action: NewAction): Promise<string>;
  /** All or nothing; can be undone. */
  applyNow(changes: readonly PlannedChange[], what: { label: string; sourceToolName: string }): Promise<AppliedChanges>;
}
