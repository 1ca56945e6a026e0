// `galley completion` in the built program. The bash script is really used; the others only where the shell is there.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shownOptions } from "../../src/cli/options.js";
import { verbs } from "../../src/cli/verbs.js";
import { settingKeys } from "../../src/config/settings/schema.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
const script: Record<string, string> = {};
beforeAll(async () => {
  await ensureBuilt();
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await run(process.execPath, [galleyBin, "completion", shell], { env, cwd: home });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    script[shell] = stdout;
    writeFileSync(join(home, `galley.${shell}`), stdout);
  }
  mkdirSync(join(home, "work/sub dir"), { recursive: true });
  writeFileSync(join(home, "work/note.md"), "");
  writeFileSync(join(home, "work/we*rd"), "");
}, 150_000);
afterAll(remove);

const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0;
const unless = (shell: string) => (has(shell) ? "" : ` (skipped: ${shell} is not installed)`);

/** What bash offers when the user presses Tab behind the last of these words. */
function offered(...words: string[]): string[] {
  const code = `set -u
source ../galley.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_galley
printf '%s\\n' "\${COMPREPLY[@]+"\${COMPREPLY[@]}"}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", code, "bash", "galley", ...words], {
    cwd: join(home, "work"),
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((line) => line !== "");
}

describe("bash", () => {
  it("offers every verb first, and what begins like the word", () => {
    expect(offered("")).toEqual(verbs.map(({ name }) => name));
    expect(offered("co")).toEqual(["config", "completion"]);
  });

  it("offers every option that is supported", () => {
    const names = shownOptions.map(({ name }) => `--${name}`);
    expect(offered("--")).toEqual(names);
    expect(offered("-p", "--sta")).toEqual(["--stage"]);
    expect(offered("-p", "--no-mc")).toEqual([]);
  });

  it("offers subcommands, their options, and settings", () => {
    expect(offered("config", "")).toEqual(["get", "set", "unset", "list", "paths", "--help"]);
    expect(offered("config", "get", "")).toEqual(settingKeys);
    expect(offered("config", "unset", "retry.max")).toEqual(["retry.maxRetries", "retry.maxDelayMs"]);
    expect(offered("config", "list", "--")).toEqual(["--json", "--help"]);
    expect(offered("tools", "run", "ls", "{}", "--tr")).toEqual(["--trust-project"]);
    expect(offered("help", "un")).toEqual(["undo", "unlink"]);
    expect(offered("completion", "")).toEqual(["bash", "zsh", "fish", "--help"]);
  });

  it("offers the values that an option takes", () => {
    expect(offered("--mode", "")).toEqual(["text", "json", "rpc"]);
    expect(offered("--cwd", "")).toEqual(["sub dir"]);
    expect(offered("-e", "no")).toEqual(["note.md"]);
    expect(offered("--model", "")).toEqual([]);
    expect(offered("tools", "run", "ls", "{}", "--cwd", "s")).toEqual(["sub dir"]);
  });

  it("offers files where a path belongs", () => {
    expect(offered("tools", "check", "").sort()).toEqual(["note.md", "sub dir", "we*rd"]);
    expect(offered("trust", "")).toEqual(["sub dir"]);
    expect(offered("-p", "n")).toEqual(["note.md"]);
  });

  it("is registered for galley", () => {
    const code = "source ../galley.bash && complete -p galley";
    expect(spawnSync("bash", ["--norc", "-c", code], { cwd: join(home, "work"), encoding: "utf8" }).stdout).toBe(
      "complete -F _galley galley\n",
    );
  });
});

describe("zsh", () => {
  it.skipIf(!has("zsh"))(`has a script that zsh accepts${unless("zsh")}`, () => {
    expect(spawnSync("zsh", ["-n", join(home, "galley.zsh")], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it("has a script for every verb, with every quote and bracket closed", () => {
    const text = script.zsh ?? "";
    expect(text).toMatch(/^#compdef galley\n/);
    for (const { name } of verbs) expect(text).toContain(`    ${name})`);
    // The constructs that it uses mean the same to bash, which can at least parse them.
    const asBash = text.replaceAll("$words[CURRENT]", "$w").replaceAll("$words[CURRENT-1]", "$w");
    writeFileSync(join(home, "zsh-as.bash"), asBash);
    expect(spawnSync("bash", ["-n", join(home, "zsh-as.bash")], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });
});

describe("fish", () => {
  it.skipIf(!has("fish"))(`has a script that fish accepts${unless("fish")}`, () => {
    expect(spawnSync("fish", ["-n", join(home, "galley.fish")], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it("has a script of commands whose words are all closed", () => {
    const lines = (script.fish ?? "").trimEnd().split("\n");
    const commands = lines.slice(lines.indexOf("complete -c galley -f"));
    for (const line of commands) expect(line).toMatch(/^complete -c galley(?: (?:[\w.-]+|'(?:[^'\\]|'\\'')*'))+$/);
    for (const { name, help } of verbs)
      expect(commands).toContain(
        `complete -c galley -n '__fish_is_first_arg' -a ${name} -d '${help.replaceAll("'", "'\\''")}'`,
      );
  });
});
