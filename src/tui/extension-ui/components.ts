// What modules get here in place of the plain themes of the component library: the colours of the terminal.

import type { Theme } from "../../sdk/index.js";
import { markdownTheme, selectListTheme } from "../theme/component-themes.js";

export function terminalComponents(theme: Theme): object {
  return { getMarkdownTheme: () => markdownTheme(theme), getSelectListTheme: () => selectListTheme(theme) };
}
