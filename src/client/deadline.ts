// How long a caller waits. A wait ends with its result, with its deadline, or with the caller's signal.

import { RpcError } from "./rpc-error.js";

export interface CallOptions {
  /** `Infinity` waits for ever. */
  timeoutMs?: number | undefined;
  /** Gives up waiting; what the agent was asked to do goes on. */
  signal?: AbortSignal | undefined;
}

/** setTimeout accepts no more than this, and fires at once for a longer time. */
const longestTimerMs = 2 ** 31 - 1;

/** No timer where none is wanted, and none that would fire too soon. */
export function timerFor(ms: unknown, work: () => void): NodeJS.Timeout | undefined {
  return typeof ms === "number" && ms <= longestTimerMs ? setTimeout(work, ms) : undefined;
}

export interface Wait extends CallOptions {
  command: string;
  requestId?: string | undefined;
  /** Called when the caller gives up, so that what belongs to the wait is released. */
  onGiveUp?: (() => void) | undefined;
}

export function bounded<T>(work: Promise<T>, { timeoutMs, signal, command, requestId, onGiveUp }: Wait): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (kind: "timeout" | "aborted", message: string) => {
      release();
      onGiveUp?.();
      reject(new RpcError(kind, message, { command, requestId, cause: signal?.reason }));
    };
    const onAbort = () => giveUp("aborted", `Gave up waiting for ${command}`);
    const timer = timerFor(timeoutMs, () =>
      giveUp("timeout", `No answer to ${command} within ${Math.round(timeoutMs as number)} ms`),
    );
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    work.finally(release).then(resolve, reject);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}
