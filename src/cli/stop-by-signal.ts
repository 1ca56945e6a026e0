// Signals to a command that runs one thing: the first stops it, so that what it did is still told, the second does not wait.

import { signalCodes } from "./exit-codes.js";

/** Answers the exit code, once there was a signal. */
export function stopBySignal(stop: AbortController): () => number | undefined {
  let code: number | undefined;
  for (const [signal, signalCode] of Object.entries(signalCodes))
    process.on(signal, () => {
      if (code !== undefined) process.exit(code);
      code = signalCode;
      stop.abort();
    });
  return () => code;
}
