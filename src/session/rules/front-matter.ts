// The head of a rule file: a small YAML map of texts and lists of texts. Rule files come with projects and are not to
// be trusted, so nested values are not even built, and parsing is bounded in size and in time.

import { GalleyError } from "../../base/errors.js";
import { runWithin } from "../../base/time-limit.js";

export type FieldValue = string | number | boolean | null;

export interface FrontMatter {
  /** Scalars, and lists of scalars. In place of anything else stands a list of `null`, so that it is not overlooked. */
  readonly fields: ReadonlyMap<string, FieldValue | readonly FieldValue[]>;
  readonly body: string;
}

const maxHeadLength = 4096;
const maxParseMs = 250;
const maxDepth = 32;

/** Throws `invalid_config` with the end of a sentence that begins with the file. Without a head all is body. */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const lines = text.replaceAll("\r\n", "\n");
  const head = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/.exec(lines);
  if (!head) return { fields: new Map(), body: lines.trim() };
  const [whole, yaml = ""] = head;
  if (yaml.length > maxHeadLength) throw unfit(`has a front matter of more than ${maxHeadLength} characters`);
  if (isDeep(yaml)) throw unfit("has a front matter that is nested too deeply");
  return { fields: await parseFields(yaml), body: lines.slice(whole.length).trim() };
}

async function parseFields(yaml: string): Promise<FrontMatter["fields"]> {
  const { isMap, isScalar, isSeq, parseDocument } = await import("yaml");
  const fields = new Map<string, FieldValue | readonly FieldValue[]>();
  const read = () => {
    const document = parseDocument(quoteGlobs(yaml), { prettyErrors: false, schema: "core" });
    const error = document.errors[0];
    if (error)
      throw unfit(`has a front matter that is not valid YAML (${error.code.toLowerCase().replaceAll("_", " ")})`);
    if (document.contents === null) return;
    if (!isMap(document.contents)) throw unfit("has a front matter that is not a map");
    for (const { key, value } of document.contents.items) {
      if (!isScalar(key) || typeof key.value !== "string") continue;
      const members = isSeq(value) ? value.items : [value];
      const values = members.map((member) => (isScalar(member) ? member.value : null) as FieldValue);
      fields.set(key.value, isScalar(value) ? (values[0] ?? null) : values);
    }
  };
  // Twice, because the first time may have been slow for reasons that are not in the text.
  if (!runWithin(maxParseMs, read) && !runWithin(maxParseMs, read))
    throw unfit("has a front matter that takes too long to read");
  return fields;
}

/** The parser takes half a second for some thousand brackets; a rule needs only a few. */
function isDeep(yaml: string): boolean {
  let depth = 0;
  for (const character of yaml) {
    if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth > maxDepth) return true;
  }
  return new RegExp(`^[ \\t]*(?:[-?][ \\t]+){${maxDepth}}`, "m").test(yaml);
}

/** `globs: *.ts` is an alias to YAML. Aliases have no use here, so such a value is taken as it stands. */
function quoteGlobs(yaml: string): string {
  return yaml.replace(/^([ \t]*(?:\w+:|-)[ \t]+)(\*[^\n]*)$/gm, (_line, start: string, value: string) => {
    const bare = value.replace(/(?<![ \t])[ \t]+#.*$/, "").trimEnd();
    return `${start}'${bare.replaceAll("'", "''")}'`;
  });
}

export function unfit(message: string): GalleyError {
  return new GalleyError("invalid_config", message);
}
