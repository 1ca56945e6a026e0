// docs/promises.md explains every id that tests and comments cite, and nothing else.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const idPattern = /\b[BCEFHJKLORSTVWX]-\d{1,2}\b/g;

const rows = read("docs/promises.md")
  .split("\n")
  .flatMap((line) => {
    const [, id, promise, source, test] = /^\| (\S+-\d+) \| (.+) \| `(.+)` \| `(.+)` \|$/.exec(line) ?? [];
    return id && promise && source && test ? [{ id, promise, source, test }] : [];
  });
const rowIds = rows.map(({ id }) => id);

/** By id, the files that cite it. */
function citations(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of ["src", "test", "bench"])
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      const path = join(folder, name);
      if (!/\.(ts|mjs|mts)$/.test(name) || name.includes("node_modules") || path === "test/promises.test.ts") continue;
      for (const [id] of read(path).matchAll(idPattern)) found.set(id, [...(found.get(id) ?? []), path]);
    }
  return found;
}

it("explains each id once, and reads whole rows", () => {
  const lines = read("docs/promises.md").match(/^\| [A-Z]+-\d+ /gm) ?? [];
  expect(rows.length).toBeGreaterThan(70);
  expect(rows).toHaveLength(lines.length);
  expect(new Set(rowIds).size).toBe(rows.length);
});

it("explains every id that is cited, and only those", () => {
  const cited = citations();
  const unexplained = [...cited].flatMap(([id, paths]) => (rowIds.includes(id) ? [] : [`${id} in ${paths[0]}`]));
  expect(unexplained).toEqual([]);
  expect(rowIds.filter((id) => !cited.has(id))).toEqual([]);
});

it.each(rows)("$id names a file and a test that exist", ({ source, test }) => {
  expect(source).toMatch(/^src\/.+\.ts$/);
  expect(test).toMatch(/\.test\.ts$/);
  for (const path of [source, test]) expect(existsSync(join(root, path)), path).toBe(true);
});

it("the test that a row names cites the id", () => {
  const silent = rows.filter(({ id, test }) => !new RegExp(`\\b${id}\\b`).test(read(test)));
  expect(silent.map(({ id, test }) => `${id}: ${test}`)).toEqual([]);
});
