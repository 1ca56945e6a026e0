import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, moduleThatSays, type ToolModules, textOf, toolModules } from "../../../test/kit/tool-modules.js";
import { PendingActionStore } from "../../pending/store/pending-action-store.js";
import { currentModule } from "./load-guard.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

const good = moduleThatSays("good", '"fine"');

describe("project code", () => {
  const marker = () => join(modules.directory, "was-here");
  const effect = `import { writeFileSync } from "node:fs"; writeFileSync(new URL("was-here", import.meta.url), "");\n${good}`;

  it("is not touched unless the project is trusted", async () => {
    modules.write({ "tool.ts": effect });
    const candidate = modules.candidate("tool.ts", { needsTrust: true });
    const { tools, errors } = await modules.load([candidate]);
    expect([tools, errors]).toEqual([[], [{ path: "tool.ts", error: "Skipped: project is not trusted" }]]);
    expect(existsSync(marker())).toBe(false);
  });

  it.each([
    ["a computed name", 'await import("./hid" + "den.js"); '],
    ["a required file", 'require("./hidden"); '],
    ["a package", 'import "hidden-package"; '],
    [
      "a require of its own making",
      'import { createRequire } from "node:module"; createRequire(import.meta.url)("./hid" + "den"); ',
    ],
    [
      "the same by the library's name",
      'import Module, * as all from "module"; (all.createRequire ?? Module.createRequire)(__filename)("./hid" + "den"); ',
    ],
    ["native code", 'require("./hidden.node"); '],
  ])("loads no file that was not shown: %s", async (_title, before) => {
    modules.write({
      "tool.ts": `${before}${good}`,
      "hidden.ts": 'require("node:fs").writeFileSync(__dirname + "/was-here", "");',
      "hidden.node": "no library",
      "node_modules/hidden-package/package.json": '{"name":"hidden-package","main":"main.js"}',
      "node_modules/hidden-package/main.js": 'require("fs").writeFileSync(__dirname + "/../../was-here", "");',
    });
    const asked: string[] = [];
    const coverage = {
      admit(path: string, content: Uint8Array) {
        asked.push(`${path.slice(modules.directory.length + 1)} ${content.length > 0}`);
        if (!path.endsWith("tool.ts")) throw new Error(`${path} is not covered`);
      },
    };
    const { tools, errors } = await modules.load([modules.candidate("tool.ts", { needsTrust: true })], { coverage });
    expect(tools).toEqual([]);
    expect(errors[0]?.error).toMatch(/^Failed to load tool: .* is not covered$/);
    expect(asked[0]).toBe("tool.ts true");
    expect(asked).toHaveLength(2);
    expect(existsSync(marker())).toBe(false);
  });

  it("runs with its packages when all of it was shown", async () => {
    modules.write({
      "tool.ts": moduleThatSays(
        "mine",
        "[pack.n, inner]",
        'import pack from "pack"; import { inner } from "esm-pack";',
      ),
      "node_modules/pack/package.json": '{"name":"pack","main":"main.js"}',
      "node_modules/pack/main.js": 'module.exports = require("./part");',
      "node_modules/pack/part.js": "exports.n = 1;",
      "node_modules/esm-pack/package.json": '{"name":"esm-pack","type":"module","exports":"./main.js"}',
      "node_modules/esm-pack/main.js": 'export const inner = "esm";',
    });
    const loaded = await modules.load([modules.candidate("tool.ts", { needsTrust: true })], {
      coverage: { admit() {} },
    });
    expect(loaded.errors).toEqual([]);
    expect(await textOf(callTool(loaded, "mine"))).toBe('[1,"esm"]');
  });
});

describe("a running module", () => {
  it("gets an empty stdin, while galley keeps its own", async () => {
    modules.write({
      "tool.ts": moduleThatSays(
        "reader",
        "text",
        'let text = "nothing"; process.stdin.on("data", () => { text = "data"; }); process.stdin.setRawMode?.(true); await new Promise((done) => process.stdin.on("end", done).resume());',
      ),
    });
    const listeners = process.stdin.listenerCount("data");
    const loaded = await modules.load(["tool.ts"]);
    expect(loaded.errors).toEqual([]);
    expect(process.stdin.listenerCount("data")).toBe(listeners);
    expect(modules.warnings).toEqual([expect.stringContaining("tool.ts reads stdin, which belongs to galley")]);
  });

  it("writes to stderr where it means stdout: at import, in a call, and later", async () => {
    const written: string[] = [];
    const { write } = process.stderr;
    const { error } = console;
    process.stderr.write = ((text: string) => written.push(text) > 0) as typeof write;
    console.error = (...args) => void written.push(args.join(" "));
    try {
      modules.write({
        "tool.ts": moduleThatSays(
          "loud",
          '(process.stdout.write("call"), await new Promise((done) => setTimeout(() => { console.log("later"); done(""); }, 0)))',
          'console.log("import"); process.stdout.write("raw");',
        ),
      });
      const loaded = await modules.load(["tool.ts"]);
      await callTool(loaded, "loud");
    } finally {
      process.stderr.write = write;
      console.error = error;
    }
    expect(written).toEqual(["import", "raw", "call", "later"]);
  });

  it("cannot leave in a call either", async () => {
    modules.write({ "tool.ts": moduleThatSays("leaver", "process.exit(1)") });
    const loaded = await modules.load(["tool.ts"]);
    await expect(callTool(loaded, "leaver")).rejects.toThrow(/tool\.ts called process\.exit\(1\)/);
  });

  it("no longer counts as a running module where it asks something of us", async () => {
    const expression = `(await ui.input("t"), onUpdate({ content: [] }), ctx.abort(), pi.logger.warn("w"), await pi.exec("x", []),
      pi.pushPendingAction({ label: "L", apply: async () => ({ content: [{ type: "text", text: String(process.stdout === process.stderr) }] }) }),
      process.stdout === process.stderr)`;
    modules.write({
      "tool.ts": moduleThatSays("asker", expression)
        .replace("(pi) => (", "(pi) => { const { ui } = pi; return (")
        .replace(/\}\);\s*$/, "}); };"),
    });
    const seen: string[] = [];
    const note = (place: string) => void seen.push(`${place} ${currentModule() === undefined}`);
    const store = new PendingActionStore({ clock: modules.clock });
    store.on("change", () => note("push"));
    const refused = () => Promise.reject(new Error("not in this test"));
    const loaded = await modules.load(["tool.ts"], {
      log: { warn: () => note("log"), error() {} },
      pending: { push: (action) => store.push(action), nextId: () => store.nextId(), stamp: refused, plan: refused },
      processes: { run: async () => ({ exitCode: note("exec") ?? 0 }), shutdown: async () => {} },
    });
    loaded.setUIContext({ input: async () => void note("ui") }, true);
    const host = { abort: () => note("abort") };
    expect(await textOf(callTool(loaded, "asker", {}, { onUpdate: () => note("update"), host }))).toBe("true");
    expect(seen).toEqual(["ui true", "update true", "abort true", "log true", "exec true", "push true"]);
    const { work } = store.next() ?? {};
    if (work?.kind !== "closure") throw new Error("not a closure");
    expect(await work.apply("r", undefined, { id: "pa_1", by: "user" })).toMatchObject({ content: [{ text: "true" }] });
  });
});
