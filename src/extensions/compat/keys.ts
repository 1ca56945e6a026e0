// Keys as a terminal sends them, and the names that published modules use for them.

import { stripEscapes } from "../../base/sanitize.js";

/** Where a front end puts the cursor: takes no room in a line. */
export const CURSOR_MARKER = "\x1b]galley;cursor\x07";

const modify = (modifiers: string) => (key: string) => `${modifiers}+${key}`;

/** Names of keys, and how to write them with modifiers. */
export const Key = Object.freeze({
  escape: "escape",
  esc: "escape",
  enter: "enter",
  return: "enter",
  tab: "tab",
  space: "space",
  backspace: "backspace",
  delete: "delete",
  insert: "insert",
  home: "home",
  end: "end",
  pageUp: "pageUp",
  pageDown: "pageDown",
  up: "up",
  down: "down",
  left: "left",
  right: "right",
  ctrl: modify("ctrl"),
  shift: modify("shift"),
  alt: modify("alt"),
  ctrlShift: modify("ctrl+shift"),
  ctrlAlt: modify("ctrl+alt"),
  shiftAlt: modify("shift+alt"),
  ctrlShiftAlt: modify("ctrl+shift+alt"),
});

const plain: Readonly<Record<string, string>> = {
  "\x1b": "escape",
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  " ": "space",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x00": "ctrl+space",
  "\x1b[Z": "shift+tab",
};

/** By the letter at the end of a sequence, and by the number before a tilde. */
const byLetter: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};
const byNumber: Readonly<Record<string, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

/** Is what the terminal sent this key, say `ctrl+c` or `shift+up`? */
export function matchesKey(data: string, key: string): boolean {
  const wanted = canonical(key);
  return namesOf(data).some((name) => canonical(name) === wanted);
}

/** Every name of what was sent; a control character has two. */
function namesOf(data: string): string[] {
  const known = plain[data];
  const names = known === undefined ? [] : [known];
  if (data === "\n") names.push("shift+enter", "ctrl+j");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what the keyboard sends
  if (/^[\x01-\x1a]$/.test(data)) names.push(`ctrl+${String.fromCharCode(data.charCodeAt(0) + 96)}`);
  if (/^\P{Cc}$/u.test(data)) names.push(data, ...(data === data.toLowerCase() ? [] : [`shift+${data}`]));
  const sequence = escapeName(data);
  if (sequence !== undefined) names.push(sequence);
  else if (data.length > 1 && data.startsWith("\x1b") && known === undefined)
    names.push(...namesOf(data.slice(1)).map((name) => `alt+${name}`));
  return names;
}

function escapeName(data: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
  const [, number = "", modifiers, letter = ""] = /^\x1b(?:\[|O)(\d*)(?:;(\d+)(?::\d+)?)?([A-Zu~])$/.exec(data) ?? [];
  const key = letter === "u" ? fromCode(Number(number)) : letter === "~" ? byNumber[number] : byLetter[letter];
  return key === undefined ? undefined : `${modifierNames(modifiers)}${key}`;
}

function fromCode(code: number): string | undefined {
  if (!Number.isInteger(code) || code < 1 || code > 0x10ffff) return undefined;
  const text = String.fromCodePoint(code);
  return plain[text] ?? text;
}

function modifierNames(code: string | undefined): string {
  const bits = Number(code ?? 1) - 1;
  return ["shift", "alt", "ctrl"].map((name, index) => (bits & (1 << index) ? `${name}+` : "")).join("");
}

function canonical(key: string): string {
  const parts = key.toLowerCase().split(/\+(?=.)/);
  const base = parts.pop() ?? "";
  const alias = base === "esc" ? "escape" : base === "return" ? "enter" : base;
  return [...parts.sort(), alias].join("+");
}

const editorKeys: Readonly<Record<string, readonly string[]>> = {
  cursorUp: ["up"],
  cursorDown: ["down"],
  cursorLeft: ["left", "ctrl+b"],
  cursorRight: ["right", "ctrl+f"],
  cursorWordLeft: ["alt+left", "ctrl+left", "alt+b"],
  cursorWordRight: ["alt+right", "ctrl+right", "alt+f"],
  cursorLineStart: ["home", "ctrl+a"],
  cursorLineEnd: ["end", "ctrl+e"],
  pageUp: ["pageUp"],
  pageDown: ["pageDown"],
  deleteCharBackward: ["backspace"],
  deleteCharForward: ["delete", "ctrl+d"],
  deleteWordBackward: ["ctrl+w", "alt+backspace"],
  deleteWordForward: ["alt+d", "alt+delete"],
  deleteToLineStart: ["ctrl+u"],
  deleteToLineEnd: ["ctrl+k"],
  undo: ["ctrl+-"],
  newLine: ["shift+enter"],
  submit: ["enter"],
  tab: ["tab"],
  copy: ["ctrl+c"],
  selectUp: ["up"],
  selectDown: ["down"],
  selectPageUp: ["pageUp"],
  selectPageDown: ["pageDown"],
  selectConfirm: ["enter"],
  selectCancel: ["escape", "ctrl+c"],
  expandTools: ["ctrl+o"],
};

/** Which keys do what while a text is edited or something is chosen. */
export function getEditorKeybindings() {
  const getKeys = (action: string): string[] => [...(editorKeys[action] ?? [])];
  return { getKeys, matches: (data: string, action: string) => getKeys(action).some((key) => matchesKey(data, key)) };
}

/** `enter to confirm`. */
export function keyHint(action: string, description: string): string {
  const [key = action] = getEditorKeybindings().getKeys(action);
  return `${key} ${description}`;
}

/** Do the letters of the query occur in this order? The lower the score, the closer they stand together. */
export function fuzzyMatch(query: string, text: string): { matches: boolean; score: number } {
  const letters = [...query.toLowerCase()].filter((letter) => letter.trim() !== "");
  const where = stripEscapes(text).toLowerCase();
  let score = 0;
  let last = -1;
  for (const letter of letters) {
    const found = where.indexOf(letter, last + 1);
    if (found === -1) return { matches: false, score: 0 };
    const isWordStart = found === 0 || /[\s\-_./:]/.test(where[found - 1] ?? "");
    score += (last === -1 ? found * 0.1 : (found - last - 1) * 2) - (isWordStart ? 10 : 0);
    last = found;
  }
  return { matches: true, score };
}
