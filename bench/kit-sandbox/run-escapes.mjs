// Tries every escape first without the sandbox and then in it.

import { escapes } from "./escapes.mjs";
import { onPath, runTasks } from "./run-as.mjs";

export async function runEscapes(prepared, way, chosen = escapes) {
  const possible = chosen.filter(
    ({ only, needs }) => (only === undefined || only === way.user) && (needs === undefined || onPath(needs)),
  );
  const free = await runTasks(
    prepared,
    way,
    possible.map((one) => ({ ...one, isBoxed: false })),
  );
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
