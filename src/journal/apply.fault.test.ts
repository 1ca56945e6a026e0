// Change sets under attack, in short. The long form is bench/fault-apply.mjs, `npm run fault:apply`.

import { beforeAll, describe, expect, it } from "vitest";
import {
  buildJournalModule,
  measureCrowd,
  runFullDisks,
  runMutants,
  runPreviews,
  runRealKills,
} from "../../bench/kit-apply/faults.mjs";
import { runs } from "../../test/kit/runs.js";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { runKills, runPowerCuts } from "./faults/crash-runs.test-kit.js";
import { runErrors } from "./faults/error-runs.test-kit.js";
import { runForeign } from "./faults/foreign-runs.test-kit.js";
import { runDamagedRecords } from "./faults/record-runs.test-kit.js";

describe("a change set on a simulated disk", () => {
  it("F-20, J-5: is all-old or all-new wherever the process is killed, also while recovering", async () => {
    const { points, problems } = await runKills({ points: runs(200), seed: 1 });
    expect(problems.slice(0, 5)).toEqual([]);
    expect(points).toBeGreaterThanOrEqual(runs(200));
  });

  it("F-21: is all-old or all-new when the power goes", async () => {
    const { points, problems } = await runPowerCuts({ points: runs(400), seed: 2 });
    expect(problems.slice(0, 5)).toEqual([]);
    expect(points).toBeGreaterThanOrEqual(runs(400));
  });

  it("F-23, J-1, J-4: says what failed and is as it says, whichever call fails", async () => {
    const { points, problems } = await runErrors({ points: runs(400), seed: 3 });
    expect(problems.slice(0, 5)).toEqual([]);
    expect(points).toBe(runs(400));
  });

  it("F-26: never loses what another program writes meanwhile", async () => {
    const { inWindow, problems } = await runForeign({ points: runs(400), seed: 4 });
    expect(problems.slice(0, 5)).toEqual([]);
    // The one moment that stays: after the last look, before the rename.
    expect(inWindow).toBeLessThan(runs(400) * 0.15);
  });

  it("takes no damaged record for a sound one", () => {
    expect(runDamagedRecords().problems).toEqual([]);
  });
});

describe("the journal in a process of its own", () => {
  const directory = temporaryDirectory();
  let module = "";
  beforeAll(async () => {
    module = await buildJournalModule(directory);
  });

  it("F-24: one step left out is noticed", async () => {
    const names = ["no sync of a staged file", "commit before staging", "no checksum"];
    const figures = await runMutants({ directory, names });
    expect(figures).toMatchObject({ mutants: 3, noticed: 3, unexplained: 0, problems: [] });
  }, 60_000);

  it("F-22: SIGKILL at a changing call leaves all old or all new", async () => {
    const { kills, torn, problems } = await runRealKills({ module, directory, count: 5, seed: 5 });
    expect(problems).toEqual([]);
    expect([kills >= 5, torn]).toEqual([true, 0]);
  }, 60_000);

  it("F-25, F-27: leaves the bytes and modes of the plan, and nothing else", async () => {
    const figures = await runPreviews({ module, directory, count: 12, seed: 6 });
    expect(figures).toMatchObject({ applies: 12, different: 0, leftOvers: 0, problems: [] });
  });

  it("F-28: a hundred files at once, and a full disk where one can be had", async () => {
    expect(await measureCrowd({ module, directory, files: 100, repeat: 1 })).toMatchObject({ problems: [] });
    expect(await runFullDisks({ module, directory, rounds: 6, seed: 7 })).toMatchObject({ torn: 0, problems: [] });
  });
});
