import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePlace, type Place } from "../../../bench/kit-trust/place.mjs";
import { runs } from "../../../test/kit/runs.js";
import { lookAt } from "../../files/module-files.js";
import { findMcpServers } from "../discover/find-mcp-servers.js";
import type { FoundModule } from "../discover/findings.js";
import type { FileLimits } from "./digest-files.js";
import { digestProject, type PolicySetting } from "./digest-project.js";

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

const entry = ".galley/tools/a.ts";
const write = (files: Record<string, string>) =>
  place.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`home/repo/${name}`, text])));
const source = { provider: "native", providerName: "galley", level: "project" } as const;
const moduleAt = (name: string, more: Partial<FoundModule> = {}): FoundModule => {
  const path = join(place.repo, name);
  const looked = lookAt(path);
  return {
    kind: "tool",
    path,
    realPath: "realPath" in looked ? looked.realPath : path,
    name,
    source,
    needsTrust: true,
    ...more,
  };
};
const digest = (options: FileLimits & { modules?: FoundModule[]; settings?: PolicySetting[] } = {}) =>
  digestProject({ root: place.repo, modules: [moduleAt(entry)], ...options });
const names = async (options?: Parameters<typeof digest>[0]) => (await digest(options)).items.map(({ name }) => name);
const differs = async (change: () => void) => {
  const before = (await digest()).digest;
  change();
  return (await digest()).digest !== before;
};

it("a change makes another digest of every item that loads the file, and of no other", async () => {
  const files = fc.integer({ min: 2, max: 7 }).chain((count) =>
    fc.record({
      imports: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 2 * count }),
      entries: fc.uniqueArray(fc.nat(count - 1), { minLength: 1 }),
      changed: fc.nat(count - 1),
      count: fc.constant(count),
    }),
  );
  await fc.assert(
    fc.asyncProperty(files, async ({ imports, entries, changed, count }) => {
      const textOf = (file: number) =>
        imports.flatMap(([from, to]) => (from === file ? [`import "./f${to}.js";`] : [])).join("\n");
      for (let file = 0; file < count; file++) write({ [`lib/f${file}.ts`]: textOf(file) });
      const modules = entries.map((file) => moduleAt(`lib/f${file}.ts`));
      const digests = async () => {
        const { items } = await digest({ modules });
        return new Map(items.filter((item) => item.digest).map((item) => [item.name, item.digest]));
      };
      const before = await digests();
      write({ [`lib/f${changed}.ts`]: `${textOf(changed)}\n// changed` });
      const after = await digests();
      const reaches = (file: number, seen = new Set([file])): boolean =>
        file === changed || imports.some(([from, to]) => from === file && !seen.has(to) && reaches(to, seen.add(to)));
      for (const file of entries) {
        const name = `lib/f${file}.ts`;
        expect(after.get(name) !== before.get(name), name).toBe(reaches(file));
      }
    }),
    { numRuns: runs(60) },
  );
});

describe("what is in a digest", () => {
  it("holds the texts that speak to a model, and what is no program is not searched for imports", async () => {
    write({ ".galley/prompts/go.md": 'import "./b.js"', ".galley/prompts/b.js": "", "package.json": "{}" });
    const texts = [{ kind: "prompt", path: join(place.repo, ".galley/prompts/go.md") }] as const;
    const before = await digestProject({ root: place.repo, modules: [], texts });
    expect(before.items).toEqual([
      { kind: "prompt", name: ".galley/prompts/go.md", hash: expect.any(String), digest: expect.any(String) },
    ]);
    expect(() => before.coverage.admit(texts[0].path, Buffer.from('import "./b.js"'))).not.toThrow();
    expect(() => before.coverage.admit(texts[0].path, Buffer.from("other"))).toThrow(
      "has changed since it was checked",
    );
    write({ ".galley/prompts/go.md": "Go." });
    expect((await digestProject({ root: place.repo, modules: [], texts })).digest).not.toBe(before.digest);
  });

  it("follows imports through files, endings, directories and packages", async () => {
    write({
      [entry]: 'import "./b"; import "./c.js"; import "./d"; import "pack/deep"; import "#in"; require("../../data")',
      ".galley/tools/b.ts": 'export * from "../lib/e.mjs"',
      ".galley/tools/c.ts": "",
      ".galley/tools/d/index.js": "",
      ".galley/lib/e.mjs": 'new Worker("./worker.js")',
      ".galley/lib/worker.js": "",
      "data.json": "{}",
      "package.json": JSON.stringify({ imports: { "#in": { node: "./inside.js" } } }),
      "inside.js": "",
      "node_modules/pack/package.json": JSON.stringify({
        exports: { "./*": { import: "./lib/*.js", require: "./lib/*.cjs" } },
      }),
      "node_modules/pack/lib/deep.js": 'import "other"',
      "node_modules/pack/lib/deep.cjs": "",
      "node_modules/pack/lib/unused.js": "",
      "node_modules/other/package.json": JSON.stringify({ main: "main" }),
      "node_modules/other/main.js": "",
      "unrelated.ts": "",
    });
    expect(await names()).toEqual([
      entry,
      ".galley/lib/e.mjs",
      ".galley/lib/worker.js",
      ".galley/tools/b.ts",
      ".galley/tools/c.ts",
      ".galley/tools/d/index.js",
      "data.json",
      "inside.js",
      "node_modules/other/main.js",
      "node_modules/pack/lib/deep.cjs",
      "node_modules/pack/lib/deep.js",
      "node_modules/other/package.json",
      "node_modules/pack/package.json",
      "package.json",
    ]);
  });

  it("leaves out what Node and the host bring, and what is no file", async () => {
    write({
      [entry]:
        'import "node:fs"; import "path"; import "galley"; import "https://x/y.js"; import "gone"; import "./gone"',
      "node_modules/galley/index.js": "",
    });
    expect(await names({ isHostModule: (specifier) => specifier === "galley" })).toEqual([entry]);
  });

  it("looks from where a link stands and from where it leads, and shows where that is", async () => {
    write({
      [entry]: "-> ../../shared/a.ts",
      "shared/a.ts": 'import "./helper"',
      "shared/helper.ts": "",
      ".galley/tools/helper.ts": "",
    });
    const { items } = await digest();
    expect(items.map(({ name }) => name)).toEqual([entry, ".galley/tools/helper.ts", "shared/helper.ts"]);
    expect(items[0]?.target).toBe("shared/a.ts");
  });

  it("has settings and servers, with whole commands", async () => {
    write({
      ".mcp.json": JSON.stringify({
        mcpServers: {
          db: { command: "npx", args: ["-y", "db", 5], env: { A: "b" } },
          web: { url: "http://x" },
          odd: 1,
        },
      }),
      ".galley/mcp.json": "[",
    });
    const { servers, problems } = findMcpServers({
      directories: [place.repo],
      configDirectories: [join(place.repo, ".galley")],
    });
    expect(servers.map(({ name, argv }) => [name, argv])).toEqual([
      ["db", ["npx", "-y", "db", "5"]],
      ["web", undefined],
      ["odd", undefined],
    ]);
    expect(problems).toEqual([{ path: join(place.repo, ".galley/mcp.json"), error: "is not a JSON object" }]);
    const settings = [{ file: join(place.repo, ".galley/settings.json"), key: "shellPath", value: "/tmp/sh" }];
    const { items } = await digestProject({ root: place.repo, modules: [], mcpServers: servers, settings });
    expect(items.map(({ kind, name, argv }) => ({ kind, name, argv }))).toEqual([
      { kind: "mcp", name: ".mcp.json#db", argv: ["npx", "-y", "db", "5"] },
      { kind: "mcp", name: ".mcp.json#odd", argv: undefined },
      { kind: "mcp", name: ".mcp.json#web", argv: undefined },
      { kind: "setting", name: ".galley/settings.json#shellPath", argv: undefined },
    ]);
  });

  it("is nothing for a project without anything of its own", async () => {
    write({ [entry]: "" });
    const { digest: none, items } = await digest({ modules: [moduleAt(entry, { needsTrust: false })] });
    expect({ none, items }).toEqual({ none: "nothing", items: [] });
  });
});

describe("what changes a digest", () => {
  beforeEach(() => write({ [entry]: 'import "./b"', ".galley/tools/b.ts": "1", "package.json": '{"version":"1"}' }));
  const at = (name: string) => join(place.repo, name);

  it.each<[string, boolean, () => void]>([
    ["nothing", false, () => {}],
    ["one byte of the module", true, () => write({ [entry]: 'import "./b" ' })],
    ["one byte of what it imports", true, () => write({ ".galley/tools/b.ts": "2" })],
    ["a mode", true, () => chmodSync(at(".galley/tools/b.ts"), 0o600)],
    ["a file that would be taken first", true, () => write({ ".galley/tools/b.mts": "" })],
    ["a file that goes", true, () => rmSync(at(".galley/tools/b.ts"))],
    [
      "a file that becomes a link to the same",
      true,
      () => {
        renameSync(at(entry), at("moved.ts"));
        write({ [entry]: "-> ../../moved.ts" });
      },
    ],
    ["how packages are loaded", true, () => write({ "package.json": '{"version":"1","type":"module"}' })],
    ["the version of the project", false, () => write({ "package.json": '{"version":"2"}' })],
    ["a nearer manifest", true, () => write({ ".galley/tools/package.json": "{}" })],
    ["something else in the project", false, () => write({ "src/index.ts": "", ".galley/tools/notes.txt": "" })],
  ])("%s: %s", async (_, expected, change) => {
    expect(await differs(change)).toBe(expected);
  });

  it("does not mistake one name for two", async () => {
    const settings = (key: string, value: unknown) => [{ file: at("s"), key, value }];
    const one = await digest({ settings: settings('a","h"]\n["setting","s#b', 1) });
    const two = await digest({ settings: [...settings("a", 1), ...settings("b", 1)] });
    expect(one.digest).not.toBe(two.digest);
  });
});

describe("coverage", () => {
  it("admits the files of the digest as they were, and no others", async () => {
    write({ [entry]: 'import "./b"; import(name)', ".galley/tools/b.ts": "1", ".galley/tools/c.ts": "2" });
    const { coverage, items } = await digest();
    const path = (name: string) => join(place.repo, ".galley/tools", name);
    expect(["a.ts", "b.ts", "c.ts"].map((name) => coverage.isCovered(path(name)))).toEqual([true, true, false]);
    coverage.admit(path("b.ts"), readFileSync(path("b.ts")));
    expect(() => coverage.admit(path("b.ts"), Buffer.from("3"))).toThrow("b.ts has changed since it was checked");
    expect(() => coverage.admit(path("c.ts"), Buffer.from("2"))).toThrow("c.ts is not part of what was trusted");
    expect(items[0]?.computedLines).toEqual([1]);
  });

  it("does not cover what could not be checked, and says why", async () => {
    write({ [entry]: 'import "./b"; import "./c"', ".galley/tools/b.ts": "x".repeat(100), ".galley/tools/c.ts": "" });
    const { coverage, items } = await digest({ maxFileBytes: 50 });
    expect(coverage.isCovered(join(place.repo, ".galley/tools/b.ts"))).toBe(false);
    expect(items.map(({ problem }) => problem)).toEqual([undefined, "is larger than 50 bytes", undefined]);
  });

  it.each([
    ["files", { maxFiles: 5 }, "more than 5 files would be loaded"],
    ["imports", { maxImports: 5 }, "there are more than 5 imports"],
  ])("stops at too many %s", async (_, limits, problem) => {
    write({ [entry]: Array.from({ length: 20 }, (_, index) => `import "./f${index}"`).join("\n") });
    for (let index = 0; index < 20; index++) write({ [`.galley/tools/f${index}.ts`]: "" });
    const { items, coverage } = await digest(limits);
    expect(items.find((item) => item.problem)?.problem).toBe(problem);
    expect(coverage.isCovered(join(place.repo, ".galley/tools/f19.ts"))).toBe(false);
  });

  it("survives circles", async () => {
    write({
      [entry]: 'import "./b"; import "."',
      ".galley/tools/b.ts": 'import "./a"',
      ".galley/tools/index.ts": 'import "./b"',
    });
    mkdirSync(join(place.repo, "node_modules"));
    write({
      "node_modules/loop/package.json": '{"name":"loop","exports":{".":"loop"},"imports":{"#x":"#x"},"main":"."}',
    });
    write({ ".galley/tools/b.ts": 'import "loop"; import "#x"' });
    expect((await names()).slice(0, 3)).toEqual([entry, ".galley/tools/b.ts", ".galley/tools/index.ts"]);
  });
});
