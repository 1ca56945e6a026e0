// `npm run fault:rpc [-- COUNT [SEED]]`: the long form of test/rpc-hostile.test.ts. Prints the figures; the exit code
// says whether every line got what it was owed.

import { runHostile } from "../test/hostile-run.mjs";

const [count = 1_000_000, seed = 1] = process.argv.slice(2).map(Number);
const figures = await runHostile({ seed, count, patienceMs: 60_000 });
const { frames, valid, answered, wrong, missing, problems, elapsedMs, p99Ms, peakBytes, exitCode, stderr } = figures;

const rows = {
  seed,
  frames,
  "good commands": valid,
  answered,
  "wrong or twice": wrong,
  missing,
  "elapsed, s": (elapsedMs / 1000).toFixed(1),
  "frames per second": Math.round(frames / (elapsedMs / 1000)),
  "good command to answer, p99 ms": p99Ms.toFixed(1),
  "peak RSS, MiB": peakBytes === undefined ? "unknown" : (peakBytes / 2 ** 20).toFixed(1),
  "exit code": exitCode,
};
for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(32)}${value}`);
for (const { owed, told } of problems) console.log(`due: ${owed}, came: ${told}`);
if (stderr) console.log(`stderr:\n${stderr.slice(0, 2000)}`);

const isClean = answered === valid && wrong === 0 && missing === 0 && exitCode === 0 && stderr === "";
process.exitCode = isClean ? 0 : 1;
