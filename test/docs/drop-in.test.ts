// docs/drop-in.md against the program: its examples are run, its table has every row that differs.

import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { optionSpecs } from "../../src/cli/options.js";
import { dialects } from "../../src/rpc/dialect.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
afterAll(remove);
const page = readFileSync(join(projectRoot, "docs/drop-in.md"), "utf8");

it("shows what happens", async () => {
  const [bin, links, cwd] = [join(home, "bin"), join(home, "links"), join(home, "project")];
  for (const folder of [bin, links, cwd]) mkdirSync(folder);
  symlinkSync(galleyBin, join(links, "galley"));
  symlinkSync(galleyBin, join(links, "pi"));
  const variables = { ...env, PATH: `${bin}:${links}:${dirname(process.execPath)}:${env.PATH}` };
  const blocks = [...page.matchAll(/^( *)```console\n(.*?)^ *```$/gms)];
  expect(blocks).toHaveLength(3);
  for (const [, indent = "", block = ""] of blocks)
    for (const example of block
      .replaceAll(new RegExp(`^${indent}`, "gm"), "")
      .split(/^\$ /m)
      .slice(1)) {
      const end = example.indexOf("\n");
      const { stdout } = await run("/bin/sh", ["-c", `exec 2>&1; ${example.slice(0, end)}`], { env: variables, cwd });
      expect(stdout.replaceAll(home, "/home/dev")).toBe(example.slice(end + 1));
    }
});

it("speaks only of options that exist, and has a row for everything that differs", () => {
  const known = new Set(optionSpecs.flatMap(({ name, alias = name }) => [`--${name}`, `--${alias}`]));
  const foreign = ["--dir", "--prefix", "--ignore-scripts", "--read-only", "--sandbox", "--version"];
  const named = [...page.matchAll(/(?<![\w-])--[a-z][a-z-]*[a-z](?![a-z…-])/g)].map(([flag]) => flag);
  expect(named.filter((flag) => !known.has(flag) && !foreign.includes(flag))).toEqual([]);
  const [, table = ""] = /## What differs(.*?)\n\n[^|\n]*settings\.json/s.exec(page) ?? [];
  const rows = table.split("\n").filter((line) => line.startsWith("| ")).length - 1;
  expect(rows).toBe(Object.keys(dialects.pi).filter((key) => key !== "name").length + 1);
});
