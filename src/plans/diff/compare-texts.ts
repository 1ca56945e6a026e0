// What really differs between two texts, as replacements of bytes. Equal beginnings and ends are cut off first; only the
// rest is compared line by line, within a limit.

/** `[start, end)` of the old bytes became `[newStart, newEnd)` of the new ones; between replacements both are equal. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

// Beyond these limits the whole middle counts as replaced: correct, but less precise. The first limit is reached long
// before the second, which would make the result depend on the machine's speed: users choose hunks by their number.
const maxEditLength = 1000;
const timeoutMs = 30_000;

/** Ascending and not touching; empty when the texts are equal. */
export async function compareTexts(before: Buffer, after: Buffer): Promise<Replacement[]> {
  const start = commonPrefix(before, after);
  const suffix = commonSuffix(before.subarray(start), after.subarray(start));
  const [end, newEnd] = [before.length - suffix, after.length - suffix];
  if (start === end && start === newEnd) return [];
  const whole = { start, end, newStart: start, newEnd };
  const [oldMiddle, newMiddle] = [before.subarray(start, end), after.subarray(start, newEnd)];
  // With one line on a side there is nothing left to tell apart.
  if (!oldMiddle.includes("\n") || !newMiddle.includes("\n")) return [whole];
  // In whole lines: a line that is cut in one text and not in the other would look changed.
  const from = start === 0 ? 0 : before.lastIndexOf("\n", start - 1) + 1;
  const isWhole = isLineStart(before, end) && isLineStart(after, newEnd);
  const tail = isWhole ? 0 : endOfLine(before, end) - end;
  return (await compareLines(before.subarray(from, end + tail), after.subarray(from, newEnd + tail), from)) ?? [whole];
}

function isLineStart(text: Buffer, at: number): boolean {
  return at === 0 || text[at - 1] === 0x0a;
}

function endOfLine(text: Buffer, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline === -1 ? text.length : newline + 1;
}

async function compareLines(before: Buffer, after: Buffer, offset: number): Promise<Replacement[] | undefined> {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const inPlace = replacedInPlace(old, fresh, offset);
  if (inPlace) return inPlace;
  const { diffArrays } = await import("diff");
  const changes = diffArrays(old, fresh, { maxEditLength, timeout: timeoutMs });
  if (!changes) return undefined;
  const replacements: Replacement[] = [];
  let start = offset;
  let newStart = offset;
  let [end, newEnd] = [start, newStart];
  const close = () => {
    if (end > start || newEnd > newStart) replacements.push({ start, end, newStart, newEnd });
  };
  for (const { added, removed, value } of changes) {
    const length = value.reduce((sum, line) => sum + line.length, 0);
    if (removed) end += length;
    else if (added) newEnd += length;
    else {
      close();
      start = end += length;
      newStart = newEnd += length;
    }
  }
  close();
  return replacements;
}

/**
 * The usual rewrite changes lines and moves none. Where no new line is found anywhere in the old text, no comparison
 * can pair more lines than this does, and the search for a better one is not needed. Undefined: it may be.
 */
function replacedInPlace(old: readonly string[], fresh: readonly string[], offset: number): Replacement[] | undefined {
  if (old.length !== fresh.length) return undefined;
  let known: Set<string> | undefined;
  const replacements: Replacement[] = [];
  let isOpen = false;
  let [end, newEnd] = [offset, offset];
  for (const [index, line] of fresh.entries()) {
    const was = old[index] as string;
    const [start, newStart] = [end, newEnd];
    end += was.length;
    newEnd += line.length;
    const isSame = was === line;
    if (!isSame) {
      known ??= new Set(old);
      if (known.has(line)) return undefined;
      const last = isOpen ? replacements.pop() : undefined;
      replacements.push({ start: last?.start ?? start, end, newStart: last?.newStart ?? newStart, newEnd });
    }
    isOpen = !isSame;
  }
  return replacements;
}

/** As Latin-1, one character is one byte, whatever the bytes are. */
function linesOf(bytes: Buffer): string[] {
  return bytes.toString("latin1").match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function commonPrefix(a: Buffer, b: Buffer): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}

function commonSuffix(a: Buffer, b: Buffer): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}
