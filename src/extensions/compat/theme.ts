// The theme a renderer draws with, and the plain one for where there are no colours. Methods of a theme do not use
// `this`: renderers get objects that only inherit from it.

export interface Theme {
  readonly name: string;
  /** An unknown colour leaves the text as it is. */
  fg(color: string, text: string): string;
  bg(color: string, text: string): string;
  bold(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  strikethrough(text: string): string;
  inverse(text: string): string;
  getFgAnsi(color: string): string;
  getBgAnsi(color: string): string;
  getColorMode(): "truecolor" | "256color";
  readonly status: Readonly<Record<string, string>>;
  readonly tree: Readonly<Record<string, string>>;
  readonly format: Readonly<Record<string, string>>;
  readonly spinnerFrames: readonly string[];
}

const asIs = (text: string) => text;

export const plainTheme: Theme = Object.freeze({
  name: "plain",
  fg: (_color: string, text: string) => text,
  bg: (_color: string, text: string) => text,
  bold: asIs,
  italic: asIs,
  underline: asIs,
  strikethrough: asIs,
  inverse: asIs,
  getFgAnsi: () => "",
  getBgAnsi: () => "",
  getColorMode: () => "256color" as const,
  status: Object.freeze({
    success: "✓",
    error: "✗",
    warning: "!",
    info: "i",
    pending: "◌",
    disabled: "○",
    enabled: "●",
    running: "…",
    aborted: "■",
  }),
  tree: Object.freeze({ branch: "├─", last: "└─", vertical: "│", horizontal: "─", hook: "└" }),
  format: Object.freeze({ bullet: "•", dash: "–", bracketLeft: "[", bracketRight: "]" }),
  spinnerFrames: Object.freeze(["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]),
});
