// A preview that a program passes in, under the name used by other programs with the same protocol.

import type { ActionWork } from "../plans/stored-action.js";
import type { AgentSession } from "../session/agent-session.js";

type Closure = Extract<ActionWork, { kind: "closure" }>;

export interface ResolveHandler extends Pick<Closure, "apply" | "reject"> {
  readonly label: string;
  readonly sourceToolName: string;
}

/** Stages it; `resolve`, the host or the user decides. Returns its id. */
export function queueResolveHandler(
  session: Pick<AgentSession, "stagePendingAction">,
  { label, sourceToolName, apply, reject }: ResolveHandler,
): string {
  const work: Closure = { kind: "closure", apply, ...(reject ? { reject } : {}) };
  return session.stagePendingAction({ label, sourceToolName, work });
}
