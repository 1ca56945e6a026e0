// What modules of pi read in events of a session that galley's own events do not say: which turn it is and when, and that a
// summary failed.

import type { Clock } from "../../base/clock.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import type { HookEvent } from "./hooks.js";

type CompactFailed = HookEvent<"session_compact_failed">;

export class EventDetails {
  readonly #clock: Clock;
  /** Within the run. */
  #turnIndex = 0;
  #compactReason: CompactFailed["reason"] = "threshold";

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same event where nothing is to be added. Every event is shown, so that the turns are counted. */
  of(event: AgentSessionEvent): AgentSessionEvent {
    switch (event.type) {
      case "agent_start":
        this.#turnIndex = 0;
        return event;
      case "turn_start":
        return this.#inTurn(event, this.#turnIndex);
      case "turn_end":
        return this.#inTurn(event, this.#turnIndex++);
      case "auto_compaction_start":
        this.#compactReason = event.reason === "overflow" ? "overflow" : "threshold";
        return event;
      default:
        return event;
    }
  }

  /** What else happened with it. */
  after(event: AgentSessionEvent): CompactFailed | undefined {
    const isFailure =
      event.type === "compaction_end" || (event.type === "auto_compaction_end" && !event.result && !event.skipped);
    if (!isFailure) return undefined;
    const { aborted, willRetry, errorMessage } = event;
    const reason = event.type === "compaction_end" ? event.reason : this.#compactReason;
    return { type: "session_compact_failed", reason, aborted, willRetry, errorMessage, fromExtension: false };
  }

  #inTurn<Event extends AgentSessionEvent>(event: Event, turnIndex: number): Event {
    return { ...event, turnIndex, timestamp: this.#clock.now() };
  }
}
