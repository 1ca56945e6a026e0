// May the project's own code run? Undecided means no. Decided before anything of the project is loaded, by what the
// command line says for this run, what was decided about these very digests, and the user's settings; never by the
// project. What was trusted before and has not changed since stays trusted, whatever else changed.

import { isOwnDirectory } from "../../files/module-files.js";
import type { FoundModule } from "../discover/findings.js";
import { type Coverage, itemKey, type ProjectDigest, type TrustItem } from "./digest-project.js";
import { isInside, listTrust, type TrustRecord } from "./trust-store.js";

export interface TrustDecision extends Pick<ProjectDigest, "root" | "digest" | "items"> {
  /** `trusted`: all of it. */
  readonly state: "trusted" | "untrusted" | "undecided";
  /** Who decided. */
  readonly by?: "command line" | "settings" | "earlier decision";
  /** Those among them that may run or count now. */
  readonly trusted: ReadonlySet<TrustItem>;
  /** What is different from the last time it was trusted. */
  readonly changedSince?: TrustChange;
  /** The directory belongs to another user. */
  readonly isForeign: boolean;
  /** Why earlier decisions do not count, as a sentence. */
  readonly problem?: string;
}

export interface TrustChange {
  readonly decidedAt: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface DecideTrustOptions {
  readonly project: Pick<ProjectDigest, "root" | "digest" | "items">;
  /** Where decisions are kept. */
  readonly file: string;
  /** `--trust-project`: for this run only, nothing is stored. */
  readonly isTrustedForThisRun?: boolean;
  /** `security.projectModules` of the user's settings. */
  readonly projectModules?: "ask" | "allow" | "deny";
  /** User ids whose directories count as our own. */
  readonly owners?: readonly number[];
}

export function decideTrust(options: DecideTrustOptions): TrustDecision {
  const { project, file, isTrustedForThisRun = false, projectModules = "ask", owners } = options;
  const { root, digest, items } = project;
  const isForeign = !isOwnDirectory(root, owners);
  const { records, problem } = isInside(file, root)
    ? { records: [], problem: "The file of trusted projects lies in the project itself and does not count" }
    : listTrust(file);
  const own = records.filter((record) => record.root === root);
  const base = { root, digest, items, isForeign, problem };
  const [all, none] = [new Set(items), new Set<TrustItem>()];
  if (isTrustedForThisRun) return { ...base, state: "trusted", by: "command line", trusted: all };
  if (projectModules === "deny") return { ...base, state: "untrusted", by: "settings", trusted: none };
  const by = "earlier decision";
  const earlier = own.findLast((record) => record.digest === digest)?.decision;
  if (earlier) return { ...base, state: earlier, by, trusted: earlier === "trusted" ? all : none };
  // Another user's directory needs a user who looked at it.
  const usual = projectModules === "allow" && !isForeign ? "trusted" : "undecided";
  const decided = decisionsIn(own);
  const states = new Map(entriesOf(items).map((item) => [item, decided.get(decisionKey(item)) ?? usual]));
  const [trusted, untrusted] = (["trusted", "untrusted"] as const).map(
    (wanted) => new Set([...states].filter(([, state]) => state === wanted).map(([item]) => item)),
  ) as [Set<TrustItem>, Set<TrustItem>];
  if (usual === "trusted" && untrusted.size === 0) return { ...base, state: "trusted", by: "settings", trusted: all };
  // What is gone needs no decision: the rest is what was trusted.
  if (trusted.size > 0 && trusted.size === states.size) return { ...base, state: "trusted", by, trusted: all };
  if (untrusted.size > 0 && trusted.size + untrusted.size === states.size)
    return { ...base, state: "untrusted", by, trusted };
  const last = own.findLast(({ decision }) => decision === "trusted");
  return { ...base, state: "undecided", trusted, ...(last ? { changedSince: changesSince(last, items) } : {}) };
}

/** What runs or counts by itself; the others are loaded by these. */
export function entriesOf(items: readonly TrustItem[]): TrustItem[] {
  return items.filter(({ digest }) => digest !== undefined);
}

/** About each item in each state, the last word that names it. */
function decisionsIn(records: readonly TrustRecord[]): Map<string, TrustRecord["decision"]> {
  const decided = new Map<string, TrustRecord["decision"]>();
  for (const { decision, items } of records)
    for (const item of items) if (item.digest !== undefined) decided.set(decisionKey(item), decision);
  return decided;
}

function decisionKey(item: Pick<TrustItem, "kind" | "name" | "digest">): string {
  return `${itemKey(item)} ${item.digest}`;
}

/** What may run of a project now. */
export interface ProjectGrant {
  mayRun(module: Pick<FoundModule, "kind" | "path">): boolean;
  /** Of the files that may be loaded; undefined: nothing of the project. */
  readonly coverage: Coverage | undefined;
  /** What its settings file says beyond what any project may. */
  readonly areSettingsTrusted: boolean;
}

export function grantOf(project: ProjectDigest, { state, trusted }: Pick<TrustDecision, "state" | "trusted">) {
  const isWhole = state === "trusted";
  const settings = project.items.filter(({ kind }) => kind === "setting");
  const mayRun: ProjectGrant["mayRun"] = (module) => {
    const item = project.itemOf(module);
    return item !== undefined && (isWhole || trusted.has(item));
  };
  const partly = trusted.size === 0 ? undefined : project.coverageOf(trusted);
  return {
    mayRun,
    coverage: isWhole ? project.coverage : partly,
    areSettingsTrusted: isWhole || (settings.length > 0 && settings.every((item) => trusted.has(item))),
  } satisfies ProjectGrant as ProjectGrant;
}

function changesSince({ decidedAt, items: before }: TrustRecord, now: readonly TrustItem[]): TrustChange {
  const old = new Map(before.map((item) => [itemKey(item), item]));
  const current = new Set(now.map(itemKey));
  const names = (items: readonly Pick<TrustItem, "name">[]) => [...new Set(items.map(({ name }) => name))];
  return {
    decidedAt,
    added: names(now.filter((item) => !old.has(itemKey(item)))),
    removed: names(before.filter((item) => !current.has(itemKey(item)))),
    changed: names(now.filter((item) => (old.get(itemKey(item))?.hash ?? item.hash) !== item.hash)),
  };
}
