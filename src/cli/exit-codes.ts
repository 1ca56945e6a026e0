// How a non-interactive run ended, for scripts.

export const exitCodes = {
  done: 0,
  startup: 1,
  usage: 2,
  failed: 3,
  limit: 4,
  /** One-shot runs only with `--exit-code`; else 0. */
  pending: 5,
  denied: 6,
  provider: 7,
} as const;

/** When a signal ended it. */
export const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export type ExitReason = keyof typeof exitCodes;
