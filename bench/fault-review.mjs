// `npm run fault:review [-- RUNS [SEED]]`: the long form of src/pending/replay-steps.property.test.ts, with its figures as the
// test runner prints them. The exit code says whether every sequence ended with the predicted bytes.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const [runs = "20000", seed = ""] = process.argv.slice(2);
const runner = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const { status } = spawnSync(process.execPath, [runner, "run", "src/pending/replay-steps.property.test.ts"], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  env: { ...process.env, REVIEW_RUNS: runs, REVIEW_SEED: seed },
  stdio: "inherit",
});
process.exitCode = status ?? 1;
