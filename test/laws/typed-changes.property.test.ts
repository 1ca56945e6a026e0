// Plans with links, directories, modes and changes of type, on the real disk: an apply leaves exactly what the plan says,
// an undo restores everything, and a decision about a part leads to the tree that it predicts.

import { describe, expect, it } from "vitest";
import { pick, seeded } from "../../src/journal/faults/scene.test-kit.js";
import { inversePlan } from "../../src/pending/inverse-plan.js";
import { decodePlan, encodePlan, type PlannedChange } from "../../src/plans/plan.js";
import { splitPlan } from "../../src/plans/split-plan.js";
import { runs } from "../kit/runs.js";
import { directory, type Entry, file, link, planBetween, type Tree, treeOf, typedProject } from "../kit/typed-trees.js";

type Random = () => number;

const names = ["a", "b", "c", "a/x", "a/y", "a/d", "a/d/z", "b/x", "b/d/e/f", "c/x"];

function randomEntry(random: Random): Entry {
  return pick(random, [
    () => file(`text ${Math.floor(random() * 5)}\n`, pick(random, [0o644, 0o755, 0o600, 0o444])),
    () => link(pick(random, ["a", "nowhere", "../b", "b/x"])),
    () => directory(pick(random, [0o755, 0o700, 0o750])),
  ])();
}

/** What is above a file is a directory, whatever was drawn for it. */
function randomTree(random: Random): Tree {
  const drawn: Record<string, Entry> = {};
  for (const name of names) {
    if (random() < 0.5) continue;
    const above = name
      .split("/")
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    if (above.some((path) => drawn[path] && drawn[path]?.type !== "directory")) continue;
    drawn[name] = randomEntry(random);
  }
  return treeOf(drawn);
}

const force = (changes: readonly PlannedChange[]) => ({ fromCommand: new Set(changes.map(({ path }) => path)) });

describe("J-19: a plan with types", () => {
  for (const seed of [1, 2, 3, 4])
    it(`is applied as it says, and its undo restores everything (seed ${seed})`, async () => {
      const random = seeded(seed);
      for (let round = 0; round < runs(12); round++) {
        const project = typedProject();
        const [before, after] = [randomTree(random), randomTree(random)];
        project.make(before);
        const planned = planBetween(project.root, before, after);
        if (planned.length === 0) continue;
        const stored = [...encodePlan({ changes: planned, applied: { text: "" }, fromCommand: true })].join("");
        const { changes } = decodePlan(stored);
        expect(await project.writer.staleFiles(changes)).toEqual([]);
        const changeId = await project.apply(changes, force(changes));
        expect(project.look()).toEqual(after);
        const all = await project.writer.history();
        const records = all.filter(({ txid }) => changeId === `ch_${txid.slice(0, 8)}`);
        const undo = await inversePlan({ records, all }, project.writer.look);
        expect(undo.different).toEqual([]);
        const undoes = records.map(({ txid }) => txid);
        await project.apply(undo.changes, { ...force(undo.changes), undoes });
        expect(project.look()).toEqual(before);
        const [undone] = await project.writer.history();
        const redo = await inversePlan(
          { records: undone ? [undone] : [], all: await project.writer.history() },
          project.writer.look,
        );
        await project.apply(redo.changes, force(redo.changes));
        expect(project.look()).toEqual(after);
      }
    });

  for (const seed of [5, 6, 7])
    it(`can be decided in parts: what is chosen, then the rest (seed ${seed})`, async () => {
      const random = seeded(seed);
      for (let round = 0; round < runs(12); round++) {
        const [before, after] = [randomTree(random), randomTree(random)];
        for (const action of ["apply", "discard"] as const) {
          const project = typedProject();
          project.make(before);
          const changes = planBetween(project.root, before, after);
          if (changes.length === 0) continue;
          const files = changes.filter(() => random() < 0.4).map(({ stamp }) => stamp.path);
          if (files.length === 0) files.push(pick(random, changes).stamp.path);
          const split = await splitPlan({ changes, applied: { text: "" } }, { files }, action);
          const chosen = new Set(split.chosen.map(({ stamp }) => stamp.path));
          for (const path of files) expect(chosen).toContain(path);
          const rest = action === "apply" ? split.ifApplied.changes : split.ifDiscarded.changes;
          if (action === "apply") await project.apply(split.chosen, force(split.chosen));
          if (rest.length > 0) await project.apply(rest, force(rest));
          const now = project.look();
          if (action === "apply") expect(now).toEqual(after);
          else
            for (const path of chosen)
              expect([path, now[path]?.text, now[path]?.type]).toEqual([
                path,
                before[path]?.text,
                before[path]?.type ?? (now[path] && "directory"),
              ]);
        }
      }
    });
});
