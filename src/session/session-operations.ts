// What can be done with a session as a whole: start a new one, switch to an earlier one, branch, copy, move in the
// tree. Promises: a run is over before its record is left; a failed operation leaves the current session as it was.

import { resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import type { BranchSummaryEntry, SessionEntry } from "../protocol/entries.js";
import { messageOfEntry } from "../record/entry-message.js";
import { entryNotFound, userText } from "../record/entry-tree.js";
import type { SessionRecord } from "../record/record.js";
import { realPath } from "../record/store/session-disk.js";
import type { BranchNotes } from "./compaction/branch-summary.js";
import type { TreeVerdict } from "./compaction/compaction-extensions.js";
import type { RequestedChange } from "./session-extensions.js";
import { bill, type SessionInternals } from "./session-internals.js";
import { plainText } from "./session-messages.js";
import { defaultSessionSettings } from "./session-settings.js";
import { becomeIdle, leavePending } from "./stop-session.js";

/** An empty record; model, thinking level and modes stay. The old one keeps what it has. False: it was prevented. */
export function newSession(session: SessionInternals, origin: { parentSession?: string }): Promise<boolean> {
  return unlessPrevented(session, { kind: "switch", reason: "new" }, async (leave) => {
    await change(session, leave, async () => session.deps.records.create(origin));
    session.models.recordAll();
  });
}

/** Reads the file first; a missing one is an error. False: it was prevented. */
export function switchSession(session: SessionInternals, path: string): Promise<boolean> {
  return unlessPrevented(session, { kind: "switch", reason: "resume", targetSessionFile: path }, async (leave) => {
    // One of its own files, which only this session may write: opening it again would only find it locked.
    const own = openAt(session, path);
    const release = own && session.detached.use(own); // else the end of a command could close it meanwhile
    try {
      if (!own) await session.detached.closed();
      const record = own ?? (await session.deps.records.open(path));
      await change(session, leave, async () => record);
    } finally {
      release?.();
    }
    const problem = session.models.restore();
    if (problem !== undefined) session.deps.log.warn(problem);
  });
}

/** A new record with what came before a user message, whose text is returned. */
export async function branch(
  session: SessionInternals,
  entryId: string,
): Promise<{ text: string; cancelled: boolean }> {
  const text = textToBranchAt(session, entryId);
  const isDone = await unlessPrevented(session, { kind: "branch", entryId, position: "before" }, async (leave) => {
    textToBranchAt(session, entryId); // another record may be current by now, and a refusal stops no run
    await changeToCopy(session, leave, async (old) => (await old.branchTo(entryId)).session);
    session.models.recordWhatIsNew();
  });
  return { text, cancelled: !isDone };
}

function textToBranchAt({ current: { record } }: SessionInternals, entryId: string): string {
  const entry = record.tree.get(entryId);
  const text = entry && userText(entry);
  if (text === undefined) throw new GalleyError("invalid_argument", "Invalid entry ID for branching");
  return text;
}

/** A full copy under a new id; false for a session that is in memory only, or where it was prevented. */
export async function fork(session: SessionInternals): Promise<boolean> {
  if (session.current.record.sessionFile === undefined) return false;
  return unlessPrevented(session, { kind: "switch", reason: "fork" }, (leave) =>
    changeToCopy(session, leave, (old) => old.copy()),
  );
}

/** Continues in a full copy, wherever the record is kept. False: it was prevented. */
export async function clone(session: SessionInternals): Promise<boolean> {
  const { leafId } = session.current.record.tree;
  if (leafId === null) throw new GalleyError("not_found", "Cannot clone session: no current entry selected");
  return unlessPrevented(session, { kind: "branch", entryId: leafId, position: "at" }, (leave) =>
    changeToCopy(session, leave, (old) => old.copy()),
  );
}

export interface NavigateOptions {
  /** Take notes on the branch that is left; by default the setting decides. */
  summarize?: boolean;
  /** What the notes should focus on. */
  customInstructions?: string;
}

export interface Navigated {
  /** The text of the message that is to be edited. */
  editorText?: string;
  /** Nothing was changed. */
  cancelled: boolean;
  /** Because the summary was aborted. */
  aborted?: true;
  summaryEntry?: BranchSummaryEntry;
}

/**
 * Moves to another entry of the same record. For a message of the user's, or a custom one, the leaf is put before it,
 * and its text is returned to be edited; what was said after it stays in the record as a branch.
 */
export async function navigateTree(
  session: SessionInternals,
  entryId: string,
  options: NavigateOptions = {},
): Promise<Navigated> {
  session.driver.checkOpen();
  try {
    const verdict = await askBeforeTree(session, entryId, options);
    return verdict.cancel ? { cancelled: true } : await navigate(session, entryId, { ...options, ...verdict });
  } catch (error) {
    if (GalleyError.is(error, "aborted")) return { cancelled: true, aborted: true };
    throw error;
  }
}

/** Extensions may object while the run still goes on, or bring the notes themselves. */
async function askBeforeTree(
  session: SessionInternals,
  entryId: string,
  options: NavigateOptions,
): Promise<TreeVerdict> {
  const { extensions } = session.deps;
  if (!extensions) return { cancel: false };
  const { target } = placeOf(session, entryId);
  const preparation = {
    targetId: entryId,
    oldLeafId: session.current.record.tree.leafId,
    entriesToSummarize: leftBehind(session.current.record, target),
    userWantsSummary: wantsNotes(session, options),
  };
  return session.compaction.cancellable((signal) => extensions.beforeTree(preparation, signal));
}

/** Where the leaf goes for an entry, and which text is to be edited there. */
function placeOf(
  { current: { record } }: SessionInternals,
  entryId: string,
): { target: string | null; editorText: string | undefined } {
  const entry = record.tree.get(entryId);
  if (!entry) throw entryNotFound(entryId);
  const editorText = editableText(entry);
  return { target: editorText === undefined ? entryId : entry.parentId, editorText };
}

function navigate(
  session: SessionInternals,
  entryId: string,
  { summary: given, ...options }: NavigateOptions & TreeVerdict,
): Promise<Navigated> {
  return session.current.exclusively(async () => {
    checkNotOver(session);
    const { target, editorText } = placeOf(session, entryId);
    await becomeIdle(session);
    const oldLeafId = session.current.record.tree.leafId;
    const isTheirs = given !== undefined && wantsNotes(session, options);
    const notes = isTheirs ? { ...given, fromExtension: true } : await takeNotes(session, target, options);
    session.current.record.moveLeaf(target);
    const summaryEntry =
      notes && session.current.record.append({ type: "branch_summary", fromId: target ?? "root", ...notes });
    session.models.recordWhatIsNew(); // else opening the record later would find the choice made up to here
    restoreBehaviour(session);
    await session.pending.branchChanged();
    const newLeafId = session.current.record.tree.leafId;
    const told = { kind: "tree", newLeafId, oldLeafId, ...(summaryEntry ? { summaryEntry } : {}) } as const;
    await session.deps.extensions?.changed(told);
    return { editorText, cancelled: false, ...(summaryEntry ? { summaryEntry } : {}) };
  });
}

/** Tells extensions that the present record is left now. */
type Leave = () => Promise<void>;

/** Extensions may object, and are told what became of it. */
async function unlessPrevented(
  session: SessionInternals,
  requested: RequestedChange,
  work: (leave: Leave) => Promise<void>,
): Promise<boolean> {
  const { extensions } = session.deps;
  session.driver.checkOpen();
  if (extensions && (await session.questions.askExtensions((signal) => extensions.prevents(requested, signal))))
    return false;
  const previousSessionFile = session.current.record.sessionFile;
  await session.current.exclusively(async () => {
    checkNotOver(session);
    await work(async () => extensions?.leaving(requested));
  });
  const { kind } = requested;
  await extensions?.changed(kind === "branch" ? { kind, previousSessionFile } : { ...requested, previousSessionFile });
  return true;
}

/** The closing events of a run come first; then the old record is left for another. */
async function change(
  session: SessionInternals,
  leave: Leave,
  open: (old: SessionRecord) => Promise<SessionRecord>,
): Promise<void> {
  await becomeIdle(session);
  const old = session.current.record;
  const next = await open(old);
  await leave();
  await becomeIdle(session); // a prompt may have come meanwhile, and its run must not end up in another record
  await leavePending(session, "Session switched.");
  enter(session, next);
  if (session.restored.finding) await session.restored.finding; // the next caller is told their number
  if (next !== old) await session.detached.leave(old);
}

/** The conversation goes on in it, and so does its budget. */
function changeToCopy(
  session: SessionInternals,
  leave: Leave,
  copy: (old: SessionRecord) => Promise<SessionRecord>,
): Promise<void> {
  return change(session, leave, async (old) => {
    const next = await copy(old);
    session.budget.share(old.sessionId, next.sessionId);
    return next;
  });
}

/** Nothing is under way. The caller closes the old record. */
function enter(session: SessionInternals, record: SessionRecord): void {
  session.current.enter(record);
  session.detached.reenter(record);
  session.queues.clear();
  session.toolChoice.clear();
  restoreBehaviour(session);
  session.restored.begin();
}

/** The leaf is somewhere else now. */
function restoreBehaviour({ rules, todos, current }: SessionInternals): void {
  rules.restore();
  todos.restore(current.record.context.todoEntries);
}

/** For an operation whose turn comes after the end of the session. */
function checkNotOver({ isOver, driver }: SessionInternals): void {
  if (isOver) driver.checkOpen();
}

/** Undefined when none are wanted, or nothing would be left behind. */
async function takeNotes(
  session: SessionInternals,
  target: string | null,
  options: NavigateOptions,
): Promise<BranchNotes | undefined> {
  if (!wantsNotes(session, options)) return undefined;
  const { reserveTokens } = branchSettings(session);
  const { customInstructions } = options;
  const { record } = session.current;
  const abandoned = leftBehind(record, target);
  const notes = await session.compaction.summarizeBranch(abandoned, { reserveTokens, customInstructions });
  const isCurrent = !session.driver.isStreaming && wordsIn(leftBehind(record, target)) === wordsIn(abandoned);
  if (isCurrent) return notes;
  if (notes) bill(session, notes.details.usage);
  throw new GalleyError("busy", "The conversation went on while its branch was being summarized. Nothing was changed.");
}

function wantsNotes(session: SessionInternals, { summarize }: NavigateOptions): boolean {
  return summarize ?? branchSettings(session).enabled;
}

function branchSettings({ settings }: SessionInternals) {
  return settings.branchSummary ?? defaultSessionSettings.branchSummary;
}

/** What leaves the path when the leaf goes there. */
function leftBehind(record: SessionRecord, target: string | null): SessionEntry[] {
  const kept = new Set(record.tree.pathTo(target));
  return record.tree.pathTo().filter((entry) => !kept.has(entry));
}

function wordsIn(entries: readonly SessionEntry[]): number {
  return entries.filter((entry) => messageOfEntry(entry) !== undefined).length;
}

/** Undefined for an entry that cannot be edited. */
function editableText(entry: SessionEntry): string | undefined {
  const message = messageOfEntry(entry);
  return message?.role === "user" || message?.role === "custom" ? plainText(message) : undefined;
}

/** The record that is stored there, if the session has it open. */
function openAt({ current: { record }, detached, deps }: SessionInternals, path: string): SessionRecord | undefined {
  try {
    const file = realPath(resolve(deps.cwd, path));
    return record.isOnDisk && file === record.sessionFile ? record : detached.at(file);
  } catch {
    return undefined; // a path that cannot be looked at: opening it tells why
  }
}

export function rename({ deps, current }: Pick<SessionInternals, "deps" | "current">, name: string): void {
  current.record.setName(name);
  deps.extensions?.renamed(current.record.tree.name);
}
