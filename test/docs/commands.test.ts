// docs/commands.md against the program: its verbs exist, its examples are run, its options are known.

import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { optionSpecs } from "../../src/cli/options.js";
import { formsOf } from "../../src/cli/verb-help.js";
import { verbNamed, verbs } from "../../src/cli/verbs.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
afterAll(remove);

const page = readFileSync(join(projectRoot, "docs/commands.md"), "utf8");

it("names every verb", () => {
  const named = new Set([...page.matchAll(/`(?:galley )?([a-z]+)\b/g)].map(([, word]) => word));
  expect(verbs.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
});

it("has every form of config, and no other", () => {
  const [, section = ""] = /## Settings(.*?)\n## /s.exec(page) ?? [];
  const told = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, form]) => form);
  const verb = verbNamed("config");
  expect(told).toEqual(verb && formsOf(verb).map(({ usage }) => usage.replace(" [--json]", "")));
});

it("speaks only of options that exist", () => {
  const ofVerbs = verbs.flatMap(formsOf).flatMap(({ usage }) => usage.match(/--[a-z][a-z-]*/g) ?? []);
  const known = new Set([...optionSpecs.map(({ name }) => `--${name}`), ...ofVerbs]);
  const named = [...page.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag);
  expect(named.filter((flag) => !known.has(flag))).toEqual([]);
});

it("shows what happens", async () => {
  const project = join(home, "project");
  mkdirSync(project);
  cpSync(join(projectRoot, "examples"), join(project, "examples"), { recursive: true });
  const examples = [...page.matchAll(/```console\n\$ galley ([^\n]*)\n(.*?)```/gs)];
  expect(examples).not.toHaveLength(0);
  for (const [, words = "", output = ""] of examples) {
    const command = `exec "$0" "$1" ${words}`;
    const args = ["-c", command, process.execPath, galleyBin];
    expect(await run("/bin/sh", args, { env, cwd: project })).toEqual({ code: 0, stdout: output, stderr: "" });
  }
});
