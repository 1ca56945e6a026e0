// The functions that every part of the page is written with: the ways in which a value of a session may get into it.

import { isObject } from "../base/json.js";
import type { BlobStore } from "../record/store/blobs.js";
import { Bitmaps } from "./bitmap.js";
import { escapeHtml, oneLine } from "./escape.js";
import { createMarkdown, plainText } from "./render-markdown.js";

export interface ExportOptions {
  /** Default true. */
  readonly includeThinking?: boolean;
  /** What tools and commands answered, their pictures and diffs included. Default true. */
  readonly includeToolOutput?: boolean;
  /** Removes known secrets from a text. Called for every text before it is written. */
  readonly redact?: (text: string) => string;
}

/** Takes any value from the file and returns safe markup. */
export interface Renderer {
  readonly includeThinking: boolean;
  readonly includeToolOutput: boolean;
  /** As it is, between tags or in a quoted attribute. */
  text(value: unknown): string;
  /** On one line, shortened. */
  line(value: unknown, maxLength?: number): string;
  /** With its line ends and spaces. */
  plain(value: unknown): string;
  markdown(value: unknown): string;
  image(block: unknown): Promise<string>;
}

export async function createRenderer(options: ExportOptions, blobs: Pick<BlobStore, "get">): Promise<Renderer> {
  const { includeThinking = true, includeToolOutput = true, redact = (text) => text } = options;
  const renderMarkdown = await createMarkdown();
  const bitmaps = new Bitmaps(blobs);
  const read = (value: unknown) => redact(asText(value));
  return {
    includeThinking,
    includeToolOutput,
    text: (value) => escapeHtml(read(value)),
    line: (value, maxLength) => escapeHtml(oneLine(read(value), maxLength)),
    plain: (value) => plainText(read(value)),
    markdown: (value) => renderMarkdown(read(value)),
    image: (block) => bitmaps.render(block),
  };
}

/** Never `String(value)`: an object out of a file may have a `toString` that is no function. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  const compact = JSON.stringify(value) ?? "";
  if (!isObject(value) && !Array.isArray(value)) return compact;
  // Indentation is for reading; deep inside a hostile value it would be most of the text.
  const indented = compact.length < maxIndentedLength ? JSON.stringify(value, null, 2) : compact;
  return indented.length <= compact.length * 4 ? indented : compact;
}

const maxIndentedLength = 100_000;
