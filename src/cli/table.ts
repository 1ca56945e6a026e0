// Rows of text in columns, and the words and signs for the state of an action or a change: the same everywhere.

/** Columns are as wide as their longest cell; the last one is not filled up. */
export function alignedRows(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

const signs = { pending: "◌", applying: "◌", applied: "✓", discarded: "✗", stale: "⚠", undone: "↺" } as const;
const plainSigns = { pending: "o", applying: "o", applied: "v", discarded: "x", stale: "!", undone: "<" } as const;

/** `pending ◌`, or with a plain sign where the terminal knows no other. */
export function stateText(state: keyof typeof signs, env: NodeJS.ProcessEnv = process.env): string {
  return `${state} ${(knowsUnicode(env) ? signs : plainSigns)[state]}`;
}

function knowsUnicode({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  if (!locale) return process.platform === "darwin" || process.platform === "win32";
  return /utf-?8/i.test(locale);
}

/** `2 files`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `+3 -5`; nothing where it is not known. */
export function figuresText(files: readonly { added?: number | undefined; removed?: number | undefined }[]): string {
  const isKnown = files.some(({ added, removed }) => added !== undefined || removed !== undefined);
  const sum = (pick: (file: { added?: number | undefined; removed?: number | undefined }) => number | undefined) =>
    files.reduce((total, file) => total + (pick(file) ?? 0), 0);
  return isKnown ? `+${sum((file) => file.added)} -${sum((file) => file.removed)}` : "";
}
