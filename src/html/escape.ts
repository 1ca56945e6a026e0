// Foreign text for a page. Everything that comes from a session passes here: the result can be neither markup nor an
// invisible instruction, between tags as well as between quotes.

import { stripEscapes } from "../base/sanitize.js";

/** For text and for quoted attributes. */
export function escapeHtml(text: string): string {
  if (!/[^ -~\n\t]|[&<>"']/.test(text)) return text; // the usual case
  return showHidden(text).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/**
 * Terminal sequences are removed, line ends become LF, and every other invisible character with an effect (controls,
 * direction changes, tags, half a surrogate pair) is replaced by its name.
 */
export function showHidden(text: string): string {
  return stripEscapes(text).replace(/\r\n?/g, "\n").replace(hidden, nameOf);
}

/** U+200C and U+200D join letters, and the Arabic signs enclose numbers: those are visible. */
const hidden = /(?!\n|\t|\u200c|\u200d|[\u0600-\u0605\u06dd])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code); // Unicode has a picture of each
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** One line of at most so many characters, for headings and lists. */
export function oneLine(text: string, maxLength = 120): string {
  // Far more than is shown, so that a text of megabytes costs nothing, and no name of a hidden character is cut.
  const start = showHidden(text.slice(0, maxLength * 4))
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(start);
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : start;
}
