// Writes one setting into the user's file or removes one. The user edits the file too: comments, order and every other
// line stay as they are, and a file that cannot be understood is left alone.

import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { type ConfigFile, readConfigFile } from "../../files/config/config-files.js";
import { prepareConfigPath, replaceConfigFile, withConfigLock } from "../../files/config/config-write.js";
import type { Assignment } from "./assignment.js";
import { editSettings, removeSettings } from "./edit-settings.js";
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
  const problem = `${assignment.key} cannot be added without changing other settings. Add it by hand.`;
  await changeFile(file, { edit: (text) => editSettings(text, assignment), problem, ...options });
}

/** Removes these names. False: the file has none of them, and is untouched. Throws as `saveSetting`. */
export async function unsetSetting(file: string, names: readonly string[]): Promise<boolean> {
  const problem = `${names[0]} cannot be removed without changing other settings. Remove it by hand.`;
  return changeFile(file, { edit: (text) => removeSettings(text, names), problem });
}

interface FileChange {
  /** `undefined` where it cannot be done. */
  readonly edit: (text: string) => Promise<string | undefined>;
  /** The sentence for that. */
  readonly problem: string;
  readonly clock?: Clock;
}

/** False when nothing had to be changed. */
async function changeFile(file: string, { edit, problem, clock }: FileChange): Promise<boolean> {
  const path = prepareConfigPath(file);
  const write = async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const found = await readSound(path, file);
      const before = found?.text ?? "";
      const text = await edit(before);
      if (text === undefined) throw refusal(file, problem);
      if (text === before) return false;
      if (replaceConfigFile(path, { expected: found?.text, text })) return true;
    }
    throw new GalleyError("timeout", `Another program keeps changing ${file}. Nothing was changed.`);
  };
  return withConfigLock(path, write, clock);
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

function refusal(file: string, reason: string, cause?: unknown): GalleyError {
  return new GalleyError("invalid_config", `Refusing to write ${file}: ${reason}`, { cause });
}
