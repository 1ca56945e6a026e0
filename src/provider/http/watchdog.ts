// Limits how long we wait for a service. Only waiting counts: a reader that pauses is no fault of the service.

import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";

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
export function createWatchdog({ clock, firstEventTimeoutMs, idleTimeoutMs, onExpired }: WatchdogOptions): Watchdog {
  let isFirst = true;
  let waitingSince: number | undefined = clock.now();
  let cancel = () => {};

  const look = () => {
    const limitMs = isFirst ? firstEventTimeoutMs : idleTimeoutMs;
    const waitedMs = waitingSince === undefined ? 0 : clock.now() - waitingSince;
    if (limitMs > 0 && waitedMs >= limitMs) return onExpired(expired(isFirst, limitMs));
    // The first bytes set no new timer: the running one also serves the idle limit, even if that is shorter.
    const delays = [limitMs > 0 ? limitMs - waitedMs : 0, isFirst ? idleTimeoutMs : 0].filter((delay) => delay > 0);
    if (delays.length > 0) cancel = clock.after(Math.min(...delays), look);
  };
  look();

  return {
    waiting() {
      waitingSince ??= clock.now();
    },
    fed() {
      waitingSince = undefined;
      isFirst = false;
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
