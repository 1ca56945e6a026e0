// Commands that modules bring, in a session: who is found and loaded, what becomes of what they say, and that nothing of
// an untrusted project is even imported.

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import type { CreateAgentSessionOptions } from "../../../src/sdk/create-agent-session.js";
import type { ExtensionReport } from "../../../src/session/session-extensions.js";
import { gate, say } from "../../../src/testing/scripted-model.js";
import { createModuleHome, type ModuleHome } from "../../kit/module-home.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const put: ModuleHome["put"] = (...args) => home.put(...args);
const own = ".galley/agent/commands";

/** A module with one command. */
const command = (name: string, execute: string) =>
  `export default (pi) => ({ name: ${JSON.stringify(name)}, description: "Does ${name}", execute: ${execute} });`;

async function open(replies: number, session: CreateAgentSessionOptions = {}) {
  const opened = await home.open(
    Array.from({ length: replies }, () => say("ok")),
    session,
  );
  const reports: ExtensionReport[] = [];
  opened.session.onReport((report) => void reports.push(report));
  const asked = () =>
    opened.model.requests.map(({ context }) => {
      const content = context.messages.findLast(({ role }) => role === "user")?.content;
      return typeof content === "string"
        ? content
        : content?.map((block) => ("text" in block ? block.text : "")).join("");
    });
  return { ...opened, reports, asked };
}

describe("a custom command", () => {
  it("makes the prompt of the words behind its name, quotes respected, in every form of a module", async () => {
    put(`${own}/one.ts`, command("one", "(args: string[]) => JSON.stringify(args)"));
    put(`${own}/two/index.js`, command("two", "async (args) => 'two ' + args.length"));
    put(
      `${own}/more.mjs`,
      `export default async (pi) => ["a", "b"].map((name) => ({ name, description: name, execute: () => name + pi.cwd }));`,
    );
    const { session, asked, model } = await open(4);
    await session.prompt(`/one x "y z" 'a  b' don't`);
    await session.prompt("/two");
    await session.prompt("/b");
    await session.prompt("/unknown word");
    model.verify();
    expect(asked()).toEqual([
      '["x","y z","a  b","don\'t"]',
      "two 0",
      `b${join(home.base, "project")}`,
      "/unknown word",
    ]);
    expect(session.getCommands()).toEqual([
      { name: "a", description: "a", source: "extension", sourceInfo: info("more.mjs") },
      { name: "b", description: "b", source: "extension", sourceInfo: info("more.mjs") },
      { name: "one", description: "Does one", source: "extension", sourceInfo: info("one.ts") },
      { name: "two", description: "Does two", source: "extension", sourceInfo: info("two/index.js") },
    ]);
    await session.dispose();
  });

  const info = (name: string) => {
    const path = join(home.base, own, name);
    return { path, source: "native", scope: "user", origin: "top-level", baseDir: dirname(path) };
  };

  it("that says nothing has dealt with the prompt: no run, and it was accepted before it ran", async () => {
    put(
      `${own}/quiet.ts`,
      command("quiet", '(args, ctx) => { ctx.ui.notify("done"); return args.length > 0 ? " " : undefined; }'),
    );
    const shown: string[] = [];
    const { session, events } = await open(0, { ui: { notify: (text: string) => void shown.push(text) } });
    for (const text of ["/quiet", "/quiet blank"]) {
      const order: string[] = [];
      await session.prompt(text, { onAccepted: () => void order.push(`accepted, ${shown.length} shown`) });
      expect(order).toEqual([`accepted, ${shown.length - 1} shown`]);
    }
    expect([shown, events, session.messages]).toEqual([["done", "done"], [], []]);
    await session.dispose();
  });

  it("that fails is told of as such, and starts nothing", async () => {
    put(`${own}/bad.ts`, command("bad", '() => { throw new Error("no idea"); }'));
    put(`${own}/endless.ts`, command("endless", '() => "x".repeat(2 ** 21)'));
    const { session, reports, events, lines } = await open(0);
    await session.prompt("/bad");
    await session.prompt("/endless");
    const failed = (name: string, error: string) => ({
      type: "extension_error",
      extensionPath: `custom-command:${name}`,
      event: "command",
      error,
    });
    expect(reports).toEqual([
      failed("bad", "no idea"),
      failed("endless", "The prompt that /endless made is too long; it may have 1048576 characters."),
    ]);
    expect(lines.join("")).toContain("custom-command:bad command: no idea");
    expect(events).toEqual([]);
    await session.dispose();
  });

  it("runs at once while a run is active, and what it says goes where the prompt was to go", async () => {
    put(`${own}/note.ts`, command("note", '(args) => "Note: " + args.join(" ")'));
    const answering = gate();
    const { session, model } = await home.open([[answering.wait, ...say("1")], say("2")]);
    const running = session.prompt("go");
    await answering.reached;
    await expect(session.prompt("/note now")).rejects.toThrow("Agent is already processing.");
    await session.prompt("/note later", { streamingBehavior: "followUp" });
    await expect(session.steer("/note x")).rejects.toThrow(
      'Extension command "/note" cannot be queued. Use prompt() or execute the command when not streaming.',
    );
    await expect(session.followUp("/note x")).rejects.toThrow("cannot be queued");
    answering.open();
    await running;
    model.verify();
    const last = session.messages.findLast(({ role }) => role === "user");
    expect(last).toMatchObject({ content: [{ type: "text", text: "Note: later" }] });
    await session.dispose();
  });

  it("has the session at hand as commands of extensions do, and the API of custom tools", async () => {
    put(
      `${own}/look.ts`,
      `export default (pi) => ({ name: "look", description: "Looks", async execute(args, ctx) {
        await ctx.waitForIdle();
        return JSON.stringify([Object.keys(pi).sort(), ctx.cwd === pi.cwd, ctx.hasUI, ctx.isIdle(), ctx.model.id,
          ctx.isProjectTrusted(), typeof ctx.newSession, typeof ctx.reload, (await pi.exec("/bin/echo", ["hi"])).stdout]);
      } });`,
    );
    const { session, asked } = await open(1);
    await session.prompt("/look");
    expect(JSON.parse(asked()[0] ?? "")).toEqual([
      ["cwd", "exec", "hasUI", "logger", "pi", "pushPendingAction", "typebox", "ui", "zod"],
      ...[true, false, true, "script", false, "function", "function", "hi\n"],
    ]);
    await session.dispose();
  });

  it("is read anew by a reload, and gone with its file", async () => {
    put(`${own}/one.ts`, command("one", '() => "first"'));
    const { session, asked } = await open(2);
    await session.prompt("/one");
    put(`${own}/one.ts`, command("one", '() => "second"'));
    await session.reloadModules();
    await session.prompt("/one");
    put(`${own}/one.ts`, "export default () => [];");
    await session.reloadModules();
    expect(session.getCommands()).toEqual([]);
    expect(asked()).toEqual(["first", "second"]);
    await session.dispose();
  });
});

describe("where names meet", () => {
  it("an extension's command comes before a custom one, and that before a template, with a warning each", async () => {
    for (const name of ["both", "prompted", "all"]) put(`${own}/${name}.ts`, command(name, `() => "custom ${name}"`));
    for (const name of ["prompted", "all", "plain"]) put(`${own}/${name}.md`, `template ${name}`);
    const ran: string[] = [];
    const { session, asked, lines } = await open(2, {
      extensions: [
        (pi) => {
          for (const name of ["both", "all"]) pi.registerCommand(name, { handler: () => void ran.push(name) });
        },
      ],
    });
    for (const name of ["both", "prompted", "all", "plain"]) await session.prompt(`/${name}`);
    expect(ran).toEqual(["both", "all"]);
    expect(asked()).toEqual(["custom prompted", "template plain"]);
    const names = session.getCommands().map(({ name, sourceInfo: { path } }) => [name, path]);
    expect(names).toEqual([
      ...[
        ["both", "<inline:1>"],
        ["all", "<inline:1>"],
      ],
      ["prompted", join(home.base, own, "prompted.ts")],
      ["plain", join(home.base, own, "plain.md")],
    ]);
    const warnings = lines.filter((line) => line.includes("comes first"));
    expect(warnings.sort()).toEqual(
      [
        `galley: ${join(home.base, own, "all.ts")}: /all is a command of an extension, which comes first\n`,
        `galley: ${join(home.base, own, "both.ts")}: /both is a command of an extension, which comes first\n`,
        `galley: ${join(home.base, own, "prompted.md")}: /prompted is a custom command, which comes first\n`,
      ].sort(),
    );
    await session.dispose();
  });

  it("input handlers see what a custom command said, and not what was typed", async () => {
    put(`${own}/one.ts`, command("one", '() => "said"'));
    const heard: string[] = [];
    const { session, asked } = await open(1, {
      extensions: [
        (pi) =>
          pi.on("input", ({ text }) => {
            heard.push(text);
            return { text: `${text}!` };
          }),
      ],
    });
    await session.prompt("/one");
    expect([heard, asked()]).toEqual([["said"], ["said!"]]);
    await session.dispose();
  });

  it("the first of two custom commands counts; what is no command is told, and the others load", async () => {
    put(`${own}/a.ts`, command("same", '() => "a"'));
    put(`${own}/b.ts`, command("same", '() => "b"'));
    put(`${own}/c.ts`, `export default () => [{ name: "c" }, { name: "d e", description: "", execute() {} }];`);
    put(`${own}/d.ts`, "export const nothing = 1;");
    put(`${own}/e.ts`, 'throw new Error("not today");');
    put(`${own}/README.md`, "Not a module.");
    mkdirSync(join(home.base, own, "empty"));
    const { session, asked, lines } = await open(1);
    await session.prompt("/same");
    expect(asked()).toEqual(["a"]);
    const at = (name: string) => `galley: ${join(home.base, own, name)}: `;
    expect(lines).toEqual([
      `${at("b.ts")}Command name "same" conflicts with existing command\n`,
      `${at("c.ts")}Command factory returned invalid command at index 0: expected object with string name, string description, and execute function\n`,
      `${at("c.ts")}Command name "d e" is invalid: use one word\n`,
      `${at("d.ts")}Command must export a default function\n`,
      `${at("e.ts")}Failed to load command: not today\n`,
    ]);
    await session.dispose();
  });
});

describe("where commands come from", () => {
  const trap = (name: string) => `globalThis.imported = "${name}";\n${command(name, '() => "of the project"')}`;
  const imported = () => (globalThis as { imported?: string }).imported;
  afterEach(() => void delete (globalThis as { imported?: string }).imported);

  it("a project only once it is trusted: nothing of it is imported before", async () => {
    put("project/.galley/commands/theirs.ts", trap("theirs"));
    const untrusted = await open(1);
    await untrusted.session.prompt("/theirs");
    expect([imported(), untrusted.asked(), untrusted.session.getCommands()]).toEqual([undefined, ["/theirs"], []]);
    expect(untrusted.lines.join("")).toContain("1 command of this project is not trusted: galley trust");
    await untrusted.session.dispose();

    const trusted = await open(1, { trustProject: true });
    await trusted.session.prompt("/theirs");
    expect([imported(), trusted.asked()]).toEqual(["theirs", ["of the project"]]);
    await trusted.session.dispose();
  });

  it("trust covers these exact files: a changed text is a new question", async () => {
    put("project/.galley/commands/theirs/index.ts", `import "./part.js";\n${trap("theirs")}`);
    put("project/.galley/commands/theirs/part.js", "globalThis.part = 1;");
    const { reviewTrust, trustReviewed, findExtensionLocation } = await import(
      "../../../src/sdk/extensions/manage-extensions.js"
    );
    const cwd = join(home.base, "project");
    const place = await findExtensionLocation({ cwd, log: { warn() {}, error() {} }, builtInToolNames: [] });
    const review = await reviewTrust(place);
    expect(review.question.lines).toEqual([
      "Commands it would load:",
      "  .galley/commands/theirs/index.ts",
      "Files that these load:",
      "  .galley/commands/theirs/part.js",
    ]);
    await trustReviewed(place, review);
    const agreed = await open(0);
    expect(agreed.session.getCommands()).toHaveLength(1);
    await agreed.session.dispose();
    put("project/.galley/commands/theirs/part.js", "globalThis.part = 2;");
    const changed = await open(0);
    expect(changed.session.getCommands()).toEqual([]);
    await changed.session.dispose();
  });

  it("a tool and a command may share a file's name; a project's hides none of the user's unless it is trusted", async () => {
    put(".galley/agent/tools/one.ts", `export default () => [];`);
    put(`${own}/one.ts`, command("one", '() => "mine"'));
    put("project/.galley/commands/one.ts", command("one", '() => "theirs"'));
    const { session, asked } = await open(1);
    await session.prompt("/one");
    expect(asked()).toEqual(["mine"]);
    await session.dispose();
  });

  it("a plugin that names them; not code beside the texts of another program", async () => {
    put("plugin/package.json", JSON.stringify({ name: "p", galley: { commands: ["c.ts", "texts"] } }));
    put("plugin/c.ts", command("plugged", '() => "plugged"'));
    put("plugin/texts/note.md", "A text.");
    put(".claude/commands/helper.js", 'globalThis.imported = "helper";');
    put(".codex/commands/helper.js", 'globalThis.imported = "helper";');
    const { session, lines } = await open(0, { pluginDirectories: ["../plugin"] });
    expect(session.getCommands().map(({ name }) => name)).toEqual(["plugged"]);
    expect([imported(), lines]).toEqual([undefined, []]);
    await session.dispose();
  });

  it("not from a provider that is switched off", async () => {
    put(`${own}/one.ts`, trap("one"));
    const settings = new Settings();
    settings.override("disabledProviders", ["native"]);
    const { session } = await open(0, { settings });
    expect([imported(), session.getCommands()]).toEqual([undefined, []]);
    await session.dispose();
  });
});
