// Every example runs, on plain Node where it is a program and in galley where it is a module for galley.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, projectRoot, run } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 150_000);

const examples = join(projectRoot, "examples");
const here = "test/docs/examples.test.ts";
const client = "test/docs/client.test.ts";
const recipes = "test/docs/model-recipes.test.ts";

/** The test that runs it. */
const runBy: Record<string, string> = {
  "commands/staged.ts": "test/docs/custom-commands.test.ts",
  "extensions/guard.ts": "test/docs/extensions.test.ts",
  "hello/greet.ts": here,
  "hello/main.ts": here,
  "hello/shout.ts": here,
  "hosts/host.mjs": client,
  "hosts/host.py": client,
  "hosts/one-liner.sh": client,
  "models/azure.yml": recipes,
  "models/bedrock.yml": recipes,
  "models/github-models.yml": recipes,
  "models/litellm.yml": recipes,
  "models/ollama.yml": recipes,
  "models/openrouter.yml": recipes,
  "models/vertex.yml": recipes,
  "sdk/ask.mjs": here,
  "sdk/review.mjs": here,
  "testing/word-count.mjs": here,
  "testing/word-count.test.mjs": here,
  "tools/changelog-entry.ts": "test/docs/custom-tools.test.ts",
};

const { env } = emptyHome();

function node(file: string, args: readonly string[] = [], options: { cwd?: string; input?: string } = {}) {
  return run(process.execPath, [join(examples, file), ...args], { env, cwd: temporaryDirectory(), ...options });
}

describe("examples/", () => {
  it("has no program that no test runs", () => {
    const found = readdirSync(examples, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name));
    expect(found.filter((name) => !name.endsWith("README.md")).sort()).toEqual(Object.keys(runBy).sort());
    for (const [name, test] of Object.entries(runBy))
      expect(readFileSync(join(projectRoot, test), "utf8"), test).toContain(name.split("/").at(-1));
  });

  it("has TypeScript only where galley loads it, and in the project to try galley on", () => {
    const folders = Object.keys(runBy).flatMap((name) => (name.endsWith(".ts") ? [name.split("/")[0]] : []));
    expect(new Set(folders)).toEqual(new Set(["commands", "extensions", "hello", "tools"]));
  });

  it("has programs whose types hold", { timeout: 120_000 }, () => {
    const programs = ["hosts/host.mjs", "sdk/ask.mjs", "sdk/review.mjs"];
    const home = temporaryDirectory();
    mkdirSync(join(home, "node_modules"));
    symlinkSync(projectRoot, join(home, "node_modules/galley"));
    writeFileSync(join(home, "package.json"), '{ "type": "module" }\n');
    for (const name of programs) cpSync(join(examples, name), join(home, name));
    const compilerOptions = {
      ...{ strict: true, allowJs: true, checkJs: true, noEmit: true, skipLibCheck: true, target: "es2022" },
      ...{ module: "node16", moduleResolution: "node16", lib: ["es2023", "dom.asynciterable"] },
      ...{ types: ["node"], typeRoots: [join(projectRoot, "node_modules/@types")] },
    };
    writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files: programs }));
    const tsc = join(projectRoot, "node_modules/.bin/tsc");
    expect(spawnSync(tsc, ["-p", "."], { cwd: home, encoding: "utf8" }).stdout).toBe("");
    for (const name of programs) expect(readFileSync(join(examples, name), "utf8")).toMatch(/^\/\/ @ts-check\n/);
  });
});

describe("examples/hello", () => {
  it("runs as its README says", async () => {
    const readme = readFileSync(join(examples, "hello/README.md"), "utf8");
    expect(readme.replace(/\s+/g, " ")).toContain("`npx jiti examples/hello/main.ts Ada`");
    const jiti = join(projectRoot, "node_modules/jiti/lib/jiti-cli.mjs");
    const outcome = await run(process.execPath, [jiti, "examples/hello/main.ts", "Ada"], { env });
    expect(outcome).toEqual({ code: 0, stdout: "greeting Ada\nHello, Ada!\n", stderr: "" });
  });
});

describe("examples/sdk", () => {
  it("ask.mjs shows the answer, and fails when the model does", async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, "notes.txt"), "Buy ink.\n");
    expect(await node("sdk/ask.mjs", ["show", "notes.txt"], { cwd })).toEqual({
      code: 0,
      stdout: "Buy ink.\n",
      stderr: '[read] {"path":"notes.txt"}\n',
    });
    const failed = await node("sdk/ask.mjs", ["show missing.txt"], { cwd });
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("error: ")]);
  });

  it("review.mjs writes what the user says yes to, and nothing else", async () => {
    const cwd = temporaryDirectory();
    const file = join(cwd, "a.js");
    writeFileSync(file, "log(1);\n");
    const review = (input: string) =>
      node("sdk/review.mjs", ["replace log($A) with print($A) in a.js"], { cwd, input });
    const declined = await review("\n");
    expect([declined.code, declined.stderr]).toEqual([0, ""]);
    expect(declined.stdout).toContain("-log(1);\n+print(1);\n");
    expect(readFileSync(file, "utf8")).toBe("log(1);\n");
    const unanswered = await review("");
    expect([unanswered.code, readFileSync(file, "utf8")]).toEqual([0, "log(1);\n"]);
    const agreed = await review("y\n");
    expect([agreed.code, agreed.stderr, readFileSync(file, "utf8")]).toEqual([0, "", "print(1);\n"]);
  });
});

describe("examples/testing", () => {
  it("word-count.test.mjs passes with node --test, and fails for a tool that counts wrongly", async () => {
    const runTests = (file: string) => run(process.execPath, ["--test", file], { env });
    const passed = await runTests(join(examples, "testing/word-count.test.mjs"));
    expect([passed.code, passed.stdout]).toEqual([0, expect.stringContaining("pass 3")]);
    const copy = temporaryDirectory();
    cpSync(join(examples, "testing"), copy, { recursive: true });
    mkdirSync(join(copy, "node_modules"));
    symlinkSync(projectRoot, join(copy, "node_modules/galley"));
    const tool = readFileSync(join(copy, "word-count.mjs"), "utf8");
    writeFileSync(join(copy, "word-count.mjs"), tool.replace(".filter(Boolean)", ""));
    expect((await runTests(join(copy, "word-count.test.mjs"))).code).toBe(1);
  });

  it("word-count.mjs is a module that galley loads", async () => {
    const { code, stdout } = await run(
      process.execPath,
      ["bin/galley.js", "tools", "check", "examples/testing/word-count.mjs"],
      { env },
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining("word_count")]);
  });
});
