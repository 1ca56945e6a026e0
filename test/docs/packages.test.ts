// docs/packages.md against what was recorded: a row for each package, with the version that is installed, and a reason for
// each "no".

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../kit/run-galley.js";

const read = (path: string) => readFileSync(join(projectRoot, path), "utf8");
const parsed = <Content>(name: string) => JSON.parse(read(`test/packages/${name}`)) as Content;
const page = read("docs/packages.md");
const rows = [...page.matchAll(/^\| ([@\w/.-]+) \| ([\d.]+) \| (.*) \|$/gm)].map(
  ([, name = "", version = "", rest = ""]) => ({
    name,
    version,
    isSame: !rest.split(" | ").includes("no"),
  }),
);

it("has a row for each package that is recorded, with its version", () => {
  const { devDependencies } = parsed<{ devDependencies: Record<string, string> }>("package.json");
  const recorded = Object.keys(parsed<object>("recorded.json"));
  expect(recorded.length).toBeGreaterThanOrEqual(24);
  expect(rows.map(({ name, version }) => [name, version])).toEqual(
    recorded.map((name) => [name, devDependencies[name]]),
  );
});

it("says why where a package does not do the same", () => {
  const differences = Object.keys(parsed<object>("differences.json"));
  expect(rows.filter(({ isSame }) => !isSame).map(({ name }) => name)).toEqual(differences.sort());
  const [, reasons = ""] = /Where the table says `no`:(.*?)<!--/s.exec(page) ?? [];
  expect(differences.filter((name) => !reasons.includes(name))).toEqual([]);
});
