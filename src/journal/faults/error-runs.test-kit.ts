// Change sets on a disk that answers an error: at every call, once or from then on, before or after it did as asked.

import { GalleyError } from "../../base/errors.js";
import type { RunOptions, RunResult } from "./crash-runs.test-kit.js";
import { applyOnce, recoverOnce, traceOf } from "./faults.test-kit.js";
import { type Expected, pick, problemOf, randomScene, type Scene, seeded, setUpDisk } from "./scene.test-kit.js";
import type { Call, Faults, SimDisk } from "./sim-disk.test-kit.js";
import { failure, type Random } from "./sim-names.test-kit.js";

const codes = ["ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT", "EMFILE", "EINTR"];

/** Every call of every scene is a point. */
export async function runErrors({ points, seed, stopsEarly = false }: RunOptions): Promise<RunResult> {
  const random = seeded(seed);
  const run: RunResult = { points: 0, problems: [] };
  while (run.points < points) {
    const scene = randomScene(random, 5);
    const { calls, commitStep } = await traceOf(scene);
    // Twice for what comes after the commit: from there on there is something to lose.
    const numbers = [...calls, ...calls.filter(({ step }) => step >= commitStep)].map(({ number }) => number);
    for (const at of numbers.slice(0, points - run.points)) {
      run.points++;
      const trouble = { at, code: pick(random, codes), isSticky: random() < 0.4, failsLate: random() < 0.2 };
      const problem = await stumble(scene, trouble, random);
      if (problem) run.problems.push(`${JSON.stringify(trouble)} of ${calls.length}: ${problem}`);
      if (stopsEarly && run.problems.length > 0) return run;
    }
  }
  return run;
}

interface Trouble {
  readonly at: number;
  readonly code: string;
  readonly isSticky: boolean;
  readonly failsLate: boolean;
}

async function stumble(scene: Scene, trouble: Trouble, random: Random): Promise<string | undefined> {
  const disk = setUpDisk(scene);
  const old = disk.tree();
  const faults = faultsOf(trouble);
  const width = 1 + Math.floor(random() * 4);
  if (random() < 0.4) return crash(scene, { disk, old, faults, width, random });
  const { result, error } = await applyOnce(disk, scene, faults, width);
  const message = error instanceof Error ? error.message : "";
  if (result === undefined) return "it never came back";
  if (error && !GalleyError.is(error, "apply_failed")) return `not a sentence of ours: ${message}`;
  const isOpen = message.startsWith("Recovery needed: ");
  // What the caller hears is true at once, though a disk that goes on failing cannot be tidied up.
  const must = result === "done" ? "new" : isOpen ? undefined : "old";
  const mayBeUntidy = trouble.isSticky || trouble.failsLate || result === "done";
  const early = isOpen ? undefined : problemOf(disk, scene, { old, must, mayBeUntidy });
  if (early) return `at once: ${early}`;
  const unclear = error ? unclearOf(message, trouble, scene) : undefined;
  if (unclear) return unclear;
  // A recovery that meets trouble, too, promises nothing but to leave the rest to the next one.
  const again = { ...trouble, at: 1 + Math.floor(random() * 40) };
  if (random() < 0.3) await recoverOnce(disk, faultsOf(again));
  const recovered = await recoverOnce(disk);
  if (recovered.error) return String(recovered.error);
  const late = problemOf(disk, scene, { old, must });
  return late && `after recovery: ${late}`;
}

/** Killed on the way out of the trouble, perhaps with the power gone as well. */
async function crash(
  scene: Scene,
  {
    disk,
    old,
    faults,
    width,
    random,
  }: { disk: SimDisk; old: Expected["old"]; faults: Faults; width: number; random: Random },
): Promise<string | undefined> {
  const stepsLeft = Math.floor(random() * 15);
  const onCall = (call: Call) => {
    try {
      faults.onCall?.(call);
    } catch (error) {
      dying.stopAfter ??= disk.steps + stepsLeft;
      throw error;
    }
  };
  const dying: Faults = { ...faults, onCall };
  const { result } = await applyOnce(disk, scene, dying, width);
  if (random() < 0.7) disk.losePower(random);
  for (let crashes = Math.floor(random() * 3); crashes > 0; crashes--) {
    await recoverOnce(disk, { stopAfter: Math.floor(random() * 20) });
    if (random() < 0.5) disk.losePower(random);
  }
  const { error } = await recoverOnce(disk);
  if (error) return String(error);
  const problem = problemOf(disk, scene, { old, must: result === "done" ? "new" : undefined });
  return problem && `after a crash: ${problem}`;
}

function faultsOf({ at, code, isSticky, failsLate }: Trouble): Faults {
  return {
    failsLate,
    onCall({ number, name, path }) {
      if (isSticky ? number >= at : number === at) throw failure(code, `${name} ${path}`);
    },
  };
}

/** The sentence names the file, or what else it was about, and the system's word. */
function unclearOf(message: string, { code }: Trouble, { ops }: Scene): string | undefined {
  const isWhole = /^Apply failed: .*: .*\. (All files were restored|Nothing was written)\.$|^Recovery needed: .*: .*$/;
  const subjects = ops.flatMap((op) => [op.shownPath, ...(op.kind === "rename" ? [op.shownTo] : [])]);
  const names = [...subjects, "the journal", "the undo record", "/p", "/agent"].some((name) => message.includes(name));
  return isWhole.test(message) && names && message.includes(code) ? undefined : `says too little: ${message}`;
}
