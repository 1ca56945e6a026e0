// Words that every match of a pattern must contain, so that most files need neither decoding nor parsing.

export interface Literal {
  word: string;
  /** In the pattern, and so in every match, no character of a longer word comes before or after it. */
  isStart: boolean;
  isEnd: boolean;
}

/** None with a selector, where most of the pattern is only context. */
export function literalsIn({ pat, sel }: { pat: string; sel?: string | undefined }): Literal[] {
  if (sel !== undefined) return [];
  const literals = new Map<string, Literal>();
  // Metavariables come along, so that a word glued to one is seen to be part of something longer.
  for (const match of pat.matchAll(/(?<!\$)\$+[A-Z_][A-Z0-9_]*|[A-Za-z_][A-Za-z0-9_]+/g)) {
    const [word] = match;
    if (word.startsWith("$")) continue;
    const end = match.index + word.length;
    const literal = { word, isStart: !isGlued(pat, match.index - 1), isEnd: !isGlued(pat, end) };
    literals.set(JSON.stringify(literal), literal);
  }
  return [...literals.values()];
}

/** Could the character belong to a word? Everything that is not ASCII could. */
function isGlued(pat: string, index: number): boolean {
  return /[\w\u0080-\uffff]/.test(pat.charAt(index));
}

export function containsLiteral(bytes: Buffer, { word, isStart, isEnd }: Literal): boolean {
  for (let place = bytes.indexOf(word); place >= 0; place = bytes.indexOf(word, place + 1))
    if (!(isStart && isWordByte(bytes[place - 1])) && !(isEnd && isWordByte(bytes[place + word.length]))) return true;
  return false;
}

/** Only what belongs to a word in every language; a byte of a longer character may be a space. */
function isWordByte(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f;
}
