// `npm run fault:workspace [-- SCALE [SEED]]`: the long form of the fault tests of src/files, src/processes and src/tools.
// Prints the figures; the exit code says whether files and processes kept their promises.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReport } from "./kit/fault-report.mjs";
import { buildEditsModule, runEdits } from "./kit-workspace/edits.mjs";
import { runFidelity } from "./kit-workspace/fidelity.mjs";
import { buildWorkspaceModule, runPaths, runSwaps } from "./kit-workspace/paths.mjs";
import {
  buildProcessesModule,
  exhaustDescriptors,
  runFlood,
  runForkBomb,
  runGalleyKills,
  runStops,
} from "./kit-workspace/processes.mjs";

const [scale = 1, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
const report = createReport();
const largeBytes = 100 * 2 ** 20;

try {
  const paths = { module: await buildWorkspaceModule(directory), directory, seed };
  await report.row("F-12 generated paths", { zeros: ["escapes", "falseAccepts", "falseRefusals"] }, () =>
    runPaths({ ...paths, count: 100_000 * scale }),
  );
  await report.row("F-13 links swapped meanwhile", { zeros: ["outsideWrites", "leftOvers", "torn"] }, () =>
    runSwaps({ ...paths, rounds: 10_000 * scale }),
  );
  await report.row(
    "F-27 whole files written",
    { zeros: ["bytesChanged", "modesChanged", "linksBroken", "leftOvers"] },
    () => runFidelity({ ...paths, count: 3000 * scale, largeBytes }),
  );
  const tools = await import(await buildEditsModule(directory));
  await report.row("F-27 edits", { zeros: ["changedBytes", "changedModes", "changedLinks", "wronglyRefused"] }, () =>
    runEdits({ tools, directory, count: 3000 * scale, seed, largeBytes }),
  );
  const processes = { module: await buildProcessesModule(directory), directory, seed };
  await report.row("F-50 kill -9 to galley", { zeros: ["survivors", "watchersLeft"] }, () =>
    runGalleyKills({ ...processes, count: 50 * scale }),
  );
  await report.row("F-51 aborts and timeouts", { zeros: ["survivors", "late", "descriptorsLeaked"] }, () =>
    runStops({ ...processes, count: 200 * scale }),
  );
  await report.row("F-52 many processes", { zeros: ["survivors"] }, () => runForkBomb({ ...processes, depth: 7 }));
  await report.row(
    "F-52 10 GB of output",
    { isGood: ({ bytes, grownBytes }) => bytes === 10e9 && grownBytes < 64 * 2 ** 20 },
    () => runFlood({ ...processes, bytes: 10e9 }),
  );
  await report.row("F-52 no descriptors left", { zeros: ["otherwise"] }, () => exhaustDescriptors(processes));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = report.isClean ? 0 : 1;
