// Which tool calls the host has been told about. The event stream may be behind the run, and a host must not be called
// for a call that it was not told about.

import type { AgentSessionEvent } from "../protocol/events.js";

export class CallAnnouncements {
  /** Started and not ended, by call. Models repeat ids, so it is a number. */
  readonly #started = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  see(event: AgentSessionEvent): void {
    if (event.type === "tool_execution_start") {
      this.#started.set(event.toolCallId, (this.#started.get(event.toolCallId) ?? 0) + 1);
      for (const wake of this.#waiting.get(event.toolCallId) ?? []) wake();
    } else if (event.type === "tool_execution_end") {
      const rest = (this.#started.get(event.toolCallId) ?? 1) - 1;
      if (rest > 0) this.#started.set(event.toolCallId, rest);
      else this.#started.delete(event.toolCallId);
    }
  }

  /** Resolves as soon as the event was sent, or the signal fires. */
  async whenStarted(toolCallId: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#started.has(toolCallId) || signal?.aborted) return;
    const waiting = this.#waiting.get(toolCallId) ?? new Set();
    this.#waiting.set(toolCallId, waiting);
    let wake = () => {};
    await new Promise<void>((resolve) => {
      wake = resolve;
      waiting.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
    signal?.removeEventListener("abort", wake);
    waiting.delete(wake);
    if (waiting.size === 0) this.#waiting.delete(toolCallId);
  }
}
