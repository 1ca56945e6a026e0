// Small changes to YAML text at the positions of its parsed nodes. Every other character stays. The caller parses the
// result: a layout too unusual for this gives a text with another meaning, which must not be written.

import type { Node, Pair, YAMLMap } from "yaml";
import { isObject } from "../../base/json.js";

/** The same text with another value at this node. A block stays a block; anything else goes on one line. */
export function replaceValue(text: string, node: Node, value: unknown): string {
  const [start, end] = rangeOf(text, node);
  const isBlock = "items" in node && !("flow" in node && node.flow);
  const lines = isBlock ? blockLines(value) : [];
  const glue = `${lineEnd(text)}${" ".repeat(columnOf(text, start))}`;
  // An empty list has no block form, and on its own line must stand further in than its name.
  const shown = lines.length > 0 ? lines.join(glue) : `${isBlock ? "  " : ""}${inline(value)}`;
  return text.slice(0, start) + shown + text.slice(end);
}

export interface NewPair {
  /** The map it goes into; `undefined` in an empty file. */
  readonly map: YAMLMap<Node, Node | null> | undefined;
  /** A pair of the map that has the first of the names and no value. */
  readonly empty: Pair<Node, Node | null> | undefined;
  /** Nested, the outermost first. */
  readonly names: readonly string[];
  readonly value: unknown;
}

/** The same text with one more value in it. */
export function insertPair(text: string, { map, empty, names, value }: NewPair): string {
  if (map === undefined) {
    const gap = text === "" || text.endsWith("\n") ? "" : lineEnd(text);
    return `${text}${gap}${nestedLines(names, value, 0).join(lineEnd(text))}${lineEnd(text)}`;
  }
  if (empty) {
    const [name, end] = rangeOf(text, empty.key);
    const colon = text.indexOf(":", end) + 1;
    if (names.length === 1) return `${text.slice(0, colon)} ${inline(value)}${text.slice(colon)}`;
    return afterLine(text, colon, nestedLines(names.slice(1), value, columnOf(text, name) + 2));
  }
  const last = map.items.at(-1);
  if (map.flow || last === undefined) {
    const close = text.slice(0, rangeOf(text, map)[1] - 1).trimEnd().length;
    const nested = names.slice(1).reduceRight((inner: unknown, name) => ({ [name]: inner }), value);
    const pair = `${word(names[0] ?? "")}: ${inline(nested)}`;
    return `${text.slice(0, close)}${last ? ", " : ""}${pair}${text.slice(close)}`;
  }
  const column = columnOf(text, rangeOf(text, map)[0]);
  return afterLine(text, rangeOf(text, last.value ?? last.key)[1], nestedLines(names, value, column));
}

export interface OldPair {
  readonly map: YAMLMap<Node, Node | null>;
  readonly pair: Pair<Node, Node | null>;
}

/** The same text without the pair: a block loses its lines, with what is said behind the value on them. */
export function removePair(text: string, { map, pair }: OldPair): string {
  const [start, end] = pairRange(text, pair);
  if (!map.flow) {
    const newline = text.indexOf("\n", end);
    return text.slice(0, start - columnOf(text, start)) + (newline === -1 ? "" : text.slice(newline + 1));
  }
  const isLast = map.items.at(-1) === pair;
  const comma = isLast ? text.lastIndexOf(",", start) : text.indexOf(",", end);
  if (map.items.length === 1) return text.slice(0, start) + text.slice(end);
  if (isLast) return text.slice(0, comma) + text.slice(end);
  return text.slice(0, start) + text.slice(comma + 1).trimStart();
}

/** From the name to the end of the value. */
export function pairText(text: string, pair: OldPair["pair"]): string {
  return text.slice(...pairRange(text, pair));
}

function pairRange(text: string, { key, value }: OldPair["pair"]): [number, number] {
  const [start, end] = rangeOf(text, key);
  return [start, value?.range ? Math.max(end, rangeOf(text, value)[1]) : end];
}

function afterLine(text: string, offset: number, lines: readonly string[]): string {
  const newline = text.indexOf("\n", offset);
  const end = newline === -1 ? text.length : newline;
  const at = text[end - 1] === "\r" ? end - 1 : end;
  return text.slice(0, at) + lines.map((line) => `${lineEnd(text)}${line}`).join("") + text.slice(at);
}

function nestedLines(names: readonly string[], value: unknown, column: number): string[] {
  return names.map((name, depth) => {
    const start = `${" ".repeat(column + 2 * depth)}${word(name)}:`;
    return depth === names.length - 1 ? `${start} ${inline(value)}` : start;
  });
}

function blockLines(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((item) => `- ${inline(item)}`);
  return isObject(value) ? Object.entries(value).map(([name, member]) => `${word(name)}: ${inline(member)}`) : [];
}

function inline(value: unknown): string {
  if (typeof value === "string") return word(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${word(name)}: ${inline(member)}`)
    .join(", ")}}`;
}

/** Without quotes only where no YAML parser could misread it. */
function word(text: string): string {
  const isPlain = /^[A-Za-z/][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

/** Without the line ends that a block takes along. */
function rangeOf(text: string, node: Node): [number, number] {
  const [start = 0, end = 0] = node.range ?? [];
  return [start, start + text.slice(start, end).trimEnd().length];
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
