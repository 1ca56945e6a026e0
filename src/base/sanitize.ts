// Text without the control characters that do things. Models, tools and files can hold sequences that retitle windows,
// hide text or reorder it; what is shown is what is there.

/** For a person's terminal: keeps LF and TAB, drops escape sequences, every other control, bidirectional overrides. */
export function sanitizeForTerminal(text: string): string {
  return stripEscapes(text).replace(controls, "");
}

/**
 * Removes escape sequences. A string sequence (OSC, DCS) is taken whole only when it ends on its line: an unfinished one
 * must not swallow, and so hide, the text behind it.
 */
export function stripEscapes(text: string): string {
  return introducer.test(text) ? text.replace(sequence, "") : text;
}

const introducer = /[\u001b\u0080-\u009f]/;
const sequence = new RegExp(
  [
    // CSI: parameters, intermediates, final.
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    // OSC, DCS, SOS, PM, APC with their terminator. The next introducer ends the look-out for it: else a run of them
    // would cost the square of its length.
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u0080-\\u009f\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)",
    // Two or three characters (charset, keypad, reset), or the lone introducer. A line feed stays.
    "\\u001b[ -/]*[0-~]?",
    "[\\u0080-\\u0084\\u0086-\\u009f]",
  ].join("|"),
  "g",
);

const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g;
