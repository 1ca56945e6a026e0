// The theme that the user set, and the terminal's answer about its background, which may come a moment after the first
// drawing.

import type { Tty } from "../terminal.js";
import type { TerminalAccess } from "../terminal-access.js";
import { type Background, backgroundAnswer, backgroundOf, backgroundQuestion } from "./background.js";
import { chooseTheme, type ThemeFile } from "./choose-theme.js";
import { builtInThemes } from "./colours.js";
import { createLiveTheme, type LiveTheme } from "./live-theme.js";
import { colourDepth } from "./theme.js";

/** An answer that comes later is not waited for. */
const answerMs = 100;

export interface ThemeControl {
  readonly theme: LiveTheme;
  /** The name that holds. */
  readonly name: string;
  /** Uses another one; returns why not, if it cannot. */
  use(name: string, files: readonly ThemeFile[]): string | undefined;
}

export function createThemeControl(
  { preferences }: Pick<TerminalAccess, "preferences">,
  env: Readonly<Record<string, string | undefined>>,
): ThemeControl & { background: Background } {
  const background = backgroundOf(env) ?? "dark";
  const first = Object.hasOwn(builtInThemes, preferences.theme) ? preferences.theme : "auto";
  const theme = createLiveTheme(chooseTheme(first, [], background), colourDepth(env));
  const control = {
    theme,
    background,
    name: preferences.theme,
    use(name: string, files: readonly ThemeFile[]) {
      const chosen = chooseTheme(name, files, control.background);
      control.name = name;
      theme.setColours(chosen);
      return chosen.problem;
    },
  };
  return control;
}

/** `changed` is called when everything must be drawn again; `tell` when the theme cannot be used. */
export async function settleTheme(
  control: ThemeControl & { background: Background },
  around: {
    tty: Tty;
    access: Pick<TerminalAccess, "preferences" | "themeFiles">;
    changed(): void;
    tell(problem: string): void;
  },
): Promise<void> {
  const { tty, access, changed, tell } = around;
  const { theme } = access.preferences;
  if (theme === "auto") {
    const askedAt = performance.now();
    tty.onAnswer((sequence) => {
      const answer = backgroundAnswer(sequence);
      if (!answer || performance.now() - askedAt > answerMs || answer === control.background) return;
      control.background = answer;
      if (control.name !== "auto") return;
      control.use("auto", []);
      changed();
    });
    tty.write(backgroundQuestion);
  } else if (!Object.hasOwn(builtInThemes, theme)) {
    const problem = control.use(theme, await access.themeFiles());
    if (problem !== undefined) tell(problem);
    changed();
  }
}
