// Does the simulator notice? Each mutant of the journal goes through the same runs as the journal itself.

import { rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { buildJournalModule } from "./build.mjs";
import { mutants } from "./mutant-list.mjs";

/** The mutants with these names, or all. `scale` stretches the runs. */
export async function runMutants({ directory, scale = 1, seed = 1, names }) {
  const chosen = names ? mutants.filter(({ name }) => names.includes(name)) : mutants;
  const figures = { mutants: chosen.length, noticed: 0, explained: 0, unexplained: 0, problems: [], alive: [] };
  for (const mutant of chosen) {
    const problem = await examine({ directory, mutant, scale, seed });
    if (problem !== undefined) {
      figures.noticed++;
      if (mutant.why) figures.problems.push(`${mutant.name}: said to go unnoticed, but ${problem.slice(0, 200)}`);
    } else {
      figures[mutant.why ? "explained" : "unexplained"]++;
      figures.alive.push(`${mutant.name}: ${mutant.why ?? "nobody noticed"}`);
    }
  }
  return figures;
}

// Node keeps what it once loaded: the same name twice would be the first mutant twice.
let built = 0;

async function examine({ directory, mutant, scale, seed }) {
  const path = await buildJournalModule(directory, { name: `mutant-${++built}`, mutant });
  const runs = await import(pathToFileURL(path).href);
  rmSync(path);
  const options = (points, further = 0) => ({ points: points * scale, seed: seed + further, stopsEarly: true });
  // The quick ones first.
  const plan = [
    () => runs.runDamagedRecords(),
    () => runs.runKills(options(150)),
    () => runs.runForeign(options(1500)),
    () => runs.runErrors(options(1000)),
    () => runs.runPowerCuts(options(4000)),
    // Few scenes copy their backups and go back to them: what one seed misses, another meets.
    () => runs.runErrors(options(1000, 1)),
    () => runs.runForeign(options(4000, 1)),
    () => runs.runPowerCuts(options(6000, 1)),
  ];
  for (const run of plan) {
    const { problems } = await run();
    if (problems.length > 0) return problems[0];
  }
  return undefined;
}
