// The theme that everything draws with: one object whose colours can be changed while the program runs.

import type { Theme } from "../../sdk/index.js";
import type { ChosenTheme } from "./choose-theme.js";
import { type ColourDepth, createTheme } from "./theme.js";

export interface LiveTheme extends Theme {
  /** One more with every change of colours: what was drawn before is old. */
  readonly version: number;
  setColours(chosen: Pick<ChosenTheme, "colours" | "name">): void;
}

export function createLiveTheme(first: Pick<ChosenTheme, "colours" | "name">, depth: ColourDepth): LiveTheme {
  let current = createTheme(first, depth);
  let version = 0;
  return {
    ...current,
    fg: (name, text) => current.fg(name, text),
    bg: (name, text) => current.bg(name, text),
    getFgAnsi: (name) => current.getFgAnsi(name),
    getBgAnsi: (name) => current.getBgAnsi(name),
    get name() {
      return current.name;
    },
    get version() {
      return version;
    },
    setColours(next) {
      current = createTheme(next, depth);
      version++;
    },
  };
}
