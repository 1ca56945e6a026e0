// Which files a module's text asks for. Pure, and made to find too much rather than too little: it does not follow the
// grammar through comments, templates and regular expressions, where a clever text could make it lose its place.
// Instead every quote may open a literal and every word may be a keyword, anywhere.

import { GalleyError } from "../../base/errors.js";

export interface FoundImports {
  /** Literal names after `import`, `from`, `require` and their like, each once. */
  readonly specifiers: readonly string[];
  /** Literals elsewhere that name a module file by a path (`new Worker("./worker.js")`), each once. */
  readonly paths: readonly string[];
  /** Lines where a name is put together at run time. */
  readonly computedLines: readonly number[];
}

/** Throws `file_refused` for a text that would take too long: an ordinary one never does. */
export function findImports(source: string): FoundImports {
  const text = new Text(source);
  const specifiers = new Set<string>();
  const computed: number[] = [];
  for (const match of source.matchAll(keywordsIn(text))) {
    const [word] = match;
    const at = text.skipSpace(match.index + word.length);
    if (word !== "from" && text.isCall(at)) {
      const { literals, isPlain } = readCalls(text, at);
      for (const literal of literals) specifiers.add(literal);
      if (!isPlain && (word === "import" || word === "require")) computed.push(match.index);
    } else if (word === "from" || word === "import") {
      const literal = text.readLiteral(at);
      if (literal) specifiers.add(literal.value);
    }
  }
  return { specifiers: [...specifiers], paths: pathsIn(text), computedLines: linesAt(source, computed) };
}

const maxRequires = 32;

/** The keywords, and the names that this text gives to a `require` of its own making. */
function keywordsIn(text: Text): RegExp {
  const names = new Set(["from", "import", "require", "resolve", "createRequire"]);
  for (const { index } of text.source.matchAll(/createRequire/g)) {
    text.spend(1000);
    const before = text.source.slice(Math.max(0, index - 200), index);
    const name = /(?<![\w$])([\w$]{1,64})\s*(?::[^=]*)?=\s*(?:await\s+)?(?:[\w$]{1,64}\s*\.\s*)?$/.exec(before)?.[1];
    if (name !== undefined) names.add(name);
    if (names.size > maxRequires) throw tangled();
  }
  const words = [...names].map((name) => name.replaceAll("$", "\\$")).join("|");
  return new RegExp(`(?<![\\w$])(?:${words})(?![\\w$])`, "g");
}

/** How far the parentheses of a call are followed. */
const maxCall = 4096;
/** Calls in a row: `createRequire(here)("./file")`. */
const maxCalls = 3;

/** Every literal within the parentheses; `isPlain` when the first argument is one and nothing else. */
function readCalls(text: Text, start: number): { literals: string[]; isPlain: boolean } {
  const literals: string[] = [];
  const literal = text.readLiteral(text.skipSpace(text.source.indexOf("(", start), "("));
  const after = literal && text.source[text.skipSpace(literal.end)];
  let at = start;
  for (let calls = 0; calls < maxCalls && text.isCall(at); calls++) at = readArguments(text, at, literals);
  return { literals, isPlain: after === ")" || after === "," };
}

function readArguments(text: Text, start: number, literals: string[]): number {
  const { source } = text;
  const limit = Math.min(source.length, start + maxCall);
  let depth = 0;
  for (let at = start; at < limit; ) {
    at = text.skipSpace(at);
    const literal = text.readLiteral(at);
    if (literal) {
      literals.push(literal.value);
      at = literal.end;
      continue;
    }
    if (source[at] === "(") depth++;
    if (source[at] === ")" && --depth === 0) return text.skipSpace(at + 1);
    at++;
  }
  return limit;
}

/**
 * Any quote may open a literal, unless a backslash is before it: in code none does. So no two attempts of one kind
 * of quote run over the same text.
 */
function pathsIn(text: Text): string[] {
  const found = new Set<string>();
  for (const { index } of text.source.matchAll(/(?<!\\)["'`]/g)) {
    const value = text.readLiteral(index)?.value;
    if (value !== undefined && isModulePath(value)) found.add(value);
  }
  return [...found];
}

function isModulePath(value: string): boolean {
  if (!/^(?:\.{1,2}\/|\/|file:|[A-Za-z]:[\\/])/.test(value)) return false;
  return [value, value.slice(0, value.search(/[?#]|$/))].some((path) => /\.(?:[cm]?[jt]sx?|node|wasm)$/.test(path));
}

function linesAt(source: string, offsets: readonly number[]): number[] {
  const lines = new Set<number>();
  let line = 1;
  let from = 0;
  for (const offset of offsets) {
    for (let at = source.indexOf("\n", from); at !== -1 && at < offset; at = source.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    lines.add(line);
  }
  return [...lines];
}

interface Literal {
  readonly value: string;
  /** Behind the closing quote. */
  readonly end: number;
}

/** No path is longer. */
const maxLiteral = 4096;
const letters: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", v: "\v", f: "\f" };

/** The text, and how many more steps may be spent on it: many times what an ordinary one needs. */
class Text {
  #budget: number;

  constructor(readonly source: string) {
    this.#budget = 1_000_000 + 10 * source.length;
  }

  spend(steps: number): void {
    this.#budget -= steps;
    if (this.#budget < 0) throw tangled();
  }

  isCall(at: number): boolean {
    return this.source[at] === "(" || this.source.startsWith("?.(", at);
  }

  /** Past white space, comments and, if wanted, another character. */
  skipSpace(start: number, alsoPast = ""): number {
    const { source } = this;
    let at = start;
    for (;;) {
      this.spend(1);
      const character = source[at];
      if (character === undefined) return source.length;
      if (character === alsoPast || isSpace(character)) at++;
      else if (source.startsWith("//", at)) at = this.#endOf("\n", at);
      else if (source.startsWith("/*", at)) at = this.#endOf("*/", at + 2);
      else return at;
    }
  }

  #endOf(end: string, from: number): number {
    const found = this.source.indexOf(end, from);
    const at = found === -1 ? this.source.length : found + end.length;
    this.spend((at - from) >> 3); // the search is quicker than our own steps
    return at;
  }

  /** The string or plain template that begins here: not one that runs over its line or has parts to fill in. */
  readLiteral(start: number): Literal | undefined {
    const { source } = this;
    const quote = source[start];
    if (quote !== '"' && quote !== "'" && quote !== "`") return undefined;
    const limit = Math.min(source.length, start + maxLiteral);
    let value = "";
    for (let at = start + 1; at < limit; ) {
      this.spend(1);
      const character = source[at] as string;
      if (character === quote) return { value, end: at + 1 };
      if (character === "\n" || character === "\r") return undefined;
      if (quote === "`" && character === "$" && source[at + 1] === "{") return undefined;
      if (character === "\\") {
        const escaped = readEscape(source.slice(at + 1, at + 33));
        value += escaped.text;
        at += 1 + escaped.length;
      } else {
        value += character;
        at++;
      }
    }
    return undefined;
  }
}

function isSpace(character: string): boolean {
  return character <= " " || (character > "~" && /\s/.test(character));
}

/** What follows a backslash. */
function readEscape(rest: string): { text: string; length: number } {
  const code = /^(?:x([\da-f]{2})|u([\da-f]{4})|u\{0*([\da-f]{1,6})\})/i.exec(rest);
  if (code) {
    const point = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? "", 16);
    return { text: point <= 0x10ffff ? String.fromCodePoint(point) : "", length: code[0].length };
  }
  const octal = /^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/.exec(rest)?.[0];
  if (octal) return { text: String.fromCharCode(Number.parseInt(octal, 8)), length: octal.length };
  const goesOn = /^(?:\r\n|[\n\r\u2028\u2029])/.exec(rest)?.[0];
  if (goesOn) return { text: "", length: goesOn.length };
  const character = rest[0] ?? "";
  return { text: letters[character] ?? character, length: character.length };
}

function tangled(): GalleyError {
  return new GalleyError("file_refused", "is too tangled to tell which files it loads");
}
