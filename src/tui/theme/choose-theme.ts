// Which colours a setting means: a built-in theme, a file of the user's, or what fits the terminal's background.

import { builtInThemes, type Colours } from "./colours.js";
import { readTheme } from "./read-theme.js";

/** A file of the directory `themes`. */
export interface ThemeFile {
  /** Without `.json`. */
  readonly name: string;
  readonly text: string;
}

export interface ChosenTheme {
  /** Of the theme that is used. */
  readonly name: string;
  readonly colours: Colours;
  /** Why it is not the one that was asked for. */
  readonly problem?: string;
}

const dark = builtInThemes.dark as Colours;

/** The names that `/theme` offers, in order. */
export function themeNames(files: readonly ThemeFile[]): string[] {
  const own = files.map(({ name }) => name).filter((name) => name !== "auto" && !Object.hasOwn(builtInThemes, name));
  return ["auto", ...Object.keys(builtInThemes), ...own];
}

/** A theme that cannot be used is told, and `dark` is used. */
export function chooseTheme(name: string, files: readonly ThemeFile[], background: "dark" | "light"): ChosenTheme {
  if (name === "auto") return { name: background, colours: builtInThemes[background] ?? dark };
  if (Object.hasOwn(builtInThemes, name)) return { name, colours: builtInThemes[name] as Colours };
  const file = files.find((each) => each.name === name);
  if (!file) return { name: "dark", colours: dark, problem: `There is no theme ${name}. The theme dark is used.` };
  const read = readTheme(file.text);
  if ("colours" in read) return { name, ...read };
  return {
    name: "dark",
    colours: dark,
    problem: `The theme ${name} cannot be used: ${read.problem}. The theme dark is used.`,
  };
}
