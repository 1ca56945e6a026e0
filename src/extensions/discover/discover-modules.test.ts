import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePlace, type Place } from "../../../bench/kit-trust/place.mjs";
import type { JsonObject } from "../../base/json.js";
import { findConfigRoots } from "../../config/config-roots.js";
import { chooseModules } from "./choose.js";
import { type DiscoverOptions, discoverModules } from "./discover-modules.js";

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const tool = "export default () => { throw new Error('loaded') }";
const rootsOf = (cwd: string) => {
  const configRoot = join(place.home, ".galley");
  return findConfigRoots({ cwd, home: place.home, agentDir: join(configRoot, "agent"), configRoot }).roots;
};
const discover = (options: Partial<DiscoverOptions> = {}) =>
  discoverModules({
    cwd: place.repo,
    home: place.home,
    roots: rootsOf(options.cwd ?? place.repo),
    ...options,
  });
const short = (path: string) => relative(place.base, path);
const paths = async (options: Partial<DiscoverOptions> = {}) =>
  (await discover({ kinds: ["tool"], ...options })).modules.map(({ path }) => short(path));

describe("discoverModules", () => {
  it("goes through the sources in their order, project before user, by name", async () => {
    const places = [
      "home/repo/.galley/tools",
      "home/repo/.xcsh/tools",
      "home/repo/.omp/tools",
      "home/repo/.pi/tools",
      "home/.galley/agent/tools",
      "home/.xcsh/agent/tools",
      "home/.omp/agent/tools",
      "home/.pi/agent/tools",
      "home/repo/.claude/tools",
      "home/.claude/tools",
      "home/repo/.codex/tools",
      "home/.codex/tools",
    ];
    for (const folder of places) place.write({ [`${folder}/b.ts`]: tool, [`${folder}/a.js`]: tool });
    place.write({
      "cache/p/tools/x.ts": tool,
      "home/.claude/plugins/installed_plugins.json": JSON.stringify({
        version: 2,
        plugins: { "p@m": [{ scope: "user", installPath: join(place.base, "cache/p") }] },
      }),
      "home/.galley/plugins/node_modules/plug/package.json": JSON.stringify({ galley: { tools: "tools" } }),
      "home/.galley/plugins/node_modules/plug/tools/index.ts": tool,
      "elsewhere/y.ts": tool,
    });
    expect(await paths({ explicit: [{ kind: "tool", path: "../../elsewhere/y.ts", namedBy: "user" }] })).toEqual([
      ...places.flatMap((folder) => [`${folder}/a.js`, `${folder}/b.ts`]),
      "cache/p/tools/x.ts",
      "home/.galley/plugins/node_modules/plug/tools/index.ts",
      "elsewhere/y.ts",
    ]);
  });

  it("takes the nearest directory of the project first, and none beyond its root", async () => {
    place.write({
      "home/.galley/tools/not-a-place.ts": tool,
      "home/repo/.galley/tools/outer.ts": tool,
      "home/repo/a/.galley/tools/inner.ts": tool,
    });
    const cwd = join(place.repo, "a");
    expect(await paths({ cwd })).toEqual(["home/repo/a/.galley/tools/inner.ts", "home/repo/.galley/tools/outer.ts"]);
    mkdirSync(join(cwd, ".git"));
    expect(await paths({ cwd })).toEqual(["home/repo/a/.galley/tools/inner.ts"]);
  });

  it("accepts what each source may hold", async () => {
    const folder = {
      "a.ts": tool,
      "b.mjs": tool,
      "c.cjs": tool,
      "d.d.ts": "",
      "e.test.ts": tool,
      ".f.ts": tool,
      "g/index.js": tool,
      "g/index.mjs": tool,
      "h/other.ts": tool,
      "i.sh": "echo",
      "j.py": "print()",
      "k.txt": "",
    };
    for (const root of [".galley", ".claude", ".codex"])
      for (const [name, text] of Object.entries(folder)) place.write({ [`home/repo/${root}/tools/${name}`]: text });
    const { modules, scripts } = await discover({ kinds: ["tool"] });
    expect(modules.map(({ path }) => relative(place.repo, path))).toEqual([
      ...[".galley/tools/a.ts", ".galley/tools/b.mjs", ".galley/tools/c.cjs", ".galley/tools/g/index.js"],
      ...[".claude/tools/a.ts", ".claude/tools/b.mjs", ".claude/tools/c.cjs"],
      ".codex/tools/a.ts",
    ]);
    expect(scripts.map((path) => relative(place.repo, path))).toEqual([
      ...[".galley/tools/i.sh", ".galley/tools/j.py", ".claude/tools/i.sh", ".claude/tools/j.py"],
    ]);
  });

  it("says whose they are and which need trust", async () => {
    place.write({ "home/repo/.galley/tools/a.ts": tool, "home/.claude/tools/b.ts": tool, "home/c.ts": tool });
    const { modules } = await discover({
      kinds: ["tool"],
      explicit: [
        { kind: "tool", path: "~/c.ts", namedBy: "user" },
        { kind: "tool", path: "../c.ts", namedBy: "project" },
      ],
    });
    const config = { provider: "config", providerName: "Config", level: "project" };
    expect(modules.map(({ name, source, needsTrust }) => ({ name, source, needsTrust }))).toEqual([
      { name: "a", source: { provider: "native", providerName: "galley", level: "project" }, needsTrust: true },
      { name: "b", source: { provider: "claude", providerName: "Claude Code", level: "user" }, needsTrust: false },
      { name: "c", source: config, needsTrust: false },
      { name: "c", source: config, needsTrust: true },
    ]);
  });

  it("reads descriptions as data", async () => {
    place.write({
      "home/repo/.galley/tools/a.json": JSON.stringify({ name: "stats", description: "Counts\u200b things" }),
      "home/repo/.galley/tools/b.md": "---\nname: notes\ndescription: 'Takes notes'\n---\n# Notes",
      "home/repo/.galley/tools/c.json": "{ broken",
      "home/repo/.galley/tools/d.md": "no front matter",
      // A pattern that looks for the end of the blanks would look for it again at each of them.
      "home/repo/.galley/tools/e.md": `---\ndescription: a${" ".repeat(60_000)}b\n---\n`,
    });
    const { metadata, modules } = await discover();
    expect(modules).toEqual([]);
    expect(metadata.map(({ name, description }) => [name, description])).toEqual([
      ["stats", "Counts things"],
      ["notes", "Takes notes"],
      ["c", "c custom tool"],
      ["d", "d custom tool"],
      ["e", expect.stringMatching(/^a +$/)],
    ]);
  });

  it("honours git's ignore files, but not for a folder that is kept out of git as a whole", async () => {
    place.write({ "home/repo/.gitignore": "/.galley/tools/mine.ts\n", "home/repo/.galley/tools/mine.ts": tool });
    place.write({ "home/repo/.galley/tools/.gitignore": "draft*\n", "home/repo/.galley/tools/draft.ts": tool });
    place.write({ "home/repo/.galley/tools/ours.ts": tool });
    expect(await paths()).toEqual(["home/repo/.galley/tools/ours.ts"]);
    place.write({ "home/repo/.gitignore": ".galley/\n" });
    expect(await paths()).toEqual(["home/repo/.galley/tools/mine.ts", "home/repo/.galley/tools/ours.ts"]);
    place.write({ "home/.gitignore": "*\n", "home/.galley/agent/tools/u.ts": tool });
    expect(await paths()).toContain("home/.galley/agent/tools/u.ts");
  });

  it("reports explicit paths that do not exist, and accepts directories and unusual spaces", async () => {
    place.write({
      "home/repo/my tools/a.ts": tool,
      "home/repo/one/index.ts": tool,
      "home/repo/x.py": "",
      "home/repo/d.md": "",
    });
    const explicit = ["my\u00a0tools", "one", "gone.ts", "x.py", "d.md", ".git"];
    const { modules, problems } = await discover({
      explicit: explicit.map((path) => ({ kind: "tool", path, namedBy: "user" })),
    });
    expect(modules.map(({ path }) => relative(place.repo, path))).toEqual(["my tools/a.ts", "one/index.ts", "d.md"]);
    expect(problems.map(({ path, error }) => [relative(place.repo, path), error])).toEqual([
      ["gone.ts", "No such file or directory"],
      ["x.py", "This is not a module"],
      [".git", "There is no module in this directory"],
    ]);
  });

  it.runIf(process.platform !== "win32")("opens no special file and goes round in no circle", async () => {
    mkdirSync(join(place.repo, ".galley/tools"), { recursive: true });
    execFileSync("mkfifo", [join(place.repo, ".galley/tools/pipe.ts")]);
    place.write({
      "home/repo/.galley/tools/null.ts": "-> /dev/null",
      "home/repo/.galley/tools/loop.ts": "-> loop.ts",
      "home/repo/.galley/tools/lost.ts": "-> nowhere.ts",
      "home/repo/.galley/tools/self": "-> .",
      "home/repo/.galley/extensions/self": "-> .",
      "home/repo/.galley/tools/fine.ts": tool,
    });
    const { modules, problems } = await discover();
    expect(modules.map(({ name }) => name)).toEqual(["fine"]);
    expect(problems.map(({ path, error }) => [relative(place.repo, path), error])).toEqual([
      [".galley/tools/loop.ts", "cannot be read (ELOOP)"],
      [".galley/tools/null.ts", "is not a regular file"],
      [".galley/tools/pipe.ts", "is not a regular file"],
    ]);
  });

  it.runIf(process.getuid?.() !== 0)(
    "goes on past a directory that cannot be read (skipped as root, who may)",
    async () => {
      place.write({ "home/repo/.galley/tools/a.ts": tool, "home/.galley/agent/tools/b.ts": tool });
      chmodSync(join(place.repo, ".galley/tools"), 0);
      expect(await paths()).toEqual(["home/.galley/agent/tools/b.ts"]);
      chmodSync(join(place.repo, ".galley/tools"), 0o755);
    },
  );
});

describe("extensions and hooks", () => {
  it("takes a manifest, an index, or one level of files and directories", async () => {
    place.write({
      "home/repo/.galley/extensions/b.ts": tool,
      "home/repo/.galley/extensions/a/index.js": tool,
      "home/repo/.galley/extensions/c/package.json": JSON.stringify({ pi: { extensions: ["./src/main.ts"] } }),
      "home/repo/.galley/extensions/c/src/main.ts": tool,
      "home/repo/.galley/extensions/d/deep/index.ts": tool,
      "home/.galley/agent/extensions/index.ts": tool,
      "home/.galley/agent/extensions/beside.ts": tool,
    });
    const { modules } = await discover({ kinds: ["extension"] });
    expect(modules.map(({ path, needsTrust }) => [short(path), needsTrust])).toEqual([
      ["home/repo/.galley/extensions/a/index.js", true],
      ["home/repo/.galley/extensions/b.ts", true],
      ["home/repo/.galley/extensions/c/src/main.ts", true],
      ["home/.galley/agent/extensions/index.ts", false],
    ]);
  });

  it("tells hook modules from hook programs", async () => {
    place.write({
      "home/repo/.galley/hooks/a.ts": tool,
      "home/repo/.galley/hooks/pre/check.sh": "#!/bin/sh",
      "home/repo/.galley/hooks/post/note.ts": tool,
    });
    const { modules } = await discover({ kinds: ["hook"] });
    expect(modules.map(({ path, isScript }) => [relative(place.repo, path), isScript])).toEqual([
      [".galley/hooks/a.ts", undefined],
      [".galley/hooks/pre/check.sh", true],
      [".galley/hooks/post/note.ts", undefined],
    ]);
  });
});

describe("plugins", () => {
  const plugin = (manifest: object) =>
    place.write({
      "home/.galley/plugins/node_modules/@s/plug/package.json": JSON.stringify({ name: "@s/plug", omp: manifest }),
      "home/.galley/plugins/node_modules/@s/plug/base.ts": tool,
      "home/.galley/plugins/node_modules/@s/plug/more.ts": tool,
      "home/.galley/plugins/node_modules/@s/plug/extra.ts": tool,
    });
  const features = {
    more: { default: true, tools: ["more.ts"] },
    extra: { tools: ["extra.ts"] },
  };
  const names = async () => (await discover({ kinds: ["tool"] })).modules.map(({ name }) => name);
  const lock = (state: object) =>
    place.write({ "home/.galley/plugins/galley-plugins.lock.json": JSON.stringify({ plugins: { "@s/plug": state } }) });

  it("brings base entries and the features that are on", async () => {
    plugin({ tools: "base.ts", features });
    expect(await names()).toEqual(["base", "more"]);
    lock({ enabled: true, enabledFeatures: ["extra"] });
    expect(await names()).toEqual(["base", "extra"]);
    lock({ enabled: false });
    expect(await names()).toEqual([]);
  });

  it("lets a project take away, and never add", async () => {
    plugin({ tools: "base.ts", features });
    place.write({ "home/repo/.galley/plugin-overrides.json": JSON.stringify({ features: { "@s/plug": ["extra"] } }) });
    expect(await names()).toEqual(["base"]);
    place.write({ "home/repo/.galley/plugin-overrides.json": JSON.stringify({ disabled: ["@s/plug"] }) });
    expect(await names()).toEqual([]);
  });

  it("refuses entries that leave the package, and survives a broken one", async () => {
    plugin({ tools: ["../../../../../elsewhere.ts", "link.ts", "base.ts"] });
    place.write({
      "home/elsewhere.ts": tool,
      "home/.galley/plugins/node_modules/@s/plug/link.ts": `-> ${join(place.home, "elsewhere.ts")}`,
      "home/.galley/plugins/node_modules/bad/package.json": "{",
    });
    const { modules, problems } = await discover({ kinds: ["tool", "extension"] });
    expect(modules.map(({ name }) => name)).toEqual(["base"]);
    expect(problems.map(({ path, error }) => [short(path), error])).toEqual([
      [
        "home/.galley/plugins/node_modules/@s/plug",
        'its package.json names "../../../../../elsewhere.ts", which leaves the package',
      ],
      ["home/.galley/plugins/node_modules/@s/plug", 'its package.json names "link.ts", which leaves the package'],
      ["home/.galley/plugins/node_modules/bad/package.json", "is not a JSON object"],
    ]);
  });

  it("uses only so many entries, and says so", async () => {
    plugin({ tools: [...Array.from({ length: 300 }, () => "base.ts"), `${"x".repeat(2000)}.ts`, "more.ts"] });
    const { modules, problems } = await discover({ kinds: ["tool"] });
    expect(modules.map(({ name }) => name)).toEqual(["base"]);
    expect(problems.map(({ path, error }) => [short(path), error])).toEqual([
      [
        "home/.galley/plugins/node_modules/@s/plug",
        "not all of what its package.json names can be used: it is too much",
      ],
    ]);
  });

  it("takes of what another program installed what its list wants", async () => {
    for (const name of ["a", "b"]) place.write({ [`pack/extensions/${name}.ts`]: tool });
    const taken = async (filter: JsonObject) => {
      const installed = [{ path: join(place.base, "pack"), filter }];
      return (await discover({ kinds: ["extension"], installed })).modules.map(({ name }) => name);
    };
    expect(await taken({})).toEqual(["a", "b"]);
    expect(await taken({ extensions: ["!**/a.ts"] })).toEqual(["b"]);
    expect(await taken({ autoload: false })).toEqual([]);
    expect(await taken({ autoload: false, extensions: ["+extensions/a.ts"] })).toEqual(["a"]);
    expect(await taken({ autoload: false, extensions: ["extensions/b*"] })).toEqual(["b"]);
  });

  it("takes those of a marketplace that are for this project, and trusts them as the project", async () => {
    const entry = (scope: string, path: string, projectPath?: string) => ({
      scope,
      installPath: join(place.base, path),
      projectPath,
    });
    place.write({
      "home/.claude/plugins/installed_plugins.json": JSON.stringify({
        plugins: {
          user: entry("user", "cache/user"),
          ours: [entry("project", "cache/ours", place.repo)],
          theirs: [entry("local", "cache/theirs", place.base)],
          odd: [null, { scope: "user", installPath: 5 }, { installPath: "relative" }],
        },
      }),
    });
    for (const name of ["user", "ours", "theirs"]) place.write({ [`cache/${name}/tools/${name}.ts`]: tool });
    const { modules } = await discover({ kinds: ["tool"] });
    expect(modules.map(({ name, needsTrust }) => [name, needsTrust])).toEqual([
      ["ours", true],
      ["user", false],
    ]);
  });
});

describe("chooseModules", () => {
  const choose = async (isProjectTrusted: boolean, options: Partial<DiscoverOptions> = {}) => {
    const { load, untrusted, shadowed } = chooseModules((await discover(options)).modules, {
      mayRun: () => isProjectTrusted,
    });
    const named = (modules: readonly { path: string }[]) => modules.map(({ path }) => short(path));
    return { load: named(load), untrusted: named(untrusted), shadowed: named(shadowed) };
  };

  it("lets the first of a name win, and a project that is not trusted hide nothing", async () => {
    place.write({ "home/repo/.galley/tools/a.ts": tool, "home/.galley/agent/tools/a.ts": tool });
    place.write({ "home/repo/.galley/tools/b.json": "{}", "home/.galley/agent/tools/b.ts": tool });
    expect(await choose(true)).toEqual({
      load: ["home/repo/.galley/tools/a.ts", "home/.galley/agent/tools/b.ts"],
      untrusted: [],
      shadowed: ["home/.galley/agent/tools/a.ts"],
    });
    expect(await choose(false)).toEqual({
      load: ["home/.galley/agent/tools/a.ts", "home/.galley/agent/tools/b.ts"],
      untrusted: ["home/repo/.galley/tools/a.ts"],
      shadowed: [],
    });
  });

  it("lets a project have what is trusted of it, and counts of the rest what would be loaded", async () => {
    for (const name of ["a", "b", "c"]) place.write({ [`home/repo/.galley/tools/${name}.ts`]: tool });
    place.write({ "home/repo/.claude/tools/b.ts": tool });
    const { modules } = await discover();
    const { load, untrusted } = chooseModules(modules, { mayRun: ({ name }) => name === "a" });
    expect(load.map(({ path }) => short(path))).toEqual(["home/repo/.galley/tools/a.ts"]);
    expect(untrusted.map(({ path }) => short(path))).toEqual([
      "home/repo/.galley/tools/b.ts",
      "home/repo/.galley/tools/c.ts",
    ]);
  });

  it("takes a file once, under whatever names, and one that the user points at without further trust", async () => {
    place.write({
      "home/repo/.galley/tools/a.ts": tool,
      "home/repo/.claude/tools/b.ts": "-> ../../.galley/tools/a.ts",
    });
    expect((await choose(true)).load).toEqual(["home/repo/.galley/tools/a.ts"]);
    const explicit = [{ kind: "tool", path: ".galley/tools/a.ts", namedBy: "user" }] as const;
    expect(await choose(false, { explicit })).toEqual({
      load: ["home/repo/.galley/tools/a.ts"],
      untrusted: [],
      shadowed: [],
    });
  });

  it("leaves out extensions that are switched off", async () => {
    place.write({ "home/.galley/agent/extensions/x.ts": tool, "home/.galley/agent/extensions/y/index.ts": tool });
    const { modules } = await discover();
    const disabled = ["extension-module:y"];
    expect(chooseModules(modules, { mayRun: () => false, disabled }).load.map(({ name }) => name)).toEqual(["x"]);
  });
});
