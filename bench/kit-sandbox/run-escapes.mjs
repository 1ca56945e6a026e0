// Tries every escape first without the sandbox and then in it. What it does without depends on the user, not on the
// mechanism, so it is shown once for each user.

import { escapes } from "./escapes.mjs";
import { onPath, runTasks } from "./run-as.mjs";

export async function runEscapes(prepared, way, chosen = escapes) {
  const possible = chosen.filter(
    ({ only, needs }) => (only === undefined || only === way.user) && (needs === undefined || onPath(needs)),
  );
  const free = await freely(prepared, way, possible);
  const boxed = await runTasks(
    prepared,
    way,
    possible.map((one) => ({ ...one, isBoxed: true })),
  );
  const names = (isSo) => possible.filter((_, index) => isSo(index)).map(({ name }) => name);
  const notShown = names((index) => !free.results[index].hasEscaped);
  const out = names((index) => boxed.results[index].hasEscaped);
  const broken = names((index) => boxed.results[index].error !== undefined);
  return {
    tried: possible.length,
    shownWithout: possible.length - notShown.length,
    escaped: out.length,
    otherMechanism: boxed.probe.mechanism === way.mechanism ? 0 : 1,
    notShown: notShown.join(", ") || "none",
    problems: [
      ...out.map((name) => `got out: ${name}`),
      ...broken.map(
        (name) => `did not run: ${name}: ${boxed.results[possible.findIndex((one) => one.name === name)].error}`,
      ),
    ],
  };
}

/** For each worker: what was tried without the sandbox, and what came of it. */
const shown = new WeakMap();

function freely(prepared, way, possible) {
  if (!shown.has(prepared)) shown.set(prepared, new Map());
  const known = shown.get(prepared);
  const key = JSON.stringify([way.user, possible.map(({ name }) => name)]);
  if (!known.has(key)) {
    const tasks = possible.map((one) => ({ ...one, isBoxed: false }));
    known.set(key, runTasks(prepared, way, tasks));
  }
  return known.get(key);
}
