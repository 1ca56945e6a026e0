// Text for a person's terminal. Models, tools and files can hold escape sequences that retitle windows, hide text or
// reorder it; what is shown is what is there.

const sequences =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g;

/** Keeps LF and TAB; drops every other control, escape sequences whole, and bidirectional overrides. Idempotent. */
export function sanitizeForTerminal(text: string): string {
  return text.replace(sequences, "").replace(controls, "");
}
