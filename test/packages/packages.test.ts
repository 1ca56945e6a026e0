// Published packages that extend pi, as they are, held against what pi 0.87.1 did with them: `npm run packages -- --write`
// recorded it. They run in a box without network and with an empty home.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { isLong } from "../kit/runs.js";
import { drive, here, whyNot } from "./box.mjs";
import { differences, digested, type Essence, essence } from "./compare.mjs";

const reason = whyNot();
if (reason) it.skip(`The packages are not run: ${reason}.`);

const read = <Content>(name: string) => JSON.parse(readFileSync(join(here, name), "utf8")) as Record<string, Content>;
const recorded = read<Essence>("recorded.json");
const steps = read<object>("steps.json");
/** By kind, with the reason. `late`: kinds that may show only after the test has looked. */
const knownDifferences = read<Record<string, string> & { late?: string[] }>("differences.json");
/** What `npm test` tries: small, and different from one another. `npm run test:long` tries all. */
const few = ["@juicesharp/rpiv-todo", "@tmustier/pi-ralph-wiggum", "pi-btw", "pi-env", "pi-themes", "pi-unified-exec"];
const names = Object.keys(recorded).filter((name) => isLong || few.includes(name));

beforeAll(ensureBuilt, 150_000);

describe.runIf(!reason)("published packages", () => {
  let bare: object;
  beforeAll(async () => {
    bare = await drive("galley", {});
  });

  it.each(names)("%s does what it does on pi", { timeout: 180_000 }, async (name) => {
    const pi = recorded[name] as Essence;
    const folder = join(here, "node_modules", name);
    const report = await drive("galley", { folder, steps: steps[name] ?? {}, expected: pi.ran });
    const found = differences(pi, digested(essence(report, bare)));
    const { late = [], ...known } = knownDifferences[name] ?? {};
    const unknown = Object.entries(found).filter(([kind, list]) => list.length > 0 && !(kind in known));
    expect(unknown).toEqual([]);
    // What was mended is taken off the list.
    for (const kind of Object.keys(known).filter((each) => !late.includes(each)))
      expect(found[kind as keyof typeof found]).not.toEqual([]);
  });
});
