// The changes of one project root: change sets are applied here, all or nothing, one at a time, and what they replaced
// is kept for undo. All processes that work on a root share its lock and its journal.

import { promises } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { sha256Of } from "../base/digest.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { ownDirectory } from "../base/home.js";
import type { Log } from "../base/log.js";
import { acquireLock } from "../base/path-lock.js";
import { newTransaction } from "../files/disk/temp-names.js";
import { mayExist } from "../files/paths/find-roots.js";
import type { ChangeOutcome, DirectChange, ListedChanges, UndoRecord } from "../plans/change-writer.js";
import type { AppliedSet, ChangeSet, SeenPath } from "./change-set.js";
import { claimNumber } from "./claim-number.js";

export interface ChangesOptions {
  /** Canonical. */
  readonly root: string;
  readonly agentDir: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** How much is kept for undo; `keep` 0 keeps nothing. */
  retention(): { readonly keep: number; readonly maxBytes: number };
}

/**
 * Settles the pending action in the session that owns it, unless that is done. False: not possible now; the next recovery
 * tries again.
 */
export type SettleOutcome = (outcome: ChangeOutcome) => Promise<boolean>;

export interface Changes {
  readonly root: string;
  /** Throws `stale_preview`, `apply_failed`, `aborted`, or `timeout` while another process applies here. */
  apply(set: ChangeSet, settle: SettleOutcome): Promise<AppliedSet>;
  /** Keeps what a write without the journal replaces. Call the returned function if the write fails. */
  note(change: DirectChange): Promise<() => Promise<void>>;
  staleFiles(seen: readonly SeenPath[]): Promise<string[]>;
  /** Completes what a crash interrupted. Undefined: another process is applying changes and will finish it. */
  recover(settle: SettleOutcome): Promise<ChangeOutcome[] | undefined>;
  list(): Promise<ListedChanges>;
  read(txid: string): Promise<UndoRecord | undefined>;
  /** The next number of a pending action of this root, above the given one. Throws where it cannot be claimed. */
  claim(above: number): number;
}

const lockWaitMs = 5000;
const width = 8;

export function createChanges(options: ChangesOptions): Changes {
  const { root, agentDir, clock = systemClock } = options;
  const key = sha256Of(root).slice(0, 32);
  const own = ownDirectory(agentDir);
  const directories = { root, journalDir: join(own, "journal", key), undoDir: join(own, "undo", key) };
  // Loaded with the first change, because most sessions begin with reading.
  const load = () => import("./journal.js");

  return {
    root,

    apply: (set, settle) =>
      locked(lockWaitMs, async () => {
        const journal = await load();
        const own = await journal.prepareDirectories(directories);
        await journal.recoverRoot({ directories: own, width, settle });
        const { keep, maxBytes } = options.retention();
        const txid = await newTransaction();
        const context = { directories: own, txid, now: clock.now(), width, keepsUndo: keep > 0, settle };
        const emptied = set.undoes ? await journal.madeDirectories(own.undoDir, set.undoes) : [];
        const applied = await journal.applyToRoot(context, { ...set, emptied });
        await journal.retain(own.undoDir, { keep, maxBytes }).catch(tellRetained);
        return applied;
      }),

    async note(change) {
      const { keep, maxBytes } = options.retention();
      if (keep === 0) return async () => {};
      const journal = await load();
      const { undoDir } = await journal.prepareDirectories(directories);
      const txid = await newTransaction();
      await journal.noteUndo(undoDir, { type: "change", version: 1, txid, at: clock.now(), ...change });
      await journal.retain(undoDir, { keep, maxBytes }).catch(tellRetained);
      return () => journal.forgetUndo(undoDir, txid);
    },

    async staleFiles(seen) {
      const journal = await load();
      return journal.staleFiles(seen);
    },

    async recover(settle) {
      if (!(await hasEntries(directories.journalDir))) return [];
      const journal = await load();
      const own = await journal.prepareDirectories(directories);
      try {
        return await locked(0, () => journal.recoverRoot({ directories: own, width, settle }));
      } catch (error) {
        if (GalleyError.is(error, "timeout")) return undefined;
        throw error;
      }
    },

    async list() {
      const journal = await load();
      return journal.listUndoRecords(directories.undoDir);
    },

    async read(txid) {
      const journal = await load();
      return journal.readUndo(directories.undoDir, txid);
    },

    claim: (above) => claimNumber(join(directories.undoDir, "ids"), above),
  };

  function tellRetained(error: unknown): void {
    options.log.warn(`old undo records could not be removed: ${messageOf(error)}`);
  }

  async function locked<T>(waitMs: number, work: () => Promise<T>): Promise<T> {
    const attempt = await acquireLock(`${root}#changes`, clock, waitMs);
    if (!attempt.lock) {
      const who = attempt.holderPid === undefined ? "" : ` (pid ${attempt.holderPid})`;
      throw new GalleyError("timeout", `Another galley is applying changes here${who}.`);
    }
    try {
      return await work();
    } finally {
      await attempt.lock.release();
    }
  }
}

/** Does not load the journal's code: at almost every start there is nothing to recover. */
async function hasEntries(directory: string): Promise<boolean> {
  if (!mayExist(directory)) return false; // most starts need not load fs/promises
  const names = await promises.readdir(directory).catch(() => []); // not there: nothing was ever applied here
  return names.length > 0;
}
