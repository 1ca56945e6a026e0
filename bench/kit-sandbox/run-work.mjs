// Does daily work in the sandbox.

import { onPath, runTasks } from "./run-as.mjs";
import { work } from "./work.mjs";

export async function runWork(prepared, way, chosen = work) {
  const possible = chosen.filter(({ needs }) => needs === undefined || onPath(needs));
  const tasks = possible.map((task) => ({ ...task, isBoxed: true }));
  const { results, probe } = await runTasks(prepared, way, tasks);
  const problems = possible.flatMap(({ name, happened }, index) => {
    const { end, error, output, hasEscaped, seen } = results[index];
    if (error !== undefined) return [`${name}: ${error}`];
    if (end.exitCode !== 0) return [`${name}: ended with ${end.exitCode}: ${output.trim()}`];
    return happened === undefined || hasEscaped
      ? []
      : [`${name}: not seen afterwards: ${seen.trim()} ${output.trim()}`];
  });
  return { tried: possible.length, failed: problems.length, mechanism: probe.mechanism, problems };
}
