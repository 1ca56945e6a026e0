// Writes one setting into the user's file, which the user also edits: comments, order and every other line stay as they
// are, and a file that cannot be understood is left alone.

import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { type ConfigFile, readConfigFile } from "../../files/config/config-files.js";
import { prepareConfigPath, replaceConfigFile, withConfigLock } from "../../files/config/config-write.js";
import type { Assignment } from "./assignment.js";
import { editSettings } from "./edit-settings.js";
import { parseSettings } from "./load-settings.js";

/** An editor, or another galley without a lock, may save the file at the same time; then it is edited again. */
const maxAttempts = 100;

/**
 * Throws `invalid_config` when the file cannot be parsed or the setting cannot be added to it, `file_refused` when it
 * cannot be read or written, `timeout` when another program holds it. In each case the file is untouched.
 */
export async function saveSetting(
  file: string,
  assignment: Assignment,
  options: { clock?: Clock } = {},
): Promise<void> {
  const path = prepareConfigPath(file);
  const write = async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const found = await readSound(path, file);
      const text = await edited(found, assignment, file);
      if (replaceConfigFile(path, { expected: found?.text, text })) return;
    }
    throw new GalleyError("timeout", `Another program keeps changing ${file}. Nothing was changed.`);
  };
  await withConfigLock(path, write, options.clock);
}

async function readSound(path: string, file: string): Promise<ConfigFile | undefined> {
  try {
    // Parsed under the given name: a link may lead to a file with another extension.
    const found = readConfigFile(path);
    if (found) await parseSettings({ ...found, path: file });
    return found;
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    const problem = error.code === "invalid_config" ? "parsed" : "read";
    const reason = error.message.replace(/^is /, "");
    throw refusal(file, `it cannot be ${problem} (${reason}). Fix it first.`, error);
  }
}

async function edited(found: ConfigFile | undefined, assignment: Assignment, file: string): Promise<string> {
  const text = await editSettings(found?.text ?? "", assignment);
  if (text !== undefined) return text;
  const { key } = assignment;
  throw refusal(file, `${key} cannot be added without changing other settings. Add it by hand.`);
}

function refusal(file: string, reason: string, cause?: unknown): GalleyError {
  return new GalleyError("invalid_config", `Refusing to write ${file}: ${reason}`, { cause });
}
