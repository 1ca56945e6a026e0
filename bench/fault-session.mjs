// `npm run fault:session [-- SCALE [SEED]]`: the long form of src/session/store.fault.test.ts. Prints the figures; the
// exit code says whether the session files kept their promises.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildSessionModule,
  readGiantLine,
  runContention,
  runCorruptions,
  runCuts,
  runKills,
} from "./kit-session/faults.mjs";

const [scale = 1, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
let isClean = true;

try {
  const place = { module: await buildSessionModule(directory), directory };
  await report("killed while appending", ["lost", "unopenable", "damagedLines", "lockLeft"], () =>
    runKills({ ...place, count: 1000 * scale, seed }),
  );
  await report(
    "cut at every byte of the last 64 KiB",
    ["unopenable", "newEntryUnreadable", "bytesNotKept"],
    async () => {
      const { mostLinesLost, ...figures } = await runCuts({ ...place, step: 1 });
      if (mostLinesLost > 1) isClean = false;
      return { mostLinesLost, ...figures };
    },
  );
  await report("damaged in the middle", ["lost", "changed", "unopenable", "cannotGoOn"], () =>
    runCorruptions({ ...place, count: 2000 * scale, seed }),
  );
  await report("a line of 1 GiB", [], async () => {
    const figures = await readGiantLine({ ...place, bytes: 2 ** 30 });
    if (figures.entries !== figures.expected || figures.grownBytes > 128 * 2 ** 20) isClean = false;
    return { ...figures, elapsedMs: Math.round(figures.elapsedMs), grownMiB: Math.round(figures.grownBytes / 2 ** 20) };
  });
  await report("two to eight processes on one session", ["doubleHolders", "interleaved", "lost", "damagedLines"], () =>
    runContention({ ...place, rounds: 100 * scale, seed }),
  );
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
