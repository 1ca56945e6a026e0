// What can be done with a session as a whole: begin another one, go to an earlier one, branch, copy, go elsewhere in
// the tree. Promises: a run is over before its record is left; what fails leaves the session at hand as it was.

import { resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import type { BranchSummaryEntry, SessionEntry } from "../protocol/entries.js";
import { messageOfEntry } from "../record/entry-message.js";
import { entryNotFound, userText } from "../record/entry-tree.js";
import type { SessionManager } from "../record/record.js";
import { realPath } from "../record/store/disk-access.js";
import type { BranchNotes } from "./compaction/branch-summary.js";
import type { TreeVerdict } from "./compaction/compaction-extensions.js";
import type { SessionCore } from "./session-core.js";
import type { RecordWish } from "./session-extensions.js";
import { plainText } from "./session-messages.js";
import { defaultSessionSettings } from "./session-settings.js";

/** An empty record; model, thinking level and modes stay. The old one keeps what it has. False: it was prevented. */
export function newSession(core: SessionCore, origin: { parentSession?: string }): Promise<boolean> {
  return unlessPrevented(core, { kind: "switch", reason: "new" }, async () => {
    await change(core, async () => core.parts.records.create(origin));
    core.models.recordAll();
  });
}

/** Reads the file first. False: it was prevented. */
export function switchSession(core: SessionCore, path: string): Promise<boolean> {
  return unlessPrevented(core, { kind: "switch", reason: "resume", targetSessionFile: path }, async () => {
    // Of its own files, which it alone may write: opening one again would only find it taken.
    const own = openAt(core, path);
    const release = own && core.left.use(own); // or the end of a command would close it on the way
    try {
      if (!own) await core.left.closed();
      const record = own ?? (await core.parts.records.open(path, (question) => core.questions.ask(question)));
      await change(core, async () => record);
    } finally {
      release?.();
    }
    const problem = core.models.restore();
    if (problem !== undefined) core.parts.log.warn(problem);
  });
}

/** A new record with what came before a user message, whose text is returned. */
export async function branch(core: SessionCore, entryId: string): Promise<{ text: string; cancelled: boolean }> {
  const text = textToBranchAt(core, entryId);
  const isDone = await unlessPrevented(core, { kind: "branch", entryId }, async () => {
    textToBranchAt(core, entryId); // the record may have been left meanwhile, and a refusal stops no run
    await change(core, async (old) => (await old.branchTo(entryId)).session);
    core.models.recordWhatIsNew();
  });
  return { text, cancelled: !isDone };
}

function textToBranchAt({ record }: SessionCore, entryId: string): string {
  const entry = record.tree.get(entryId);
  const text = entry && userText(entry);
  if (text === undefined) throw new GalleyError("invalid_argument", "Invalid entry ID for branching");
  return text;
}

/** A full copy under a new id; false for a session that is in memory only, or where it was prevented. */
export async function fork(core: SessionCore): Promise<boolean> {
  if (core.record.sessionFile === undefined) return false;
  return unlessPrevented(core, { kind: "switch", reason: "fork" }, () => change(core, (old) => old.copy()));
}

/** Goes on in a full copy, wherever the record is kept. False: it was prevented. */
export async function clone(core: SessionCore): Promise<boolean> {
  const { leafId } = core.record.tree;
  if (leafId === null) throw new GalleyError("not_found", "Cannot clone session: no current entry selected");
  return unlessPrevented(core, { kind: "branch", entryId: leafId }, () => change(core, (old) => old.copy()));
}

export interface NavigateOptions {
  /** Take notes on what is left behind; without a word the setting decides. */
  summarize?: boolean;
  /** What the notes should look at. */
  customInstructions?: string;
}

export interface Navigated {
  /** What stood at a message that is to be said anew. */
  editorText?: string;
  /** Nothing was changed. */
  cancelled: boolean;
  /** Because somebody stopped the summary. */
  aborted?: true;
  summaryEntry?: BranchSummaryEntry;
}

/**
 * Goes to another place of the same record. At a message of the user's, or a custom one, the leaf is put before it, and
 * its text is returned to be edited; what was said after the place stays in the record as a branch.
 */
export async function navigateTree(
  core: SessionCore,
  entryId: string,
  options: NavigateOptions = {},
): Promise<Navigated> {
  core.driver.checkOpen();
  try {
    const verdict = await askBeforeTree(core, entryId, options);
    return verdict.cancel ? { cancelled: true } : await navigate(core, entryId, { ...options, ...verdict });
  } catch (error) {
    if (GalleyError.is(error, "aborted")) return { cancelled: true, aborted: true };
    throw error;
  }
}

/** Modules of others may object while the run still goes on, or bring the notes themselves. */
async function askBeforeTree(core: SessionCore, entryId: string, options: NavigateOptions): Promise<TreeVerdict> {
  const { guests } = core.parts;
  if (!guests) return { cancel: false };
  const { target } = placeOf(core, entryId);
  const preparation = {
    targetId: entryId,
    oldLeafId: core.record.tree.leafId,
    entriesToSummarize: leftBehind(core.record, target),
    userWantsSummary: wantsNotes(core, options),
  };
  return core.compaction.cancellable((signal) => guests.beforeTree(preparation, signal));
}

/** Where the leaf goes for an entry, and what is to be said anew there. */
function placeOf({ record }: SessionCore, entryId: string): { target: string | null; editorText: string | undefined } {
  const entry = record.tree.get(entryId);
  if (!entry) throw entryNotFound(entryId);
  const editorText = editableText(entry);
  return { target: editorText === undefined ? entryId : entry.parentId, editorText };
}

function navigate(
  core: SessionCore,
  entryId: string,
  { summary: given, ...options }: NavigateOptions & TreeVerdict,
): Promise<Navigated> {
  return core.exclusively(async () => {
    core.checkOpen();
    const { target, editorText } = placeOf(core, entryId);
    await core.settle();
    const oldLeafId = core.record.tree.leafId;
    const isTheirs = given !== undefined && wantsNotes(core, options);
    const notes = isTheirs ? { ...given, fromExtension: true } : await takeNotes(core, target, options);
    core.record.moveLeaf(target);
    const summaryEntry = notes && core.record.append({ type: "branch_summary", fromId: target ?? "root", ...notes });
    core.models.recordWhatIsNew(); // or who opens the record later would come to what was chosen up to here
    core.restoreBehaviour();
    await core.pending.branchChanged();
    const newLeafId = core.record.tree.leafId;
    const told = { kind: "tree", newLeafId, oldLeafId, ...(summaryEntry ? { summaryEntry } : {}) } as const;
    await core.parts.guests?.changed(told);
    return {
      ...(editorText === undefined ? {} : { editorText }),
      cancelled: false,
      ...(summaryEntry ? { summaryEntry } : {}),
    };
  });
}

/** Modules of others may object, and hear of what became of it. */
async function unlessPrevented(core: SessionCore, wish: RecordWish, work: () => Promise<void>): Promise<boolean> {
  const { guests } = core.parts;
  core.driver.checkOpen();
  if (guests && (await core.questions.askGuests((signal) => guests.prevents(wish, signal)))) return false;
  const previousSessionFile = core.record.sessionFile;
  await core.exclusively(async () => {
    core.checkOpen();
    await work();
  });
  const { kind } = wish;
  await guests?.changed(kind === "branch" ? { kind, previousSessionFile } : { ...wish, previousSessionFile });
  return true;
}

/** The closing events of a run come first; then the old record is left for another. */
async function change(core: SessionCore, open: (old: SessionManager) => Promise<SessionManager>): Promise<void> {
  await core.settle();
  const old = core.record;
  const next = await open(old);
  await core.settle(); // a prompt may have come meanwhile, and its run must not end up in another record
  await core.leavePending("Session switched.");
  core.enter(next);
  if (core.restored.finding) await core.restored.finding; // whoever asks next is told their number
  if (next !== old) await core.left.leave(old);
}

/** Undefined when none are wanted, or nothing would be left behind. */
async function takeNotes(
  core: SessionCore,
  target: string | null,
  options: NavigateOptions,
): Promise<BranchNotes | undefined> {
  if (!wantsNotes(core, options)) return undefined;
  const { reserveTokens } = branchSettings(core);
  const { customInstructions } = options;
  const { record } = core;
  const abandoned = leftBehind(record, target);
  const notes = await core.compaction.summarizeBranch(abandoned, {
    reserveTokens,
    ...(customInstructions === undefined ? {} : { customInstructions }),
  });
  const isCurrent = !core.driver.isStreaming && wordsIn(leftBehind(record, target)) === wordsIn(abandoned);
  if (isCurrent) return notes;
  if (notes) core.bill(notes.details.usage);
  throw new GalleyError("busy", "The conversation went on while its branch was being summarized. Nothing was changed.");
}

function wantsNotes(core: SessionCore, { summarize }: NavigateOptions): boolean {
  return summarize ?? branchSettings(core).enabled;
}

function branchSettings({ settings }: SessionCore) {
  return settings.branchSummary ?? defaultSessionSettings.branchSummary;
}

/** What leaves the path when the leaf goes there. */
function leftBehind(record: SessionManager, target: string | null): SessionEntry[] {
  const kept = new Set(record.tree.pathTo(target));
  return record.tree.pathTo().filter((entry) => !kept.has(entry));
}

function wordsIn(entries: readonly SessionEntry[]): number {
  return entries.filter((entry) => messageOfEntry(entry) !== undefined).length;
}

/** Undefined for what cannot be said again. */
function editableText(entry: SessionEntry): string | undefined {
  const message = messageOfEntry(entry);
  return message?.role === "user" || message?.role === "custom" ? plainText(message) : undefined;
}

/** The record that is stored there, if the session has it open. */
function openAt({ record, left, parts }: SessionCore, path: string): SessionManager | undefined {
  try {
    const file = realPath(resolve(parts.cwd, path));
    return record.isOnDisk && file === record.sessionFile ? record : left.at(file);
  } catch {
    return undefined; // a path that cannot be looked at: opening it tells why
  }
}
