// `galley doctor` in the built program: every line, and how each is mended.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkNode } from "../../src/sdk/diagnose.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
beforeEach(() => {
  place = emptyHome();
  mkdirSync(join(place.home, "project"));
});
afterEach(() => place.remove());

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(place.home, path)), { recursive: true });
  writeFileSync(join(place.home, path), text);
};
const doctor = async (env: NodeJS.ProcessEnv = {}, ...options: string[]) => {
  const args = [galleyBin, "doctor", ...options];
  const { code, stdout, stderr } = await run(process.execPath, args, {
    env: { ...place.env, ...env },
    cwd: join(place.home, "project"),
  });
  return { code, stderr, stdout: stdout.replaceAll(place.home, "~") };
};

/** With a model that has a key. */
const models = `providers:
  openai:
    baseUrl: https://llm.example
    api: openai-completions
    models: [{id: fable, name: Fable}]
`;
const key = { OPENAI_API_KEY: "sk-secret" };

describe("galley doctor", () => {
  it("finds nothing to mend, with exit code 0", async () => {
    put(".galley/agent/models.yml", models);
    const { code, stdout, stderr } = await doctor(key);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.slice(0, 19).trimEnd())).toEqual([
      ...[
        "node",
        "git",
        "ripgrep",
        "grammars",
        "sandbox",
        "layers",
        "settings",
        "models",
        "trust",
        "journals",
        "records",
        "storage",
      ].map((name) => `ok       ${name}`),
      "",
    ]);
    expect(stdout).toMatch(/^ok {7}models {4}openai: (\d+) of \1 can be used$/m);
    expect(stdout).not.toContain("sk-secret");
  });

  it("names the key that is missing", async () => {
    put(".galley/agent/models.yml", models);
    const { code, stdout } = await doctor();
    expect(code).toBe(3);
    expect(stdout).toContain(
      "problem  models    openai: no key\n                    Set OPENAI_API_KEY in the environment, or run: galley login openai\n",
    );
  });

  it("names the variable that models.yml names for a key", async () => {
    put(
      ".galley/agent/models.yml",
      `providers:
  zebra: { baseUrl: "https://llm.example", api: openai-completions, apiKey: $ZEBRA_API_KEY, models: [{ id: z }] }
`,
    );
    expect((await doctor()).stdout).toContain(
      "problem  models    zebra: no key\n                    Set ZEBRA_API_KEY in the environment.\n",
    );
  });

  it("tells that only the planner answers", async () => {
    const { code, stdout } = await doctor();
    expect(code).toBe(3);
    expect(stdout).toContain("problem  models    no model is configured: the built-in planner answers");
    expect(stdout).toContain("Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, … or run: galley login.");
  });

  it("tells what is wrong in the files, and what waits for trust", async () => {
    put(".galley/agent/config.yml", "cycleOrder: [a]\n");
    put(".galley/agent/models.yml", "providers: [\n");
    put("project/.galley/tools/evil.ts", 'require("node:fs").writeFileSync("ran", "");');
    const { code, stdout } = await doctor(key);
    expect(code).toBe(3);
    expect(stdout).toContain(
      "problem  settings  ~/.galley/agent/config.yml: cycleOrder: has no effect in this version",
    );
    expect(stdout).toMatch(/problem {2}models {4}~\/\.galley\/agent\/models\.yml: .*not valid YAML/);
    expect(stdout).toContain("problem  trust     1 of this project's tools, extensions and hooks are not trusted");
    expect(existsSync(join(place.home, "project/ran"))).toBe(false);
  });

  it("starts nothing of the project, not even a git on a path inside it", async () => {
    put("project/bin/git", "#!/bin/sh\ntouch ran\n");
    execFileSync("chmod", ["+x", join(place.home, "project/bin/git")]);
    const { stdout } = await doctor({ ...key, PATH: `${join(place.home, "project/bin")}:${process.env.PATH}` });
    expect(stdout).toMatch(/^ok {7}git {7}\d/m);
    expect(existsSync(join(place.home, "project/ran"))).toBe(false);
  });

  it("says how to get git where there is none", async () => {
    const { code, stdout } = await doctor({ ...key, PATH: join(place.home, "empty") });
    expect(code).toBe(3);
    expect(stdout).toMatch(/^problem {2}git .*\n +Install git, and see that it is on PATH\.$/m);
  });

  it("finds a journal that a crash left, here or elsewhere", async () => {
    const root = realpathSync(join(place.home, "project"));
    const name = createHash("sha256").update(root).digest("hex").slice(0, 32);
    put(`.galley/agent/journal/${name}/00000000000000000000000000000001.gj`, "");
    const { code, stdout } = await doctor(key);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^problem {2}journals {2}a change is half applied in .*\n +.*galley recover/m);
  });

  it("prints one JSON document with --json", async () => {
    const { code, stdout } = await doctor({}, "--json");
    expect(code).toBe(3);
    const { isOk, findings } = JSON.parse(stdout);
    expect(isOk).toBe(false);
    expect(findings).toContainEqual({ name: "node", isOk: true, text: process.versions.node });
    expect(findings.filter((finding: { isOk: boolean }) => !finding.isOk)).toMatchObject([{ name: "models" }]);
  });

  it.each([
    ["20.18.3", false],
    ["20.19.0", true],
    ["18.20.0", false],
    ["22.1.0", true],
  ])("Node %s: %s", (version, isOk) => expect(checkNode(version).isOk).toBe(isOk));
});
