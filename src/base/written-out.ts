// Names and text as a person must read them before deciding: nothing invisible is dropped, so that no two look alike.

/** Everything invisible, or that would move what is visible, as its code; runs of spaces as their number. */
export function writtenOut(text: string): string {
  return withCodes(text).replace(/ {4,}/g, (run) => `⟨${run.length} spaces⟩`);
}

/** A line of a file: as above, but its tabs and spaces stay, since they are the file's indentation. */
export function writtenOutLine(text: string): string {
  return text.split("\t").map(withCodes).join("\t");
}

function withCodes(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}⟨⟩]|(?! )\p{Zs}/gu, escaped);
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}
