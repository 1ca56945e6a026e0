// What one setting is, as data: the values it takes, its default, and what a project may do to it. Also how a value is
// checked, and how it is read from a command line.

import { isObject } from "../../base/json.js";
import { isHostEntry, parseHostEntry } from "../../processes/network/allow-list.js";

/**
 * What the project's file may do to a setting. `set`: anything. `when-trusted`: anything once the project is trusted.
 * `narrow`: only make it stricter, trusted or not. `never`: nothing. Where `stricter` says what is stricter, an
 * untrusted project may do that in the first three cases.
 */
export type ProjectMay = "set" | "when-trusted" | "narrow" | "never";

/** Which direction is stricter: this boolean, a later choice, a lower number, a longer list, a list of fewer hosts. */
export type Stricter = true | false | "later" | "lower" | "more" | "fewer";

/** What the items of a list are: a host as in `bash.hosts`, or an absolute path, which may begin with `~/`. */
export type Item = "host" | "path";

export type Kind =
  | { readonly type: "boolean" }
  | { readonly type: "number"; readonly min: number; readonly max: number; readonly isWhole: boolean }
  /** `instead`: values of other programs, and what replaces them. */
  | {
      readonly type: "choice";
      readonly values: readonly string[];
      readonly instead?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly type: "text" }
  | { readonly type: "list"; readonly of?: Item }
  | { readonly type: "record"; readonly of: "text" | "list" };

export interface Setting<T> {
  readonly kind: Kind;
  readonly default: T;
  readonly projectMay: ProjectMay;
  readonly stricter?: Stricter | undefined;
  /** The value may hold a secret: no message repeats it. */
  readonly isPrivate?: true | undefined;
}

export type Checked =
  | { ok: true; value: unknown; notice?: string }
  /** `wrong`: the items of a list that do not fit; the others are `rest`. */
  | { ok: false; expected: string; wrong?: readonly WrongItem[]; rest?: unknown };

export interface WrongItem {
  readonly value: unknown;
  readonly expected: string;
}

const maxText = 4096;
/** Of a list or a record. */
export const maxItems = 1000;

/** The value as it may be used (frozen), or what was expected. A record's members are checked all or none. */
export function checkValue({ kind }: Setting<unknown>, value: unknown): Checked {
  if (kind.type === "choice") {
    const instead = typeof value === "string" && own(kind.instead, value);
    if (instead) return { ok: true, value: instead, notice: `"${value}" is not supported, "${instead}" is used` };
  }
  if (kind.type === "list" && kind.of && Array.isArray(value) && value.length <= maxItems)
    return checkItems(kind.of, value);
  const copy = copyIfValid(kind, value);
  return copy === undefined ? { ok: false, expected: expectation(kind) } : { ok: true, value: copy };
}

/** One by one: a mistyped path must not uncover the others. */
function checkItems(of: Item, list: readonly unknown[]): Checked {
  const wrong: WrongItem[] = [];
  const rest: unknown[] = [];
  for (const value of list) {
    const expected = expectedItem(of, value);
    if (expected === undefined) rest.push(value);
    else wrong.push({ value, expected });
  }
  const [first] = wrong;
  const value = Object.freeze(rest);
  return first === undefined ? { ok: true, value } : { ok: false, expected: first.expected, wrong, rest: value };
}

function expectedItem(of: Item, value: unknown): string | undefined {
  if (of === "path")
    return isText(value) && /^(?:\/|~(?:\/|$))/.test(value) ? undefined : "an absolute path, or one below ~/";
  const entry = parseHostEntry(typeof value === "string" ? value : "");
  return isHostEntry(entry) ? undefined : entry.expected;
}

export function checkMember(kind: Kind & { type: "record" }, name: string, value: unknown): Checked {
  if (!isText(name)) return { ok: false, expected: "a name of one line, not empty" };
  const copy = copyIfValid({ type: kind.of }, value);
  return copy === undefined ? { ok: false, expected: expectation({ type: kind.of }) } : { ok: true, value: copy };
}

/** From a command-line argument to a value that still has to be checked. */
export function fromText(kind: Kind, text: string): unknown {
  const word = text.trim();
  switch (kind.type) {
    case "boolean":
      return booleanWords.get(word.toLowerCase());
    case "number":
      return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(word) ? Number(word) : undefined;
    case "list":
      if (word.startsWith("[")) return parseJson(word);
      return word === "" ? [] : word.split(",").map((item) => item.trim());
    case "record":
      return parseJson(word);
    default:
      return word;
  }
}

/** A name that careless code would resolve to an object's prototype; never a setting, a group or a member. */
export function isForbiddenName(name: string): boolean {
  return name === "__proto__" || name === "constructor" || name === "prototype";
}

const booleanWords: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
]);

function copyIfValid(kind: Kind, value: unknown): unknown {
  switch (kind.type) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "number":
      return typeof value === "number" && isInRange(kind, value) ? value : undefined;
    case "choice":
      return typeof value === "string" && kind.values.includes(value) ? value : undefined;
    case "text":
      return isText(value) ? value : undefined;
    case "list":
      return Array.isArray(value) && value.length <= maxItems && value.every(isText)
        ? Object.freeze([...value])
        : undefined;
    case "record":
      return isObject(value) ? copyRecord(kind, value) : undefined;
  }
}

function copyRecord(kind: Kind & { type: "record" }, value: object): unknown {
  const members = Object.entries(value);
  const isValid = members.every(([name, member]) => !isForbiddenName(name) && checkMember(kind, name, member).ok);
  if (!isValid || members.length > maxItems) return undefined;
  return Object.freeze(
    Object.fromEntries(members.map(([name, member]) => [name, copyIfValid({ type: kind.of }, member)])),
  );
}

function isInRange({ min, max, isWhole }: Kind & { type: "number" }, value: number): boolean {
  return value >= min && value <= max && (!isWhole || Number.isSafeInteger(value));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= maxText && !/\p{Cc}/u.test(value);
}

function expectation(kind: Kind): string {
  switch (kind.type) {
    case "boolean":
      return "true or false";
    case "number":
      return `a ${kind.isWhole ? "whole number" : "number"} from ${kind.min} to ${kind.max}`;
    case "choice":
      return `one of ${kind.values.join(", ")}`;
    case "text":
      return "a text of one line, not empty";
    case "list":
      return `a list of ${kind.of ?? "text"}s`;
    case "record":
      return `an object of ${kind.of === "text" ? "texts" : "lists of texts"}`;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the check that follows says what was expected
  }
}

function own(table: Readonly<Record<string, string>> | undefined, name: string): string | undefined {
  return table && Object.hasOwn(table, name) ? table[name] : undefined;
}
