// What the built-in tools are told about staging, from the settings and the session's pending actions.

import { numberOf } from "../preview/settle.js";
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
    staged: (path) => stagedFiles(pending).filter((file) => file.path === path),
    stagedPaths: () => [...new Set(stagedFiles(pending).map(({ path }) => path))],
    note: ({ files, ...what }) =>
      plans.note({
        ...what,
        by: "model",
        reason: "",
        files: files.map((file) => ({ kind: file.before ? ("modify" as const) : ("create" as const), ...file })),
      }),
    applyNow: (changes, what) =>
      plans.apply(changes, { ...what, pendingId: "", by: "model", reason: "Staging is off." }),
  };
}

/** In the order in which they were staged. */
function stagedFiles(pending: PendingControl) {
  const oldestFirst = pending.store
    .list()
    .sort((a, b) => a.action.createdAt - b.action.createdAt || numberOf(a) - numberOf(b));
  return oldestFirst.flatMap(({ action: { id }, work }) =>
    work.kind === "plan"
      ? work.plan.changes.map(({ kind, path, after }) => ({ id, path, bytes: kind === "delete" ? undefined : after }))
      : [],
  );
}
