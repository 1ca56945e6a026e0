// Errors that extensions leave uncaught, in a timer or in a promise without a handler, are reported; the work goes on.

import type { Log } from "../base/log.js";

/** `blame` names the extension, if that can be told. */
export function reportUncaught(log: Log, blame: (error: unknown) => string | undefined = () => undefined): void {
  for (const origin of ["uncaughtException", "unhandledRejection"] as const)
    process.on(origin, (error: unknown) => {
      const path = blame(error);
      log.error(path === undefined ? `uncaught (${origin})` : `${path} ${origin}`, error);
    });
}
