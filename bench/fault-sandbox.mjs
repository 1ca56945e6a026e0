// `npm run fault:sandbox [-- ROUNDS [SEED]]`: the long form of the tests of the sandbox. Each escape is shown to succeed without the sandbox
// and then tried in it, as root and as an ordinary user, with bubblewrap and without. Then a galley with a confined command
// is killed, and one with a staged view. The exit code says whether anything got out or was left.

import { mkdtempSync, rmSync } from "node:fs";
import { createReport } from "./kit/fault-report.mjs";
import { buildLayerModule } from "./kit-layer/build.mjs";
import { runViewKills } from "./kit-layer/kills.mjs";
import { runBoxKills } from "./kit-sandbox/kills.mjs";
import { obstacle, prepareWorker, ways } from "./kit-sandbox/run-as.mjs";
import { runEscapes } from "./kit-sandbox/run-escapes.mjs";
import { runWork } from "./kit-sandbox/run-work.mjs";

const [rounds = 200, seed = 1] = process.argv.slice(2).map(Number);
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
  const [{ user }] = ways();
  for (const mechanism of ["bubblewrap", "namespaces"]) {
    const title = `kill -9 during a confined command, ${mechanism}`;
    const reason = obstacle({ user, mechanism });
    if (reason !== undefined) console.log(`${title}: SKIPPED, ${reason}`);
    else
      await report.row(title, { zeros: ["survivors", "stubsLeft"] }, () =>
        runBoxKills(prepared, { mechanism, count: rounds / 4 }),
      );
  }
  const views = {
    ...{ module: await buildLayerModule(directory), directory, count: rounds, seed },
    // As root half of the rounds run as an ordinary user.
    uids: process.getuid() === 0 ? [undefined, 54321] : [undefined],
  };
  const zeros = ["torn", "survivors", "mountsLeft", "layersLeft", "otherwise"];
  await report.row("kill -9 with a staged view", { zeros }, () => runViewKills(views));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = report.isClean ? 0 : 1;
