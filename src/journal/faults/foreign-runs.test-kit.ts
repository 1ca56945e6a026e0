// Change sets while another program writes to the same files: in place, by a new file, by removing it, by its mode, or by
// putting a file into a directory. What it wrote is never lost, except in the moment between our last check and the rename.

import { basename } from "node:path";
import { isTempName } from "../../files/disk/temp-names.js";
import type { RunOptions, RunResult } from "./crash-runs.test-kit.js";
import { applyOnce, recoverOnce, type Trace, traceOf } from "./faults.test-kit.js";
import { ForeignDeed } from "./foreign-deed.test-kit.js";
import { pick, randomScene, type Scene, seeded, setUpDisk } from "./scene.test-kit.js";
import type { Call, Found, SimDisk } from "./sim-disk.test-kit.js";
import type { Random } from "./sim-names.test-kit.js";

export interface ForeignResult extends RunResult {
  /** Came in the one moment that cannot be closed. */
  inWindow: number;
}

/**
 * Every call of every scene is a point. As often the other program writes right before one of the calls about its file,
 * or after the process was killed in the middle of the renames, and recovery meets the change.
 */
export async function runForeign({ points, seed, stopsEarly = false }: RunOptions): Promise<ForeignResult> {
  const random = seeded(seed);
  const run: ForeignResult = { points: 0, inWindow: 0, problems: [] };
  while (run.points < points) {
    const scene = randomScene(random, 4);
    const trace = await traceOf(scene);
    for (let point = 0; point < 3 * trace.calls.length && run.points < points; point++) {
      run.points++;
      const change = new ForeignDeed(scene, random);
      const problem = await disturb(scene, { change, random, ...timesOf({ trace, point, change, random }) });
      if (change.isInWindow) run.inWindow++;
      else if (problem) run.problems.push(`${change.text}: ${problem}`);
      if (stopsEarly && run.problems.length > 0) return run;
    }
  }
  return run;
}

interface Times {
  /** Before which call it is done; afterwards if there is none. */
  readonly at: number;
  readonly stopAfter: number;
  readonly losesPower: boolean;
  readonly isCarriedOut: boolean;
}

function timesOf({
  trace: { calls, steps, commitStep },
  point,
  change,
  random,
}: {
  trace: Trace;
  point: number;
  change: ForeignDeed;
  random: Random;
}): Times {
  const end = calls.findLast(({ name, path }) => name === "append" && path.endsWith(".gj"))?.step ?? steps;
  if (point % 3 === 0) {
    const stopAfter = random() < 0.4 ? Math.floor(random() * steps) : Number.POSITIVE_INFINITY;
    return { at: point / 3 + 1, stopAfter, losesPower: false, isCarriedOut: false };
  }
  const never = Number.POSITIVE_INFINITY;
  const own = calls.filter(({ path }) => change.aliases.includes(path));
  if (point % 3 === 1)
    return { at: pick(random, own).number, stopAfter: never, losesPower: false, isCarriedOut: false };
  const isCarriedOut = random() < 0.3;
  const stopAfter = isCarriedOut ? end - 1 : commitStep + Math.floor(random() * (steps - commitStep + 1));
  return { at: never, stopAfter, losesPower: change.isOfNames && random() < 0.5, isCarriedOut };
}

async function disturb(
  scene: Scene,
  { change, random, at, stopAfter, losesPower, isCarriedOut }: Times & { change: ForeignDeed; random: Random },
): Promise<string | undefined> {
  const disk = setUpDisk(scene);
  const old = disk.tree();
  const onCall = (call: Call) => change.before(disk, call, at);
  const attempts = [await applyOnce(disk, scene, { onCall, stopAfter })];
  change.do(disk, { isCarriedOut });
  if (losesPower) {
    disk.losePower(random);
    change.isAfterOurs = false; // our rename may be gone again
  }
  for (let crashes = Math.floor(random() * 3); crashes > 0; crashes--) {
    attempts.push(await recoverOnce(disk, { stopAfter: Math.floor(random() * 12) }));
    if (random() < 0.4) change.takeBack(disk);
  }
  const recovered = await recoverOnce(disk);
  if (recovered.error) return String(recovered.error);
  if (!change.isKept(disk)) return `foreign work lost (${attempts[0]?.error})`;
  if (new Set([...attempts, recovered].flatMap(({ settled }) => settled)).size > 1)
    return "two different ends were told";
  return othersOf(disk, scene, { old, change });
}

/** All other files, or simply all when the change was taken back, are all old or all new. */
function othersOf(
  disk: SimDisk,
  { before, after }: Scene,
  { old, change }: { old: ReadonlyMap<string, Found>; change: ForeignDeed },
): string | undefined {
  const isInside = [...before.keys()].some((path) => change.path.startsWith(`${path}/`));
  const isNoDirectory = (path: string, { type }: { type?: string }) => type !== "directory" && !path.endsWith("/");
  const texts = (files: Iterable<readonly [string, { text: string; type?: string }]>) =>
    JSON.stringify(
      [...files]
        .flatMap(([path, found]) => (path.startsWith("/p/") && isNoDirectory(path, found) ? [[path, found.text]] : []))
        .filter(([path]) => change.isTakenBack || path?.toLowerCase() !== change.path.toLowerCase())
        // What became a directory cannot be put back while the other program has a file in it; its backup stays.
        .filter(([path = ""]) => !change.path.startsWith(`${path}/`) && !(isInside && isTempName(basename(path))))
        .sort(),
    );
  const now = texts(disk.tree());
  if (now === texts(old) && !change.isAfterOurs) return undefined;
  if (now === texts(after) && !change.isBeforeOurs) return undefined;
  return `torn or undone: ${now} of ${texts(after)}`;
}
