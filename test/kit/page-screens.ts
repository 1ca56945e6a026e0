// Screens in the pages: a block of text below a mark that names it. A test takes the screens from the running program and
// compares; with GALLEY_WRITE_SCREENS=1 it writes them into the page instead.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./run-galley.js";

const marked = /(<!-- screen: ([\w-]+) -->\n```text\n)(.*?)(```\n)/gs;

/** The screens of a page, by name. */
export function pageScreens(page: string): Map<string, string> {
  const text = readFileSync(join(projectRoot, page), "utf8");
  return new Map([...text.matchAll(marked)].map(([, , name = "", screen = ""]) => [name, screen]));
}

/** What differs from run to run and from version to version is written in one way. */
export function settledScreen(screen: string): string {
  return `${screen
    .replace(/ch_[0-9a-f]{8}/g, "ch_1a2b3c4d")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "0198c0de-0000-7000-8000-000000000001")
    .replace(/^ galley \d+\.\d+\.\d+ · /m, " galley VERSION · ")
    .replace(/(?<= )(?:\d+ s ago|just now)$/gm, "just now")
    .replace(/[^·\n]*… +just now$/gm, " …   just now") // how much fits depends on the age
    .replace(/ {2,}just now$/gm, "   just now")
    .replace(/^ [⠀-⣿] /gmu, " ⠋ ")
    .replace(/ +\d+s$/gm, "")
    .replace(/\d+s(?= {2}proposed$)/gm, (seconds) => " ".repeat(seconds.length))
    .trimEnd()}\n`;
}

/** Puts the screens where the page names them. */
export function writePageScreens(page: string, screens: ReadonlyMap<string, string>): void {
  const path = join(projectRoot, page);
  const text = readFileSync(path, "utf8");
  writeFileSync(
    path,
    text.replace(marked, (whole, head: string, name: string, _old: string, end: string) => {
      const screen = screens.get(name);
      return screen === undefined ? whole : head + screen + end;
    }),
  );
}
