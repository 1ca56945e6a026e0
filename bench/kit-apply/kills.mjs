// Real processes on the real disk, killed at every changing call, or at any time, and again while they recover.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { placesIn, problemIn, sceneFrom, setUp } from "./real-scene.mjs";

const worker = fileURLToPath(new URL("worker.mjs", import.meta.url));
const lanes = 3;

export async function runRealKills({ module, directory, count, seed }) {
  const journal = await import(module);
  const figures = {
    kills: 0,
    atRandomTimes: 0,
    toTheEnd: 0,
    whileRecovering: 0,
    old: 0,
    new: 0,
    torn: 0,
    problems: [],
  };
  const points = pointsOf(journal, seed);

  const lane = async (number) => {
    const place = join(directory, `lane-${number}`);
    while (figures.kills < count) {
      const { value: point } = await points.next();
      const { scene } = point;
      const old = setUp(place, scene);
      const { wasKilled, told } = await run(place, "apply", point);
      if (wasKilled) figures.kills++;
      else figures.toTheEnd++;
      if (wasKilled && point.stopAt === 0) figures.atRandomTimes++;
      for (const stopAt of point.again) {
        const { wasKilled: again, told: more } = await run(place, "recover", { ...point, stopAt });
        if (again) figures.whileRecovering++;
        told.push(...more);
      }
      const settle = async ({ result }) => told.push(result) > 0;
      const { journalDir } = placesIn(place);
      const error = await journal.recoverChanges({ disk: journal.nodeChangeDisk, journalDir, width: 4, settle }).then(
        () => undefined,
        (failure) => failure,
      );
      const must = told.includes("applied") ? "new" : told.includes("reverted") ? "old" : undefined;
      const problem = error ? String(error) : problemIn(place, scene, { old, must });
      if (problem) figures.torn++;
      if (problem) figures.problems.push(`stopped at ${point.stopAt}, then ${point.again}: ${problem}`);
      figures[problemIn(place, scene, { old, must: "new" }) ? "old" : "new"]++;
    }
  };

  const run = (place, work, { scene, stopAt, width, delayMs }) =>
    new Promise((resolve) => {
      const args = [worker, module, place, work, scene.seed, stopAt, width].map(String);
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      let text = "";
      child.stdout.on("data", (chunk) => {
        if (text === "" && stopAt === 0) setTimeout(() => child.kill("SIGKILL"), delayMs);
        text += chunk;
      });
      child.on("close", (_code, signal) => {
        const told = text.split("\n").filter((line) => line === "applied" || line === "reverted");
        if (text.includes("done\n") && work === "apply") told.push("applied");
        resolve({ told, wasKilled: signal === "SIGKILL" });
      });
    });

  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  return figures;
}

/** Every changing call of one scene after another; one kill in five comes at any time. */
async function* pointsOf(journal, seed) {
  const random = journal.seeded(seed);
  const below = (limit) => Math.floor(random() * limit);
  for (;;) {
    const scene = sceneFrom(journal, below(2 ** 31));
    const { steps } = await journal.traceOf(scene);
    // As root every file gets its owner back, which is a step more.
    for (let stopAt = 1; stopAt <= steps + scene.ops.length; stopAt++) {
      const again = Array.from({ length: below(3) }, () => 1 + below(15));
      const isTimed = below(5) === 0;
      yield { scene, stopAt: isTimed ? 0 : stopAt, width: 1 + below(4), delayMs: below(12), again };
    }
  }
}
