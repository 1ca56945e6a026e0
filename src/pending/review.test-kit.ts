// A plan that is decided in parts, edited and rebased while the process dies again and again, beside a model of it that is
// a list of lines. The record and the journal are lists in memory; what a crash leaves of them is chosen by the test.

import { expect } from "vitest";
import { GalleyError } from "../base/errors.js";
import { silentLog } from "../base/log.js";
import { noMask } from "../base/text-mask.js";
import { MessageQueues } from "../loop/message-queues.js";
import { ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import type { AppliedActions, ChangeMade, ChangeWriter } from "../plans/change-writer.js";
import { diffOf } from "../plans/diff/plan-diff.js";
import { type Plan, type PlannedChange, stampOf } from "../plans/plan.js";
import type { SessionEntry } from "../protocol/entries.js";
import { EntryTree } from "../record/entry-tree.js";
import type { SessionRecord } from "../record/record.js";
import { createMemoryArtifacts } from "../record/store/artifacts.js";
import { manualClock } from "../testing/manual-clock.js";
import { decidePending } from "./decide-pending.js";
import { PendingActions } from "./pending-actions.js";
import { defaultPendingSettings } from "./pending-settings.js";
import { rebasePending } from "./rebase-pending.js";
import { revisePending } from "./revise-pending.js";
import { planOf } from "./store/stack.js";
import { viewPending } from "./view-pending.js";

export type StepKind = "apply" | "discard" | "revise" | "outside" | "hit" | "rebase" | "resume";

export interface Step {
  readonly kind: StepKind;
  readonly picks: readonly number[];
  /** Where the process dies, if it does; it is the answer that gets lost then. */
  readonly crash: "before" | "files" | "record" | "none";
}

/** A line that the plan changes. */
interface Site {
  readonly old: string;
  fresh: string[];
}

class Crash extends Error {}

const mode = 0o644;
const id = "pa_1";
const decided = { reason: "seen", by: "user" } as const;

export class Review {
  /** What another program would find. */
  readonly disk = new Map<string, string>();
  /** The disk as the model has it. */
  readonly #expected = new Map<string, string>();
  /** What is still pending, per file, in the order of its lines. */
  readonly sites = new Map<string, Site[]>();
  /** The file that the plan creates, while it is pending. */
  created: string[] | undefined;
  /** Files that another program has written since the plan, or its last rebase, saw them. */
  readonly #stale = new Set<string>();
  #entries: SessionEntry[] = [];
  readonly #artifacts = createMemoryArtifacts();
  readonly #plans = new Map<string, string>();
  #journal: { applied: AppliedActions; change: ChangeMade } | undefined;
  #crash: Step["crash"] = "none";
  #count = 0;
  #record: SessionRecord;
  #pending: PendingActions;

  private constructor() {
    this.#record = this.#reopen();
    this.#pending = this.#start();
  }

  static async open(shape: readonly number[]): Promise<Review> {
    const review = new Review();
    await review.#stage(shape);
    return review;
  }

  get pending(): PendingActions {
    return this.#pending;
  }

  async #stage(shape: readonly number[]): Promise<void> {
    const changes = shape.map((count, index) => this.#planned(`f${index}.txt`, count));
    this.created = [this.#word("made"), this.#word("made")];
    changes.push({
      kind: "create",
      path: "/p/new.txt",
      stamp: stampOf("new.txt", undefined),
      before: Buffer.alloc(0),
      after: Buffer.from(textOf(this.created)),
    });
    const plan: Plan = { changes, applied: { text: "Written." } };
    await this.#pending.stage({
      label: "Edit: 9 changes in 9 files",
      sourceToolName: "t",
      work: { kind: "plan", plan },
    });
    await this.#pending.flush();
  }

  /** Sites stand ten lines apart, so that each is a hunk. */
  #planned(path: string, count: number): PlannedChange {
    const sites: Site[] = [];
    const lines: string[] = [];
    for (let index = 0; index <= count; index++) {
      for (let pad = 0; pad < 10; pad++) lines.push(this.#word("pad"));
      if (index === count) break;
      const site = { old: this.#word("old"), fresh: [this.#word("new")] };
      sites.push(site);
      lines.push(site.old);
    }
    const before = Buffer.from(textOf(lines));
    const after = sites.reduce((text, site) => replaced(text, site), textOf(lines));
    this.disk.set(path, textOf(lines));
    this.#expected.set(path, textOf(lines));
    this.sites.set(path, sites);
    const stamp = stampOf(path, { bytes: before, mode });
    return { kind: "modify", path: `/p/${path}`, stamp, before, after: Buffer.from(after) };
  }

  #word(what: string): string {
    return `${what} ${++this.#count}`;
  }

  async run({ kind, picks, crash }: Step): Promise<void> {
    this.#crash = crash;
    if (kind === "resume") return this.#restart(0);
    const path = pick([...this.sites.keys(), ...(this.created ? ["new.txt"] : [])], picks[0]);
    const numbers = [...new Set(picks.slice(1, 3).map((each) => each % 5))];
    if (kind === "outside") return this.#outside(path);
    if (kind === "hit") return this.#hit(path, picks[1] ?? 0);
    if (!this.#pending.store.get(id)) return;
    if (kind === "apply" || kind === "discard") await this.#decide(kind, path, { numbers, isWhole: picks[3] === 0 });
    if (kind === "revise") await this.#revise(path, picks);
    if (kind === "rebase") await this.#rebase((picks[1] ?? 0) % 2 === 0);
    if (this.#crash !== "none") await this.#restart(0);
    await this.check();
  }

  /** What the session shows is what the model says. */
  async check(): Promise<void> {
    const [view] = await viewPending(this.#pending.store, {});
    const shown = Object.fromEntries((view?.files ?? []).map(({ path, hunks }) => [path, hunks]));
    const left = [...this.sites].filter(([, sites]) => sites.length > 0).map(([path, sites]) => [path, sites.length]);
    expect(shown).toEqual(Object.fromEntries([...left, ...(this.created ? [["new.txt", 1]] : [])]));
  }

  /** Everything that is left is rebased, as far as it fits, and applied. */
  async finish(): Promise<void> {
    this.#crash = "none";
    await this.#restart(0);
    if (this.#pending.store.get(id)) await this.#rebase(true);
    if (this.#pending.store.get(id)) {
      await decidePending(this.#pending, { action: "apply", ...decided, pendingId: id });
      for (const [path, sites] of this.sites) this.#write(path, sites);
      if (this.created) this.#expected.set("new.txt", textOf(this.created));
    }
    expect(this.disk).toEqual(this.#expected);
  }

  #write(path: string, sites: readonly Site[]): void {
    const text = this.#expected.get(path) ?? "";
    this.#expected.set(path, sites.reduce(replaced, text));
  }

  async #decide(
    action: "apply" | "discard",
    path: string,
    { numbers, isWhole }: { numbers: readonly number[]; isWhole: boolean },
  ): Promise<void> {
    const sites = this.sites.get(path) ?? [];
    const isNew = path === "new.txt";
    const chosen = isNew || isWhole ? sites : sites.filter((_, index) => numbers.includes(index));
    if (!isNew && chosen.length === 0) return;
    const subset =
      isNew || isWhole ? { files: [path] } : { hunks: { [path]: chosen.map((site) => sites.indexOf(site) + 1) } };
    const isStale = action === "apply" && this.#stale.has(path);
    const revision = this.#pending.store.get(id)?.action.revision;
    const decision = decidePending(this.#pending, { action, ...decided, pendingId: id, revision, ...subset });
    const isDone = await this.#happens(decision, isStale ? "stale_preview" : undefined);
    if (!isDone) return;
    if (isNew) {
      if (action === "apply" && this.created) this.#expected.set(path, textOf(this.created));
      this.created = undefined;
      return;
    }
    if (action === "apply") this.#write(path, chosen);
    this.sites.set(
      path,
      sites.filter((site) => !chosen.includes(site)),
    );
  }

  async #revise(path: string, picks: readonly number[]): Promise<void> {
    const { store } = this.#pending;
    const { action } = store.get(id) ?? expect.fail();
    const sites = this.sites.get(path) ?? [];
    const index = (picks[1] ?? 0) % Math.max(sites.length, 1);
    const site = sites[index];
    const isNew = path === "new.txt";
    if ((!site && !isNew) || (isNew && !this.created)) return;
    const fresh = Array.from({ length: 1 + ((picks[2] ?? 0) % 3) }, () => this.#word("edited"));
    const stored = store.get(id) ?? expect.fail();
    const change = planOf(stored)?.changes.find(({ stamp }) => stamp.path === path) ?? expect.fail();
    const text = isNew
      ? textOf(fresh)
      : (await newSides(change))[index]?.replace(textOf(site?.fresh ?? []), textOf(fresh));
    const request = { pendingId: id, revision: action.revision, path, hunk: isNew ? 1 : index + 1, text: text ?? "" };
    const changes = { checkWritable: async () => {} };
    const revising = revisePending({ pending: this.#pending, changes, mask: noMask }, { ...request, by: "user" });
    const isDone = await this.#happens(revising, action.status === "stale" ? "stale_preview" : undefined);
    if (!isDone) return;
    if (isNew) this.created = fresh;
    else if (site) site.fresh = fresh;
  }

  async #rebase(partial: boolean): Promise<void> {
    const fits = (path: string) => (this.sites.get(path) ?? []).filter(({ old }) => this.#has(path, old));
    const stale = [...this.#stale].filter((path) => (this.sites.get(path)?.length ?? 0) > 0);
    const left = stale.filter((path) => fits(path).length < (this.sites.get(path)?.length ?? 0));
    const isNothing = [...this.sites].every(
      ([path, sites]) => (stale.includes(path) ? fits(path) : sites).length === 0,
    );
    const isRefused = partial && left.length > 0 && isNothing && !this.created;
    const rebasing = rebasePending(
      { pending: this.#pending, changes: { look: this.#changes.look, staleFiles: this.#changes.staleFiles } },
      { pendingId: id, partial, by: "user" },
    );
    const isDone = await this.#happens(rebasing, isRefused ? "stale_preview" : undefined);
    if (!isDone || (left.length > 0 && !partial)) {
      if (isRefused) await this.#giveUp();
      return;
    }
    for (const path of stale) this.sites.set(path, fits(path));
    this.#stale.clear();
  }

  /** Nothing of it fits any more: it can only be discarded. */
  async #giveUp(): Promise<void> {
    await decidePending(this.#pending, { action: "discard", ...decided, pendingId: id });
    for (const path of this.sites.keys()) this.sites.set(path, []);
    this.created = undefined;
  }

  #has(path: string, line: string): boolean {
    return (this.disk.get(path) ?? "").split("\n").includes(line);
  }

  /** Another program puts a line in front of all others. */
  #outside(path: string): void {
    const text = this.disk.get(path);
    if (text === undefined || path === "new.txt") return;
    this.disk.set(path, `${this.#word("theirs")}\n${text}`);
    this.#expected.set(path, this.disk.get(path) ?? "");
    this.#stale.add(path);
  }

  /** Another program writes over a line that the plan wants to change. */
  #hit(path: string, number: number): void {
    const sites = this.sites.get(path) ?? [];
    const site = sites[number % Math.max(sites.length, 1)];
    if (!site || !this.#has(path, site.old)) return;
    this.disk.set(path, (this.disk.get(path) ?? "").replace(`${site.old}\n`, `${this.#word("theirs")}\n`));
    this.#expected.set(path, this.disk.get(path) ?? "");
    this.#stale.add(path);
  }

  /** Whether it is done: answered, or found done by the next process. */
  async #happens(work: Promise<unknown>, refusal?: string): Promise<boolean> {
    const before = this.#entries.length;
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (refusal !== undefined) {
      expect(error).toMatchObject({ code: refusal });
      return false;
    }
    if (this.#crash === "none") {
      if (error) throw error;
      return true;
    }
    // The files decide where some were written, and the entry where there were none.
    const isWritten = this.#journal !== undefined || this.#entries.length > before;
    const isKept = this.#crash !== "before";
    await this.#restart(isKept || this.#journal ? 0 : this.#entries.length - before);
    this.#crash = "none";
    return isWritten && (isKept || this.#journal !== undefined);
  }

  /** The process dies, and the last entries with it; the next one finishes what the journal says. */
  async #restart(lost: number): Promise<void> {
    await this.#pending.flush();
    this.#entries = this.#entries.slice(0, this.#entries.length - lost);
    const journal = this.#journal;
    this.#journal = undefined;
    this.#crash = "none";
    this.#pending.dispose();
    this.#record = this.#reopen();
    this.#pending = this.#start();
    if (journal) await this.#pending.session.recordApplied(journal.applied, journal.change);
    this.#pending.reserve();
    await this.#pending.restore();
    await this.#pending.flush();
  }

  #reopen(): SessionRecord {
    const tree = new EntryTree();
    for (const entry of this.#entries) tree.append(entry);
    const artifacts = {
      ...this.#artifacts,
      savePlan: async (name: string, pieces: Iterable<string>) => {
        // Only what no entry names may be written again.
        if (this.#plans.has(name)) expect(JSON.stringify(this.#entries)).not.toContain(`"planRef":"${name}"`);
        this.#plans.set(name, [...pieces].join(""));
      },
      readPlan: async (name: string) => this.#plans.get(name),
    };
    return {
      tree,
      sessionId: "session",
      artifacts,
      append: (fields: object) => {
        const entry = {
          id: `e${this.#count++}`,
          parentId: tree.leafId,
          timestamp: "",
          ...fields,
        } as unknown as SessionEntry;
        const stored = JSON.parse(JSON.stringify(entry)) as SessionEntry;
        this.#entries.push(stored);
        tree.append(stored);
        return stored;
      },
      sync: async () => {},
      wantFile() {},
    } as unknown as SessionRecord;
  }

  #start(): PendingActions {
    return new PendingActions({
      clock: manualClock(),
      log: silentLog,
      queues: new MessageQueues(),
      toolChoice: new ToolChoiceQueue(),
      emit: () => {},
      record: () => this.#record,
      settings: () => defaultPendingSettings,
      model: () => undefined,
      forbidsForcedChoice: () => false,
      changes: this.#changes,
      owner: () => "session",
      signal: () => undefined,
    });
  }

  readonly #changes: Pick<ChangeWriter, "apply" | "staleFiles" | "look"> = {
    apply: async (planned, owner, session) => {
      const stale = await this.#changes.staleFiles(planned);
      if (stale.length > 0) throw new GalleyError("stale_preview", "stale", { details: { files: stale } });
      if (this.#crash === "before") throw new Crash();
      for (const { stamp, after } of planned) this.disk.set(stamp.path, Buffer.from(after).toString());
      const change = { changeId: `ch_${++this.#count}`, by: owner.by, reason: owner.reason };
      const { pendingId, alsoApplied, isPart, parts } = owner;
      const settles = { pendingId, alsoApplied, isPart, parts };
      const applied = JSON.parse(JSON.stringify(settles)) as AppliedActions;
      if (this.#crash !== "none") this.#journal = { applied, change };
      if (this.#crash === "files") throw new Crash();
      await session.recordApplied(applied, change);
      if (this.#crash === "record") throw new Crash();
      return { changeId: change.changeId };
    },
    staleFiles: async (seen) =>
      seen
        .filter(({ stamp }) => {
          const now = this.disk.get(stamp.path);
          const found = now === undefined ? undefined : { bytes: Buffer.from(now), mode };
          return stampOf(stamp.path, found).sha256 !== stamp.sha256;
        })
        .map(({ stamp }) => stamp.path),
    look: async (path) => {
      const text = this.disk.get(path.slice("/p/".length));
      if (text === undefined) return undefined;
      const bytes = Buffer.from(text);
      return { bytes, size: bytes.length, mode, isAsLeft: false };
    },
  };
}

/** The new side of every hunk, as its diff shows it. */
async function newSides(change: PlannedChange): Promise<string[]> {
  const { diff } = await diffOf(change);
  const [, ...hunks] = diff(1_000_000).split(/^@@ .*\n/m);
  return hunks.map((hunk) =>
    hunk
      .split("\n")
      .filter((line) => /^[ +]/.test(line))
      .map((line) => `${line.slice(1)}\n`)
      .join(""),
  );
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function replaced(text: string, { old, fresh }: Site): string {
  return text.replace(`${old}\n`, textOf(fresh));
}

function pick<T>(list: readonly T[], number = 0): T {
  return list[number % list.length] as T;
}
