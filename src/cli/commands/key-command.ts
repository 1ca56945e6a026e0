// What `galley login` and `galley logout` share: their exit codes, and an end by Ctrl-C that leaves nothing half done.

import { GalleyError, messageOf } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { exitCodes, signalCodes } from "../exit-codes.js";
import { ignoreBrokenPipe } from "../ignore-broken-pipe.js";

/** Sets the exit code to what `run` returns. A wrong use is for the caller. */
export async function runKeyCommand(run: () => Promise<number>): Promise<void> {
  ignoreBrokenPipe();
  // Files are written in one piece between two events, so this cannot come in the middle.
  process.once("SIGINT", () => process.exit(signalCodes.SIGINT));
  try {
    process.exitCode = await run();
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    process.stderr.write(sanitizeForTerminal(`${messageOf(error)}\n`));
    process.exitCode = error.code === "usage" ? exitCodes.usage : exitCodes.failed;
  }
}
