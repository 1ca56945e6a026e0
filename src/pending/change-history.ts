// Undo and redo. An applied change is undone by a plan of its own, which is shown and decided like any other. What
// was undone and what was not follows from the records alone.

import { GalleyError } from "../base/errors.js";
import { contentHash } from "../base/file-type.js";
import { changeIdOf } from "../plans/change-id.js";
import type { ChangeWriter, RunMark, UndoFile, UndoRecord } from "../plans/change-writer.js";
import type { ShownFile } from "../plans/diff/diff-page.js";
import { gitSummary, isGrouped } from "../plans/diff/git-group.js";
import { diffOf } from "../plans/diff/plan-diff.js";
import { type PlannedChange, typeMember } from "../plans/plan.js";
import type { Change, Decider, FileChangeKind, PendingAction } from "../protocol/pending.js";
import { errorOf, forHost } from "./decide/words.js";
import type { DecisionAnswer } from "./decide-pending.js";
import { type FileDifference, inversePlan } from "./inverse-plan.js";
import { forward, type LeftBytes, leftBytes } from "./left-bytes.js";
import type { PendingActions } from "./pending-actions.js";
import { isUndone } from "./undone-files.js";

export interface ChangeHistoryDeps {
  readonly changes: ChangeWriter;
  /** Absent where changes are only listed. */
  readonly pending?: PendingActions;
  owner(): string;
}

export interface UndoRequest {
  /** Default: the newest that is not undone. */
  readonly changeId?: string | undefined;
  /** Every change of the last run that made one, together or not at all. */
  readonly isRun?: boolean;
  /** Stage nothing where files are not as the change left them; so it is with `isRun` and `apply`. */
  readonly mustFit?: boolean;
  /** Include changes of other sessions in this project. */
  readonly isWholeRoot?: boolean;
  /** Decide at once. */
  readonly apply?: { readonly by: Decider; readonly reason: string; readonly protected?: boolean } | undefined;
  readonly toolCallId?: string;
}

export interface Undone {
  readonly action: PendingAction;
  /** With `apply`; what could not be applied is thrown. */
  readonly answer?: DecisionAnswer;
  /** The change that is undone, or the newest of several. */
  readonly record: UndoRecord;
}

export interface ChangeListOptions {
  /** Default: all. */
  readonly ids?: readonly string[];
  /** Include those of other sessions in this project. */
  readonly isWholeRoot?: boolean;
  readonly withDiff?: boolean;
  /** Default: 50. */
  readonly limit?: number;
  /** How a file is named, by its absolute path; default: as the session named it that changed it. */
  readonly nameFile?: (path: string) => string;
}

export interface DamagedRecord {
  readonly id: string;
  readonly reason: string;
}

export interface ChangeOwnership {
  readonly id: string;
  /** The file of the session that made it, or its id. */
  readonly session: string | undefined;
  readonly isUndo: boolean;
  readonly isUndone: boolean;
  readonly run: RunMark | undefined;
}

/** What a change did: to its files, and to git's own data in one line. */
export interface ShownChange {
  readonly files: readonly ShownFile[];
  readonly git?: string | undefined;
}

/** Before the label of what is taken back. */
const prefixes = { undo: "Undo: ", redo: "Redo: " } as const;

interface TakenBack {
  readonly kind: "undo" | "redo";
  readonly of: string;
}

/** Older records do not say it: an undo takes back what undoes nothing itself, if that is still kept, else its label tells. */
function kindOf({ undoes, kind, label }: UndoRecord, originals: ReadonlyMap<string, UndoRecord>): UndoRecord["kind"] {
  if (undoes === undefined || kind !== undefined) return kind;
  const original = undoes.map((txid) => originals.get(txid)).find((record) => record !== undefined);
  const isUndo = original ? original.undoes === undefined : !label.startsWith(prefixes.redo);
  return isUndo ? "undo" : "redo";
}

export class ChangeHistory {
  readonly #deps: ChangeHistoryDeps;
  /** The change whose diff is being read page by page. */
  #shown: (ShownChange & { readonly changeId: string }) | undefined;

  constructor(deps: ChangeHistoryDeps) {
    this.#deps = deps;
  }

  /** What was applied, and cannot be undone because its record is damaged. */
  async damaged(): Promise<DamagedRecord[]> {
    const found = (await this.#deps.changes.damagedHistory?.()) ?? [];
    return found.map(({ txid, reason }) => ({ id: changeIdOf(txid), reason }));
  }

  async undo(request: UndoRequest): Promise<Undone> {
    const { changeId, isRun = false } = request;
    const all = await this.#deps.changes.history();
    const open = () => this.#own(all, request).filter((record) => !isUndone(record, all));
    if (isRun) return this.#undoRun(lastRun(open()), all, request);
    const found =
      changeId === undefined
        ? await this.#newest(open().filter(({ undoes }) => !undoes))
        : all.find(({ txid }) => changeIdOf(txid) === changeId);
    if (found) return this.#takeBack({ records: [found], all }, { kind: "undo", of: found.label }, request);
    throw await this.#nothingFound(
      changeId === undefined ? "Nothing to undo." : `Change ${changeId} can no longer be undone.`,
      changeId,
    );
  }

  async #undoRun(records: readonly UndoRecord[], all: readonly UndoRecord[], request: UndoRequest): Promise<Undone> {
    if (records.length === 0) throw await this.#nothingFound("Nothing to undo: no run made a change that is kept.");
    const count = `${records.length} change${records.length === 1 ? "" : "s"}`;
    return this.#takeBack({ records, all }, { kind: "undo", of: `${count} of one run` }, { ...request, mustFit: true });
  }

  /**
   * Skips changes of which nothing is left on the disk. A process that is killed while it writes leaves a record of
   * what it did not do, and a user may have reverted a change by hand: neither may block the undo of earlier changes.
   */
  async #newest(records: readonly UndoRecord[]): Promise<UndoRecord | undefined> {
    for (const record of records) {
      const isAsBefore = await Promise.all(record.files.map((file) => this.#isAsBefore(file)));
      if (isAsBefore.includes(false)) return record;
    }
    return undefined;
  }

  async #isAsBefore({ path, before }: UndoFile): Promise<boolean> {
    const now = await this.#deps.changes.stamp(path).catch(() => null); // it exists but cannot be read
    if (!now || !before) return now === undefined && before === null;
    return now.mode === before.mode && now.sha256 === contentHash(before.type, before.bytes);
  }

  async redo(request: Omit<UndoRequest, "changeId" | "isRun">): Promise<Undone> {
    const all = await this.#deps.changes.history();
    const originals = new Map(all.map((record) => [record.txid, record]));
    const found = this.#own(all, request).find(
      (record) => kindOf(record, originals) === "undo" && !isUndone(record, all),
    );
    if (!found) throw await this.#nothingFound("Nothing to redo.");
    const { label } = found;
    const of = label.startsWith(prefixes.undo) ? label.slice(prefixes.undo.length) : label;
    return this.#takeBack({ records: [found], all }, { kind: "redo", of }, request);
  }

  /** A record that is damaged must not look like none. */
  async #nothingFound(sentence: string, changeId?: string): Promise<GalleyError> {
    const { historyLimit } = this.#deps.changes;
    const damaged = (await this.damaged()).filter(({ id }) => changeId === undefined || id === changeId);
    if (damaged.length > 0) {
      const records = damaged.map(({ id, reason }) => `the record of ${id} is damaged (${reason})`).join("; ");
      return new GalleyError("file_changed", `${sentence.slice(0, -1)}: ${records}.`);
    }
    return new GalleyError("not_found", historyLimit === undefined ? sentence : `${sentence} ${historyLimit}`);
  }

  /** The newest first. */
  async list(options: ChangeListOptions = {}): Promise<Change[]> {
    const { ids, isWholeRoot = false, withDiff = false, limit = 50, nameFile } = options;
    const all = await this.#deps.changes.history();
    const own = this.#own(all, { isWholeRoot });
    const shown = (ids ? own.filter(({ txid }) => ids.includes(changeIdOf(txid))) : own).slice(0, limit);
    const left = leftBytes(all, this.#deps.changes);
    return Promise.all(shown.map((record) => this.#describe(renamed(record, nameFile), { all, withDiff, left })));
  }

  /**
   * What a change of this project did to each of its files; undefined when it is no longer known. The next pages of a
   * diff are cut from the same list: the records are not read again for each of them.
   */
  async show(changeId: string, { isNextPage = false } = {}): Promise<ShownChange | undefined> {
    if (isNextPage && this.#shown?.changeId === changeId) return { files: this.#shown.files, git: this.#shown.git };
    const all = await this.#deps.changes.history();
    const record = all.find(({ txid }) => changeIdOf(txid) === changeId);
    if (!record) return undefined;
    const left = leftBytes(all, this.#deps.changes);
    const { fromCommand } = record;
    const files: ShownFile[] = [];
    const grouped: PlannedChange[] = [];
    for (const file of record.files) {
      const after = await left(file);
      const change = forward(file, after ?? new Uint8Array());
      if (fromCommand && isGrouped({ fromCommand }, change)) grouped.push(change);
      else files.push({ path: file.shownPath, kind: file.kind, change: after && change });
    }
    const git = fromCommand && gitSummary({ fromCommand, changes: grouped });
    this.#shown = { changeId, files, git };
    return { files, git };
  }

  /** The last page was read. */
  endShowing(): void {
    this.#shown = undefined;
  }

  async owners(): Promise<ChangeOwnership[]> {
    const all = await this.#deps.changes.history();
    return all.map((record) => ({
      id: changeIdOf(record.txid),
      session: record.owner?.session,
      isUndo: record.undoes !== undefined,
      isUndone: isUndone(record, all),
      run: record.run,
    }));
  }

  #own(all: readonly UndoRecord[], { isWholeRoot = false }: Pick<UndoRequest, "isWholeRoot">): readonly UndoRecord[] {
    const owner = this.#deps.owner();
    return isWholeRoot ? all : all.filter((record) => record.owner?.session === owner);
  }

  async #takeBack(
    { records, all }: { records: readonly UndoRecord[]; all: readonly UndoRecord[] },
    { kind, of }: TakenBack,
    { apply, toolCallId, mustFit = apply !== undefined }: UndoRequest,
  ): Promise<Undone> {
    const { pending } = this.#deps;
    if (!pending) throw new GalleyError("unsupported", "Changes are only listed here.");
    const [record] = records as [UndoRecord];
    const { changes, different } = await inversePlan({ records, all }, this.#deps.changes.look);
    const label = `${prefixes[kind]}${of}`;
    if (mustFit && different.length > 0) throw differentError(kind, records, different);
    const id = await pending.stage({
      label,
      sourceToolName: "undo",
      toolCallId,
      details: {
        changeId: changeIdOf(record.txid),
        ...(records.length > 1 ? { changeIds: txidsOf(records).map(changeIdOf) } : {}),
      },
      isForReview: toolCallId === undefined,
      work: {
        kind: "plan",
        plan: {
          changes,
          applied: { text: doneText({ kind, of }, { records, all, changes }) },
          undoes: txidsOf(records),
          kind,
          // What a command did is taken back with the same leave.
          ...(records.some(({ fromCommand }) => fromCommand) ? { fromCommand: true as const } : {}),
        },
      },
    });
    // Tell the user at once; otherwise only an attempt to apply would show it.
    if (different.length > 0) await pending.filesWritten(changes.map(({ path }) => path));
    const action = pending.store.get(id)?.action;
    if (!action) throw new GalleyError("invalid_argument", `Pending action ${id} ended at once.`);
    if (!apply) return { action, record };
    const decided = await pending.decide([id], { action: "apply", ...apply });
    const failure = errorOf(decided);
    if (!failure) return { action, answer: { ...forHost(decided), decided }, record };
    // A caller that wants it applied at once does not want a pending preview.
    await pending.decide([id], { action: "discard", by: apply.by, reason: "It could not be applied." });
    throw failure;
  }

  async #describe(
    record: UndoRecord,
    { all, withDiff, left }: { all: readonly UndoRecord[]; withDiff: boolean; left: LeftBytes },
  ): Promise<Change> {
    const { txid, label, sourceToolName, by, reason, at, owner, fromCommand } = record;
    const grouped: PlannedChange[] = [];
    const files = await Promise.all(
      record.files.map(async (file) => {
        const type = typeMember(file.kind === "delete" ? file.before?.type : file.type);
        const about = { path: file.shownPath, kind: file.kind as FileChangeKind, ...type };
        const after = await left(file);
        const change = forward(file, after ?? new Uint8Array());
        if (fromCommand && isGrouped({ fromCommand }, change)) {
          grouped.push(change);
          return { ...about, isGitData: true as const };
        }
        if (!after) return about;
        const { added, removed, diff } = await diffOf(change);
        return { ...about, added, removed, ...(withDiff ? { diff: diff(1024 * 1024) } : {}) };
      }),
    );
    const git = fromCommand && gitSummary({ fromCommand, changes: grouped });
    return {
      id: changeIdOf(txid),
      ...(owner ? { pendingId: owner.pendingId } : {}),
      label,
      sourceToolName,
      by: by as Decider,
      reason,
      at,
      files,
      state: isUndone(record, all) ? "undone" : "applied",
      undoable: true,
      ...(git ? { git } : {}),
    };
  }
}

function renamed(record: UndoRecord, nameFile: ChangeListOptions["nameFile"]): UndoRecord {
  if (!nameFile) return record;
  return { ...record, files: record.files.map((file) => ({ ...file, shownPath: nameFile(file.path) })) };
}

const maxNamed = 10;

/** Which files, where the label does not tell: a part of a change, or a change that was a part of a plan. */
function partText(changes: readonly PlannedChange[], whole: UndoRecord): string {
  const isPart = changes.length < whole.files.length;
  if (!isPart && !whole.owner?.isPart) return "";
  const names = changes.slice(0, maxNamed).map(({ stamp }) => stamp.path);
  const more = changes.length > maxNamed ? [`+${changes.length - maxNamed} more`] : [];
  return ` (${isPart ? `${changes.length} of ${whole.files.length} files: ` : ""}${[...names, ...more].join(", ")})`;
}

function txidsOf(records: readonly UndoRecord[]): string[] {
  return records.map(({ txid }) => txid);
}

/** The changes of the newest run among them; an undo that a run made is one of its changes. */
function lastRun(records: readonly UndoRecord[]): readonly UndoRecord[] {
  const last = records.reduce<RunMark | undefined>(
    (newest, { run }) => (run && run.at > (newest?.at ?? Number.NEGATIVE_INFINITY) ? run : newest),
    undefined,
  );
  return last ? records.filter(({ run }) => run?.id === last.id) : [];
}

function differentError(
  verb: "undo" | "redo",
  records: readonly UndoRecord[],
  different: readonly FileDifference[],
): GalleyError {
  const names = records.map(({ txid }) => changeIdOf(txid)).join(", ");
  const files = different.map(({ path, how }) => `${path} ${how}`).join("; ");
  return new GalleyError("stale_preview", `Cannot ${verb} ${names}: ${files}. Nothing was written.`, {
    details: { files: different.map(({ path }) => path) },
  });
}

/** What is said once it is applied. */
function doneText(
  { kind, of }: TakenBack,
  {
    records,
    all,
    changes,
  }: { records: readonly UndoRecord[]; all: readonly UndoRecord[]; changes: readonly PlannedChange[] },
): string {
  const isRedo = kind === "redo";
  const [record] = records as [UndoRecord];
  const { undoes } = record;
  const whole = (isRedo && undoes?.length === 1 ? all.find(({ txid }) => undoes.includes(txid)) : undefined) ?? record;
  const part = records.length === 1 ? partText(changes, whole) : "";
  return `${isRedo ? "Redone" : "Undone"}: ${of}${part}.`;
}
