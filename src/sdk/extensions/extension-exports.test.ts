// What published extensions import at run time: each name is there, under the package it is looked for, and works.
// Starts programs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createModuleHome, type ModuleHome } from "../../../test/kit/module-home.js";
import { say } from "../../testing/scripted-model.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const scope = "@mariozechner";
const names = {
  "pi-tui":
    "Text Markdown Box Container Spacer SelectList Input Key matchesKey visibleWidth truncateToWidth fuzzyMatch CURSOR_MARKER getEditorKeybindings wrapTextWithAnsi replaceTabs Editor Loader CancellableLoader Image TruncatedText SettingsList",
  "pi-coding-agent":
    "getMarkdownTheme SettingsManager getSelectListTheme truncateToVisualLines keyText rawKeyHint DynamicBorder BorderedLoader keyHint CustomEditor copyToClipboard createBashTool createReadTool createWriteTool createEditTool createFindTool createGrepTool createLsTool createBashToolDefinition createReadToolDefinition createWriteToolDefinition createEditToolDefinition createFindToolDefinition createGrepToolDefinition createLsToolDefinition CONFIG_DIR_NAME withFileMutationQueue getAgentDir getSettingsListTheme defineTool formatSize DEFAULT_MAX_BYTES DEFAULT_MAX_LINES parseFrontmatter truncateHead convertToLlm serializeConversation compact astEdit",
  "pi-ai": "StringEnum Type complete stream getModel",
  "pi-agent-core": "logger",
};

/** What a function in an extension answers, with everything imported by its name. */
async function inside(
  script: Parameters<ModuleHome["open"]>[0],
  body: string,
  files: Record<string, string> | "on disk" = {},
): Promise<unknown> {
  const imports = Object.entries(names)
    .map(([name, list]) => `import { ${list.split(" ").join(", ")} } from "${scope}/${name}";`)
    .join("\n");
  const out = join(home.base, "out.json");
  home.put(
    ".galley/agent/extensions/probe.ts",
    `${imports}\nimport { writeFileSync } from "node:fs";
    export default (pi) => pi.registerCommand("probe", { async handler(args, ctx) {
      const answer = await (async () => { ${body} })();
      writeFileSync(${JSON.stringify(out)}, JSON.stringify(answer));
    } });`,
  );
  const { session, lines, model } = await home.open(script, {}, files);
  await session.prompt("/probe");
  await session.dispose();
  model.verify();
  expect(lines).toEqual([]);
  return JSON.parse(readFileSync(out, "utf8"));
}

it.each(Object.entries(names))("%s has all of them", async (name, list) => {
  const kinds = list.split(" ").map((one) => `${one}: typeof ${one}`);
  const answer = (await inside([], `return { ${kinds.join(", ")} };`)) as Record<string, string>;
  const others = {
    Key: "object",
    CURSOR_MARKER: "string",
    DEFAULT_MAX_BYTES: "number",
    DEFAULT_MAX_LINES: "number",
    CONFIG_DIR_NAME: "string",
    Type: "object",
    SettingsManager: "object",
    logger: "object",
  };
  expect(answer, name).toEqual(
    Object.fromEntries(list.split(" ").map((one) => [one, (others as Record<string, string>)[one] ?? "function"])),
  );
});

it("SettingsManager gives the user's file as it is, and the program's places exist", async () => {
  home.put(".galley/agent/settings.json", JSON.stringify({ env: { MINE: "1" } }));
  home.put("project/.pi/settings.json", JSON.stringify({ env: { THEIRS: "1" } }));
  const answer = await inside(
    [],
    `const pi = await import("@earendil-works/pi-coding-agent"); const { existsSync } = await import("node:fs");
    const mine = SettingsManager.create(); const places = [pi.getPackageDir(), pi.getReadmePath(), pi.getDocsPath(), pi.getExamplesPath()];
    return [mine.getGlobalSettings().env, mine.getProjectSettings(), SettingsManager.inMemory({ a: 1 }).getGlobalSettings(), places.map((path) => existsSync(path))];`,
  );
  expect(answer).toEqual([{ MINE: "1" }, {}, { a: 1 }, [true, true, true, true]]);
});

it("SettingsManager reads the session's settings under the names of pi, and names what it lacks", async () => {
  home.put(".galley/agent/settings.json", '{"env":{"A":"1"}}');
  const answer = await inside(
    [],
    `const mine = SettingsManager.create("/anywhere"); const said = (work) => { try { return work(); } catch (error) { return error.message; } };
    return [mine.getCompactionSettings(), mine.getSteeringMode(), SettingsManager.inMemory({ shellPath: "/bin/sh", retry: { enabled: false } }).getShellPath(),
      SettingsManager.inMemory({ retry: { enabled: false } }).getRetryEnabled(), said(() => mine.setTheme("x")), mine.getGlobalSettings(), mine.getProjectSettings()];`,
  );
  expect(answer).toEqual([
    { enabled: true, reserveTokens: expect.any(Number), keepRecentTokens: expect.any(Number) },
    "one-at-a-time",
    "/bin/sh",
    false,
    "galley does not have SettingsManager.setTheme of pi-coding-agent yet.",
    { env: { A: "1" } },
    {},
  ]);
});

it("a tool of ours that is wrapped and registered is no cause for a warning", async () => {
  const wrapped = `const tool = createBashTool("."); pi.registerTool({ ...tool, name: "shell", label: "Shell" });
    return pi.getAllTools().some(({ name }) => name === "shell");`;
  expect(await inside([], wrapped)).toBe(true);
});

describe("components", () => {
  it("are those of the library, without a terminal", async () => {
    const answer = await inside(
      [],
      `const stack = new Container(); stack.addChild(new Text("hi", 1, 0)); stack.addChild(new DynamicBorder());
      const markdown = new Markdown("# A\\n- one", 0, 0, { ...getMarkdownTheme(), heading: (t) => "<" + t + ">" });
      return { stack: stack.render(6), image: new Image("", "image/png", {}, { filename: "a.png" }).render(26),
        markdown: markdown.render(20).map((line) => line.trimEnd()).filter(Boolean),
        width: [visibleWidth("a\\u4e2d" + CURSOR_MARKER), replaceTabs("\\t"), wrapTextWithAnsi("a b", 1)],
        visual: truncateToVisualLines("a\\nb\\nc", 2, 1), keys: [keyText("tui.select.confirm"), rawKeyHint("x", "to leave")] };`,
    );
    expect(answer).toEqual({
      stack: [" hi   ", "──────"],
      image: ["[Image: a.png, image/png] "],
      markdown: ["<A>", "- one"],
      width: [3, "   ", ["a", "b"]],
      visual: { visualLines: ["b", "c"], skippedCount: 1 },
      keys: ["enter", "x to leave"],
    });
  });

  it("take keys", async () => {
    const answer = await inside(
      [],
      `const heard = []; const screen = { requestRender() {}, terminal: { rows: 24, columns: 80 } };
      const list = new SelectList([{ value: "a", label: "Apple" }, { value: "b", label: "Banana" }], 5, getSelectListTheme());
      list.onSelect = (item) => heard.push(item.value); list.onCancel = () => heard.push("cancel");
      for (const key of ["\\x1b[B", "\\r", "\\x1b"]) list.handleInput(key);
      const look = { borderColor: (text) => text, selectList: getSelectListTheme() };
      const editor = new CustomEditor(screen, look); editor.onSubmit = (text) => heard.push(text);
      editor.onAction("undo", () => heard.push("undo")); editor.onEscape = () => heard.push("escape");
      for (const key of ["a", "\\n", "b", "\\x1b[45;5u", "\\x1b", "\\r"]) editor.handleInput(key);
      const settings = new SettingsList([{ id: "s", label: "Sound", currentValue: "on", values: ["on", "off"] }], 3,
        getSettingsListTheme(), (id, value) => heard.push(id + value), () => heard.push("closed"));
      settings.handleInput(" "); settings.handleInput("\\x1b");
      const waiting = new BorderedLoader(screen, {}, "Wait"); waiting.onAbort = () => heard.push("aborted");
      waiting.handleInput("\\x1b"); heard.push(waiting.signal.aborted); waiting.dispose();
      return { heard, waiting: waiting.render(8)[0] };`,
    );
    expect(answer).toEqual({
      heard: ["b", "cancel", "undo", "escape", "a\nb", "soff", "closed", "aborted", true],
      waiting: "────────",
    });
  });

  it("know keys by their names", async () => {
    const pairs = [
      ["\x03", "ctrl+c"],
      ["\x1b[1;2A", "shift+up"],
      ["\x1b[Z", "shift+tab"],
      ["\x1bb", "alt+b"],
      ["\x1b[99;5u", "ctrl+c"],
      ["\x1bOB", "down"],
      ["\x1b[5~", "pageUp"],
      ["A", "shift+a"],
    ];
    const answer = await inside(
      [],
      `return [${JSON.stringify(pairs)}.map(([data, key]) => matchesKey(data, key)), matchesKey("c", "ctrl+c"), Key.ctrl("c"), Key.escape,
      fuzzyMatch("rdm", "README").matches, fuzzyMatch("xyz", "README").matches, fuzzyMatch("re", "read").score < fuzzyMatch("rd", "read").score,
      keyHint("selectConfirm", "to choose"), getEditorKeybindings().matches("\\x1b", "selectCancel")];`,
    );
    expect(answer).toEqual([
      pairs.map(() => true),
      false,
      "ctrl+c",
      "escape",
      true,
      false,
      true,
      "enter to choose",
      true,
    ]);
  });
});

it("helpers with texts, files and conversations", async () => {
  const answer = await inside(
    [],
    `const order = []; const slow = withFileMutationQueue("a", async () => { await 0; order.push(1); throw new Error("no"); }).catch(() => order.push("failed"));
    await Promise.all([slow, withFileMutationQueue("./a", async () => order.push(2))]);
    const messages = [{ role: "user", content: "hi", timestamp: 1 }, { role: "custom", customType: "x", content: "c", display: true, timestamp: 2 }];
    const { content, truncated, truncatedBy, outputLines, totalLines } = truncateHead("a\\nb\\nc", { maxLines: 2 });
    return { order, sizes: [formatSize(10), formatSize(1536), DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES],
      head: { content, truncated, truncatedBy, outputLines, totalLines }, long: truncateHead("abc", { maxBytes: 2 }).firstLineExceedsLimit,
      front: parseFrontmatter('---\\nname: "x"\\nn: 3\\ntags: [a, b]\\nlist:\\n  - c\\non: true\\n---\\nBody'), none: parseFrontmatter("Body"),
      dir: getAgentDir().endsWith(".galley/agent"), roles: convertToLlm(messages).map(({ role }) => role),
      text: serializeConversation(messages), kind: StringEnum(["a", "b"], { description: "d" }), marked: defineTool({ name: "t" }).name };`,
  );
  expect(answer).toEqual({
    order: [1, 2, "failed"],
    sizes: ["10B", "1.5KB", 51200, 2000],
    head: { content: "a\nb", truncated: true, truncatedBy: "lines", outputLines: 2, totalLines: 3 },
    long: true,
    front: { frontmatter: { name: "x", n: 3, tags: ["a", "b"], list: ["c"], on: true }, body: "Body" },
    none: { frontmatter: {}, body: "Body" },
    dir: true,
    roles: ["user", "user"],
    text: "[User]: hi\n\n[Custom]: c",
    kind: { type: "string", enum: ["a", "b"], description: "d" },
    marked: "t",
  });
});

it("the engine of ast_edit, on the files of the session", async () => {
  const answer = await inside(
    [],
    `const ops = [{ pat: "old($A)", out: "fresh($A)" }];
    const shown = await astEdit({ ops, path: "a.ts" });
    const read = async () => (await createReadTool(ctx.cwd).execute("1", { path: "a.ts" }, undefined, () => {}, { cwd: ctx.cwd })).content[0].text;
    const before = await read();
    const { applied } = await astEdit({ ops, dryRun: false });
    return { changes: shown.changes.map(({ after }) => after), before, applied, after: await read() };`,
    { "a.ts": "old(1);\n" },
  );
  expect(answer).toEqual({
    changes: ["fresh(1)"],
    before: expect.stringContaining("old(1);"),
    applied: true,
    after: expect.stringContaining("fresh(1);"),
  });
});

it("the built-in tools, made for a directory, with the rules of the workspace", async () => {
  const answer = await inside(
    [],
    `const text = async (tool, params) => (await tool.execute("1", params, undefined, () => {}, { cwd: ctx.cwd })).content.map((c) => c.text).join("");
    const failure = (work) => work.then(() => "none", (error) => error.message);
    const place = ctx.cwd;
    await text(createWriteTool(place), { path: "b.txt", content: "one\\n" });
    await text(createReadTool(place), { path: "b.txt" });
    return { names: [createBashTool, createReadTool, createWriteTool, createEditTool, createFindTool, createGrepTool, createLsTool].map((make) => make(place).name),
      read: (await text(createReadTool(place), { path: "a.txt" })).includes("hello"),
      ls: (await text(createLsTool(place), {})).includes("b.txt"),
      missing: await failure(text(createReadTool(place), { path: "none.txt" })),
      refused: (() => { try { createBashTool(place, { operations: {} }); } catch (error) { return error.message; } })(),
      clipboard: await failure(copyToClipboard("x")).then((text) => /none|no clipboard/.test(text)) };`,
    { "a.txt": "hello\n" },
  );
  expect(answer).toMatchObject({
    names: ["bash", "read", "write", "edit", "find", "grep", "ls"],
    read: true,
    ls: true,
    missing: expect.stringContaining("none.txt"),
    refused: "The operations of createBashTool need a function exec.",
    clipboard: true,
  });
});

it("a built-in tool made for another directory", async () => {
  home.put("elsewhere/a.txt", "hello\n");
  const answer = await inside(
    [],
    `const tool = createBashTool("../elsewhere", { commandPrefix: "word=said" });
    const { content } = await tool.execute("1", { command: "echo $word; cat a.txt" }, undefined, () => {}, { cwd: ctx.cwd });
    return content.map((block) => block.text).join("").trim();`,
    "on disk",
  );
  expect(answer).toBe("said\nhello");
});

it("models: asked, streamed, and used for a summary", async () => {
  const answer = await inside(
    [say("Yes."), say("Streamed."), say("In short.")],
    `const context = { systemPrompt: "Be brief.", messages: [{ role: "user", content: "Well?", timestamp: 1 }] };
    const first = await complete(ctx.model, context, { maxTokens: 10 });
    const events = []; const reply = stream(ctx.model, context);
    for await (const event of reply) events.push(event.type === "text_delta" ? event.delta : event.type);
    const preparation = { firstKeptEntryId: "e1", tokensBefore: 9, messagesToSummarize: context.messages };
    const { summary, firstKeptEntryId } = await compact(preparation, ctx.model, "key", undefined, "names");
    return { text: first.content[0].text, stop: first.stopReason, events, result: (await reply.result()).content[0].text, summary, firstKeptEntryId,
      unknown: typeof getModel("nobody", "none") };`,
  );
  expect(answer).toMatchObject({
    text: "Yes.",
    stop: "stop",
    result: "Streamed.",
    summary: "In short.",
    firstKeptEntryId: "e1",
    unknown: "undefined",
  });
  const { events } = answer as { events: string[] };
  expect([events[0], events.at(-1)]).toEqual(["start", "done"]);
});
