// Replacement text: `out` with its metavariables filled in. Lines that come along keep their indentation relative to
// where they were taken from, and take the indentation of where they go.

import type { SgNode } from "@ast-grep/napi";
import type { GalleyError } from "../base/errors.js";
import { isBound, type Metavariable, metavariablesIn } from "./ast-pattern.js";
import { toolFailure } from "./tool.js";

type Variable = Pick<Metavariable, "name" | "isMultiple">;

export interface Template {
  parts: (string | Variable)[];
}

/** The file a replacement goes into. */
export interface TemplateSource {
  text: string;
  lineEnd: "\n" | "\r\n";
  /** Does the grammar have strings over several lines, whose lines must stay as they are? */
  hasTemplateStrings: boolean;
}

/** Throws for a name that the pattern does not bind. `where` names the text in the sentence. */
export function parseTemplate(out: string, { pat, where }: { pat: string; where: string }): Template {
  if (/[\ud800-\udfff]/u.test(out)) throw toolFailure(`${where} is not valid Unicode text`);
  const bound = metavariablesIn(pat).filter(isBound);
  const parts: Template["parts"] = [];
  let position = 0;
  for (const match of out.matchAll(/(\$+)([A-Z_][A-Z0-9_]*)([a-z]?)/g)) {
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

/** The replacement for one match; undefined when it would be longer than `maxLength`. */
export function renderTemplate(
  { parts }: Template,
  match: SgNode,
  { source, where, maxLength }: { source: TemplateSource; where: string; maxLength: number },
): string | undefined {
  const matchIndent = indentAt(source.text, match.range().start.index);
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
      const captured = capturedNodes(match, part);
      if (captured === undefined) throw unknownVariable(spelled(part), { where, bound: [] });
      text += reindent(captured, { source, indent: matchIndent + lineIndent });
    }
    if (text.length > maxLength) return undefined;
  }
  return text;
}

/** What a metavariable holds: nodes in order, none for an empty list, undefined where the match does not bind it. */
export function capturedNodes(match: SgNode, { name, isMultiple }: Variable): SgNode[] | undefined {
  if (isMultiple) return match.getMultipleMatches(name);
  const node = match.getMatch(name);
  return node ? [node] : undefined;
}

/** The text from the first node to the last, with everything in between. */
export function capturedText(nodes: readonly SgNode[], source: string): string {
  const [first, last] = [nodes[0], nodes.at(-1)];
  return first && last ? source.slice(first.range().start.index, last.range().end.index) : "";
}

function reindent(nodes: readonly SgNode[], { source, indent }: { source: TemplateSource; indent: string }): string {
  const text = capturedText(nodes, source.text);
  const first = nodes[0];
  if (first === undefined || !text.includes("\n")) return text;
  const start = first.range().start;
  const oldIndent = indentAt(source.text, start.index);
  if (oldIndent === indent) return text;
  const fixed = source.hasTemplateStrings ? linesInsideStrings(nodes) : new Set<number>();
  return text
    .split("\n")
    .map((line, index) => {
      const isBlank = line === "" || line === "\r";
      if (index === 0 || isBlank || fixed.has(start.line + index) || !line.startsWith(oldIndent)) return line;
      return indent + line.slice(oldIndent.length);
    })
    .join("\n");
}

/** Lines that begin inside a template string: their white space is content. */
function linesInsideStrings(nodes: readonly SgNode[]): Set<number> {
  const lines = new Set<number>();
  for (const node of nodes)
    for (const text of node.findAll({ rule: { kind: "template_string" } })) {
      const { start, end } = text.range();
      for (let line = start.line + 1; line <= end.line; line++) lines.add(line);
    }
  return lines;
}

function indentAt(text: string, offset: number): string {
  return leadingSpace(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset));
}

function leadingSpace(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function unknownVariable(
  variable: string,
  { where, bound }: { where: string; bound: readonly Metavariable[] },
): GalleyError {
  const known = [...new Set(bound.map(spelled))];
  const hint = known.length > 0 ? `the pattern binds ${known.join(", ")}` : "the pattern does not bind it";
  return toolFailure(`Unknown metavariable ${variable} in ${where}; ${hint}.`);
}

function spelled({ name, isMultiple }: Variable): string {
  return `${isMultiple ? "$$$" : "$"}${name}`;
}
