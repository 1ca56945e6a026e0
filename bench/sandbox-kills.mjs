// `node bench/sandbox-kills.mjs [ROUNDS [SEED]]`: SIGKILL to a galley with a staged view, the long form of
// src/files/layer/create-stage-view.fault.test.ts. As root half of the rounds run as an ordinary user.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReport } from "./kit/fault-report.mjs";
import { buildLayerModule } from "./kit-layer/build.mjs";
import { runViewKills } from "./kit-layer/kills.mjs";

const [count = 200, seed = 1] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), "galley-fault-"));
const report = createReport();
const zeros = ["torn", "survivors", "mountsLeft", "layersLeft", "otherwise"];

try {
  chmodSync(directory, 0o755);
  const module = await buildLayerModule(directory);
  const uids = process.getuid?.() === 0 ? [undefined, 54321] : [undefined];
  await report.row("kill -9 with a staged view", { zeros }, () =>
    runViewKills({ module, directory, count, seed, uids }),
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = report.isClean ? 0 : 1;
