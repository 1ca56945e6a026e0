// `npm run fault:trust [-- SCALE [SEED]]`: the long form of src/extend/trust.fault.test.ts. Prints the figures; the exit
// code says whether nothing ran and every change was noticed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildTrustModule, hasStrace, runHostile, runMutations } from "./kit-trust/faults.mjs";

const [scale = 1, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
let isClean = true;

try {
  if (!hasStrace) console.log("There is no strace here: programs that end at once may go unseen.");
  await report("hostile repositories", ["executions", "hung", "silent"], async () => {
    const { caught, ...figures } = await runHostile({ directory, count: 400 * scale, seed });
    return figures;
  });
  const module = await buildTrustModule(directory);
  await report("changes of a trusted project", ["unnoticed", "notRestored"], async () => {
    const { byKind, ...figures } = await runMutations({
      module,
      directory,
      count: 50_000 * scale,
      seed,
      checkEvery: 100,
    });
    return { ...figures, ...byKind };
  });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = isClean ? 0 : 1;

/** `zeros` names the figures that have to be 0. */
async function report(title, zeros, run) {
  const started = performance.now();
  const { problems = [], ...figures } = await run();
  if (problems.length > 0 || zeros.some((name) => figures[name] !== 0)) isClean = false;
  console.log(`${title} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name.padEnd(22)}${value}`);
  for (const problem of problems.slice(0, 10)) console.log(`  ! ${problem}`);
}
