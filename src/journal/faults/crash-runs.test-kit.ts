// Change sets whose process is killed, or whose machine loses power, at every step, and again while recovering.

import { type Attempt, applyOnce, recoverOnce, traceOf } from "./faults.test-kit.js";
import { pick, problemOf, randomScene, type Scene, seeded, setUpDisk } from "./scene.test-kit.js";
import type { SimDisk } from "./sim-disk.test-kit.js";
import type { Random } from "./sim-names.test-kit.js";

export interface RunOptions {
  readonly points: number;
  readonly seed: number;
  /** Ends with the first problem. */
  readonly stopsEarly?: boolean;
}

export interface RunResult {
  points: number;
  problems: string[];
}

/** J-5, the process killed. Every step of every scene is a point. */
export async function runKills({ points, seed, stopsEarly = false }: RunOptions): Promise<RunResult> {
  const random = seeded(seed);
  const run: RunResult = { points: 0, problems: [] };
  while (run.points < points) {
    const scene = randomScene(random, 8);
    const total = await countSteps(scene, run);
    for (let stopAfter = 0; stopAfter <= total; stopAfter++) {
      run.points++;
      const problem = await crash(scene, { random, stopAfter, losesPower: false });
      if (problem) run.problems.push(`killed after ${stopAfter} of ${total}: ${problem}`);
      if (stopsEarly && run.problems.length > 0) return run;
    }
  }
  return run;
}

/** The power gone, or the process killed and the power gone during recovery. */
export async function runPowerCuts({ points, seed, stopsEarly = false }: RunOptions): Promise<RunResult> {
  const random = seeded(seed);
  const run: RunResult = { points: 0, problems: [] };
  while (run.points < points) {
    const scene = randomScene(random, 8);
    const total = await countSteps(scene, run);
    // A record that is there and may go again is where most can go wrong.
    const records = (await traceOf(scene)).calls.filter(({ name, path }) => name === "append" && path.endsWith(".gj"));
    for (let times = 0; times < 20; times++) {
      run.points++;
      const anywhere = Math.floor(random() * (total + 2));
      const stopAfter = random() < 0.6 ? anywhere : pick(random, records).step + Math.floor(random() * 3) - 1;
      const problem = await crash(scene, { random, stopAfter, losesPower: true });
      if (problem) run.problems.push(`power gone after ${stopAfter} of ${total}: ${problem}`);
      if (stopsEarly && run.problems.length > 0) return run;
    }
  }
  return run;
}

async function countSteps(scene: Scene, run: RunResult): Promise<number> {
  const disk = setUpDisk(scene);
  const old = disk.tree();
  const { error } = await applyOnce(disk, scene);
  const problem = error ? String(error) : problemOf(disk, scene, { old, must: "new" });
  if (problem) run.problems.push(`undisturbed: ${problem}`);
  return disk.steps;
}

async function crash(
  scene: Scene,
  { random, stopAfter, losesPower }: { random: Random; stopAfter: number; losesPower: boolean },
): Promise<string | undefined> {
  const disk = setUpDisk(scene);
  const old = disk.tree();
  const width = 1 + Math.floor(random() * 4);
  const attempts = [await applyOnce(disk, scene, { stopAfter }, width)];
  const between = () => {
    if (losesPower && random() < 0.6) disk.losePower(random);
  };
  between();
  for (let crashes = Math.floor(random() * 3); crashes > 0; crashes--) {
    attempts.push(await recoverOnce(disk, { stopAfter: Math.floor(random() ** 2 * 30) }, width));
    between();
  }
  if (attempts[0]?.result === "done" && attempts.length === 1) {
    await recoverOnce(disk);
    if (disk.steps > 0) return "told to be done, and something was left to recover";
  }
  attempts.push(await recoverOnce(disk));
  if (losesPower) disk.losePower(random);
  return verdict(disk, scene, { attempts, old });
}

/** Once anybody was told how it ended, it ended so. Afterwards nothing is left to do. */
async function verdict(
  disk: SimDisk,
  scene: Scene,
  { attempts, old }: { attempts: Attempt[]; old: ReturnType<SimDisk["tree"]> },
): Promise<string | undefined> {
  const last = await recoverOnce(disk);
  const failed = [...attempts, last].find(({ error }) => error);
  if (failed) return String(failed.error);
  const told = new Set([...attempts, last].flatMap(({ settled }) => settled));
  if (attempts[0]?.result === "done") told.add("applied");
  if (told.size > 1) return "told to be applied and to be reverted";
  const must = told.has("applied") ? "new" : told.has("reverted") ? "old" : undefined;
  const problem = problemOf(disk, scene, { old, must });
  if (problem) return problem;
  if (!told.has("applied") && !problemOf(disk, scene, { old, must: "new" })) return "new, and no caller was told";
  await recoverOnce(disk);
  return disk.steps > 0 ? "something was left to recover" : undefined;
}
