// Markdown as HTML of a fixed list of elements: nothing but the elements below can come out, whatever goes in. A text that
// would grow out of proportion is shown as it was written.

import { type Align, type Block, type Cell, createMarkdownParser, type Inline } from "../render/markdown.js";
import { escapeHtml } from "./escape.js";

export type RenderMarkdown = (source: string) => string;

/** How much longer than its source a text may become. */
const growth = { factor: 16, allowance: 10_000 };

export async function createMarkdown(): Promise<RenderMarkdown> {
  const parse = await createMarkdownParser();
  return (source) => {
    const html = writeBlocks(parse(source));
    return html.length > source.length * growth.factor + growth.allowance ? plainText(source) : html;
  };
}

export function plainText(source: string): string {
  return `<pre class="plain">${escapeHtml(source)}</pre>`;
}

/** `isTight`: paragraphs of a list without space between its items have no element of their own. */
function writeBlocks(blocks: readonly Block[], isTight = false): string {
  return blocks.map((block) => writeBlock(block, isTight)).join("");
}

function writeBlock(block: Block, isTight: boolean): string {
  switch (block.type) {
    case "paragraph":
      return isTight ? writeInlines(block.children) : wrap("p", writeInlines(block.children));
    case "heading":
      // Below the headings of the page itself.
      return wrap(block.level <= 3 ? `h${block.level + 2}` : "h6", writeInlines(block.children));
    case "quote":
      return wrap("blockquote", writeBlocks(block.children));
    case "list": {
      const items = block.items.map((item) => wrap("li", writeBlocks(item, block.isTight))).join("");
      if (block.start === undefined) return wrap("ul", items);
      return wrap("ol", items, block.start === 1 ? "" : ` start="${block.start}"`);
    }
    case "code":
      return `<pre><code>${escapeHtml(block.text)}</code></pre>`;
    case "rule":
      return "<hr>";
    case "table":
      return writeTable(block);
    case "plain":
      return plainText(block.text);
  }
}

function writeTable({ head, rows, align }: Block & { type: "table" }): string {
  const row = (tag: "th" | "td") => (cells: readonly Cell[]) =>
    wrap("tr", cells.map((cell, index) => wrap(tag, writeInlines(cell), alignment(align[index]))).join(""));
  const body = rows.length === 0 ? "" : wrap("tbody", rows.map(row("td")).join(""));
  return wrap("table", wrap("thead", row("th")(head)) + body);
}

function alignment(align: Align = "left"): string {
  return align === "left" ? "" : ` class="${align}"`;
}

const marks = { strong: "strong", emphasis: "em", struck: "del" } as const;

function writeInlines(inlines: readonly Inline[]): string {
  return inlines.map(writeInline).join("");
}

function writeInline(inline: Inline): string {
  switch (inline.type) {
    case "text":
      return escapeHtml(inline.text);
    case "code":
      return wrap("code", escapeHtml(inline.text));
    case "break":
      return inline.isHard ? "<br>" : "\n";
    case "link": {
      const content = writeInlines(inline.children);
      if (inline.address !== undefined) return link(inline.address, content);
      return wrap("span", content, ` title="${escapeHtml(inline.written.slice(0, 500))}"`);
    }
    case "image": {
      // A picture from elsewhere is not loaded; a reader who wants to see it may follow the link.
      const name = `[image${inline.text === "" ? "" : `: ${escapeHtml(inline.text)}`}]`;
      return inline.address === undefined ? name : link(inline.address, name);
    }
    default:
      return wrap(marks[inline.type], writeInlines(inline.children));
  }
}

function link(address: string, content: string): string {
  return wrap("a", content, ` href="${escapeHtml(address)}" rel="noopener noreferrer"`);
}

function wrap(tag: string, content: string, attributes = ""): string {
  return `<${tag}${attributes}>${content}</${tag}>`;
}
