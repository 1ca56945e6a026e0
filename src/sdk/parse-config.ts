// From the text of a configuration file to a plain value. A syntax error is told by its place, never by quoting the
// text: the line that is wrong may hold a key.

import { GalleyError } from "../base/errors.js";
import type { ConfigFile } from "../workspace/config-files.js";

const maxDepth = 64;

/** JSON, or YAML for a `.yml` file. Throws `invalid_config` with a sentence that does not name the file. */
export async function parseConfig({ path, text }: ConfigFile): Promise<unknown> {
  if (text.trim() === "") return undefined;
  const value = path.endsWith(".yml") ? await parseYaml(text) : parseJson(text);
  // A YAML alias can make a value that contains itself; it too is too deep.
  if (!isWithinDepth(value, maxDepth)) throw unfit(`is nested deeper than ${maxDepth} levels`);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1];
    throw unfit(`is not valid JSON${position === undefined ? "" : ` at ${placeOf(text, Number(position))}`}`);
  }
}

async function parseYaml(text: string): Promise<unknown> {
  const { isScalar, parseDocument, visit } = await import("yaml");
  const document = parseDocument(text, { prettyErrors: false });
  // `!command` without quotes is a YAML tag and would vanish from the value: put it back, or refuse where that is unsure.
  visit(document, {
    Node(_key, node) {
      if (!("tag" in node) || node.tag?.startsWith("!") !== true) return;
      if (!isScalar(node) || node.type !== "PLAIN")
        throw unfit(`${placeOf(text, node.range?.[0] ?? 0)}: put quotes around a value that begins with "!"`);
      node.value = `${node.tag} ${node.source ?? ""}`.trim();
    },
  });
  const error = document.errors[0];
  if (error) throw unfit(`is not valid YAML at ${placeOf(text, error.pos[0])} (${words(error.code)})`);
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw unfit("is not valid YAML (an alias without its anchor, or too many)"); // the reason would quote the text
  }
}

function words(code: string): string {
  return code.toLowerCase().replaceAll("_", " ");
}

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithinDepth(member, depth - 1));
}

function unfit(message: string): GalleyError {
  return new GalleyError("invalid_config", message);
}
