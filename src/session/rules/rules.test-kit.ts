// What the tests of stream rules share.

import fc from "fast-check";
import type { Log } from "../../base/log.js";
import { parseRule, type StreamRule } from "./rule.js";

export interface KeptLog extends Log {
  readonly warnings: string[];
}

export function keptLog(): KeptLog {
  const warnings: string[] = [];
  return { warnings, warn: (text) => warnings.push(text), error: (text) => warnings.push(text) };
}

/** A stream rule with this front matter; the test fails if it is none. */
export async function streamRule(name: string, head: string, body = "Do not."): Promise<StreamRule> {
  const log = keptLog();
  const parsed = await parseRule({ path: `rules/${name}.md`, text: `---\n${head}\n---\n${body}\n` }, log);
  if (parsed?.kind !== "stream") throw new Error(`no stream rule: ${log.warnings.join(" ")}`);
  return parsed.rule;
}

/** `text` in pieces that end at these places. */
export function cutAt(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1))), text.length].sort((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

/** Sources over the letters a and b, with everything that the analysis distinguishes. */
export const sources = fc.letrec<{ source: string }>((tie) => ({
  source: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom("a", "b", "ab", ".", "[ab]", "[^a]", "\\w", "\\s", "\\b", "\\B", "^", "$", " "),
    fc.tuple(tie("source"), tie("source")).map(([one, other]) => one + other),
    fc.tuple(tie("source"), tie("source")).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie("source"), fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "*?", "{0}"))
      .map(([one, q]) => `(?:${one})${q}`),
    fc.tuple(fc.constantFrom("(", "(?=", "(?!", "(?<=", "(?<!"), tie("source")).map(([open, one]) => `${open}${one})`),
  ),
})).source;

export const texts = fc.string({ unit: fc.constantFrom("a", "b", " "), minLength: 1, maxLength: 10 });
