// What the commands about modules share. A module may keep the program alive, print where it likes and never finish: the
// command ends all the same, and its stdout holds what the command says.

import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { findModulePlace, type ModulePlace } from "../../sdk/extensions/manage-modules.js";
import { exitCodes } from "../exit-codes.js";
import { guardFromModules, guardStdout } from "../guard-stdout.js";
import { reportUncaught } from "../report-uncaught.js";
import { builtInToolNames, workingDirectory } from "../session-options.js";

const log = logTo((line) => process.stderr.write(sanitizeForTerminal(line)));

export interface CommandOutput {
  print(text: string): void;
}

/** Ends the process with the code that `run` answers. `directory`: another place than here. */
export async function runModuleCommand(
  run: (place: ModulePlace, output: CommandOutput) => Promise<number>,
  directory?: string,
): Promise<void> {
  const stdout = guardStdout();
  guardFromModules();
  // Whoever read us has gone; anything else is an answer that nobody got.
  stdout.on("error", (error) => process.exit(systemCode(error) === "EPIPE" ? exitCodes.done : exitCodes.failed));
  let hasUncaught = false;
  reportUncaught(log, () => {
    hasUncaught = true;
    return undefined;
  });
  setInterval(() => {}, 2 ** 30); // a load that waits for a timer of ours must not look like the end
  let code: number = exitCodes.startup;
  try {
    const place = await findModulePlace({
      cwd: workingDirectory(directory),
      log,
      builtInToolNames: [...builtInToolNames, "resolve"],
    });
    code = await run(place, { print: (text) => void stdout.write(sanitizeForTerminal(text)) });
  } catch (error) {
    log.error(messageOf(error));
    if (GalleyError.is(error, "usage")) code = exitCodes.usage;
  }
  stdout.write("", () => process.exit(hasUncaught ? code || exitCodes.failed : code));
}
