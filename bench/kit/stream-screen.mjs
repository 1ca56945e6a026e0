// 1,000 deltas of Markdown on a screen of 100x40 with some history, by our screen or by the library's own: prints the CPU
// that it took and how often the screen was cleared. Started as `stream-screen.mjs ours|library LINES`.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const [, , kind, lines] = process.argv;
const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = mkdtempSync(join(root, "node_modules/.bench-"));
const outfile = join(directory, "screen.mjs");
const contents = `export { Screen } from "./src/tui/screen.ts"; export { Tty } from "./src/tui/terminal.ts";
export { TUI, Text, Markdown, Container } from "@earendil-works/pi-tui";
export { createTheme } from "./src/tui/theme/theme.ts"; export { builtInThemes } from "./src/tui/theme/colours.ts";
export { markdownTheme } from "./src/tui/theme/component-themes.ts";`;
await build({
  stdin: { contents, resolveDir: root, loader: "ts" },
  ...{ outfile, bundle: true, format: "esm", platform: "node", logLevel: "error", external: ["koffi"] },
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
});
const library = await import(pathToFileURL(outfile).href).finally(() => rmSync(directory, { recursive: true }));

let written = "";
let clears = 0;
const output = {
  columns: 100,
  rows: 40,
  writableNeedDrain: false,
  write(text) {
    written += text;
    clears += text.split("\u001b[2J").length + text.split("\u001b[3J").length - 2;
    return true;
  },
  once() {},
  on() {},
  off() {},
};
const input = { setRawMode() {}, on() {}, off() {}, resume() {}, pause() {} };
const tty = new library.Tty({ input, output });
const theme = library.markdownTheme(library.createTheme(library.builtInThemes.dark, "truecolor"));
const history = Array.from({ length: Number(lines) }, (_, index) => `line ${index} of what was said before`);
const growing = new library.Markdown("", 1, 0, theme);
const screen = kind === "ours" ? startOurs() : startLibrary();
await new Promise((resolve) => setTimeout(resolve, 200));
const before = process.cpuUsage();
let text = "";
for (let index = 0; index < 1000; index++) {
  text += index % 10 === 9 ? "word\n\n" : "some words of an answer ";
  growing.setText(text);
  screen.requestRender();
  await new Promise((resolve) => setTimeout(resolve, 1));
}
await new Promise((resolve) => setTimeout(resolve, 100));
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, clears, bytes: written.length }));
process.exit(0);

function startOurs() {
  const made = new library.Screen(tty, () => {});
  for (let at = 0; at < history.length; at += 10) {
    const part = history.slice(at, at + 10);
    made.chat.push({ isFinal: true, render: () => part, invalidate() {} });
  }
  made.chat.push({ isFinal: false, render: (width) => growing.render(width), invalidate() {} });
  made.bottom.addChild(new library.Text("the editor", 0, 0));
  made.start();
  return made;
}

function startLibrary() {
  const own = {
    columns: 100,
    rows: 40,
    kittyProtocolActive: false,
    write: output.write,
    start() {},
    stop() {},
    async drainInput() {},
    setTitle() {},
    setProgress() {},
    clearLine() {},
    clearFromCursor() {},
    clearScreen() {},
    hideCursor() {},
    showCursor() {},
    moveBy(count) {
      output.write(`\u001b[${Math.abs(count)}${count > 0 ? "B" : "A"}`);
    },
  };
  const made = new library.TUI(own);
  for (let at = 0; at < history.length; at += 10)
    made.addChild(new library.Text(history.slice(at, at + 10).join("\n"), 0, 0));
  made.addChild(growing);
  made.addChild(new library.Text("the editor", 0, 0));
  made.start();
  return made;
}
