// Small helpers that published extensions import: sizes, the two ends of a long output, front matter, and questions about
// events and entries.

export const DEFAULT_MAX_LINES = 2000;
export const DEFAULT_MAX_BYTES = 50 * 1024;

/** `340B`, `1.5KB`, `20.0MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1024 ** 2).toFixed(1)}MB`;
}

export interface CutOptions {
  maxLines?: number;
  maxBytes?: number;
}

/** Whole lines from the beginning, as many as both limits allow. */
export function truncateHead(content: string, options: CutOptions = {}) {
  return cutLines(content, options, "head");
}

/** Whole lines from the end; of a last line that alone is too long, its end. */
export function truncateTail(content: string, options: CutOptions = {}) {
  return cutLines(content, options, "tail");
}

function cutLines(content: string, options: CutOptions, end: "head" | "tail") {
  const { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = options;
  const lines = content.split("\n");
  const totals = { totalLines: lines.length, totalBytes: Buffer.byteLength(content), maxLines, maxBytes };
  const wanted = end === "head" ? lines : lines.toReversed();
  const kept: string[] = [];
  let bytes = 0;
  let truncatedBy: "lines" | "bytes" | null = null;
  for (const line of wanted) {
    const size = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (bytes + size > maxBytes) truncatedBy = "bytes";
    else if (kept.length >= maxLines) truncatedBy = "lines";
    if (truncatedBy) break;
    kept.push(line);
    bytes += size;
  }
  const isOneTooLong = truncatedBy === "bytes" && kept.length === 0;
  const lastLinePartial = isOneTooLong && end === "tail";
  if (lastLinePartial) kept.push(lastBytes(wanted[0] ?? "", maxBytes));
  const text = (end === "head" ? kept : kept.toReversed()).join("\n");
  return {
    content: truncatedBy ? text : content,
    truncated: truncatedBy !== null,
    truncatedBy,
    ...totals,
    outputLines: kept.length,
    outputBytes: Buffer.byteLength(truncatedBy ? text : content),
    lastLinePartial,
    firstLineExceedsLimit: isOneTooLong && end === "head",
  };
}

/** Never begins inside a character. */
function lastBytes(line: string, maxBytes: number): string {
  const bytes = Buffer.from(line);
  let from = Math.max(0, bytes.length - maxBytes);
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.toString("utf8", from);
}

export const GREP_MAX_LINE_LENGTH = 500;

export function truncateLine(line: string, maxChars = GREP_MAX_LINE_LENGTH): { text: string; wasTruncated: boolean } {
  const wasTruncated = line.length > maxChars;
  return { text: wasTruncated ? `${line.slice(0, maxChars)}... [truncated]` : line, wasTruncated };
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

export function stripFrontmatter(content: string): string {
  return parseFrontmatter(content).body;
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

export interface ToolEvent {
  readonly toolName?: unknown;
}

export function isToolCallEventType(toolName: string, event: ToolEvent): boolean {
  return event?.toolName === toolName;
}

const isOf = (toolName: string) => (event: ToolEvent) => isToolCallEventType(toolName, event);
export const isBashToolResult = isOf("bash");
export const isEditToolResult = isOf("edit");
export const isFindToolResult = isOf("find");
export const isGrepToolResult = isOf("grep");
export const isLsToolResult = isOf("ls");
export const isPowerShellToolResult = isOf("powershell");
export const isReadToolResult = isOf("read");
export const isWriteToolResult = isOf("write");

export function getLatestCompactionEntry<Entry extends { type: string }>(entries: readonly Entry[]): Entry | null {
  return entries.findLast(({ type }) => type === "compaction") ?? null;
}

export const CURRENT_SESSION_VERSION = 3;

const languages: Readonly<Record<string, string>> = {
  ...{ ts: "typescript", tsx: "typescript", mts: "typescript", cts: "typescript", js: "javascript", jsx: "javascript" },
  ...{
    mjs: "javascript",
    cjs: "javascript",
    py: "python",
    rb: "ruby",
    rs: "rust",
    go: "go",
    java: "java",
    kt: "kotlin",
  },
  ...{ swift: "swift", c: "c", h: "c", cpp: "cpp", cc: "cpp", hpp: "cpp", cs: "csharp", php: "php", sh: "bash" },
  ...{ bash: "bash", zsh: "bash", sql: "sql", html: "html", htm: "html", css: "css", scss: "scss", json: "json" },
  ...{ yaml: "yaml", yml: "yaml", toml: "toml", xml: "xml", md: "markdown", markdown: "markdown", lua: "lua" },
};

export function getLanguageFromPath(path: string): string | undefined {
  const name = path.split(/[\\/]/).at(-1)?.toLowerCase() ?? "";
  return name === "dockerfile" || name === "makefile" ? name : languages[name.split(".").at(-1) ?? ""];
}

/** Without colours, where there is no terminal. */
export function highlightCode(code: string): string[] {
  return code.split("\n");
}

export function renderDiff(diff: string): string {
  return diff;
}
