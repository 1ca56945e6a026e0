// Limits how long we wait for a service. Only waiting counts: a reader that pauses is no fault of the service.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";

export interface Watchdog {
  /** We start to wait for bytes. */
  waiting(): void;
  /** Bytes came. From the first ones on, the idle limit holds. */
  fed(): void;
  stop(): void;
}

export interface WatchdogOptions {
  clock: Clock;
  /** 0 switches a limit off. */
  firstEventTimeoutMs: number;
  idleTimeoutMs: number;
  onExpired: (error: GalleyError) => void;
}

/** Starts waiting at once. Bytes cost a clock reading, not a timer: the one timer looks again when it fires early. */
export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { clock } = options;
  let limitMs = options.firstEventTimeoutMs;
  let isFirst = true;
  let waitingSince: number | undefined = clock.now();
  let cancel = () => {};

  const arm = (delayMs: number) => {
    cancel = limitMs > 0 ? clock.after(delayMs, look) : () => {};
  };
  const look = () => {
    const waitedMs = waitingSince === undefined ? 0 : clock.now() - waitingSince;
    if (waitedMs >= limitMs) options.onExpired(expired(isFirst, limitMs));
    else arm(limitMs - waitedMs);
  };
  arm(limitMs);

  return {
    waiting() {
      waitingSince ??= clock.now();
    },
    fed() {
      waitingSince = undefined;
      if (!isFirst) return;
      isFirst = false;
      cancel();
      limitMs = options.idleTimeoutMs;
      arm(limitMs);
    },
    stop: () => cancel(),
  };
}

function expired(isFirst: boolean, limitMs: number): GalleyError {
  const seconds = limitMs / 1000;
  return new GalleyError(
    "timeout",
    isFirst
      ? `The service timed out: no answer within ${seconds} s.`
      : `The service timed out: nothing more came for ${seconds} s.`,
  );
}
