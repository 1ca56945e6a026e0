// Replacement text: `out` with its metavariables filled in. Lines that come along keep their indentation relative to
// where they were taken from, and take the indentation of where they go.

import type { GalleyError } from "../../base/errors.js";
import { toolFailure } from "../tool.js";
import { isBound, metavariablesIn, spelled, type Variable } from "./pattern.js";
import type { Span } from "./worker.js";

/** More than this is not a real indentation. */
const maxIndent = 1000;

export interface Template {
  parts: (string | Variable)[];
}

/** The file a replacement goes into. */
export interface TemplateSource {
  text: string;
  lineEnd: string;
  /** Lines that begin inside a string, from 0: they must stay as they are. */
  fixedLines: ReadonlySet<number>;
}

/** Throws for a name that the pattern does not bind. `where` names the text in the sentence. */
export function parseTemplate(out: string, { pat, where }: { pat: string; where: string }): Template {
  if (/[\ud800-\udfff]/u.test(out)) throw toolFailure(`${where} is not valid Unicode text`);
  const bound = metavariablesIn(pat).filter(isBound);
  const parts: Template["parts"] = [];
  let position = 0;
  for (const match of out.matchAll(/(?<!\$)(\$+)([A-Z_][A-Z0-9_]*)([a-z]?)/g)) {
    const [, dollars = "", name = "", next] = match;
    const variable = { name, isMultiple: dollars === "$$$" };
    const isKnown = bound.some((known) => known.name === name && known.isMultiple === variable.isMultiple);
    if (isKnown && (dollars === "$" || dollars === "$$$")) {
      parts.push(out.slice(position, match.index), variable);
      position = match.index + dollars.length + name.length;
    } else if (!next) throw unknownVariable(dollars + name, { where, bound });
    // else: an identifier such as `$Event`, which stays as it is
  }
  parts.push(out.slice(position));
  return { parts: parts.filter((part) => part !== "") };
}

/** A place that matched, with what its metavariables hold, by their spelling. */
export interface Captured {
  span: Span;
  captures: ReadonlyMap<string, Span>;
}

/** The replacement for one match; undefined when it would be longer than `maxLength`. */
export function renderTemplate(
  { parts }: Template,
  match: Captured,
  { source, where, maxLength }: { source: TemplateSource; where: string; maxLength: number },
): string | undefined {
  const matchIndent = indentAt(source.text, match.span);
  let text = "";
  let lineIndent = "";
  for (const [index, part] of parts.entries()) {
    if (typeof part === "string") {
      const lines = part.split(/\r?\n/);
      // The indentation of the template's line, wherever on it a capture stands.
      if (lines.length > 1 || index === 0) lineIndent = leadingSpace(lines.at(-1) ?? "");
      const isLast = index === parts.length - 1;
      text += lines
        .map((line, row) => {
          // An empty line stays empty, unless a capture goes on in it.
          const isEmpty = line === "" && (isLast || row < lines.length - 1);
          return row === 0 || isEmpty ? line : matchIndent + line;
        })
        .join(source.lineEnd);
    } else {
      const captured = match.captures.get(spelled(part));
      if (captured) text += reindent(captured, { source, indent: matchIndent + lineIndent });
      // A list may be empty; a single node that is not there was never part of the match.
      else if (!part.isMultiple) throw unknownVariable(spelled(part), { where, bound: [] });
    }
    if (text.length > maxLength) return undefined;
  }
  return text;
}

function reindent(span: Span, { source, indent }: { source: TemplateSource; indent: string }): string {
  const text = source.text.slice(span.start, span.end);
  if (!text.includes("\n")) return text;
  const oldIndent = indentAt(source.text, span);
  if (oldIndent === indent) return text;
  return text
    .split("\n")
    .map((line, index) => {
      const isBlank = line === "" || line === "\r";
      const isFixed = source.fixedLines.has(span.line + index);
      return index === 0 || isBlank || isFixed || !line.startsWith(oldIndent)
        ? line
        : indent + line.slice(oldIndent.length);
    })
    .join("\n");
}

/** Of the line on which a span begins. Neither searched for nor read whole: a line may be millions of characters long. */
function indentAt(text: string, { start, column }: Span): string {
  const lineStart = start - column;
  return leadingSpace(text.slice(lineStart, Math.min(start, lineStart + maxIndent)));
}

function leadingSpace(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function unknownVariable(
  variable: string,
  { where, bound }: { where: string; bound: readonly Variable[] },
): GalleyError {
  const known = [...new Set(bound.map(spelled))];
  const hint = known.length > 0 ? `the pattern binds ${known.join(", ")}` : "the pattern does not bind it";
  return toolFailure(`Unknown metavariable ${variable} in ${where}; ${hint}.`);
}
