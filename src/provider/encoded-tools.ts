// The tools of a request as JSON, each written once: they are the longest part of a short request, and the same in every
// request of a session.

import type { JsonSchema } from "../base/json.js";
import { EncodedJson, jsonText } from "./json-body.js";
import type { ToolSpec } from "./provider.js";

/** How a dialect writes one tool. The same function every time: what it wrote is kept under it. */
export type ToolWriter = (tool: ToolSpec) => object;

interface Written {
  readonly write: ToolWriter;
  readonly name: string;
  readonly description: string;
  readonly strict: boolean | undefined;
  readonly text: string;
}

/** By the schema, which stays as it is once it was offered: calls are checked against what it said then. */
const known = new WeakMap<JsonSchema, Written>();

/** `last` is added to the last of them. */
export function encodeTools(tools: readonly ToolSpec[], write: ToolWriter, last?: object): EncodedJson {
  const texts = tools.map((tool, index) =>
    last && index === tools.length - 1 ? jsonText({ ...write(tool), ...last }) : textOf(tool, write),
  );
  const isSame = latest.texts.length === texts.length && texts.every((text, index) => text === latest.texts[index]);
  if (!isSame) latest = { texts, json: new EncodedJson(Buffer.from(`[${texts.join(",")}]`)) };
  return latest.json;
}

/** The list of the last request, which is mostly that of the next. */
let latest: { readonly texts: readonly string[]; readonly json: EncodedJson } = {
  texts: [],
  json: new EncodedJson(Buffer.from("[]")),
};

function textOf(tool: ToolSpec, write: ToolWriter): string {
  const { name, description, parameters, strict } = tool;
  const before = known.get(parameters);
  const isSame =
    before?.write === write && before.name === name && before.description === description && before.strict === strict;
  if (isSame) return before.text;
  const text = jsonText(write(tool));
  known.set(parameters, { write, name, description, strict, text });
  return text;
}
