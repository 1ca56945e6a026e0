// Request bodies as bytes. A list that is JSON already is inserted as it is: earlier parts of a conversation are not
// serialized again for every request.

import { isObject } from "../../base/json.js";

/** A value of a body that is already JSON. Code that inspects the body sees the parsed value. */
export class EncodedJson {
  /** In the order in which they are written. */
  readonly parts: readonly Buffer[];

  constructor(...parts: readonly Buffer[]) {
    this.parts = parts;
  }

  toJSON(): unknown {
    return JSON.parse(Buffer.concat(this.parts).toString("utf8"));
  }
}

/** In pieces, one after the other. `EncodedJson` is looked for among the members of the body alone. */
export function encodeBody(payload: unknown): readonly Buffer[] {
  if (!isObject(payload)) return [Buffer.from(jsonText(payload))];
  const parts: Buffer[] = [];
  let text = "{";
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined) continue;
    text += `${text === "{" && parts.length === 0 ? "" : ","}${JSON.stringify(name)}:`;
    if (value instanceof EncodedJson) {
      parts.push(Buffer.from(text), ...value.parts);
      text = "";
    } else text += jsonText(value);
  }
  return [...parts, Buffer.from(`${text}}`)];
}

/** JSON that every service can read: half of a surrogate pair, as truncated text may hold, is legal here but not there. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud") || !/\\ud[89a-f]/.test(text)) return text;
  const repaired = (_key: string, member: unknown) =>
    typeof member === "string" ? member.replace(/\p{Surrogate}/gu, "\ufffd") : member;
  return JSON.stringify(value, repaired);
}
