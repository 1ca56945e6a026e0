// May the project's own code run? Undecided means no. Decided before anything of the project is loaded, by what the
// command line says for this run, what was decided about this very digest, and the user's settings; never by the
// project.

import { isOwnDirectory } from "../../files/module-files.js";
import type { ProjectDigest, TrustItem } from "./digest-project.js";
import { isInside, listTrust, type TrustRecord } from "./trust-store.js";

export interface TrustDecision {
  readonly state: "trusted" | "untrusted" | "undecided";
  /** Who decided. */
  readonly by?: "command line" | "settings" | "earlier decision";
  readonly root: string;
  readonly digest: string;
  /** What would run or decide something. */
  readonly items: readonly TrustItem[];
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
  const base = { root, digest, items, isForeign, ...(problem === undefined ? {} : { problem }) };
  if (isTrustedForThisRun) return { ...base, state: "trusted", by: "command line" };
  if (projectModules === "deny") return { ...base, state: "untrusted", by: "settings" };
  const earlier = own.findLast((record) => record.digest === digest);
  if (earlier) return { ...base, state: earlier.decision, by: "earlier decision" };
  // Another user's directory needs a user who looked at it.
  if (projectModules === "allow" && !isForeign) return { ...base, state: "trusted", by: "settings" };
  const last = own.findLast(({ decision }) => decision === "trusted");
  return { ...base, state: "undecided", ...(last ? { changedSince: changesSince(last, items) } : {}) };
}

function changesSince({ decidedAt, items: before }: TrustRecord, now: readonly TrustItem[]): TrustChange {
  const keyOf = ({ kind, name }: Pick<TrustItem, "kind" | "name">) => JSON.stringify([kind, name]);
  const old = new Map(before.map((item) => [keyOf(item), item]));
  const current = new Set(now.map(keyOf));
  const names = (items: readonly Pick<TrustItem, "name">[]) => [...new Set(items.map(({ name }) => name))];
  return {
    decidedAt,
    added: names(now.filter((item) => !old.has(keyOf(item)))),
    removed: names(before.filter((item) => !current.has(keyOf(item)))),
    changed: names(now.filter((item) => (old.get(keyOf(item))?.hash ?? item.hash) !== item.hash)),
  };
}
