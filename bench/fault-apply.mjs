// `npm run fault:apply [-- SCALE [SEED]]`: the long form of src/journal/apply.fault.test.ts. Prints the
// figures; the exit code says whether change sets kept their promises.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReport } from "./kit/fault-report.mjs";
import {
  buildJournalModule,
  measureCrowd,
  runFoldedNames,
  runFullDisks,
  runLongFile,
  runMutants,
  runPreviews,
  runRealKills,
} from "./kit-apply/faults.mjs";

const [scale = 1, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
const report = createReport();

try {
  const module = await buildJournalModule(directory);
  const place = { module, directory };
  const simulated = await import(module);
  await report.row("F-20 killed at every step", {}, () => simulated.runKills({ points: 8000 * scale, seed }));
  await report.row("F-21 power gone", {}, () => simulated.runPowerCuts({ points: 30_000 * scale, seed }));
  await report.row("F-22 SIGKILL on the real disk", { zeros: ["torn"] }, () =>
    runRealKills({ ...place, count: 500 * scale, seed }),
  );
  await report.row("F-23 errors at every call", {}, () => simulated.runErrors({ points: 3000 * scale, seed }));
  await report.row("F-24 mutants of the protocol", { zeros: ["unexplained"] }, async () => {
    const { alive, ...figures } = await runMutants({ directory, scale, seed });
    for (const line of alive) console.log(`  unnoticed  ${line}`);
    if (figures.noticed < 0.9 * figures.mutants) report.isClean = false;
    return figures;
  });
  await report.row("damaged records", {}, () => simulated.runDamagedRecords());
  await report.row("F-25, F-27 previews applied", { zeros: ["different", "leftOvers"] }, () =>
    runPreviews({ ...place, count: 1000 * scale, seed }),
  );
  await report.row("F-26 foreign writers", {}, () => simulated.runForeign({ points: 6000 * scale, seed }));
  await report.row("F-27 a long file", {}, () => runLongFile({ ...place, bytes: 100 << 20 }));
  await report.row("F-28 a full disk", { zeros: ["torn"] }, () =>
    runFullDisks({ ...place, rounds: 200 * scale, seed }),
  );
  await report.row("F-28 a directory that folds names", {}, () => runFoldedNames(place));
  for (const files of [1, 10, 100, 1000])
    await report.row(`F-28 ${files} files of 4 KiB`, {}, () => measureCrowd({ ...place, files }));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = report.isClean ? 0 : 1;
