// A title with lines below it, and a file as one line.

import { changeText } from "./figures.js";

/** Whole lines; nothing where there are none. */
export function listing(title: string, lines: readonly string[], max = Number.POSITIVE_INFINITY): string {
  if (lines.length === 0) return "";
  const more = lines.length > max ? [`and ${lines.length - max} more`] : [];
  return [title, ...[...lines.slice(0, max), ...more].map((line) => `  ${line}`)].map((line) => `${line}\n`).join("");
}

const kindWords: Readonly<Record<string, string>> = { create: "new", delete: "deleted", rename: "renamed" };

export interface ListedFile {
  readonly shownPath: string;
  readonly kind?: string | undefined;
  readonly added?: number;
  readonly removed?: number;
}

export function fileLine({ shownPath, kind = "", ...figures }: ListedFile): string {
  return [shownPath, changeText(figures), kindWords[kind] ?? ""].filter((part) => part !== "").join("  ");
}
