// The tour beside a conversation: it looks at what is pending and applied after everything that happens, and says the next
// step.

import type { AgentSession } from "../sdk/index.js";
import { Tour } from "./tour.js";

export interface TourHost {
  readonly session: AgentSession;
  notice(level: "info", text: string): void;
  /** What to do next, for views that cover the conversation. */
  tip: string | undefined;
}

/** Returns what to call when the review view was opened. */
export function runTour(host: TourHost): () => void {
  const { session } = host;
  const tour = new Tour();
  let hasReviewed = false;
  let looking = Promise.resolve();
  const say = (line: string) => {
    host.tip = line;
    host.notice("info", line);
  };
  const look = async () => {
    const [pending, changes] = await Promise.all([session.getPendingActions(), session.getChanges()]);
    const undone = changes.filter(({ state }) => state === "undone").length;
    const facts = { pending: pending.length, applied: changes.length - undone, undone, hasReviewed };
    const line = tour.advance(facts);
    if (line !== undefined) say(line);
  };
  // One after the other, so that no step is counted twice.
  const lookLater = () => {
    looking = looking.then(look).catch(() => {}); // the next event looks again
  };
  say(tour.line);
  session.subscribe((event) => {
    if (event.type.startsWith("pending_action") || event.type === "agent_settled") lookLater();
  });
  return () => {
    hasReviewed = true;
    lookLater();
  };
}
