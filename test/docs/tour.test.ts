// The screens of docs/tour.md and of the README are what the program draws today: this test does what the page tells, in a real
// terminal, with a model that plays a script. `npm run screens` writes them anew.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openAi, startScriptedServer } from "../../src/testing/index.js";
import { pageScreens, settledScreen, writePageScreens } from "../kit/page-screens.js";
import { call } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome } from "../kit/run-galley.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";
import { TmuxTerminal, tmuxVersion, withoutTmux } from "../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const shop: Readonly<Record<string, string>> = {
  "src/cart.js": `import { add } from "./add.js";

// What the customer pays.
export function total(items) {
  return items.reduce(add, 0);
}

// One line for each item, then the sum.
export function receipt(items) {
  const lines = items.map((item) => \`\${item.name}  \${item.price}\`);
  return lines.join("\\n");
}

export function withTax(items, rate) {
  return total(items) * (1 + rate);
}
`,
  "src/add.js": "export const add = (sum, item) => sum + item.price;\n",
  "src/orders.js": `import { total } from "./cart.js";

export function placeOrder(customer, items) {
  return { customer, items, amount: total(items) };
}
`,
};

const replies = [
  call("grep", { pattern: "total", path: "src" }),
  call("ast_edit", { ops: [{ pat: "total", out: "amountDue" }], paths: ["src"] }, "c2"),
  openAi.text("It is `amountDue` everywhere now. Shall I check the syntax?"),
  call("bash", { command: "node --check src/orders.js && echo checked > check.log" }, "c3"),
  openAi.text("It parses."),
];

const pages = ["docs/tour.md", "README.md"];

const { noView } = sandboxAbility();
const missing = tmuxVersion ? noView && `commands cannot be staged here: ${noView}` : withoutTmux;

describe.skipIf(missing)(`the screens of the pages${missing ? ` (${missing})` : ""}`, () => {
  it("are what the program draws", async () => {
    const screens = await tour();
    if (process.env.GALLEY_WRITE_SCREENS === "1") for (const page of pages) writePageScreens(page, screens);
    const shown = new Map(pages.flatMap((page) => [...pageScreens(page)]));
    expect([...shown.keys()].sort()).toEqual([...screens.keys()].sort());
    for (const page of pages)
      for (const [name, screen] of pageScreens(page))
        expect([page, name, screen]).toEqual([page, name, screens.get(name)]);
  });

  it("would differ if a word did", () => {
    const [first = ""] = pageScreens("docs/tour.md").values();
    expect(settledScreen(first)).toBe(first);
    expect(settledScreen(first.replace("amountDue", "total"))).not.toBe(first);
  });
});

/** What the page tells, step by step; returns the screens by their names. */
async function tour(): Promise<Map<string, string>> {
  const { home, env } = emptyHome();
  const cwd = join(home, "shop");
  for (const [path, text] of Object.entries(shop)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const server = await startScriptedServer(replies);
  onTestFinished(() => server.close());
  mkdirSync(join(home, ".galley/agent"), { recursive: true });
  const models = `providers:\n  local:\n    baseUrl: ${server.url}/v1\n    api: openai-completions\n    auth: none\n    models:\n      - id: coder\n`;
  writeFileSync(join(home, ".galley/agent/models.yml"), models);
  const terminal = new TmuxTerminal({ cwd, env, columns: 80, rows: 44 });
  const screens = new Map<string, string>();
  const keep = (name: string, from?: string) => {
    const { screen } = terminal;
    const at = from === undefined ? 0 : screen.lastIndexOf(from);
    expect([name, at]).not.toEqual([name, -1]);
    screens.set(name, settledScreen(screen.slice(at)));
  };
  const idle = () => terminal.until((screen) => !screen.includes("esc to stop"), { what: "the end of the run" });
  const say = async (text: string, shown: string | RegExp) => {
    terminal.write(text);
    terminal.keys("Enter");
    await terminal.shows(shown);
  };
  const cart = () => readFileSync(join(cwd, "src/cart.js"), "utf8");

  terminal.type("PS1=; clear");
  await terminal.until((screen) => screen === "");
  terminal.galley();
  await terminal.shows("local/coder");
  await say("rename total to amountDue", "Shall I check the syntax?");
  await idle();
  await terminal.shows("1 pending");
  keep("conversation", " galley 0");

  // Wide enough for the first line with any age.
  terminal.resize(104, 29);
  await terminal.shows(/^─{104}$/m);
  terminal.keys("C-r");
  await terminal.shows("a apply hunk 1 of 2");
  keep("review");
  terminal.keys("j", "a");
  await terminal.shows("Applied 1 of 3 hunks in 1 of 2 files (src/cart.js).");
  expect(cart()).toBe((shop["src/cart.js"] as string).replace("return total(items) *", "return amountDue(items) *"));
  await terminal.shows("2 Changes 1");
  keep("part");
  terminal.resize(40, 12);
  await terminal.shows(/^ Review ·[^\n]*\n.*hunk 1 of 1\n▌/);
  keep("narrow");
  terminal.resize(80, 44);
  await terminal.shows(/^ Review ·[^\n]{41,}\n[\s\S]*placeOrder/);
  terminal.keys("Y");
  await terminal.shows("1 Pending 0");
  terminal.keys("q");
  await terminal.until(() => terminal.fact("alternate_on") === "0", { what: "the conversation" });

  await say("yes", "It parses.");
  await idle();
  keep("command", " › yes");
  await say("/discard", "Discarded");
  await say("/undo", "Undone: ");
  keep("undo", " · Discarded");
  await say("/changes", "↺ undone");
  keep("changes", " · ✓ ch_");
  terminal.keys("C-d");
  await terminal.shows("galley --resume");
  keep("end", "galley --resume");
  return screens;
}
