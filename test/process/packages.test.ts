// Packages in the built program: what a manifest or the usual folders name is loaded as a whole, from every place that a
// package can come from, and a bad part of one stops nothing else.

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost, type StartOptions } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** An extension that shows that it was loaded by a command of that name. */
const command = (name: string) =>
  `export default (pi) => pi.registerCommand(${JSON.stringify(name)}, { handler() {} });\n`;
const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}\n---\nHow to do ${name}.\n`;
const manifest = (pi: object, more: object = {}) => JSON.stringify({ name: "whole", version: "1.0.0", pi, ...more });
const below = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

/** Extensions, skills and prompts of a session, and what it said on stderr. */
async function listed(options: StartOptions) {
  const host = new RpcHost(options);
  try {
    host.send({ id: "c", type: "get_commands" });
    const { commands } = (await host.waitForResponse("c")).data as { commands: { name: string; source: string }[] };
    host.end();
    await host.exited;
    const names = commands.filter(({ source }) => /extension|skill|prompt/.test(source)).map(({ name }) => name);
    return { names: names.sort(), stderr: host.stderr };
  } finally {
    await host.dispose();
  }
}

const whole = {
  "package.json": manifest(
    {
      extensions: ["./src/ext", "./lib/*.ts", "!lib/old.ts"],
      skills: ["./docs/skills"],
      prompts: ["./texts/**/*.md", "!**/draft*"],
    },
    { main: "index.js" },
  ),
  "index.js": command("main-of-library"),
  "src/ext/one.ts": command("one"),
  "src/ext/two/index.ts": command("two"),
  "src/ext/three/package.json": manifest({ extensions: ["deep/three.ts"] }),
  "src/ext/three/deep/three.ts": command("three"),
  "src/ext/helpers/no-index.ts": command("helper"),
  "lib/four.ts": command("four"),
  "lib/old.ts": command("old"),
  "docs/skills/pack-tidy/SKILL.md": skill("pack-tidy"),
  "docs/skills/group/pack-deep/SKILL.md": skill("pack-deep"),
  "texts/pack-review.md": "Review it.",
  "texts/more/pack-more.md": "More of it.",
  "texts/draft-x.md": "Not yet.",
};
const ofWhole = [
  "four",
  "one",
  "three",
  "two",
  "pack-more",
  "pack-review",
  "skill:pack-deep",
  "skill:pack-tidy",
].sort();

const byFolder = {
  "package.json": JSON.stringify({ name: "folders", main: "index.js" }),
  "index.js": command("main-of-library"),
  "extensions/five.ts": command("five"),
  "skills/pack-tidy/SKILL.md": skill("pack-tidy"),
  "prompts/pack-review.md": "Review it.",
};
const ofFolders = ["five", "pack-review", "skill:pack-tidy"];

describe("a package", () => {
  it.each<[string, StartOptions]>([
    ["-e", { files: below("../pack", whole), args: ["-e", "../pack"] }],
    ["--plugin-dir", { files: below("../pack", whole), args: ["--plugin-dir", "../pack"] }],
    ["the setting", { files: { ...below("../pack", whole), "../agent/config.yml": "extensions: [../pack]\n" } }],
    ["a folder in extensions", { files: below("../agent/extensions/pack", whole) }],
    ["the plugins", { files: below("../.omp/plugins/node_modules/whole", whole) }],
  ])("is loaded as a whole by its manifest: %s", async (_, options) => {
    expect(await listed(options)).toEqual({ names: ofWhole, stderr: "" });
  });

  it.each<[string, StartOptions]>([
    ["-e", { files: below("../pack", byFolder), args: ["-e", "../pack"] }],
    ["--plugin-dir", { files: below("../pack", byFolder), args: ["--plugin-dir", "../pack"] }],
    ["the setting", { files: { ...below("../pack", byFolder), "../agent/config.yml": "extensions: [../pack]\n" } }],
  ])("is loaded by its folders where there is no manifest: %s", async (_, options) => {
    expect(await listed(options)).toEqual({ names: ofFolders, stderr: "" });
  });

  it("needs no module, and its skills are in the system prompt", async () => {
    server = await startScriptedServer([openAi.text("Hello.")]);
    const host = new RpcHost({
      models: modelsAt(server.url),
      files: {
        ...below("../pack", {
          "package.json": manifest({ skills: ["skills"], prompts: ["prompts"] }, { main: "index.js" }),
        }),
        "../pack/index.js": "throw new Error('the main of a library');",
        "../pack/skills/pack-tidy/SKILL.md": skill("pack-tidy"),
        "../pack/prompts/pack-review.md": "Review $1.",
      },
      args: ["-e", "../pack"],
    });
    try {
      host.send({ id: "p", type: "prompt", message: "/pack-review a.ts" });
      await host.waitForType("agent_settled");
      const [request] = server.requests;
      const asked = JSON.stringify(request?.body);
      expect(asked).toContain("<name>pack-tidy</name>");
      expect(asked).toContain("Review a.ts.");
      expect(host.stderr).toBe("");
    } finally {
      await host.dispose();
    }
  });

  it("of pi's own list is loaded in the place of pi, with its filter; what lies beside it is not", async () => {
    const npm = "../.pi/agent/npm/node_modules";
    const settings = {
      packages: [
        "npm:whole@1.0.0",
        { source: "npm:@s/folders", extensions: [], prompts: ["!prompts/pack-review.md"] },
        "npm:gone",
      ],
    };
    const files = {
      "../.pi/agent/settings.json": JSON.stringify(settings),
      ...below(`${npm}/whole`, whole),
      ...below(`${npm}/@s/folders`, { ...byFolder, "skills/pack-other/SKILL.md": skill("pack-other") }),
      ...below(`${npm}/not-listed`, whole),
    };
    const { names, stderr } = await listed({ files, env: { GALLEY_AS: "pi", GALLEY_AGENT_DIR: "" } });
    expect(names).toEqual([...ofWhole, "skill:pack-other"].sort());
    expect(stderr).toContain("npm:gone: This package is not installed. Install it with: npm install --prefix ");
    expect((await listed({ files })).names).toEqual([]);
  });

  it("that cannot be installed here is told by a sentence with the command", async () => {
    const place = emptyHome();
    try {
      const cwd = join(place.home, "project");
      mkdirSync(cwd);
      const { stderr, code } = await run(
        process.execPath,
        [galleyBin, "-e", "npm:@s/pack@2", "-p", "hi", "--model", "planner"],
        {
          env: place.env,
          cwd,
        },
      );
      expect(stderr).toContain(
        "npm:@s/pack@2: This package is not installed. Install it with: npm install @s/pack@2, then name it: -e node_modules/@s/pack",
      );
      expect(code).not.toBe(0);
    } finally {
      place.remove();
    }
  });
});

describe("a bad package", () => {
  it("is one sentence for each fault, and stops nothing else", async () => {
    const files = {
      ...below("../bad", {
        "package.json": manifest({
          extensions: ["../outside/*.ts", "gone.ts", "fine.ts"],
          skills: ["no-skills", "skills"],
          prompts: ["../outside"],
        }),
        "fine.ts": command("fine"),
        "skills/pack-tidy/SKILL.md": skill("pack-tidy"),
        "../outside/a.ts": command("outside"),
        "../outside/p.md": "Outside.",
      }),
      ...below("../broken", { "package.json": "{", "prompts/pack-review.md": "Review it." }),
    };
    const { names, stderr } = await listed({ files, args: ["-e", "../bad", "--plugin-dir", "../broken"] });
    expect(names).toEqual(["fine", "pack-review", "skill:pack-tidy"]);
    const lines = stderr.trim().split("\n");
    expect(lines).toHaveLength(5);
    for (const [index, sentence] of [
      'bad: its package.json names "../outside/*.ts", which leaves the package',
      'bad: its package.json names "gone.ts", which does not exist',
      "broken/package.json: is not a JSON object",
    ].entries())
      expect(lines.join("\n"), String(index)).toContain(sentence);
    expect(stderr).toContain('bad: its package.json names "no-skills", which does not exist');
    expect(stderr).toContain('bad: its package.json names "../outside", which leaves the package');
  });

  it("has each of its odd modules loaded as far as it goes, and one sentence for what does not", async () => {
    const tool = `{ name: "again", description: "Again", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [] }) }`;
    const files = below("../odd", {
      "package.json": manifest({
        extensions: ["twice.ts", "names.ts", "circle.ts", "patches.ts", "throws.ts", "hangs.ts", "fine.ts"],
      }),
      "twice.ts": `export default (pi) => {
        for (const time of [1, 2]) { pi.registerTool(${tool}); pi.registerCommand("twice", { handler() {} }); }
      };`,
      "names.ts": `export default (pi) => {
        for (const name of ["clear\\u001b[2J", "left\\u202eright", "", "named"]) pi.registerCommand(name, { handler() {} });
      };`,
      "circle.ts": `import { b } from "./other.ts";\nexport const a = () => "a";
        export default (pi) => pi.registerCommand("circle", { description: b(), handler() {} });`,
      "other.ts": `import { a } from "./circle.ts";\nexport const b = () => a() + "b";`,
      "patches.ts": `import { InteractiveMode, UserMessageComponent } from "@earendil-works/pi-coding-agent";
        const before = InteractiveMode.prototype.thereIsNoSuchMethod;
        InteractiveMode.prototype.thereIsNoSuchMethod = function () { return before.call(this); };
        UserMessageComponent.prototype.render = () => [];
        export default (pi) => pi.registerCommand("patched", { handler() {} });`,
      "throws.ts": `const value = undefined;\nexport default () => value.name;`,
      "hangs.ts": `setTimeout(() => process.exit(7), 1);\nawait new Promise((resolve) => setTimeout(resolve, 200));\n${command("late")}`,
      "fine.ts": command("fine"),
    });
    const { names, stderr } = await listed({ files, args: ["-e", "../odd"] });
    expect(names).toEqual(["circle", "fine", "late", "named", "patched", "twice"]);
    const said = (sentence: string) => expect(stderr).toContain(sentence);
    said(`odd/twice.ts registers the tool "again" twice; the last one counts`);
    said(`odd/twice.ts registers the command "twice" twice; the last one counts`);
    said(`odd/names.ts: Command name "clear\\u001b[2J" is invalid: use one word`);
    said(`odd/names.ts: Command name "" is invalid: use one word`);
    said("odd/throws.ts: Failed to load extension: Cannot read properties of undefined (reading 'name')");
    expect(stderr).toMatch(/odd\/hangs\.ts.*process\.exit\(7\)/);
    expect(stderr).not.toContain("\u001b");
    expect(stderr).not.toContain("\u202e");
  });

  it("with a link in a circle is read to its end", async () => {
    const place = emptyHome();
    try {
      mkdirSync(join(place.home, "circle/skills/pack-tidy"), { recursive: true });
      symlinkSync("..", join(place.home, "circle/skills/again"));
      const { names, stderr } = await listed({ args: ["-e", join(place.home, "circle")] });
      expect(names).toEqual([]);
      expect(stderr).toContain("circle/skills/again: leads in a circle");
    } finally {
      place.remove();
    }
  });

  it("is a library without a manifest: its main is not run", async () => {
    const files = below("../lib", {
      "package.json": JSON.stringify({ name: "lib", main: "index.js" }),
      "index.js": command("main-of-library"),
    });
    const { names, stderr } = await listed({ files, args: ["-e", "../lib"] });
    expect(names).toEqual([]);
    expect(stderr).toContain("lib: This is a library: its package.json names no extensions, and its main is not run");
  });
});

describe("a package of a project", () => {
  const files = {
    ...below(".galley/extensions/pack", whole),
    ...below("vendor/pack", byFolder),
    ".galley/settings.json": JSON.stringify({ extensions: ["vendor/pack"] }),
  };

  it("is nothing without trust, texts included", async () => {
    expect((await listed({ files })).names).toEqual([]);
  });

  it("is loaded once the user trusts the project", async () => {
    const { names } = await listed({ files, args: ["--trust-project"] });
    expect(names).toEqual([...new Set([...ofWhole, ...ofFolders])].sort());
  });
});
