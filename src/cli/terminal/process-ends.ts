// The ways in which the process of the terminal program may end besides the user's wish: a signal, a hang-up, an error that
// no code caught, an exit that a module calls. Promises: the terminal is put back first, every time.

import { messageOf } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { exitCodes, signalCodes } from "../exit-codes.js";

export interface ProcessEnds {
  /** The first signal asks the program to leave with this code; the second does not wait. */
  onSignal(leave: (code: number) => void): void;
  /** Puts the terminal back, at once; called at the end of the process, whatever it is. */
  onExit(restore: () => void): void;
  /** Whose error it is, for errors that an extension leaves uncaught: those are told and the work goes on. */
  onForeignError(tell: (error: unknown) => boolean): void;
}

interface Streams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WritableStream;
}

export function watchProcessEnds({ input, output }: Streams): ProcessEnds {
  let leave = (code: number): void => process.exit(code);
  let restore = (): void => {};
  let isForeign = (_error: unknown): boolean => false;
  let isLeaving = false;
  const end = (code: number) => {
    if (isLeaving) process.exit(code);
    isLeaving = true;
    leave(code);
  };
  for (const [signal, code] of Object.entries(signalCodes)) process.on(signal, () => end(code));
  // A terminal that has gone: reading ends, and writing fails.
  const hangUp = () => isLeaving || end(signalCodes.SIGHUP);
  for (const event of ["end", "error"]) input.on(event, hangUp);
  output.on("error", hangUp);
  process.on("exit", () => restore());
  for (const origin of ["uncaughtException", "unhandledRejection"] as const)
    process.on(origin, (error: unknown) => {
      if (isForeign(error)) return;
      restore();
      output.write(`${sanitizeForTerminal(`galley: ${textOf(error)}`)}\n`);
      process.exit(exitCodes.startup);
    });
  return {
    onSignal(next) {
      leave = next;
    },
    onExit(next) {
      restore = next;
    },
    onForeignError(next) {
      isForeign = next;
    },
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
}
