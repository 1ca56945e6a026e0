// YAML text as a plain value. The library needs half a minute for a text of one kilobyte if its keys are maps, and a
// few kilobytes of nested marks end the whole process; so the nesting is measured while the text is split into tokens,
// before anything is built from it, and the value is made from the nodes here. Every step is counted.

import type { Alias, Document, Node, Pair, Scalar } from "yaml";
import { GalleyError } from "../base/errors.js";

type Yaml = typeof import("yaml");

export const maxConfigDepth = 64;
/** Words and marks of the text. */
const maxLexemes = 200_000;
/** Maps, lists and plain values of the result; what an alias stands for counts each time. */
const maxValues = 100_000;
/** The parser's own stack has an entry for the document, the map and the pair of each level. */
const maxStack = 2 * maxConfigDepth + 8;

/** Throws `invalid_config` with a sentence that neither names the file nor quotes the text. */
export async function readYaml(text: string): Promise<unknown> {
  const yaml = await import("yaml");
  const document = compose(text, yaml);
  const error = document?.errors[0];
  if (error) throw invalid(text, error.pos[0], error.code.toLowerCase().replaceAll("_", " "));
  return document?.contents ? new Reader(text, yaml).read(document.contents, 0).value : null;
}

/** The nodes of the text. Throws as `readYaml` does. */
export function compose(text: string, { Composer, Lexer, Parser }: Yaml): Document.Parsed | undefined {
  const parser = new Parser();
  const tokens = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > maxStack) throw tooDeep();
    if (++lexemes > maxLexemes) throw unfit("is too long to be read");
  }
  for (const token of parser.end()) tokens.push(token);
  const [first, second] = new Composer({ schema: "core", uniqueKeys: false }).compose(tokens, true, text.length);
  if (second) throw invalid(text, second.range[0], "multiple docs");
  return first;
}

/** A value, how many values it is made of, and how deep it is. */
interface Made {
  readonly value: unknown;
  readonly size: number;
  readonly depth: number;
}

class Reader {
  readonly #text: string;
  readonly #yaml: Yaml;
  readonly #anchors = new Map<string, Made>();
  #size = 0;

  constructor(text: string, yaml: Yaml) {
    this.#text = text;
    this.#yaml = yaml;
  }

  /** `depth`: how many maps and lists are around it. */
  read(node: Node, depth: number): Made {
    const before = this.#size;
    const { isAlias, isMap, isScalar, isSeq } = this.#yaml;
    if (isAlias(node)) return this.#resolve(node, depth);
    this.#count(1);
    this.#refuseTag(node);
    // Inside of it the name has no meaning yet: otherwise a value could contain itself.
    const anchor = "anchor" in node ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.delete(anchor);
    let inner = 0;
    const member = (child: unknown): unknown => {
      if (child === null || child === undefined) return null;
      const made = this.read(child as Node, depth + 1);
      inner = Math.max(inner, made.depth);
      return made.value;
    };
    if ((isMap(node) || isSeq(node)) && depth >= maxConfigDepth) throw tooDeep();
    const value = isMap(node)
      ? this.#entries(node.items as Pair[], member)
      : isSeq(node)
        ? node.items.map(member)
        : plainValue(node as Scalar);
    const made = { value, size: this.#size - before, depth: isScalar(node) ? 0 : inner + 1 };
    if (anchor !== undefined) this.#anchors.set(anchor, made);
    return made;
  }

  #resolve(node: Alias, depth: number): Made {
    const made = this.#anchors.get(node.source);
    if (!made) throw unfit("is not valid YAML (an alias without its anchor, or inside of it)");
    if (depth + made.depth > maxConfigDepth) throw tooDeep();
    this.#count(made.size);
    return made;
  }

  #entries(items: readonly Pair[], member: (child: unknown) => unknown): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    for (const { key, value } of items) {
      const node = key as Node | null;
      const at = node?.range?.[0] ?? 0;
      if (node !== null && !this.#yaml.isScalar(node)) throw invalid(this.#text, at, "a key that is not plain text");
      if (node) this.#refuseTag(node);
      const name = node === null ? "" : String(plainValue(node as Scalar) ?? "");
      if (entries.has(name)) throw invalid(this.#text, at, "duplicate key");
      entries.set(name, member(value));
    }
    return Object.fromEntries(entries); // makes own members, `__proto__` too
  }

  /** `!command` without quotes is a YAML tag; where it cannot be restored it is refused, not dropped. */
  #refuseTag(node: Node): void {
    const isTagged = "tag" in node && node.tag?.startsWith("!") === true;
    if (!isTagged || (this.#yaml.isScalar(node) && node.type === "PLAIN")) return;
    throw unfit(`${placeOf(this.#text, node.range?.[0] ?? 0)}: put quotes around a value that begins with "!"`);
  }

  #count(values: number): void {
    this.#size += values;
    if (this.#size > maxValues) throw unfit(`has more than ${maxValues} values`);
  }
}

function plainValue({ tag, source, value }: Scalar): unknown {
  return tag?.startsWith("!") ? `${tag} ${source ?? ""}`.trim() : value;
}

export function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function invalid(text: string, offset: number, problem: string): GalleyError {
  return unfit(`is not valid YAML at ${placeOf(text, offset)} (${problem})`);
}

export function tooDeep(): GalleyError {
  return unfit(`is nested deeper than ${maxConfigDepth} levels`);
}

function unfit(message: string): GalleyError {
  return new GalleyError("invalid_config", message);
}
