// The names of temporary files: beside the file that they will replace, hidden, and never found by a search.

const idLength = 32;
const suffixBytes = 1 + idLength + "-9999.new".length;
const pattern = new RegExp(`^\\..+\\.[0-9a-f]{${idLength}}-\\d{1,4}\\.(?:new|old)$`, "s");

/** `transaction` is 32 hexadecimal digits; `index` tells the files of one transaction apart. */
export function stagedName(name: string, transaction: string, index: number): string {
  return `.${cut(name, 255 - 1 - suffixBytes)}.${transaction}-${index}.new`;
}

export function isTempName(name: string): boolean {
  return pattern.test(name);
}

export async function newTransaction(): Promise<string> {
  const { randomBytes } = await import("node:crypto"); // only writing needs it
  return randomBytes(idLength / 2).toString("hex");
}

/** At most `maxBytes`, without half a character at the end. */
function cut(name: string, maxBytes: number): string {
  let kept = "";
  let bytes = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    kept += character;
  }
  return kept;
}
