// Patterns, before they meet a file: metavariables, what makes one invalid, and a word to look for before parsing.

import type { NapiConfig } from "@ast-grep/napi";
import { messageOf } from "../base/errors.js";
import { type Grammar, isScript } from "./ast-languages.js";

type Parser = typeof import("@ast-grep/napi");

/** Longer ones nest so deeply that the native matcher could run out of stack. */
export const maxPatternLength = 2000;

export interface CompiledPattern {
  matcher: NapiConfig;
  /** Captures that must hold the same text: the first name and its stand-ins. */
  repeated: { isMultiple: boolean; names: string[] }[];
}

export interface Metavariable {
  name: string;
  isMultiple: boolean;
  start: number;
  end: number;
}

const metavariable = /(?<![\w$])(\$\$\$|\$)([A-Z_][A-Z0-9_]*)(?![\w$])/g;

/** Metavariables by the look of the text alone. */
export function metavariablesIn(text: string): Metavariable[] {
  return [...text.matchAll(metavariable)].map((match) => ({
    name: match[2] ?? "",
    isMultiple: match[1] === "$$$",
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** `$_` and `$_NAME` match without keeping what they matched. */
export function isBound({ name }: { name: string }): boolean {
  return !name.startsWith("_");
}

/** The pattern for one grammar, or why it is none. */
export function compilePattern(
  parser: Parser,
  grammar: Grammar,
  { pat, sel }: { pat: string; sel?: string | undefined },
): CompiledPattern | { cause: string } {
  const double = /(?<![\w$])\$\$[A-Z_][A-Z0-9_]*(?![\w$])/.exec(pat)?.[0];
  if (double) return { cause: `${double} is not a metavariable; use $NAME for one node, $$$NAME for any number.` };
  // It would match every node of every file, each overlapping the next.
  if (sel === undefined && /^\s*\$[A-Z_][A-Z0-9_]*\s*$/.test(pat))
    return { cause: "A metavariable alone matches everything; put code around it." };
  const { text, repeated } = separateRepeated(parser, grammar, pat);
  const pattern = sel === undefined ? text : { context: text, selector: sel };
  const matcher: NapiConfig = { rule: { pattern } };
  try {
    parser.parse(grammar, "").root().find(matcher);
    return { matcher, repeated };
  } catch (error) {
    return { cause: messageOf(error).split("|->").at(-1)?.trim() ?? "unknown" };
  }
}

/**
 * Words that every match must contain, so that most files need no parsing. None with a selector, where most of the
 * pattern is only context.
 */
export function literalsIn({ pat, sel }: { pat: string; sel?: string | undefined }): string[] {
  if (sel !== undefined) return [];
  const words = pat.replace(/\$+[A-Z_][A-Z0-9_]*/g, " ").match(/[A-Za-z_][A-Za-z0-9_]+/g);
  return [...new Set(words)];
}

/**
 * The native matcher compares two captures of one name node by node, recursively: a deeply nested file ends the process.
 * So each repetition gets a name of its own here, and the texts are compared later, by us.
 */
function separateRepeated(
  parser: Parser,
  grammar: Grammar,
  pat: string,
): { text: string; repeated: CompiledPattern["repeated"] } {
  const all = variablesOf(parser, grammar, pat).filter(isBound);
  const taken = new Set(metavariablesIn(pat).map(({ name }) => name));
  const groups = new Map<string, { isMultiple: boolean; names: string[] }>();
  const renames: (Metavariable & { newName: string })[] = [];
  for (const variable of all) {
    const key = `${variable.isMultiple} ${variable.name}`;
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { isMultiple: variable.isMultiple, names: [variable.name] });
      continue;
    }
    let newName = `${variable.name}_${group.names.length + 1}`;
    while (taken.has(newName)) newName += "_";
    taken.add(newName);
    group.names.push(newName);
    renames.push({ ...variable, newName });
  }
  let text = pat;
  for (const { start, end, isMultiple, newName } of renames.reverse())
    text = `${text.slice(0, start)}${isMultiple ? "$$$" : "$"}${newName}${text.slice(end)}`;
  return { text, repeated: [...groups.values()].filter(({ names }) => names.length > 1) };
}

/** Metavariables that are whole nodes, in order. */
function variablesOf(parser: Parser, grammar: Grammar, pat: string): Metavariable[] {
  const looks = metavariablesIn(pat);
  if (isScript(grammar)) {
    // `$A` inside a longer string is text, and must stay as it is.
    const nodes = parser
      .parse(grammar, pat)
      .root()
      .findAll({ rule: { regex: "^\\$(\\$\\$)?[A-Z_][A-Z0-9_]*$" } });
    const starts = new Set(nodes.map((node) => node.range().start.index));
    return looks.filter(({ start }) => starts.has(start));
  }
  // Tag names are single words, which the matcher compares safely, and an end tag under another name ends nothing.
  return looks.filter(({ start }) => !/<\/?$/.test(pat.slice(0, start)));
}
