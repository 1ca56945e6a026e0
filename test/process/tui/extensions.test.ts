// Extensions in a real terminal: tools that draw themselves in each signature, views, widgets, keys, and what fails.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../../src/testing/index.js";
import { call } from "../../kit/print-rig.js";
import { ensureBuilt, modelsAt } from "../../kit/rpc-host.js";
import { emptyHome } from "../../kit/run-galley.js";
import { TmuxTerminal, tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const extension = `import { Text, Container, Box } from "@mariozechner/pi-tui";
import * as other from "@oh-my-pi/pi-tui";
const parameters = { type: "object", properties: { name: { type: "string" } } };
const execute = async (id, args) => ({ content: [{ type: "text", text: "plain text of " + args.name }], details: { by: "details" } });
const tool = (name, more) => ({ name, label: name, description: name, parameters, execute, ...more });
export default function (pi) {
  pi.registerTool(tool("two", {
    renderCall: (args, theme) => new Text(theme.fg("accent", "call two " + args.name), 0, 0),
    renderResult: (result, options, theme) => new Text(theme.bold("drawn two " + result.details.by), 0, 0),
  }));
  pi.registerTool(tool("three", {
    renderCall: (args, options, theme) => new Text(theme.fg("accent", "call three " + options.expanded), 0, 0),
    renderResult: (result, options, theme, args) => new Text("drawn three " + args.name + " " + (other.Text === Text), 0, 0),
  }));
  pi.registerTool(tool("context", {
    renderCall: (args, theme, context) => new Text(theme.fg("accent", "call context " + typeof context.invalidate), 0, 0),
    renderResult: (result, { isPartial }, theme, context) => {
      const box = new Container();
      box.addChild(new Text("drawn context " + context.toolCallId, 0, 0));
      return box;
    },
  }));
  pi.registerTool(tool("throwing", { renderCall: () => { throw new Error("no call"); }, renderResult: () => { throw new Error("no result"); } }));
  pi.registerTool(tool("promising", { renderResult: async () => new Text("late", 0, 0) }));
  pi.registerTool(tool("wide", { renderResult: () => ({ render: () => ["wide " + "w".repeat(500) + "\\u001b[2J\\u001b]0;owned\\u0007"] }) }));
  pi.registerCommand("view", { description: "a view", handler: async (args, ctx) => {
    const answer = await ctx.ui.custom((tui, theme, keys, done) => {
      let typed = "";
      return {
        render: (width) => ["view of " + tui.terminal.columns + " columns, typed " + typed],
        invalidate() {},
        handleInput(data) { if (data === "q") done(typed); else if (data === "!") throw new Error("broke"); else { typed += data; tui.requestRender(); } },
      };
    });
    ctx.ui.notify("the view answered " + answer, "info");
  } });
  pi.registerCommand("around", { description: "around the editor", handler: async (args, ctx) => {
    ctx.ui.setWidget("w1", ["widget above"]);
    ctx.ui.setWidget("w2", (tui, theme) => new Text("widget below", 0, 0), { placement: "belowEditor" });
    ctx.ui.setStatus("b", "second status");
    ctx.ui.setStatus("a", "first status");
    ctx.ui.setEditorText("from the extension");
  } });
  pi.registerCommand("questions", { description: "questions", handler: async (args, ctx) => {
    const one = await ctx.ui.select("Which one?", ["red", "green", "blue"]);
    const two = await ctx.ui.input("What name?", "a name");
    const three = await ctx.ui.confirm("Really?", "It cannot be undone.");
    const four = await ctx.ui.confirm("In time?", "", { timeout: 50 });
    ctx.ui.notify(["chose", one, two, three, four].join(" "), "info");
  } });
  pi.registerShortcut("ctrl+y", { description: "a key", handler: (ctx) => ctx.ui.notify("the key was pressed", "info") });
  pi.registerMessageRenderer("note", (message, options, theme) => new Text("drawn note: " + message.content, 0, 0));
  pi.registerCommand("say", { description: "a message", handler: async () => {
    pi.sendMessage({ customType: "note", content: "hear me", display: true });
    pi.sendMessage({ customType: "other", content: "plain message", display: true });
  } });
}
`;

/** As the example `todo.ts` of pi: a class of its own, in a command that looks for the mode of a terminal. */
const todos = `import type { ExtensionAPI, Theme } from "@earendil-works/pi-coding-agent";
import { matchesKey, truncateToWidth } from "@earendil-works/pi-tui";
class TodoList {
  private lines?: string[];
  private todos: string[] = [];
  constructor(private theme: Theme, private onClose: () => void, private onChange: () => void) {}
  handleInput(data: string): void {
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) return this.onClose();
    this.todos.push("buy milk");
    this.invalidate();
    this.onChange();
  }
  render(width: number): string[] {
    const th = this.theme;
    this.lines ??= [
      truncateToWidth(th.fg("borderMuted", "─".repeat(3)) + th.fg("accent", " Todos ") + th.fg("borderMuted", "─".repeat(width)), width),
      ...this.todos.map((text, at) => truncateToWidth("  " + th.fg("dim", "○") + " " + th.fg("accent", "#" + (at + 1)) + " " + th.fg("text", text), width)),
      th.fg("dim", "Press Escape to close"),
    ];
    return this.lines;
  }
  invalidate(): void {
    this.lines = undefined;
  }
}
export default function (pi: ExtensionAPI) {
  pi.registerCommand("todos", { description: "Show all todos", handler: async (_args, ctx) => {
    if (ctx.mode !== "tui") return ctx.ui.notify("/todos requires interactive mode", "error");
    await ctx.ui.custom<void>((tui, theme, _kb, done) => new TodoList(theme, () => done(), () => tui.requestRender()));
    ctx.ui.notify("closed", "info");
  } });
}
`;

async function start(replies: readonly Reply[], text = extension) {
  const { home, env } = emptyHome();
  const cwd = join(home, "shop");
  const agentDir = join(home, ".galley/agent");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(agentDir, { recursive: true });
  writeFileSync(join(home, "drawing.ts"), text);
  const server = await startScriptedServer(replies);
  onTestFinished(() => server.close());
  writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
  const logFile = join(home, "galley.log");
  const terminal = new TmuxTerminal({ cwd, env: { ...env, GALLEY_LOG: logFile } });
  terminal.galley("--extension", join(home, "drawing.ts"), "--no-session");
  await terminal.shows("acme/scripted");
  const type = (line: string) => {
    terminal.write(line);
    terminal.keys("Enter");
  };
  const leave = async () => {
    terminal.keys("C-u");
    terminal.write("/quit");
    terminal.keys("Enter");
    await terminal.shows(/\n\$$/);
  };
  return { terminal, type, leave, log: () => readFileSync(logFile, "utf8") };
}

describe.skipIf(!tmuxVersion)(`extensions in the terminal${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("draw their tools in three signatures with the classes of the screen; what fails is drawn as text, logged once", async () => {
    const names = ["two", "three", "context", "throwing", "promising", "wide", "throwing"];
    const replies = names.map((name, index) => call(name, { name: "ink" }, `c${index}`));
    const { terminal, type, leave, log } = await start([...replies, openAi.text("All done.")]);
    type("go");
    await terminal.shows("All done.");
    const all = terminal.everything;
    for (const text of ["call two ink", "drawn two details", "call three false", "drawn three ink true"])
      expect(all).toContain(text);
    expect(all).toContain("call context function");
    expect(all).toContain("drawn context c2");
    expect(all.split("plain text of ink").length - 1).toBe(3);
    expect(all).toMatch(/wide w{50,}/);
    expect(terminal.bytes).not.toContain("\u001b[2J");
    expect(terminal.fact("pane_title")).not.toContain("owned");
    await leave();
    expect(log().split('"tool":"throwing","error":"no result"').length - 1).toBe(1);
    expect(log().split('Tool renderer failed {"tool":"promising"').length - 1).toBe(1);
  });

  it("show a view in place of the editor; one that throws is closed with undefined", async () => {
    const { terminal, type, leave } = await start([]);
    type("/view");
    await terminal.shows("view of 100 columns, typed");
    terminal.write("ab");
    await terminal.shows("typed ab");
    terminal.keys("q");
    await terminal.shows("the view answered ab");
    type("/view");
    await terminal.shows("view of 100 columns");
    terminal.write("!");
    await terminal.shows("the view answered undefined");
    await leave();
  });

  it("of pi show their own view, which takes keys and closes", async () => {
    const { terminal, type, leave } = await start([], todos);
    type("/todos");
    await terminal.shows(/─── Todos ─+[\s\S]*Press Escape to close/);
    terminal.keys("a");
    await terminal.shows("○ #1 buy milk");
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("Press Escape to close"));
    await terminal.shows("closed");
    await leave();
  });

  it("fill the places around the editor, ask, have keys and draw their messages", async () => {
    const { terminal, type, leave } = await start([]);
    type("/around");
    const screen = await terminal.shows("from the extension");
    expect(screen).toMatch(
      /widget above\n─+\n from the extension\n─+\nwidget below\n[\s\S]*first status {2}second status/,
    );
    terminal.keys("C-c");
    terminal.keys("C-y");
    await terminal.shows("the key was pressed");
    type("/say");
    await terminal.shows("drawn note: hear me");
    await terminal.shows(/\[other\]\n {3}plain message/);
    type("/questions");
    await terminal.shows("Which one?");
    await new Promise((resolve) => setTimeout(resolve, 400)); // keys in the first 300 ms are no answer
    terminal.keys("Down");
    terminal.keys("Enter");
    await terminal.shows("What name?");
    await new Promise((resolve) => setTimeout(resolve, 400));
    terminal.write("Ada");
    terminal.keys("Enter");
    await terminal.shows("It cannot be undone.");
    await new Promise((resolve) => setTimeout(resolve, 400));
    terminal.keys("y");
    await terminal.shows("chose green Ada true false");
    await leave();
  });
});
