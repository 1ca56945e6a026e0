// The packer of the program: files as units that are evaluated on first use, in packs that work as one.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { runInThisContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
// @ts-expect-error: a plain script without types
import { findUnits as untypedFind, packUnits as untypedPack } from "../../scripts/pack-program.mjs";
import { temporaryDirectory } from "../kit/temporary-directory.js";

interface Unit {
  id: number;
  name?: string;
  external?: string;
}
interface Pack {
  name: string;
  ids: Set<number>;
}
const findUnits = untypedFind as (
  entry: string,
  options: { root: string; options: { target: string; external: string[]; define: Record<string, string> } },
) => Promise<{ units: Unit[]; libraries: Set<string> }>;
const packUnits = untypedPack as (units: readonly Unit[], packs?: readonly Pack[]) => Map<string, string>;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe("a packed program", () => {
  it("evaluates a file when something of it is used, not when it is imported", async () => {
    const log = await run({
      "main.ts": `import { late } from "./late.js"; import { never } from "./never.js";
        say("main"); if (late() === 0) never();`,
      "late.ts": `say("late"); export function late() { return 1; }`,
      "never.ts": `say("never"); export const never = () => say("called");`,
    });
    expect(log).toEqual(["main", "late"]);
  });

  it("binds every form of import and export", async () => {
    const log = await run({
      "main.ts": `import { Thing, count as much, twice } from "./things.js"; import * as all from "./things.js";
        import fs, { existsSync } from "node:fs"; import table from "./table.json" with { type: "json" };
        import standard from "./standard.js"; import { passed, added } from "./passed.js";
        class Child extends Thing {}
        say(new Thing(2).size, new Child(3).size, much, all.twice(4), [5].map(twice), { twice }.twice(6));
        say(fs.existsSync === existsSync, table.word, standard(), passed, added(), typeof Thing);
        import("./things.js").then(({ Thing, count }) => say(new Thing(7).size, count));`,
      "things.ts": `export class Thing { constructor(readonly size: number) {} }
        export const count = 1; export function twice(n: number) { return 2 * n; } export type Unused = string;`,
      "standard.ts": `export default () => "standard";`,
      "passed.ts": `export { count as passed } from "./things.js"; export * from "./added.js";`,
      "added.ts": `export const added = () => "added";`,
      "table.json": `{ "word": "ungewöhnlich" }`,
    });
    expect(log).toEqual([2, 3, 1, 8, [10], 12, true, "ungewöhnlich", "standard", 1, "added", "function", 7, 1]);
  });

  it("lets files use each other, and says again what a file failed with", async () => {
    const log = await run({
      "main.ts": `import { even } from "./even.js"; import { broken } from "./broken.js";
        say(even(4));
        for (const _ of [1, 2]) try { broken(); } catch (error) { say((error as Error).message); }`,
      "even.ts": `import { odd } from "./odd.js"; export function even(n: number): boolean { return n === 0 || odd(n - 1); }`,
      "odd.ts": `import { even } from "./even.js"; export function odd(n: number): boolean { return n !== 0 && even(n - 1); }`,
      "broken.ts": `if (say("tried") === undefined) throw new Error("no"); export const broken = () => {};`,
    });
    expect(log).toEqual([true, "tried", "no", "tried", "no"]);
  });

  it("refuses words of its own in a file, because it would rewrite them", async () => {
    await expect(run({ "main.ts": `say("import_x.y");` })).rejects.toThrow("main.ts: import_");
    await expect(run({ "main.ts": `say('require("x")');` })).rejects.toThrow("main.ts: import_");
    await expect(run({ "main.ts": `say("echo $(1)");` })).rejects.toThrow("main.ts: import_");
  });
});

it("does not mix two builds: a pack that was replaced meanwhile is refused", async () => {
  const files = {
    "main.ts": `import { late } from "./late.js"; late();`,
    "late.ts": `export const late = () => say("late");`,
  };
  const packsOf = async (late: string) => {
    const { units } = await findIn({ ...files, "late.ts": late });
    const main = units.filter(({ name }) => name === "main.ts").map(({ id }) => id);
    return packUnits(units, [
      { name: "main.js", ids: new Set(main) },
      { name: "rest.js", ids: new Set() },
    ]);
  };
  const old = await packsOf(files["late.ts"]);
  const updated = await packsOf(`export const late = () => say("something else");`);
  expect(await play(old)).toEqual(["late"]);
  await expect(play(new Map([...updated, ["main.js", old.get("main.js") ?? ""]]))).rejects.toThrow(
    "galley was updated while it ran. Start it again.",
  );
});

/** What the files say, packed as one and as several, which must be the same. */
async function run(files: Record<string, string>): Promise<unknown[]> {
  const { units } = await findIn(files);
  const whole = await play(packUnits(units));
  const idsOf = (name: string) => new Set(units.filter((unit) => unit.name === name).map(({ id }) => id));
  for (const alone of Object.keys(files)) {
    const packs = [
      { name: "main.js", ids: idsOf("main.ts") },
      { name: "alone.js", ids: alone === "main.ts" ? new Set<number>() : idsOf(alone) },
      { name: "rest.js", ids: new Set<number>() },
    ];
    expect(await play(packUnits(units, packs))).toEqual(whole);
  }
  return whole;
}

async function findIn(files: Record<string, string>): Promise<{ units: Unit[] }> {
  const root = temporaryDirectory();
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const options = { target: "node20", external: [], define: {} };
  return findUnits(join(root, "main.ts"), { root, options });
}

async function play(packs: Map<string, string>): Promise<unknown[]> {
  const log: unknown[] = [];
  const require = createRequire(import.meta.url);
  const load = (name: string) => {
    const module = { exports: {}, load };
    const say = (...words: unknown[]) => {
      log.push(...words);
    };
    const pack = runInThisContext(`(function (exports, require, module, say) {${packs.get(name)}})`);
    pack(module.exports, require, module, say);
    return module.exports;
  };
  load("main.js");
  await new Promise((resolve) => setImmediate(resolve)); // for what it imports later
  return log;
}
