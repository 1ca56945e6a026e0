// Markdown as HTML of a fixed list of elements. The parser only finds the structure; the markup is written here, so
// that nothing but the elements below can come out, whatever goes in. Costs are bounded: a text that would grow out of
// proportion, nests too deeply or is very long is shown as it was written.

import type { Token } from "markdown-it";
import { escapeHtml } from "./escape.js";
import { safeLink } from "./safe-link.js";

export type RenderMarkdown = (source: string) => string;

const maxSourceLength = 100_000;
const maxTableCells = 20_000;
const maxNesting = 60;
/** How much longer than its source a text may become. */
const growth = { factor: 16, allowance: 10_000 };

export async function createMarkdown(): Promise<RenderMarkdown> {
  const MarkdownIt = await loadParser();
  const parser = new MarkdownIt("default", { html: false, linkify: false, typographer: false });
  return (source) => {
    if (source.length > maxSourceLength || countTableCells(source) > maxTableCells) return plainText(source);
    const out = new Output(source.length * growth.factor + growth.allowance);
    return writeTokens(parser.parse(source, {}), out) ? out.text : plainText(source);
  };
}

type Parser = typeof import("markdown-it").default;

async function loadParser(): Promise<Parser> {
  const { default: found } = (await import("markdown-it")) as { default: Parser | { default: Parser } };
  return "default" in found ? found.default : found; // the bundler wraps a library's module once more
}

export function plainText(source: string): string {
  return `<pre class="plain">${escapeHtml(source)}</pre>`;
}

/** A row of a table is filled up to the width of its head, so that a few bytes can ask for thousands of cells. */
function countTableCells(source: string): number {
  let columns = 0;
  let cells = 0;
  for (const line of source.split("\n")) {
    if (line.trim() === "") columns = 0;
    else if (line.includes("|") && /^[\s>|:*+-]+$/.test(line)) columns = line.split("|").length;
    cells += columns;
  }
  return cells;
}

class Output {
  text = "";
  readonly #limit: number;
  /** What is open, innermost last. A link that may not be one opens nothing. */
  readonly #closers: string[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(html: string): void {
    this.text += html;
  }

  open(tag: string, attributes = ""): void {
    this.add(`<${tag}${attributes}>`);
    this.#closers.push(`</${tag}>`);
  }

  close(): void {
    this.add(this.#closers.pop() ?? "");
  }

  get isWithinBounds(): boolean {
    return this.text.length <= this.#limit && this.#closers.length <= maxNesting;
  }
}

/** False when it became too much. */
function writeTokens(tokens: readonly Token[], out: Output): boolean {
  for (const token of tokens) {
    if (token.nesting === 1) openElement(token, out);
    else if (token.nesting === -1) closeElement(token, out);
    else if (token.type === "inline") {
      if (!writeTokens(token.children ?? [], out)) return false;
    } else writeLeaf(token, out);
    if (!out.isWithinBounds) return false;
  }
  return true;
}

const tags = new Map(
  Object.entries({
    paragraph: "p",
    bullet_list: "ul",
    ordered_list: "ol",
    list_item: "li",
    blockquote: "blockquote",
    table: "table",
    thead: "thead",
    tbody: "tbody",
    tr: "tr",
    th: "th",
    td: "td",
    em: "em",
    strong: "strong",
    s: "del",
  }),
);

/** Below the headings of the page itself. */
const headings = new Map([
  ["h1", "h3"],
  ["h2", "h4"],
  ["h3", "h5"],
]);

function openElement(token: Token, out: Output): void {
  if (token.hidden) return; // the paragraph of a tight list
  const name = token.type.replace(/_open$/, "");
  if (name === "link") {
    const address = attribute(token, "href");
    const link = safeLink(address);
    if (link === undefined) out.open("span", ` title="${escapeHtml(address.slice(0, 500))}"`);
    else out.open("a", linkAttributes(link));
  } else if (name === "heading") out.open(headings.get(token.tag) ?? "h6");
  else if (name === "th" || name === "td") out.open(name, alignments.get(attribute(token, "style")) ?? "");
  else if (name === "ordered_list") out.open("ol", startAttribute(attribute(token, "start")));
  else out.open(tags.get(name) ?? "span");
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

function closeElement(token: Token, out: Output): void {
  if (!token.hidden) out.close();
}

function linkAttributes(link: string): string {
  return ` href="${escapeHtml(link)}" rel="noopener noreferrer"`;
}

const alignments = new Map([
  ["text-align:right", ' class="right"'],
  ["text-align:center", ' class="center"'],
]);

function startAttribute(start: string): string {
  return /^\d{1,9}$/.test(start) ? ` start="${start}"` : "";
}

function writeLeaf(token: Token, out: Output): void {
  const text = escapeHtml(token.content);
  switch (token.type) {
    case "softbreak":
      return out.add("\n");
    case "hardbreak":
      return out.add("<br>");
    case "hr":
      return out.add("<hr>");
    case "code_inline":
      return out.add(`<code>${text}</code>`);
    case "fence":
    case "code_block":
      return out.add(`<pre><code>${text}</code></pre>`);
    case "image": {
      // A picture from elsewhere is not loaded; a reader who wants to see it may follow the link.
      const link = safeLink(attribute(token, "src"));
      const name = `[image${text === "" ? "" : `: ${text}`}]`;
      return out.add(link === undefined ? name : `<a${linkAttributes(link)}>${name}</a>`);
    }
    default:
      return out.add(text);
  }
}
