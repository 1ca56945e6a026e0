// Removes control characters from text. Models, tools and files can produce sequences that retitle windows, or hide or
// reorder text; the user must see what is really there.

/** For a person's terminal: keeps LF and TAB, drops escape sequences, every other control, bidirectional overrides. */
export function sanitizeForTerminal(text: string): string {
  return stripEscapes(text).replace(controls, "");
}

/**
 * Removes escape sequences. A string sequence (OSC, DCS) is removed as a whole only if it ends on its line: an
 * unfinished one must not hide the text after it.
 */
export function stripEscapes(text: string): string {
  return introducer.test(text) ? text.replace(sequence, "") : text;
}

/** A name for a list: one line without control characters, cut to `maxLength`. */
export function oneLine(text: string, maxLength: number): string {
  const line = stripEscapes(text)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .replace(controls, "")
    .trim();
  if (line.length <= maxLength) return line;
  return `${line.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…`; // no half of a character
}

const introducer = /[\u001b\u0080-\u009f]/;
const sequence = new RegExp(
  [
    // CSI: parameters, intermediates, final.
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    // OSC, DCS, SOS, PM, APC with their terminator. The search for it ends at the next introducer: otherwise a run of
    // introducers would cost quadratic time.
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u0080-\\u009f\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)",
    // Two or three characters (charset, keypad, reset), or the lone introducer. A line feed stays.
    "\\u001b[ -/]*[0-~]?",
    "[\\u0080-\\u0084\\u0086-\\u009f]",
  ].join("|"),
  "g",
);

const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g;

export interface StrippedText {
  readonly text: string;
  /** What was found, in words: `2 tag characters, 1 zero-width character`. Empty if nothing was. */
  readonly findings: string;
}

const invisible: readonly (readonly [name: string, characters: RegExp])[] = [
  ["tag character", /[\u{e0000}-\u{e007f}]/gu],
  ["zero-width character", /\u180e|\u200b|\u200c|\u200d|[\u2060-\u2064]|\ufeff/g],
  ["bidirectional control", /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g],
  // One or two variation selectors choose how an emoji looks. Last, because the characters between two runs are gone now.
  ["variation selector", /(?:[\u180b-\u180d\u180f\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]){4,}/gu],
];

/**
 * For text that will instruct a model: removes the characters that a model reads but a person does not see, and counts
 * them, so that the caller can report them. A byte order mark at the very start is not counted.
 */
export function stripInvisible(input: string): StrippedText {
  let text = input.startsWith("\ufeff") ? input.slice(1) : input;
  const findings: string[] = [];
  for (const [name, characters] of invisible) {
    let found = 0;
    text = text.replace(characters, (run) => {
      found += [...run].length;
      return "";
    });
    if (found > 0) findings.push(`${found} ${name}${found === 1 ? "" : "s"}`);
  }
  return { text, findings: findings.join(", ") };
}
