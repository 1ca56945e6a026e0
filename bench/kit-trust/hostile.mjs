// F-10: hostile repositories, visited by the real program. Counts what ran: by the markers it left, and by the kernel's
// word on what was started.

import { randomFrom } from "../kit-session/random.mjs";
import { visit, visits } from "./drive.mjs";
import { hostileKinds } from "./hostile-kinds.mjs";
import { makeRepository } from "./hostile-repository.mjs";

export const kindNames = Object.keys(hostileKinds);
const atOnce = 3;

/** Every kind alone comes first, then mixtures. Every `visitsEvery`th repository is visited in every way. */
export async function runHostile({ directory, count, seed, kinds = kindNames, visitsEvery = 1, ...how }) {
  const random = randomFrom(seed);
  const plans = Array.from({ length: count ?? kinds.length }, (_, index) => planFor(index, { kinds, random }));
  const figures = { repositories: 0, visits: 0, executions: 0, hung: 0, silent: 0, problems: [] };
  const caught = new Set();
  let next = 0;
  const work = async () => {
    while (next < plans.length) {
      const index = next++;
      const repository = makeRepository({ ...plans[index], directory });
      try {
        const names = index % visitsEvery === visitsEvery - 1 ? Object.keys(visits) : ["rpc"];
        for (const name of names) note(name, repository, await visit(name, repository, how));
        for (const marker of repository.executed()) {
          figures.executions++;
          caught.add(marker);
          figures.problems.push(`${marker} left its marker (${repository.kinds.join(", ")})`);
        }
      } finally {
        repository.remove();
      }
      figures.repositories++;
    }
  };
  const note = (name, { kinds }, { hung, answered, executions }) => {
    const where = `${kinds.join(", ")}: ${name}`;
    figures.visits++;
    figures.executions += executions.length;
    for (const argv of executions) figures.problems.push(`${where} started ${JSON.stringify(argv).slice(0, 300)}`);
    if (hung) figures.hung++;
    if (hung) figures.problems.push(`${where} did not end`);
    // A program that says nothing at all proves nothing.
    if (!answered && name !== "sessions") {
      figures.silent++;
      figures.problems.push(`${where} said nothing`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { ...figures, caught: [...caught].sort() };
}

function planFor(index, { kinds, random }) {
  if (index < kinds.length) return { kinds: [kinds[index]] };
  const mixed = new Set(Array.from({ length: 2 + random.below(4) }, () => random.pick(kinds)));
  return { kinds: [...mixed], inside: random.below(3) };
}
