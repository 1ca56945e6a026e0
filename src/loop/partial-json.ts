// Reading the JSON text of a call's arguments: strictly once it is whole, and as well as possible while it is not,
// for display. Promises: never throws, and no value is nested too deep to be serialized again.

import { isObject, type JsonObject } from "../base/json.js";

const maxDepth = 128;

/** The value, or undefined for text that is unfinished, broken, or nested too deep. */
export function parseWhole(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isWithin(maxDepth, value) ? { value } : undefined;
  } catch {
    return undefined; // the normal case while a call streams in
  }
}

/** The object so far, or `{}` while there is none. */
export function parsePartialObject(text: string): JsonObject {
  if (text === "") return {}; // every call begins like this; avoids the cost of an exception
  const whole = parseWhole(text);
  const value = whole ? whole.value : new PartialParser(text).value(0);
  return isObject(value) ? value : {};
}

function isWithin(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithin(depth - 1, member));
}

/** A descent that keeps what it has read when the text ends. `undefined` means: nothing usable here. */
class PartialParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    this.#space();
    const first = this.#text[this.#at];
    if (first === undefined || depth > maxDepth) return undefined;
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#array(depth);
    if (first === '"') return this.#string().text;
    return this.#word();
  }

  #object(depth: number): JsonObject {
    const result: JsonObject = Object.create(null) as JsonObject;
    this.#at++;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] === "}") {
        this.#at++;
        break;
      }
      if (this.#text[this.#at] !== '"') break;
      const key = this.#string();
      this.#space();
      if (!key.isWhole || this.#text[this.#at] !== ":") break;
      this.#at++;
      const value = this.value(depth + 1);
      if (value !== undefined) result[key.text] = value;
      if (!this.#comma("}")) break;
    }
    return { ...result };
  }

  #array(depth: number): unknown[] {
    const result: unknown[] = [];
    this.#at++;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] === "]") {
        this.#at++;
        break;
      }
      const value = this.value(depth + 1);
      if (value === undefined) break;
      result.push(value);
      if (!this.#comma("]")) break;
    }
    return result;
  }

  /** Steps over a comma, or over the closing bracket and says that there is no more. */
  #comma(close: string): boolean {
    this.#space();
    const next = this.#text[this.#at];
    if (next === "," || next === close) this.#at++;
    return next === ",";
  }

  #string(): { text: string; isWhole: boolean } {
    const start = this.#at;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === "\\" ? 2 : 1;
    const isWhole = this.#text[end] === '"';
    this.#at = isWhole ? end + 1 : this.#text.length;
    const body = this.#text.slice(start + 1, isWhole ? end : undefined);
    return { text: unescapeBody(isWhole ? body : withoutTornEscape(body)), isWhole };
  }

  #word(): unknown {
    const word = /[-+.\w]*/y;
    word.lastIndex = this.#at;
    const text = word.exec(this.#text)?.[0] ?? "";
    this.#at += text.length;
    try {
      return JSON.parse(text);
    } catch {
      return undefined; // `tru` or `1.`: not a value yet
    }
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }
}

function unescapeBody(body: string): string {
  try {
    return JSON.parse(`"${body}"`) as string;
  } catch {
    return body; // a raw control character or a bad escape: show it as it came
  }
}

function withoutTornEscape(body: string): string {
  const torn = /(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$/.exec(body)?.[1];
  return torn ? body.slice(0, -torn.length) : body;
}
