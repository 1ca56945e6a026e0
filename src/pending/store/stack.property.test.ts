// Whatever is staged, applied and discarded, whole or in parts: the disk is what the diffs that somebody agreed to make of
// it, and nothing that was discarded ever gets there.

import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { GalleyError } from "../../base/errors.js";
import { withoutSession } from "../../plans/change-writer.js";
import { diffOf } from "../../plans/diff/plan-diff.js";
import { type PlannedChange, stampOf } from "../../plans/plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import { manualClock } from "../../testing/manual-clock.js";
import { decideList, decideOne, decideSome } from "../decide/decided.test-kit.js";
import type { DecideContext, Decision } from "../decide/decision.js";
import { PendingActionStore } from "./pending-action-store.js";
import { actionsBelow, inStagedOrder, planOf, stagedFor } from "./stack.js";

const paths = ["/p/a", "/p/b", "/p/new"];

interface Step {
  kind: "write" | "delete" | "module" | "outside" | "apply" | "discard" | "applyPart" | "discardPart";
  /** Chooses files, lines, actions and hunks. */
  picks: number[];
}

const stepOf = (kinds: readonly Step["kind"][]): fc.Arbitrary<Step> =>
  fc.record({ kind: fc.constantFrom(...kinds), picks: fc.array(fc.nat(999), { minLength: 6, maxLength: 6 }) });

const ours = [
  "write",
  "write",
  "write",
  "delete",
  "apply",
  "discard",
  "applyPart",
  "applyPart",
  "discardPart",
] as const;

class Scene {
  readonly disk = new Map<string, string>();
  readonly store = new PendingActionStore({ clock: manualClock() });
  readonly context: DecideContext = {
    store: this.store,
    settings: () => ({ maxAttempts: 1000, decider: "user", requireUser: false }),
    session: withoutSession,
    changes: {
      apply: async (changes) => {
        const stale = changes.filter(
          ({ path, stamp }) => stampOf(stamp.path, this.#found(path)).sha256 !== stamp.sha256,
        );
        if (stale.length > 0)
          throw new GalleyError("stale_preview", "", { details: { files: stale.map(({ stamp }) => stamp.path) } });
        for (const { kind, path, after } of changes) {
          if (kind === "delete") this.disk.delete(path);
          else this.disk.set(path, Buffer.from(after).toString());
        }
        return { changeId: "ch_1" };
      },
    },
  };
  /** Lines that only a discarded change would have brought. */
  readonly refused = new Set<string>();
  #lines = 0;

  constructor() {
    for (const path of paths.slice(0, 2)) this.disk.set(path, this.#fresh(30));
  }

  #found(path: string) {
    const text = this.disk.get(path);
    return text === undefined ? undefined : { bytes: Buffer.from(text), mode: 0o644 };
  }

  #fresh(count: number): string {
    return Array.from({ length: count }, () => `${this.#lines++}\n`).join("");
  }

  /** As the session's tools see it. */
  seen(path: string): string | undefined {
    const top = stagedFor(this.store, path).at(-1)?.change;
    if (!top) return this.disk.get(path);
    return top.kind === "delete" ? undefined : Buffer.from(top.after).toString();
  }

  async run({ kind, picks }: Step): Promise<void> {
    if (kind === "write" || kind === "delete") return this.#stage(picks, (path) => this.seen(path), kind);
    if (kind === "module") return this.#stage(picks, (path) => this.disk.get(path), kind);
    if (kind === "outside") return void this.disk.set(pick(paths, picks[0]), this.#fresh(3));
    const stored = pick(this.store.list(), picks[0]);
    if (stored) await this.#decide(stored, kind, picks);
  }

  #stage(picks: number[], read: (path: string) => string | undefined, kind: "write" | "delete" | "module"): void {
    const chosen = [...new Set([pick(paths, picks[0]), ...((picks[1] ?? 0) % 3 === 0 ? [pick(paths, picks[2])] : [])])];
    const changes = chosen.flatMap((path): PlannedChange[] => {
      const text = read(path);
      const before = Buffer.from(text ?? "");
      const stamp = stampOf(path.slice(3), text === undefined ? undefined : { bytes: before, mode: 0o644 });
      const isGone = kind === "delete";
      if (isGone && text === undefined) return [];
      const change = isGone ? ("delete" as const) : text === undefined ? ("create" as const) : ("modify" as const);
      return [{ kind: change, path, stamp, before, after: Buffer.from(isGone ? "" : this.#edited(text, picks)) }];
    });
    if (changes.length === 0) return;
    const dependsOn =
      kind === "module" ? [] : chosen.flatMap((path) => stagedFor(this.store, path).map(({ id }) => id));
    const work = { kind: "plan" as const, plan: { changes, applied: { text: "Done." } } };
    this.store.push({ label: kind, sourceToolName: kind, dependsOn: [...new Set(dependsOn)], work });
  }

  #edited(text: string | undefined, picks: number[]): string {
    if (text === undefined) return this.#fresh(12);
    const lines = text.split("\n").slice(0, -1);
    for (const [index, at] of picks.slice(3).entries()) {
      const fresh = this.#fresh(1).trim();
      lines.splice(at % (lines.length + 1), index === 1 ? 2 : 1 - (at % 2), fresh);
    }
    return lines.map((line) => `${line}\n`).join("");
  }

  async #decide(stored: StoredAction, kind: Step["kind"], picks: number[]): Promise<void> {
    const { id } = stored.action;
    const changes = planOf(stored)?.changes ?? [];
    const isPart = kind.endsWith("Part");
    const decision: Decision = {
      action: kind.startsWith("apply") ? "apply" : "discard",
      reason: "",
      by: "user",
      withDeps: true,
    };
    const change = pick(changes, picks[1]) as PlannedChange;
    const { hunks: total } = await diffOf(change);
    const byHunk = isPart && change.kind === "modify" && total > 0;
    const hunks = byHunk ? [...new Set(picks.slice(2, 4).map((each) => (each % total) + 1))] : [];
    const subset = byHunk ? { hunks: { [change.stamp.path]: hunks } } : { files: [change.stamp.path] };
    const isChosen = (path: string, hunk: number) =>
      !isPart || (path === change.path && (!byHunk || hunks.includes(hunk)));

    // What somebody who reads the diffs expects; where one does not fit, what no disk here ever holds.
    const expected = new Map(this.disk);
    const touched = isPart ? [change.path] : changes.map(({ path }) => path);
    for (const lower of actionsBelow(this.store, stored, touched))
      await this.#patch(expected, lower.stored, (path) => lower.paths.has(path));
    await this.#patch(expected, stored, isChosen);
    const above = decision.action === "discard" ? inStagedOrder(this.store) : [];
    const diffs = new Map<string, Set<string>>();
    for (const other of above)
      diffs.set(other.action.id, await freshLines(other, other === stored ? isChosen : () => true));

    const before = new Map(this.disk);
    const result = isPart
      ? (await decideSome(this.context, id, { decision, subset })).result
      : (await decideOne(this.context, id, decision)).result;
    if (decision.action === "discard" || result.isError) expect(this.disk).toEqual(before);
    else expect(this.disk).toEqual(expected);
    if (decision.action === "apply") return;
    for (const [other, lines] of diffs)
      if (other === id || this.store.endOf(other) === "discarded") for (const line of lines) this.refused.add(line);
  }

  async #patch(disk: Map<string, string>, stored: StoredAction, isChosen: (path: string, hunk: number) => boolean) {
    for (const change of planOf(stored)?.changes ?? []) {
      if (change.kind !== "modify") {
        if (!isChosen(change.path, 1)) continue;
        if (change.kind === "delete") disk.delete(change.path);
        else disk.set(change.path, Buffer.from(change.after).toString());
        continue;
      }
      const hunks = await hunksIn(change);
      const chosen = hunks.filter((_, index) => isChosen(change.path, index + 1));
      if (chosen.length > 0) disk.set(change.path, patched(disk.get(change.path) ?? "", chosen) ?? "does not fit");
    }
  }

  checkNothingRefused(): void {
    for (const text of this.disk.values())
      for (const line of text.split("\n")) expect(this.refused.has(line)).toBe(false);
  }
}

interface ShownHunk {
  start: number;
  lines: string[];
}

/** Read from the diff as it is shown. */
async function hunksIn(change: PlannedChange): Promise<ShownHunk[]> {
  const hunks: ShownHunk[] = [];
  for (const line of (await diffOf(change)).diff(1_000_000).split("\n")) {
    const [, start, count] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
    if (start !== undefined) hunks.push({ start: Number(start) - (count === "0" ? 0 : 1), lines: [] });
    else if (/^[ +-]/.test(line)) hunks.at(-1)?.lines.push(line);
  }
  return hunks;
}

/** Undefined where a hunk does not fit. */
function patched(text: string, hunks: readonly ShownHunk[]): string | undefined {
  const old = text.split("\n").slice(0, -1);
  const made: string[] = [];
  let at = 0;
  for (const { start, lines } of hunks) {
    made.push(...old.slice(at, start));
    at = start;
    for (const line of lines) {
      if (line[0] !== "+" && old[at++] !== line.slice(1)) return undefined;
      if (line[0] !== "-") made.push(line.slice(1));
    }
  }
  return [...made, ...old.slice(at)].map((line) => `${line}\n`).join("");
}

/** Lines of a plan, or of a part of it, that were not there before. */
async function freshLines(stored: StoredAction, isChosen: (path: string, hunk: number) => boolean) {
  const found = new Set<string>();
  for (const change of planOf(stored)?.changes ?? []) {
    const known = new Set(Buffer.from(change.before).toString().split("\n"));
    const hunks = change.kind === "modify" ? await hunksIn(change) : [{ lines: addedBy(change) }];
    for (const [index, { lines }] of hunks.entries())
      if (isChosen(change.path, index + 1))
        for (const line of lines) if (line[0] === "+" && !known.has(line.slice(1))) found.add(line.slice(1));
  }
  return found;
}

function addedBy({ after }: PlannedChange): string[] {
  const lines = Buffer.from(after).toString().split("\n").slice(0, -1);
  return lines.map((line) => `+${line}`);
}

function pick<T>(list: readonly T[], number = 0): T {
  return list[number % list.length] as T;
}

it("leads everywhere where the diffs did, and everything can be applied at the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf(ours), { maxLength: 14 }), async (steps) => {
      const scene = new Scene();
      for (const step of steps) {
        await scene.run(step);
        scene.checkNothingRefused();
        expect(scene.store.list().map(({ action }) => action.status)).not.toContain("stale");
      }
      const seen = new Map(paths.flatMap((path) => (scene.seen(path) === undefined ? [] : [[path, scene.seen(path)]])));
      const ids = scene.store.list().map(({ action }) => action.id);
      const result = await decideList(scene.context, ids, { action: "apply", reason: "", by: "user" });
      expect(result.isError).toBeUndefined();
      expect(scene.disk).toEqual(seen);
      expect(scene.store.size).toBe(0);
      scene.checkNothingRefused();
    }),
    { numRuns: runs(80) },
  );
});

it("loses nothing when another program writes, or when plans are made for the files on disk", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf([...ours, "module", "outside"]), { maxLength: 16 }), async (steps) => {
      const scene = new Scene();
      for (const step of steps) {
        await scene.run(step);
        scene.checkNothingRefused();
      }
    }),
    { numRuns: runs(80) },
  );
});
