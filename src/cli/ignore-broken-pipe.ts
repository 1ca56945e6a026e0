// Output that cannot be written, for commands that print and end by themselves.

import { systemCode } from "../base/errors.js";
import { type Log, logTo } from "../base/log.js";
import { exitCodes } from "./exit-codes.js";

/** A reader that has gone is no error. Any other failure lost the answer: it is reported, and the program fails. */
export function ignoreBrokenPipe(log: Log = logTo((line) => process.stderr.write(line))): void {
  let isLost = false;
  process.stdout.on("error", (error) => {
    if (isLost || systemCode(error) === "EPIPE") return;
    isLost = true;
    log.error(`Cannot write the output: ${error.message}`);
    // At the very end, because the command sets a code of its own before or after this.
    process.once("exit", () => {
      process.exitCode = exitCodes.failed;
    });
  });
}
