// The theme that everything draws with: one object whose colours can be changed while the program runs.

import type { Theme } from "../../sdk/index.js";
import type { Colours } from "./colours.js";
import { type ColourDepth, createTheme } from "./theme.js";

export interface LiveTheme extends Theme {
  /** One more with every change of colours: what was drawn before is old. */
  readonly version: number;
  setColours(colours: Colours): void;
}

export function createLiveTheme(colours: Colours, depth: ColourDepth): LiveTheme {
  let current = createTheme(colours, depth);
  let version = 0;
  return {
    ...current,
    fg: (name, text) => current.fg(name, text),
    bg: (name, text) => current.bg(name, text),
    getFgAnsi: (name) => current.getFgAnsi(name),
    getBgAnsi: (name) => current.getBgAnsi(name),
    get version() {
      return version;
    },
    setColours(next) {
      current = createTheme(next, depth);
      version++;
    },
  };
}
