// `npm run fault:sandbox`: the long form of the tests of the sandbox. Each escape is shown to succeed without the sandbox
// and then tried in it, as root and as an ordinary user, with bubblewrap and without. The exit code says whether one got out.

import { mkdtempSync, rmSync } from "node:fs";
import { createReport } from "./kit/fault-report.mjs";
import { obstacle, prepareWorker, ways } from "./kit-sandbox/run-as.mjs";
import { runEscapes } from "./kit-sandbox/run-escapes.mjs";
import { runWork } from "./kit-sandbox/run-work.mjs";

const directory = mkdtempSync("/tmp/galley-fault-");
const report = createReport();
try {
  const prepared = await prepareWorker(directory);
  for (const way of ways()) {
    const title = `escapes as ${way.user}, ${way.mechanism}`;
    const reason = obstacle(way);
    if (reason !== undefined) console.log(`${title}: SKIPPED, ${reason}`);
    else {
      await report.row(title, { zeros: ["escaped", "otherMechanism"] }, () => runEscapes(prepared, way));
      await report.row(`work as ${way.user}, ${way.mechanism}`, { zeros: ["failed"] }, () => runWork(prepared, way));
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = report.isClean ? 0 : 1;
