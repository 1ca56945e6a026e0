// `npm run fault:trust [-- SCALE [SEED]]`: the long form of src/extensions/trust/trust.fault.test.ts. Prints the figures;
// the exit code says whether nothing ran and every change was noticed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReport } from "./kit/fault-report.mjs";
import { buildTrustModule, hasStrace, runHostile, runMutations } from "./kit-trust/faults.mjs";

const [scale = 1, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
const report = createReport();

try {
  if (!hasStrace) console.log("There is no strace here: programs that end at once may go unseen.");
  await report.row("hostile repositories", { zeros: ["executions", "hung", "silent"] }, async () => {
    const { caught, ...figures } = await runHostile({ directory, count: 400 * scale, seed });
    return figures;
  });
  const module = await buildTrustModule(directory);
  await report.row("changes of a trusted project", { zeros: ["unnoticed", "notRestored"] }, async () => {
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
process.exitCode = report.isClean ? 0 : 1;
