// Patterns, before they meet a file: metavariables, what makes one invalid, and how repeated names are told apart.

import type { NapiConfig } from "@ast-grep/napi";
import type { Parsers } from "./parsers.js";

/** Longer ones nest so deeply that the native matcher could run out of stack. */
export const maxPatternLength = 2000;

export interface PatternText {
  pat: string;
  /** The node kind that matches; `pat` is then its context. */
  sel?: string | undefined;
}

/** A name with the number of nodes it stands for: `$A` and `$$$A` are two. */
export interface Variable {
  name: string;
  isMultiple: boolean;
}

export interface CompiledPattern {
  matcher: NapiConfig;
  /** Everything to capture: the bound variables, then stand-ins for those that come again. */
  captures: Variable[];
  /** Indexes into `captures` that must hold the same text. */
  repeated: number[][];
}

export interface Metavariable extends Variable {
  start: number;
  end: number;
}

const metavariable = /(?<![\w$])(\$\$\$|\$)([A-Z_][A-Z0-9_]*)(?![\w$])/g;

/** Metavariables, found in the text alone. */
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

/** As it is written in a pattern. */
export function spelled({ name, isMultiple }: Variable): string {
  return `${isMultiple ? "$$$" : "$"}${name}`;
}

/** The pattern for one grammar, or why it is invalid. */
export async function compilePattern(
  parsers: Parsers,
  { pat, sel, grammar, signal }: PatternText & { grammar: string; signal?: AbortSignal | undefined },
): Promise<CompiledPattern | { cause: string }> {
  const double = /(?<![\w$])\$\$[A-Z_][A-Z0-9_]*(?![\w$])/.exec(pat)?.[0];
  if (double) return { cause: `${double} is not a metavariable; use $NAME for one node, $$$NAME for any number.` };
  // It would match every node of every file, each overlapping the next.
  if (sel === undefined && /^\s*\$[A-Z_][A-Z0-9_]*\s*$/.test(pat))
    return { cause: "A metavariable alone matches everything; put code around it." };
  const variables = await variablesOf(parsers, { pat, grammar, signal });
  const { text, captures, repeated } = separateRepeated(pat, variables.filter(isBound));
  const matcher: NapiConfig = { rule: { pattern: sel === undefined ? text : { context: text, selector: sel } } };
  const trial = await parsers.match(
    { grammar, source: new Uint8Array(), rules: [{ matcher, captures: [] }], stringKinds: [] },
    signal,
  );
  if (!("problem" in trial)) return { matcher, captures, repeated };
  return { cause: trial.problem.split("|->").at(-1)?.trim() ?? "unknown" };
}

/**
 * The native matcher compares two captures of one name node by node and recursively, so a deeply nested file would cost
 * the process, and other spacing would count as equal. So each repetition gets a name of its own here, and the texts
 * are compared later, by us.
 */
function separateRepeated(
  pat: string,
  variables: readonly Metavariable[],
): { text: string } & Pick<CompiledPattern, "captures" | "repeated"> {
  const taken = new Set(metavariablesIn(pat).map(({ name }) => name));
  const captures: Variable[] = [];
  const groups = new Map<string, number[]>();
  let text = "";
  let position = 0;
  for (const { name, isMultiple, start, end } of variables) {
    const group = groups.get(spelled({ name, isMultiple }));
    let ownName = name;
    if (group) {
      for (let count = group.length + 1; taken.has(ownName); count++) ownName = `${name}_${count}`;
      taken.add(ownName);
    }
    text += pat.slice(position, start) + spelled({ name: ownName, isMultiple });
    position = end;
    groups.set(spelled({ name, isMultiple }), [...(group ?? []), captures.length]);
    captures.push({ name: ownName, isMultiple });
  }
  return {
    text: text + pat.slice(position),
    captures,
    repeated: [...groups.values()].filter((group) => group.length > 1),
  };
}

/** Metavariables that are whole nodes, in order: `$A` inside a longer string is text, and must stay as it is. */
async function variablesOf(
  parsers: Parsers,
  { pat, grammar, signal }: { pat: string; grammar: string; signal: AbortSignal | undefined },
): Promise<Metavariable[]> {
  const looks = metavariablesIn(pat);
  if (grammar === "Css") return looks;
  // Tag names are single words, which the matcher compares safely, and an end tag under another name ends nothing.
  if (grammar === "Html") return looks.filter(({ start }) => !/<\/?$/.test(pat.slice(0, start)));
  // The parser sees the pattern with the grammar's own character for `$`, which has the same length.
  const expando = (await parsers.grammars()).expandos[grammar] ?? "$";
  const source = pat.replace(/(?<!\$)\$+(?=[A-Z_])/g, (dollars) => expando.repeat(dollars.length));
  const regex = `^[${expando}]{1,3}[A-Z_][A-Z0-9_]*$`;
  const reply = await parsers.match(
    {
      grammar,
      source: Buffer.from(source),
      rules: [{ matcher: { rule: { regex } }, captures: [] }],
      stringKinds: [],
      isFragment: true,
    },
    signal,
  );
  if ("problem" in reply) return looks;
  const starts = new Set(reply.matches.map(({ span }) => span.start));
  return looks.filter(({ start }) => starts.has(start));
}
