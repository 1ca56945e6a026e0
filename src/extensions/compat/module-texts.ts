// Small helpers with texts that published extensions import: sizes, the beginning of a long output, front matter.

export const DEFAULT_MAX_LINES = 2000;
export const DEFAULT_MAX_BYTES = 50 * 1024;

/** `340B`, `1.5KB`, `20.0MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1024 ** 2).toFixed(1)}MB`;
}

export interface HeadOptions {
  maxLines?: number;
  maxBytes?: number;
}

/** Whole lines from the beginning, as many as both limits allow. */
export function truncateHead(content: string, options: HeadOptions = {}) {
  const { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = options;
  const lines = content.split("\n");
  const totals = { totalLines: lines.length, totalBytes: Buffer.byteLength(content), maxLines, maxBytes };
  const kept: string[] = [];
  let bytes = 0;
  let truncatedBy: "lines" | "bytes" | null = null;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (bytes + size > maxBytes) truncatedBy = "bytes";
    else if (kept.length >= maxLines) truncatedBy = "lines";
    if (truncatedBy) break;
    kept.push(line);
    bytes += size;
  }
  return {
    content: truncatedBy ? kept.join("\n") : content,
    truncated: truncatedBy !== null,
    truncatedBy,
    ...totals,
    outputLines: kept.length,
    outputBytes: bytes,
    lastLinePartial: false,
    firstLineExceedsLimit: truncatedBy === "bytes" && kept.length === 0,
  };
}

/** Plain fields between two lines of dashes: texts, numbers, booleans and lists of them. */
export function parseFrontmatter(content: string): { frontmatter: Record<string, unknown>; body: string } {
  const text = content.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const [whole, block] = /^---\n(.*?)(?:^|\n)---[ \t]*(?:\n|$)/s.exec(text) ?? [];
  if (whole === undefined || block === undefined) return { frontmatter: {}, body: text };
  const frontmatter: Record<string, unknown> = Object.create(null);
  let list: unknown[] | undefined;
  for (const line of block.split("\n")) {
    const [, item] = /^\s*-\s+(.*)$/.exec(line) ?? [];
    if (item !== undefined && list) {
      list.push(scalar(item));
      continue;
    }
    const [, key, value = ""] = /^([\w.-]+):\s*(.*)$/.exec(line) ?? [];
    if (key === undefined) continue;
    list = undefined;
    if (value === "") {
      list = [];
      frontmatter[key] = list;
    } else frontmatter[key] = fieldValue(value);
  }
  return { frontmatter: { ...frontmatter }, body: text.slice(whole.length).trim() };
}

function fieldValue(text: string): unknown {
  const [, items] = /^\[(.*)\]$/.exec(text) ?? [];
  return items === undefined
    ? scalar(text)
    : items
        .split(",")
        .filter((item) => item.trim() !== "")
        .map(scalar);
}

function scalar(given: string): unknown {
  const text = given.trim();
  if (/^(["']).*\1$/.test(text) && text.length > 1) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  if (text === "null" || text === "~") return null;
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}
