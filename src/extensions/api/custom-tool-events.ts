// Tells the tools what happens to their session: one after the other in the order of loading, each with a limit. A
// failure of one is reported and does not stop the others.

import type { Clock } from "../../base/clock.js";
import type { Log } from "../../base/log.js";
import { printable } from "../../files/paths/resolve-path.js";
import { runGuarded } from "../load/load-guard.js";
import type { CustomTool, CustomToolSessionEvent } from "./custom-tool.js";
import { createToolContext, type ToolHost } from "./custom-tool-context.js";
import { complaint, failureOf, type ToolFailure } from "./custom-tool-failure.js";
import type { LiveUI } from "./custom-tool-ui.js";
import { logFailure } from "./log-failure.js";

export interface ToolEventDeps {
  readonly tools: readonly { readonly tool: CustomTool; readonly resolvedPath: string }[];
  readonly clock: Clock;
  readonly log: Log;
  readonly live: LiveUI;
  host(): ToolHost;
  /** For hosts: what is also logged. */
  onError?(failure: ToolFailure): void;
}

const limitMs = 5000;
const shutdownLimitMs = 2000;
/** A timer and the time of day need not agree to the millisecond. */
const timerErrorMs = 50;

/** Never rejects. */
export async function notifyTools(deps: ToolEventDeps, event: CustomToolSessionEvent): Promise<void> {
  for (const { tool, resolvedPath } of deps.tools) {
    if (typeof tool.onSession !== "function") continue;
    try {
      const ctx = createToolContext(deps.host(), deps.live);
      const work = runGuarded({ path: resolvedPath, log: deps.log }, async () => tool.onSession?.(event, ctx));
      await within(deps.clock, event.reason === "shutdown" ? shutdownLimitMs : limitMs, work);
    } catch (thrown) {
      const failure = failureOf(thrown);
      const { error } = failure;
      const line = `Custom tool onSession error ${JSON.stringify({ tool: tool.name, error })}`;
      logFailure(deps.log, `${printable(resolvedPath)}: ${line}`, failure);
      deps.onError?.({ extensionPath: resolvedPath, event: `onSession:${event.reason}`, error });
    }
  }
}

/** Rejects when the time is up; what comes later is ignored. */
export function within<Result>(clock: Clock, ms: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const since = clock.now();
    const cancel = clock.after(ms, () => reject(lateError(ms, clock.now() - since)), { isAwaited: true });
    work.then(resolve, reject).finally(cancel);
  });
}

/** `spentMs` is less where the end of the session has shortened the time. */
export function lateError(limitMs: number, spentMs: number): Error {
  const isCutShort = spentMs < limitMs - timerErrorMs;
  return complaint(`it did not finish ${isCutShort ? "before the session ended" : `within ${limitMs / 1000} s`}`);
}
