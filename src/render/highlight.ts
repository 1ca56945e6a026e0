// Which parts of a text are keywords, strings or comments, as ranges: what draws them chooses the colours. A language that is
// not known, a very long text and a text that the library fails on have no ranges.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** What a range is, in the few words that surfaces have colours for. */
export type TokenKind = "keyword" | "string" | "comment" | "number" | "name" | "type" | "meta";

/** `[start, end)` in UTF-16 units. */
export interface Token {
  readonly start: number;
  readonly end: number;
  readonly kind: TokenKind;
}

const maxLength = 200_000;

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** Names that the library's own aliases do not have. */
const extensions: Readonly<Record<string, string>> = {
  mts: "typescript",
  cts: "typescript",
  h: "c",
  hpp: "cpp",
  vue: "xml",
  svelte: "xml",
  bats: "bash",
  toml: "ini",
  jsonc: "json",
  jsonl: "json",
};

/** The language of a file by its name, or of a fence by its word. */
export function languageOf(name: string): string | undefined {
  const base = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const word = base === "makefile" ? base : base.slice(base.lastIndexOf(".") + 1);
  if (Object.hasOwn(extensions, word)) return extensions[word];
  return hljs.getLanguage(word) ? word : undefined;
}

/** In ascending order, none inside another. */
export function highlight(text: string, language: string | undefined): Token[] {
  if (language === undefined || text.length > maxLength || !hljs.getLanguage(language)) return [];
  try {
    // The tree is what every emitter of the library has; its types name only the function that writes HTML of it.
    const { rootNode } = hljs.highlight(text, { language, ignoreIllegals: true })._emitter as unknown as Emitter;
    const tokens: Token[] = [];
    collect(rootNode, { at: 0, kind: undefined, tokens });
    return tokens;
  } catch {
    return []; // plain text is always readable
  }
}

interface Emitter {
  readonly rootNode: Scope;
}

interface Scope {
  readonly scope?: string;
  readonly children: readonly (Scope | string)[];
}

/** The innermost scope that has a kind decides. */
function collect(node: Scope, state: { at: number; kind: TokenKind | undefined; tokens: Token[] }): void {
  const outer = state.kind;
  state.kind = kindOf(node.scope) ?? outer;
  for (const child of node.children) {
    if (typeof child !== "string") {
      collect(child, state);
      continue;
    }
    const [start, end] = [state.at, state.at + child.length];
    state.at = end;
    if (state.kind === undefined || end === start) continue;
    const last = state.tokens.at(-1);
    if (last?.end === start && last.kind === state.kind) state.tokens[state.tokens.length - 1] = { ...last, end };
    else state.tokens.push({ start, end, kind: state.kind });
  }
  state.kind = outer;
}

const kinds: Readonly<Record<string, TokenKind>> = {
  keyword: "keyword",
  literal: "keyword",
  operator: "keyword",
  string: "string",
  regexp: "string",
  subst: "name",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  number: "number",
  symbol: "number",
  title: "name",
  function: "name",
  section: "name",
  name: "name",
  attr: "name",
  attribute: "name",
  built_in: "type",
  type: "type",
  class: "type",
  tag: "type",
  "selector-tag": "type",
  "selector-class": "type",
  meta: "meta",
  addition: "string",
  deletion: "comment",
};

function kindOf(scope: string | undefined): TokenKind | undefined {
  const word = scope?.split(".")[0] ?? "";
  return Object.hasOwn(kinds, word) ? kinds[word] : undefined;
}
