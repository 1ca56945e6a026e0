// What extensions get under the name of the component library: the classes that are drawn here. Left out: what would open a
// terminal of its own, and what writes pictures past our screen.

import * as library from "@earendil-works/pi-tui";
import type { Theme } from "../../sdk/index.js";
import { markdownTheme, selectListTheme } from "../theme/component-themes.js";

const leftOut = new Set(["ProcessTerminal", "StdinBuffer", "Image", "renderImage", "encodeKitty", "encodeITerm2"]);

export function terminalComponents(theme: Theme): object {
  const own = Object.fromEntries(Object.entries(library).filter(([name]) => !leftOut.has(name)));
  return { ...own, getMarkdownTheme: () => markdownTheme(theme), getSelectListTheme: () => selectListTheme(theme) };
}
