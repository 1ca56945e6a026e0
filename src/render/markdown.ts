// Markdown as a small tree, so that every surface draws the same structure with its own means. What a text can do is bounded:
// one that would grow out of proportion, nests too deeply or is very long becomes one block of plain text.

import type { Token } from "markdown-it";
import { safeLink } from "./safe-link.js";

export type Block =
  | { readonly type: "paragraph"; readonly children: readonly Inline[] }
  | { readonly type: "heading"; readonly level: number; readonly children: readonly Inline[] }
  /** `start` is the first number; absent: the items have no numbers. A tight list has no space between its items. */
  | { readonly type: "list"; readonly start?: number; readonly isTight: boolean; readonly items: readonly Block[][] }
  | { readonly type: "quote"; readonly children: readonly Block[] }
  | { readonly type: "code"; readonly language: string; readonly text: string }
  | { readonly type: "rule" }
  | { readonly type: "table"; readonly align: readonly Align[]; readonly head: Cell[]; readonly rows: Cell[][] }
  /** The source itself, where it was too much to take apart. */
  | { readonly type: "plain"; readonly text: string };

export type Inline =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "strong" | "emphasis" | "struck"; readonly children: readonly Inline[] }
  /** `address` is absent where it may not be followed; `written` is what stands in the source. */
  | { readonly type: "link"; readonly address?: string; readonly written: string; readonly children: readonly Inline[] }
  | { readonly type: "image"; readonly address?: string; readonly text: string }
  | { readonly type: "break"; readonly isHard: boolean };

export type Align = "left" | "center" | "right";
export type Cell = readonly Inline[];

const maxSourceLength = 100_000;
const maxTableCells = 20_000;
const maxNesting = 60;

export type ParseMarkdown = (source: string) => Block[];

/** The parser is loaded with the first text. */
export async function createMarkdownParser(): Promise<ParseMarkdown> {
  const MarkdownIt = await loadLibrary();
  const parser = new MarkdownIt("default", { html: false, linkify: false, typographer: false });
  return (source) => {
    if (source.length > maxSourceLength || countTableCells(source) > maxTableCells) return plain(source);
    const tokens = parser.parse(source, {});
    return isTooDeep(tokens) ? plain(source) : new Reader(tokens).blocks();
  };
}

function isTooDeep(tokens: readonly Token[], outer = 0): boolean {
  return tokens.some(({ level, children }) => outer + level > maxNesting || isTooDeep(children ?? [], outer + level));
}

type Library = typeof import("markdown-it").default;

async function loadLibrary(): Promise<Library> {
  const { default: found } = (await import("markdown-it")) as { default: Library | { default: Library } };
  return "default" in found ? found.default : found; // the bundler wraps a library's module once more
}

function plain(text: string): Block[] {
  return [{ type: "plain", text }];
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

/** The library gives a flat list in which elements open and close; this reads it from left to right. */
class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Until the element around them closes. */
  blocks(): Block[] {
    const found: Block[] = [];
    for (let token = this.#take(); token && token.nesting !== -1; token = this.#take()) {
      const block = this.#block(token);
      if (block) found.push(block);
    }
    return found;
  }

  #take(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  #block(token: Token): Block | undefined {
    switch (token.type) {
      case "paragraph_open":
        return { type: "paragraph", children: this.#inline() };
      case "heading_open":
        return { type: "heading", level: Number(token.tag.slice(1)), children: this.#inline() };
      case "blockquote_open":
        return { type: "quote", children: this.blocks() };
      case "bullet_list_open":
      case "ordered_list_open":
        return this.#list(token);
      case "table_open":
        return this.#table();
      case "fence":
      case "code_block":
        return { type: "code", language: token.info.trim().split(/\s/)[0] ?? "", text: token.content };
      case "hr":
        return { type: "rule" };
      default:
        // Unknown to this version of ours: what is in it is still shown.
        return token.nesting === 1
          ? { type: "quote", children: this.blocks() }
          : { type: "plain", text: token.content };
    }
  }

  /** The content of a paragraph, a heading or a cell, and its end. */
  #inline(): Inline[] {
    const content: Inline[] = [];
    for (let token = this.#take(); token && token.nesting !== -1; token = this.#take())
      content.push(...inlinesOf(token.children ?? []));
    return content;
  }

  #list(token: Token): Block {
    const items: Block[][] = [];
    const isTight = this.#tokens[this.#at + 1]?.hidden === true;
    for (let item = this.#take(); item?.nesting === 1; item = this.#take()) items.push(this.blocks());
    const start = Number(token.attrGet("start") ?? 1);
    const isNumbered = token.type === "ordered_list_open" && Number.isSafeInteger(start);
    return { type: "list", ...(isNumbered && { start }), isTight, items };
  }

  #table(): Block {
    const rows: Cell[][] = [];
    const align: Align[] = [];
    for (let token = this.#take(); token && token.type !== "table_close"; token = this.#take()) {
      if (token.type === "tr_open") rows.push([]);
      if (token.type !== "th_open" && token.type !== "td_open") continue;
      if (rows.length === 1) align.push(alignOf(String(token.attrGet("style") ?? "")));
      rows.at(-1)?.push(this.#inline());
    }
    const [head = [], ...body] = rows;
    return { type: "table", align, head, rows: body };
  }
}

function alignOf(style: string): Align {
  return style.endsWith("right") ? "right" : style.endsWith("center") ? "center" : "left";
}

function inlinesOf(tokens: readonly Token[]): Inline[] {
  const open: { token?: Token; children: Inline[] }[] = [{ children: [] }];
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === -1 && open.length > 1) {
      const { token: opener, children } = open.pop() as { token: Token; children: Inline[] };
      open.at(-1)?.children.push(element(opener, children));
    } else {
      const leaf = leafOf(token);
      if (leaf) open.at(-1)?.children.push(leaf);
    }
  }
  return (open[0] as { children: Inline[] }).children;
}

const marks: Readonly<Record<string, "strong" | "emphasis" | "struck">> = {
  strong_open: "strong",
  em_open: "emphasis",
  s_open: "struck",
};

function element(token: Token, children: Inline[]): Inline {
  if (token.type === "link_open") {
    const written = String(token.attrGet("href") ?? "");
    const address = safeLink(written);
    return { type: "link", ...(address !== undefined && { address }), written, children };
  }
  return { type: marks[token.type] ?? "emphasis", children };
}

function leafOf(token: Token): Inline | undefined {
  switch (token.type) {
    case "softbreak":
    case "hardbreak":
      return { type: "break", isHard: token.type === "hardbreak" };
    case "code_inline":
      return { type: "code", text: token.content };
    case "image": {
      const address = safeLink(String(token.attrGet("src") ?? ""));
      return { type: "image", ...(address !== undefined && { address }), text: token.content };
    }
    default:
      return token.content === "" ? undefined : { type: "text", text: token.content };
  }
}
