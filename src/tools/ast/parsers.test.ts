// Whatever happens in a parser process stays there: damaged grammars, crashes, parses without end.

import { cpSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createMemoryWorkspace } from "../../testing/memory-workspace.js";
import { createAstEdit } from "../ast-edit.js";
import { createAstGrep } from "../ast-grep.js";
import { toolDeps } from "../tools.test-kit.js";
import { type ParserOptions, ParserPool } from "./parsers.js";
import type { MatchRequest } from "./worker.js";

function pool(options: ParserOptions = {}): ParserPool {
  const parsers = new ParserPool(options);
  onTestFinished(() => parsers.shutdown());
  return parsers;
}

const request = (grammar: string, source: string, pattern: string): MatchRequest => ({
  grammar,
  source: Buffer.from(source),
  rules: [{ matcher: { rule: { pattern } }, captures: [{ name: "A", isMultiple: false }] }],
  stringKinds: [],
});
const small = request("TypeScript", "f(1)", "f($A)");
/** Its parser takes most of a minute for this. */
const endless = request("Html", "<div>".repeat(100_000) + "</div>".repeat(100_000), "<p></p>");

const spans = [{ start: 2, end: 3, line: 0, column: 2 }];
const smallMatch = [{ rule: 0, span: { start: 0, end: 4, line: 0, column: 0 }, captures: spans }];

describe("a process that fails", () => {
  it("costs the file it was busy with and no other", async () => {
    const parsers = pool({ maxProcesses: 1 });
    await parsers.grammars();
    const [first] = parsers.pids;
    const both = [parsers.match(endless), parsers.match(small)];
    process.kill(first as number, "SIGSEGV");
    expect(await both[0]).toEqual({ problem: "the parser crashed: it ended with SIGSEGV", isFatal: true });
    expect(await both[1]).toMatchObject({ matches: smallMatch });
    expect(parsers.pids).not.toContain(first);
  });

  it("is ended when a file takes too long", async () => {
    const parsers = pool({ timeoutMs: 1000 });
    expect(await parsers.match(endless)).toEqual({ problem: "parsing took longer than 1 s", isFatal: true });
    expect(await parsers.match(small)).toMatchObject({ matches: smallMatch });
  });

  it("makes an issue of a hostile file, and a failure of too many", async () => {
    const parsers = pool({ timeoutMs: 500 });
    const slow = Buffer.from(endless.source).toString();
    const search = (files: Record<string, string>) => {
      const workspace = createMemoryWorkspace(files);
      const tool = createAstGrep(workspace, { parsers });
      return tool.execute("1", { pat: ["<div></div>"] }, undefined, () => {}, { cwd: workspace.cwd });
    };
    const issue = "a.html: parse error (parsing took longer than 0.5 s)";
    expect(await search({ "a.html": slow, "b.html": "<div></div>" })).toMatchObject({
      details: { parseErrors: [issue], files: ["b.html"] },
    });
    const many = Object.fromEntries(Array.from("abcdef", (name) => [`${name}.html`, slow]));
    await expect(search(many)).rejects.toThrow(
      `The parser fails on too many files; narrow the paths.\n- ${issue}\n- b.html: parse error`,
    );
  });
});

describe("an abort", () => {
  it("ends the work at once, and what others asked for goes on", async () => {
    const parsers = pool({ maxProcesses: 1 });
    await parsers.grammars();
    const [busy] = parsers.pids;
    const stop = new AbortController();
    const stopped = [parsers.match(endless, stop.signal), parsers.match(small, stop.signal)];
    const other = parsers.match(small);
    await new Promise(setImmediate); // all three are on their way
    stop.abort();
    for (const each of stopped) await expect(each).rejects.toMatchObject({ code: "aborted" });
    expect(await other).toMatchObject({ matches: smallMatch });
    await vi.waitFor(() => expect(() => process.kill(busy as number, 0)).toThrow("ESRCH"));
    await expect(parsers.match(small, stop.signal)).rejects.toMatchObject({ code: "aborted" });
  });
});

it("ends processes that have nothing to do, and starts them again", async () => {
  const parsers = pool({ idleMs: 5 });
  await parsers.match(small);
  await vi.waitFor(() => expect(parsers.pids).toEqual([]));
  expect(await parsers.match(small)).toMatchObject({ matches: smallMatch });
});

it("ends a process that has parsed a large file when nothing is left to do, and answers what comes then", async () => {
  const parsers = pool();
  const large = request("TypeScript", `f(1);${"g();\n".repeat(150_000)}`, "f($A)");
  await parsers.grammars();
  const grown = parsers.pids;
  const replies = Promise.all([parsers.match(small), parsers.match(large), parsers.match(small)]);
  expect((await replies).map((reply) => "matches" in reply && reply.matches.length)).toEqual([1, 1, 1]);
  expect(await parsers.match(small)).toMatchObject({ matches: smallMatch });
  await vi.waitFor(() => expect(parsers.pids).not.toContain(grown[0]));
});

it("shares work between two processes and answers each question with its own answer", async () => {
  const parsers = pool();
  const asked = Array.from({ length: 50 }, (_, index) => request("TypeScript", `f(${index});`, `f(${index % 2})`));
  const replies = await Promise.all(asked.map((each) => parsers.match(each)));
  expect(replies.map((reply) => "matches" in reply && reply.matches.length)).toEqual(
    asked.map((_, index) => (index < 2 ? 1 : 0)),
  );
  expect(parsers.pids.length).toBeLessThanOrEqual(2);
});

it("starts no second process for what the first has soon done, and one when it takes long all the same", async () => {
  const few = pool();
  await few.grammars();
  await Promise.all(Array.from({ length: 5 }, () => few.match(small)));
  expect(few.pids).toHaveLength(1);
  const slow = pool({ timeoutMs: 10_000 });
  await slow.grammars();
  const stop = new AbortController();
  const first = [slow.match(endless, stop.signal), slow.match(endless, stop.signal)]; // what is sent waits for what was sent before
  expect(await slow.match(small)).toMatchObject({ matches: smallMatch });
  expect(slow.pids).toHaveLength(2);
  stop.abort(); // a shutdown alone would begin the second again
  for (const each of first) await expect(each).rejects.toMatchObject({ code: "aborted" });
});

describe("grammars", () => {
  const installed = createRequire(import.meta.url);
  const real = (name: string) => dirname(installed.resolve(`@ast-grep/lang-${name}`));
  let directory = "";
  const grammarsFrom = () => join(directory, "index.js");

  beforeAll(async () => {
    directory = temporaryDirectory();
    const packages = join(directory, "node_modules/@ast-grep");
    const fake = async (name: string, libraryPath: string, symbol = `tree_sitter_${name}`) => {
      await mkdir(join(packages, `lang-${name}`), { recursive: true });
      const registration = { libraryPath, languageSymbol: symbol, extensions: [name], expandoChar: "µ" };
      await writeFile(join(packages, `lang-${name}/index.js`), `module.exports = ${JSON.stringify(registration)}`);
    };
    const damaged = join(directory, "damaged.so");
    await writeFile(damaged, "this is no library");
    await fake("python", damaged);
    await fake("rust", join(directory, "nowhere.so"));
    await fake("java", installed("@ast-grep/lang-java").libraryPath, "tree_sitter_nonsense");
    await symlink(real("go"), join(packages, "lang-go"));
    cpSync(join(real("json"), "package.json"), join(packages, "lang-json/package.json"), { recursive: true });
    await mkdir(join(packages, "lang-c"));
    await writeFile(
      join(packages, "lang-c/index.js"),
      "console.log('noise'); throw new Error('built for another day')",
    );
  });

  it("that are damaged are told apart from those that are missing, and the rest works", async () => {
    const parsers = pool({ grammarsFrom: grammarsFrom() });
    const { expandos, broken } = await parsers.grammars();
    expect(expandos).toEqual({ go: "µ" });
    expect(broken).toEqual({
      c: "built for another day",
      java: expect.stringContaining("tree_sitter_nonsense"),
      python: expect.stringContaining("damaged.so"),
      rust: "its library file is missing",
    });
    expect(await parsers.match(request("go", "package a\nvar x = f(1)", "f($A)"))).toMatchObject({
      matches: [{ rule: 0 }],
    });
  });

  it("are asked for by name: a sentence; met in a directory: skipped, damaged ones with a word", async () => {
    const parsers = pool({ grammarsFrom: grammarsFrom() });
    const files = { "a.py": "f(1)", "b.go": "package a\n\nvar x = f(1)\n", "c.yaml": "f: 1", "d.kt": "f(1)" };
    const workspace = createMemoryWorkspace(files);
    const tool = createAstEdit({ ...toolDeps(workspace), parsers });
    const edit = (args: { paths?: string[]; lang?: string }) => {
      const ops = [{ pat: "f($A)", out: "g($A)" }];
      return tool.execute("1", { ops, ...args }, undefined, () => {}, { cwd: workspace.cwd });
    };
    const isMissing = "Grammar for 'yaml' is not installed (@ast-grep/lang-yaml).";
    await expect(edit({ lang: "yml" })).rejects.toMatchObject({ code: "tool_failed", message: isMissing });
    await expect(edit({ paths: ["c.yaml"] })).rejects.toMatchObject({ message: isMissing });
    const isDamaged = /^Grammar for 'python' cannot be loaded \(@ast-grep\/lang-python\): .*damaged\.so/;
    await expect(edit({ lang: "python" })).rejects.toThrow(isDamaged);
    await expect(edit({ paths: ["a.py"] })).rejects.toThrow(isDamaged);
    expect(await edit({})).toMatchObject({
      details: { files: ["b.go"], filesSearched: 1, parseErrors: [expect.stringMatching(isDamaged)] },
    });
    await expect(edit({ lang: "klingon" })).rejects.toThrow(/Supported: .*css, go, golang$/);
  });

  it("may all be missing", async () => {
    const parsers = pool({ grammarsFrom: "/nowhere/index.js" });
    expect(await parsers.grammars()).toEqual({ expandos: {}, broken: {} });
    expect(await parsers.match(small)).toMatchObject({ matches: smallMatch });
  });
});
