// What the commands about extensions share. A module may keep the program alive, print anywhere and never finish: the
// command ends all the same, and its stdout holds only the command's own output.

import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { type ExtensionLocation, findExtensionLocation } from "../../sdk/extensions/manage-extensions.js";
import { exitCodes } from "../exit-codes.js";
import { guardFromExtensions, guardStdout } from "../guard-stdout.js";
import { reportUncaught } from "../report-uncaught.js";
import { builtInToolNames, workingDirectory } from "../session-options.js";

const log = logTo((line) => process.stderr.write(sanitizeForTerminal(line)));

export interface CommandOutput {
  print(text: string): void;
}

/** Ends the process with the code that `run` returns. `directory`: instead of the current one. */
export async function runExtensionCommand(
  run: (location: ExtensionLocation, output: CommandOutput) => Promise<number>,
  directory?: string,
): Promise<void> {
  const stdout = guardStdout();
  guardFromExtensions();
  // The reader has gone; any other error is a lost answer.
  stdout.on("error", (error) => process.exit(systemCode(error) === "EPIPE" ? exitCodes.done : exitCodes.failed));
  let hasUncaught = false;
  reportUncaught(log, () => {
    hasUncaught = true;
    return undefined;
  });
  setInterval(() => {}, 2 ** 30); // keeps the process alive while a load waits for one of our timers
  let code: number = exitCodes.startup;
  try {
    const location = await findExtensionLocation({
      cwd: workingDirectory(directory),
      log,
      builtInToolNames: [...builtInToolNames, "resolve"],
    });
    code = await run(location, { print: (text) => void stdout.write(sanitizeForTerminal(text)) });
  } catch (error) {
    log.error(messageOf(error));
    if (GalleyError.is(error, "usage")) code = exitCodes.usage;
  }
  stdout.write("", () => process.exit(hasUncaught ? code || exitCodes.failed : code));
}
