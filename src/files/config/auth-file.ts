// The credential file. Promises: a file that others might read is neither used nor changed; a change appears whole or
// not at all, for this user only; writers at the same time lose nothing, and entries that galley does not know stay as
// they were written.

import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { parseObject } from "../../base/json.js";
import { type ConfigFile, readConfigFile } from "./config-files.js";
import { prepareConfigPath, replaceConfigFile, withConfigLock } from "./config-write.js";

/** Another program without our lock may save the file at the same time; then it is changed again. */
const maxAttempts = 100;

/** Why the file is not used; the caller puts its path in front. */
export function authFileProblem({ mode }: ConfigFile): string | undefined {
  // Windows has no such bits; there the protection of the home directory has to be enough.
  if (mode === 0o600 || process.platform === "win32") return undefined;
  return `not used, because its mode is ${mode.toString(8).padStart(4, "0")} and not 0600; run chmod 600 on it`;
}

/** The names of its entries; none where there is no file. Throws as `changeAuthFile`. */
export function authEntryNames(path: string): string[] {
  return readMembers(path, path).members.map(({ name }) => name);
}

/**
 * Adds or replaces entries; `undefined` removes one. Returns the names of those that were there before. Throws
 * `file_refused` or `invalid_config` for a file that cannot be used, read or written, `timeout` when another program
 * holds it; then it is untouched. No sentence repeats what is in it.
 */
export async function changeAuthFile(
  file: string,
  changes: ReadonlyMap<string, object | undefined>,
  options: { clock?: Clock } = {},
): Promise<string[]> {
  // Then not even its directory is made.
  const isThere = (name: string) => changes.get(name) !== undefined || authEntryNames(file).includes(name);
  if (![...changes.keys()].some(isThere)) return [];
  const path = prepareConfigPath(file);
  return withConfigLock(
    path,
    async () => {
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        const { text: expected, members } = readMembers(path, file);
        const known = members.map(({ name }) => name).filter((name) => changes.has(name));
        const kept = members.filter(({ name }) => !changes.has(name));
        const added = [...changes].flatMap(([name, entry]) => (entry ? [{ name, raw: JSON.stringify(entry) }] : []));
        if (added.length === 0 && known.length === 0) return [];
        if (replaceConfigFile(path, { expected, text: textOf([...kept, ...added]) })) return known;
      }
      throw new GalleyError("timeout", `Another program keeps changing ${file}. Nothing was changed.`);
    },
    options.clock,
  );
}

/** An entry with its value as it was written, since a parsed one may lose digits. */
interface Member {
  readonly name: string;
  readonly raw: string;
}

function textOf(members: readonly Member[]): string {
  const lines = members.map(({ name, raw }) => `  ${JSON.stringify(name)}: ${raw}`);
  return lines.length === 0 ? "{}\n" : `{\n${lines.join(",\n")}\n}\n`;
}

/** `file` is its name in messages. */
function readMembers(path: string, file: string): { text: string | undefined; members: Member[] } {
  let found: ConfigFile | undefined;
  try {
    found = readConfigFile(path);
  } catch (error) {
    throw GalleyError.is(error, "file_refused") ? refusal(file, error.message, error) : error;
  }
  if (found === undefined) return { text: undefined, members: [] };
  const problem = authFileProblem(found);
  if (problem !== undefined) throw refusal(file, problem);
  const { text } = found;
  if (text.trim() === "") return { text, members: [] };
  if (!parseObject(text)) throw refusal(file, "is not a JSON object, so it is left as it is");
  return { text, members: splitMembers(text) };
}

function refusal(file: string, reason: string, cause?: unknown): GalleyError {
  return new GalleyError("file_refused", `${file}: ${reason}`, { cause });
}

/** The members of an object, from text that is known to be valid: only strings and brackets have to be told apart. */
function splitMembers(text: string): Member[] {
  const members: Member[] = [];
  let name: string | undefined;
  let depth = 0;
  let begin = 0;
  const end = (index: number) => {
    if (name !== undefined) members.push({ name, raw: text.slice(begin, index).trim() });
    name = undefined;
    begin = index + 1;
  };
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    if (token === "{" || token === "[") {
      depth++;
      if (depth === 1) begin = index + 1;
    } else if (token === "}" || token === "]") {
      depth--;
      if (depth === 0) end(index);
    } else if (depth === 1 && token === ",") end(index);
    else if (depth === 1 && token === ":" && name === undefined) {
      name = JSON.parse(text.slice(begin, index)) as string;
      begin = index + 1;
    }
  }
  return members;
}
