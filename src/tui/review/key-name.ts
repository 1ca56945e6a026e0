// The name of a key as tables have it: a character as it was typed, else a word like `escape` or `pageDown`.

import { decodeKittyPrintable, isKeyRelease, parseKey } from "@earendil-works/pi-tui";

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

/** Undefined: no key that means anything. Pasted text is `paste:` and the text: it is never a key. */
export function keyName(data: string): string | undefined {
  if (data.startsWith(pasteStart)) return `paste:${data.slice(pasteStart.length).replace(pasteEnd, "")}`;
  if (isKeyRelease(data)) return undefined;
  const printable = decodeKittyPrintable(data) ?? withModifier(data) ?? (isCharacter(data) ? data : undefined);
  if (printable === " ") return "space";
  return printable ?? parseKey(data);
}

function isCharacter(data: string): boolean {
  return [...data].length === 1 && data >= " " && data !== "\u007f";
}

/** The older way of terminals to send a key with its modifiers; Shift is part of the character. */
function withModifier(data: string): string | undefined {
  const [start, modifiers, code] = data.slice(0, -1).split(";");
  if (start !== "\u001b[27" || !data.endsWith("~") || (modifiers !== "1" && modifiers !== "2")) return undefined;
  const character = String.fromCodePoint(Number(code) || 0);
  return isCharacter(character) ? character : undefined;
}
