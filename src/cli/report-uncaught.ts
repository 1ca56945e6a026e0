// What somebody else's code leaves uncaught, in a timer or in a promise that nobody waits for, is told; the work goes on.

import type { Log } from "../base/log.js";

/** `blame` says whose it is, if that can be told. */
export function reportUncaught(log: Log, blame: (error: unknown) => string | undefined = () => undefined): void {
  for (const origin of ["uncaughtException", "unhandledRejection"] as const)
    process.on(origin, (error: unknown) => {
      const path = blame(error);
      log.error(path === undefined ? `uncaught (${origin})` : `${path} ${origin}`, error);
    });
}
