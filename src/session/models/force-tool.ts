// The user's word that the next model call uses one tool, and the one after it none.

import { GalleyError } from "../../base/errors.js";
import type { SessionInternals } from "../session-internals.js";

export function forceTool(session: SessionInternals, name: string): void {
  const { tools, models, toolChoice } = session;
  if (!tools.active.some((tool) => tool.name === name))
    throw new GalleyError("invalid_argument", `Tool "${name}" is not currently active.`);
  if (!models.model || models.model.compat?.supportsToolChoice === false)
    throw new GalleyError("unsupported", "Current model does not support forcing a specific tool.");
  toolChoice.pushSequence([{ type: "tool", name }, "none"], {
    label: "user-force",
    onResolved: () => {
      session.wasForced = true;
    },
    onRejected: (reason) => (reason === "aborted" || reason === "error" ? "requeue" : undefined),
  });
}
