// `npm run fault:session [-- SCALE [SEED]]`: the long form of src/record/store/session-writer.fault.test.ts. Prints the figures; the
// exit code says whether the session files kept their promises.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReport } from "./kit/fault-report.mjs";
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
const report = createReport();

try {
  const place = { module: await buildSessionModule(directory), directory };
  await report.row("killed while appending", { zeros: ["lost", "unopenable", "damagedLines", "lockLeft"] }, () =>
    runKills({ ...place, count: 1000 * scale, seed }),
  );
  await report.row(
    "cut at every byte of the last 64 KiB",
    {
      zeros: ["unopenable", "newEntryUnreadable", "bytesNotKept"],
      isGood: ({ mostLinesLost }) => mostLinesLost <= 1,
    },
    () => runCuts({ ...place, step: 1 }),
  );
  await report.row("damaged in the middle", { zeros: ["lost", "changed", "unopenable", "cannotGoOn"] }, () =>
    runCorruptions({ ...place, count: 2000 * scale, seed }),
  );
  await report.row(
    "a line of 1 GiB",
    { isGood: ({ entries, expected, grownBytes }) => entries === expected && grownBytes <= 128 * 2 ** 20 },
    () => readGiantLine({ ...place, bytes: 2 ** 30 }),
  );
  await report.row(
    "two to eight processes on one session",
    { zeros: ["doubleHolders", "interleaved", "lost", "damagedLines"] },
    () => runContention({ ...place, rounds: 100 * scale, seed }),
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = report.isClean ? 0 : 1;
