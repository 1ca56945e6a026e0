// From what a command did in the view to the changes of a plan.

import type { Effect } from "../../files/layer/stage-view.js";
import type { PlannedChange } from "../../preview/plan.js";
import type { SandboxEnvironment } from "./create-confinement.js";

export function planned(_effects: readonly Effect[], _environment: SandboxEnvironment): PlannedChange[] {
  return [];
}
