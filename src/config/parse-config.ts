// From the text of a configuration file to a plain value. A syntax error is reported by its position, never by quoting
// the text: the line that is wrong may hold a key.

import { GalleyError } from "../base/errors.js";
import type { ConfigFile } from "../files/config/config-files.js";
import { maxConfigDepth, placeOf, readYaml, tooDeep } from "./read-yaml.js";

/** JSON, or YAML for a `.yml` file. Throws `invalid_config` with a sentence that does not name the file. */
export async function parseConfig({ path, text }: ConfigFile): Promise<unknown> {
  if (text.trim() === "") return undefined;
  return path.endsWith(".yml") ? readYaml(text) : parseJson(text);
}

function parseJson(text: string): unknown {
  const value = parseStrictly(text);
  if (!isWithinDepth(value, maxConfigDepth)) throw tooDeep();
  return value;
}

function parseStrictly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1];
    const place = position === undefined ? "" : ` at ${placeOf(text, Number(position))}`;
    throw new GalleyError("invalid_config", `is not valid JSON${place}`);
  }
}

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithinDepth(member, depth - 1));
}
