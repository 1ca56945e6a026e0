// What tools do to text before a model sees it: no terminal escapes, no endless lines, sizes in words.

/** Inline limits of every tool. */
export const maxOutputLines = 3000;
export const maxOutputBytes = 51_200;

/** The first `maxLength` characters, never half of one. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, splitsPair ? maxLength - 1 : maxLength)}…`;
}

/** `340 bytes`, `1.5KB`, `20MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return count(bytes, "byte");
  const [value, unit] = bytes < 1024 ** 2 ? [bytes / 1024, "KB"] : [bytes / 1024 ** 2, "MB"];
  return `${value.toFixed(1).replace(/\.0$/, "")}${unit}`;
}

/** `1 file`, `2 files`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

/** One bracketed suffix for everything there is to say about an output. */
export function notice(remarks: readonly string[]): string {
  return remarks.length === 0 ? "" : `\n\n[${remarks.join(". ")}]`;
}
