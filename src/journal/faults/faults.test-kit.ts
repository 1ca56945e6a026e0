// Processes on the simulated disk that apply or recover, and may stop in the middle.

import type { ChangeOutcome } from "../../plans/change-writer.js";
import { applyChangeSet } from "../apply.js";
import { recoverChanges } from "../recover.js";
import { directories, type Scene, setUpDisk, txid } from "./scene.test-kit.js";
import type { Call, Faults, SimDisk } from "./sim-disk.test-kit.js";

export interface Attempt {
  /** Undefined: it never came back. */
  result?: "done" | "failed";
  error?: unknown;
  settled: ChangeOutcome["result"][];
}

export async function applyOnce(disk: SimDisk, { ops }: Scene, faults: Faults = {}, width = 1): Promise<Attempt> {
  const set = { label: "L", sourceToolName: "t", by: "user", reason: "r", ops };
  return attempt((settle) =>
    applyChangeSet({ disk: disk.open(faults), directories, txid, now: 1, width, keepsUndo: true, settle }, set),
  );
}

export async function recoverOnce(disk: SimDisk, faults: Faults = {}, width = 1): Promise<Attempt> {
  const { journalDir } = directories;
  return attempt((settle) => recoverChanges({ disk: disk.open(faults), journalDir, width, settle }));
}

async function attempt(
  run: (settle: (outcome: ChangeOutcome) => Promise<boolean>) => Promise<unknown>,
): Promise<Attempt> {
  const attempted: Attempt = { settled: [] };
  const work = run(async ({ result }) => attempted.settled.push(result) > 0).then(
    () => {
      attempted.result = "done";
    },
    (error: unknown) => {
      attempted.result = "failed";
      attempted.error = error;
    },
  );
  // The simulated disk answers within microtasks: who has not answered after a turn of the event loop never will.
  await Promise.race([work, new Promise((resolve) => setImmediate(resolve))]);
  return attempted;
}

export interface Trace {
  readonly calls: readonly (Call & { readonly step: number })[];
  /** How many steps there are in all, and how many are done when the commit is written. */
  readonly steps: number;
  readonly commitStep: number;
}

/** What an undisturbed apply does, call by call. */
export async function traceOf(scene: Scene): Promise<Trace> {
  const disk = setUpDisk(scene);
  const calls: (Call & { step: number })[] = [];
  await applyOnce(disk, scene, { onCall: (call) => void calls.push({ ...call, step: disk.steps }) });
  const [, commit] = calls.filter(({ name, path }) => name === "append" && path.endsWith(".gj"));
  return { calls, steps: disk.steps, commitStep: commit?.step ?? 0 };
}
