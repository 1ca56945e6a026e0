// What the built-in tools are told about staging, from the settings and the session's pending actions.

import type { PendingControl } from "../session/pending/pending-control.js";
import type { PlanHands } from "../session/pending/plan-hands.js";
import type { Staging } from "../tools/staging.js";
import type { Settings } from "./settings/settings.js";

export function stagingOf(
  pending: PendingControl,
  { plans, settings }: { plans: PlanHands; settings: Settings },
): Staging {
  return {
    mode: () => settings.get("staging"),
    stage: (action) => pending.stage(action),
    applyNow: (changes, what) =>
      plans.apply(changes, { ...what, pendingId: "", by: "model", reason: "Staging is off." }),
  };
}
