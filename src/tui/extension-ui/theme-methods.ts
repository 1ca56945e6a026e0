// Themes as extensions see them. A chosen theme takes effect at once: the theme in use is one object whose colours change.

import { plainTheme, type Theme } from "../../sdk/index.js";
import type { TerminalApp } from "../terminal-app.js";
import { builtInThemes } from "../theme/colours.js";
import { createTheme } from "../theme/theme.js";

export function themeMethods(app: () => TerminalApp | undefined) {
  const named = (name: string): Theme | undefined => {
    const colours = Object.hasOwn(builtInThemes, name) ? builtInThemes[name] : undefined;
    return colours && createTheme(colours, app()?.theme.getColorMode() === "truecolor" ? "truecolor" : "256");
  };
  return {
    getAllThemes: () => Object.keys(builtInThemes).map((name) => ({ name, path: undefined })),
    getTheme: named,
    setTheme(wanted: unknown): { success: boolean; error?: string } {
      const current = app();
      const theme = typeof wanted === "string" ? named(wanted) : (wanted as Theme | undefined);
      if (!current || typeof theme?.fg !== "function")
        return { success: false, error: `Theme not found: ${String(wanted)}` };
      Object.assign(current.theme, theme);
      for (const block of current.screen.chat) block.invalidate();
      current.draw();
      return { success: true };
    },
  };
}

themeMethods.themeOf = (app: TerminalApp | undefined): Theme => app?.theme ?? plainTheme;
