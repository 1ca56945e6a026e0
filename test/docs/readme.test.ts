// What the README shows is what happens: its console blocks are run and compared, its code is executed, its
// configuration is loaded.

import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.js";
import { loadModelRegistry } from "../../src/sdk/load-models.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

const text = readFileSync(join(projectRoot, "README.md"), "utf8");
const { home, env, remove } = emptyHome();
afterAll(remove);

function blocks(language: string): string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map((match) => match[1] as string);
}

describe("README", () => {
  // The examples write, one after the other, in a copy of what they speak of.
  const project = join(home, "project");
  mkdirSync(project);
  cpSync(join(projectRoot, "examples"), join(project, "examples"), { recursive: true });
  const bin = join(home, "bin");
  mkdirSync(bin);
  symlinkSync(galleyBin, join(bin, "galley"));

  const examples = blocks("console").map((block) => /^\$ ([^\n]*)\n(.*)$/s.exec(block) ?? []);
  it.each(examples.map(([, command, output]) => ({ command: command ?? "", output: output ?? "" })))(
    "$command",
    async ({ command, output }) => {
      const all = `{ ${command}; } 2>&1`; // as a terminal shows it
      const shell = { ...env, PATH: `${bin}:${env.PATH}`, LANG: "C.UTF-8" };
      const outcome = await run("/bin/sh", ["-c", all], { env: shell, cwd: project });
      const stdout = outcome.stdout.replace(/ch_[0-9a-f]{8}/g, "ch_1a2b3c4d"); // each change has an id of its own
      expect({ ...outcome, stdout }).toEqual({ code: 0, stdout: output, stderr: "" });
      expect(await hello("ada", "BOB")).toBe("greeting ada\nHello, ada!\ngreeting BOB\nloudly\nHELLO, BOB!\n");
    },
  );

  /** The program that the examples change, as it is now. */
  async function hello(...names: string[]): Promise<string> {
    const outfile = join(home, "hello.mjs");
    await build({
      entryPoints: [join(project, "examples/hello/main.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
    });
    const { stdout } = await run(process.execPath, [outfile, ...names], { env, cwd: project });
    return stdout.replace(/^loudly .*$/m, "loudly");
  }

  it("the first command previews a rewrite that keeps the lines as they are, and writes nothing", async () => {
    const [, words = ""] = /^npm ci && npm start -- (.*)$/m.exec(text) ?? [];
    const before = readFileSync(join(projectRoot, "examples/hello/greet.ts"), "utf8");
    const { code, stdout, stderr } = await run("/bin/sh", ["-c", `node ${galleyBin} ${words}`], {
      env,
      cwd: projectRoot,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Previewed 3 replacements in 2 files as pa_\d+\. Nothing is written yet\./);
    const lines = stderr.split("\n");
    expect(lines.filter((line) => /^-[^-]/.test(line))).toHaveLength(3);
    expect(lines.filter((line) => /^\+[^+]/.test(line))).toHaveLength(3);
    expect(readFileSync(join(projectRoot, "examples/hello/greet.ts"), "utf8")).toBe(before);
  });

  it("the library example runs", async () => {
    mkdirSync(join(home, "node_modules"));
    symlinkSync(projectRoot, join(home, "node_modules/galley"));
    symlinkSync(join(projectRoot, "examples"), join(home, "examples"));
    writeFileSync(join(home, "example.mjs"), blocks("ts")[0] ?? "");
    const { code, stdout, stderr } = await run(process.execPath, ["example.mjs"], { env, cwd: home });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("calls read");
    expect(stdout).toContain("export function greet");
  });

  it("the models example loads without a warning", async () => {
    writeFileSync(join(home, "models.yml"), blocks("yaml")[0] ?? "");
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (line: string) => warnings.push(line) };
    const registry = await loadModelRegistry({ agentDir: home, env: { GATEWAY_KEY: "k" }, log });
    expect(warnings).toEqual([]);
    expect(registry.available().map(({ provider }) => provider)).toEqual(["gateway", "local"]);
  });
});
