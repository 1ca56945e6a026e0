import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { silentLog } from "../../base/log.js";
import { createNodeWorkspace } from "../../files/node-workspace.js";
import { createNodeProcesses } from "../../processes/node-processes.js";
import { createAstEdit } from "../ast-edit.js";
import { createAstGrep } from "../ast-grep.js";
import { createBuiltInTools } from "../index.js";
import type { RipgrepDeps } from "../search/ripgrep.js";
import { stagingKit, toolDeps } from "../tools.test-kit.js";
import { findFiles } from "./files.js";
import { languageOf } from "./languages.js";
import { containsLiteral, literalsIn } from "./literals.js";
import { sharedParsers } from "./parsers.js";
import { createPrefilter } from "./ripgrep-prefilter.js";
import { prepareSearch } from "./search.js";

const processes = createNodeProcesses({ env: process.env, log: silentLog });
afterAll(() => processes.shutdown());

let cwd = "";
beforeEach(async () => {
  cwd = temporaryDirectory();
});

async function put(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
}

/** Which of these it says lack the words, when it has looked through everything. */
async function lackingOf(
  names: readonly string[],
  pats: readonly string[],
  { lang, ...deps }: RipgrepDeps & { lang?: string } = { processes },
) {
  const workspace = createNodeWorkspace({ cwd });
  const sieve = createPrefilter({ ...deps, workspace }, { pats, lang });
  const accepts = (path: string) => languageOf(path) !== undefined;
  const listed = await sieve.list(await workspace.resolve(".", "read"), accepts);
  sieve.end();
  const lacking = new Set(listed?.filter(({ identity }) => identity === "").map(({ path }) => path));
  return names.filter((name) => lacking.has(join(cwd, name)));
}

describe("createPrefilter", () => {
  it("tells of files without the words, and only of those that it has looked at", async () => {
    const files = {
      "a.ts": "call(1)",
      "b.ts": "other()",
      ".hidden/c.js": "nothing",
      "part.ts": "recalling",
      "nul.ts": "x\0y",
      "empty.ts": "",
      "latin.ts": Buffer.from([0xe9, 0x0a]),
      "large.ts": "x".repeat(1001),
      "key.ts": "-----BEGIN OPENSSH PRIVATE KEY-----",
      "no-code.txt": "other",
    };
    await put(files);
    expect(await lackingOf(Object.keys(files), ["call($A)"])).toEqual([
      ...["b.ts", ".hidden/c.js", "nul.ts", "empty.ts", "latin.ts", "large.ts"],
    ]);
  });

  it("needs one word of every pattern", async () => {
    await put({ "a.ts": "first()", "b.ts": "second()", "c.ts": "third()" });
    expect(await lackingOf(["a.ts", "b.ts", "c.ts"], ["first($A)", "$X.second($A)"])).toEqual(["c.ts"]);
  });

  it("looks at no file of another language than the one that is named", async () => {
    const names = ["a.ts", "B.MTS", "c.js", "d.tsx", "e.json"];
    await put(Object.fromEntries(names.map((name) => [name, "other()"])));
    expect(await lackingOf(names, ["call($A)"], { processes, lang: "typescript" })).toEqual(["a.ts", "B.MTS"]);
    expect(await lackingOf(names, ["call($A)"])).toEqual(names);
  });

  it("tells of nothing where a pattern leaves the words open", async () => {
    await put({ "a.ts": "other()" });
    expect(await lackingOf(["a.ts"], ["call($A)"])).toEqual(["a.ts"]);
    expect(await lackingOf(["a.ts"], ["call($A)", "$A + $B"])).toEqual([]);
  });

  it("tells of nothing where there is no ripgrep", async () => {
    await put({ "a.ts": "other()" });
    expect(await lackingOf(["a.ts"], ["call($A)"], { processes, ripgrepPath: () => undefined })).toEqual([]);
    expect(await lackingOf(["a.ts"], ["call($A)"], { processes, ripgrepPath: () => "/no/rg" })).toEqual([]);
  });

  it("never tells of a file that may match", async () => {
    const word = fc.constantFrom("foo", "bar", "foobar", "a", "$X");
    const text = fc.array(fc.oneof(word, fc.constantFrom("(", ".", "\n", "\0", "é", "FOO", "_", "9")), {
      maxLength: 9,
    });
    const pattern = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("."));
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 8 }),
        fc.array(pattern, { minLength: 1, maxLength: 2 }),
        async (texts, pats) => {
          const files = Object.fromEntries(texts.map((deps, index) => [`${index}.ts`, deps.join("")]));
          await put(files);
          const mayMatch = (content: string) =>
            pats.some((pat) => literalsIn({ pat }).every((literal) => containsLiteral(Buffer.from(content), literal)));
          for (const name of await lackingOf(Object.keys(files), pats))
            expect([pats, files[name], mayMatch(files[name] ?? "")]).toEqual([pats, files[name], false]);
        },
      ),
      { numRuns: runs(25) },
    );
  });
});

it("spares the reading of a file that it told of", async () => {
  await put({ "a.ts": "call(1);\n", "b.ts": "call(2);\n" });
  const workspace = createNodeWorkspace({ cwd });
  const { files } = await findFiles(workspace, sharedParsers(), { paths: ["."] });
  const told = files.map(({ target, ...file }) => {
    const identity = target.path.endsWith("a.ts") ? "" : target.identity;
    return { ...file, target: { ...target, identity } };
  });
  const search = await prepareSearch(workspace, sharedParsers(), { files: told, pats: ["call($A)"] });
  const found: string[] = [];
  for await (const file of search.results()) if ("target" in file) found.push(file.target.displayPath);
  expect([found, search.filesSearched()]).toEqual([["b.ts"], 2]);
});

it("changes nothing about what the ast tools say", async () => {
  await put({
    "src/a.ts": "call(1);\n",
    "src/b.ts": "call(\n",
    "src/c.js": "other(2);\n",
    "src/deep/d.tsx": "const x = call(<b>3</b>);\n",
    "src/.e.ts": "call(4);\n",
    "src/f.json": '{"call": 5}\n',
    "src/g.ts": "call(6);\0",
    "src/ignored.ts": "call(7);\n",
    "src/.gitignore": "ignored.ts\n",
    "src/key.ts": "// -----BEGIN OPENSSH PRIVATE KEY-----\n",
  });
  const workspace = createNodeWorkspace({ cwd });
  const run = async (ripgrep: RipgrepDeps | undefined) => {
    const edit = createAstEdit({ ...toolDeps(workspace), ripgrep });
    const args = { ops: [{ pat: "call($A)", out: "send($A)" }], paths: ["src"] };
    return [
      await edit.execute("1", args, undefined, () => {}, { cwd }),
      await createAstGrep(workspace, { ripgrep }).execute(
        "2",
        { pat: ["call($A)"], path: "src" },
        undefined,
        () => {},
        { cwd },
      ),
    ];
  };
  const [plain, sieved] = [await run(undefined), await run({ processes })];
  expect(sieved).toEqual(plain);
  expect(plain[0]?.details).toMatchObject({ totalReplacements: 3, filesSearched: 8 });
});

it("has no say while changes wait for review: the disk lacks what is staged", async () => {
  await put({ "a.ts": "other(1);\n" });
  const path = join(cwd, "a.ts");
  const staging = {
    ...stagingKit("all").staging,
    staged: (asked: string) => (asked === path ? [{ id: "pa_1", bytes: Buffer.from("call(1);\n") }] : []),
    stagedPaths: () => [path],
  };
  const run = vi.fn(processes.run.bind(processes));
  const watched = { ...processes, run, shutdown: async () => {} };
  const tools = createBuiltInTools({ ...toolDeps(createNodeWorkspace({ cwd })), processes: watched, staging });
  const astGrep = tools.find(({ name }) => name === "ast_grep");
  const args = { pat: ["call($A)"], path: "." };
  const found = await astGrep?.execute("1", args as never, undefined, () => {}, { cwd });
  expect(found?.details).toMatchObject({ matchCount: 1 });
  expect(run).not.toHaveBeenCalled();
});
