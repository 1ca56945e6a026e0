// The colours that extensions draw with where a host draws: as in pi, texts carry escape sequences of a dark theme.

import type { SessionUI } from "../sdk/index.js";
import { builtInThemes } from "../tui/theme/colours.js";
import { colourDepth, createTheme } from "../tui/theme/theme.js";

/** The same object with a theme, which is made when an extension asks for it. */
export function withTheme(ui: SessionUI, env: Readonly<Record<string, string | undefined>>): SessionUI {
  let theme: SessionUI["theme"];
  const depth = () => (colourDepth(env) === "16" ? "256" : colourDepth(env));
  return Object.defineProperty(ui, "theme", {
    enumerable: true,
    get: () => (theme ??= createTheme({ name: "dark", colours: builtInThemes.dark ?? {} }, depth())),
  });
}
