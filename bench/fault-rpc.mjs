// `npm run fault:rpc [-- ROWS]`: the long form of the tests of the protocol. Prints the figures; the exit code says whether
// every one is what it has to be. Rows by name, all of them by default; `hostile=100000` gives a row another size.

import { runHostile } from "../test/kit/hostile-run.mjs";
import { createReport } from "./kit/fault-report.mjs";
import { runAnswers } from "./kit-rpc/answers.mjs";
import { runExits } from "./kit-rpc/exits.mjs";
import { runGiants, runSignalledReader, runStoppedReader } from "./kit-rpc/giants.mjs";
import { runTests } from "./kit-rpc/tests.mjs";

const report = createReport();
const rows = {
  hostile: {
    title: "F-40 hostile frames, ten to one good command",
    size: 1_000_000,
    zeros: ["wrong or twice", "missing", "exit code"],
    isGood: (figures) => figures.answered === figures["good commands"] && figures["p99, ms"] <= 1000,
    async run(count) {
      const figures = await runHostile({ seed: 1, count, patienceMs: 60_000 });
      const { frames, valid, answered, wrong, missing, elapsedMs, p99Ms, peakBytes, exitCode, stderr } = figures;
      return {
        frames,
        "good commands": valid,
        answered,
        "wrong or twice": wrong,
        missing,
        "frames per second": Math.round(frames / (elapsedMs / 1000)),
        "p99, ms": p99Ms,
        "peak RSS, MiB": peakBytes === undefined ? "unknown" : peakBytes / 2 ** 20,
        "exit code": exitCode,
        problems: [
          ...figures.problems.map(({ owed, told }) => `due: ${owed}, came: ${told}`),
          ...(stderr ? [stderr] : []),
        ],
      };
    },
  },
  splits: {
    title: "F-41 transcripts, every line cut at every byte",
    zeros: ["failed"],
    run: () => runTests("test/laws/rpc-splits.test.ts", { GALLEY_SPLITS: "all" }),
  },
  fuzz: {
    title: "F-42 mutated frames through the reader and the schemas",
    size: 5_000_000,
    zeros: ["failed"],
    run: (count) => runTests("test/laws/frame-fuzz.test.ts", { GALLEY_FUZZ_FRAMES: String(count) }),
  },
  answers: {
    title: "F-43 answers out of order, twice, missing, late and of the wrong kind",
    size: 1_000_000,
    zeros: ["hangs", "wrong", "consents", "exit code"],
    async run(count) {
      const { exitCode, stderr, problems, elapsedMs: _, ...figures } = await runAnswers({ seed: 1, count });
      return { ...figures, "exit code": exitCode, problems: [...problems, ...(stderr ? [stderr] : [])] };
    },
  },
  exits: {
    title: "F-44 every ending at every phase, rounds at random moments",
    size: 84, // of 60 points each
    isGood: (figures) => figures["slowest, ms"] <= 8000,
    run: (rounds) => runExits({ rounds }),
  },
  giants: {
    title: "F-45 giant lines",
    isGood: (figures) => figures["RSS growth, MiB"] <= 160 && figures["next answer, ms"] <= 1000,
    run: runGiants,
  },
  reader: {
    title: "F-46 a reader that stops for 60 s, whole messages",
    size: 200_000,
    isGood: (figures) => figures["RSS growth, MiB"] <= 64,
    run: (count) => runStoppedReader({ count, stopMs: 60_000 }),
  },
  deltas: {
    title: "F-46 a reader that stops for 60 s, deltas",
    size: 200_000,
    isGood: (figures) => figures["RSS growth, MiB"] <= 64,
    run: (count) => runStoppedReader({ count, stopMs: 60_000, features: ["delta-updates"] }),
  },
  trickle: {
    title: "F-46 a reader of one byte a second for 60 s",
    size: 200_000,
    isGood: (figures) => figures["RSS growth, MiB"] <= 64,
    run: (count) => runStoppedReader({ count, stopMs: 60_000, isTrickling: true }),
  },
  signal: {
    title: "SIGTERM while the host does not read",
    size: 200_000,
    zeros: ["exit code"],
    isGood: (figures) => figures["until the end, ms"] <= 2000,
    run: (count) => runSignalledReader({ count, stopMs: 8_000 }),
  },
  outcomes: {
    title: "one outcome per prompt, every fault with every other",
    zeros: ["failed"],
    run: () => runTests("test/laws/rpc-outcomes.test.ts", { GALLEY_OUTCOMES: "all" }),
  },
  laws: {
    title: "the order of the wire, random traffic",
    size: 10_000,
    zeros: ["failed"],
    run: (count) => runTests("test/laws/rpc-laws.property.test.ts", { GALLEY_LAW_RUNS: String(count) }),
  },
};

const asked = process.argv.slice(2).map((word) => word.split("="));
for (const [name, size] of asked.length > 0 ? asked : Object.keys(rows).map((one) => [one])) {
  const row = rows[name];
  if (!row) throw new Error(`No row is called ${name}; there are ${Object.keys(rows).join(", ")}`);
  const { title, run, ...judged } = row;
  await report.row(title, judged, () => run(size === undefined ? row.size : Number(size)));
}
process.exitCode = report.isClean ? 0 : 1;
