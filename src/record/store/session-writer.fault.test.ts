// Session files under attack, in short: killed writers, torn ends, damaged middles, crowds. The long form is
// bench/fault-session.mjs, `npm run fault:session`.

import { beforeAll, expect, it } from "vitest";
import {
  buildSessionModule,
  readGiantLine,
  runContention,
  runCorruptions,
  runCuts,
  runKills,
} from "../../../bench/kit-session/faults.mjs";
import { isLong, runs } from "../../../test/kit/runs.js";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";

const directory = temporaryDirectory();
let module = "";

beforeAll(async () => {
  module = await buildSessionModule(directory);
});

it("F-30: SIGKILL while appending loses nothing that was acknowledged, and no file", async () => {
  const { told, kills, problems, ...figures } = await runKills({ module, directory, count: runs(24), seed: 1 });
  expect(problems).toEqual([]);
  expect(figures).toMatchObject({ lost: 0, unopenable: 0, damagedLines: 0, lockLeft: 0 });
  expect(kills).toBe(runs(24));
  expect(told).toBeGreaterThan(runs(24));
}, 60_000);

it("F-31: a file cut anywhere loses one line at most, keeps its bytes, and goes on", async () => {
  const { cuts, mostLinesLost, ...figures } = await runCuts({ module, directory, step: isLong ? 211 : 1009 });
  expect(figures).toEqual({ unopenable: 0, newEntryUnreadable: 0, bytesNotKept: 0 });
  expect(mostLinesLost).toBe(1);
  expect(cuts).toBeGreaterThan(isLong ? 300 : 60);
}, 60_000);

it("F-32: damage in the middle costs no sound line", async () => {
  const { soundLines, ...figures } = await runCorruptions({ module, directory, count: runs(200), seed: 1 });
  expect(figures).toEqual({ files: runs(200), lost: 0, changed: 0, unopenable: 0, cannotGoOn: 0 });
  expect(soundLines).toBeGreaterThan(runs(200) * 5);
}, 60_000);

it("F-32: a giant line is passed over", async () => {
  const { entries, expected, problemCount } = await readGiantLine({ module, directory, bytes: 64 * 1024 * 1024 });
  expect(entries).toBe(expected);
  expect(problemCount).toBeGreaterThan(0);
});

it("F-33: of several processes on one session one holds it, and no entry is lost", async () => {
  const { holders, problems, ...figures } = await runContention({ module, directory, rounds: runs(12), seed: 1 });
  expect(problems).toEqual([]);
  expect(figures).toMatchObject({ rounds: runs(12), doubleHolders: 0, interleaved: 0, lost: 0, damagedLines: 0 });
  expect(holders).toBeGreaterThanOrEqual(runs(12));
}, 60_000);
