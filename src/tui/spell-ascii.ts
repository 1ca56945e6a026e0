// The signs of the screen for a terminal without Unicode (`LANG=C`): each is replaced by one character of ASCII, so that
// every column stays where it is.

const signs: Readonly<Record<string, string>> = {
  "◌": "o",
  "○": "o",
  "●": "*",
  "✓": "+",
  "✗": "x",
  "⚠": "!",
  "↺": "<",
  "☐": "-",
  "☑": "x",
  "⏵": ">",
  "›": ">",
  "▸": ">",
  "▾": "v",
  "→": ">",
  "↪": "\\",
  "↑": "^",
  "↓": "v",
  "▌": "|",
  "│": "|",
  "─": "-",
  "━": "-",
  "├": "|",
  "└": "`",
  "┌": ",",
  "┐": ".",
  "┘": "'",
  "┤": "|",
  "┬": "-",
  "┴": "-",
  "┼": "+",
  "·": "-",
  "•": "*",
  "–": "-",
  "…": "~",
  "⟨": "<",
  "⟩": ">",
  "█": "#",
};

/** Braille cells are the frames of a spinner. */
const shown = new RegExp(`[${Object.keys(signs).join("")}\u2800-\u28ff]`, "g");
const spinner = "|/-\\";

export function spellAscii(text: string): string {
  return text.replace(shown, (sign) => signs[sign] ?? (spinner[(sign.codePointAt(0) ?? 0) % spinner.length] as string));
}

/** By the variables that choose the characters, the strongest first. None set: nothing is known against Unicode. */
export function speaksAscii(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  return locale !== undefined && locale !== "" && !/utf-?8/i.test(locale);
}
