// Pending plans of all sessions of a project, found without opening sessions that have none; and a session opened to
// decide about its own. For a program that holds no session itself.

import { basename } from "node:path";
import { systemClock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { randomIds } from "../base/ids.js";
import { type Log, silentLog } from "../base/log.js";
import type { SessionLocation } from "../config/session-directory.js";
import { Settings } from "../config/settings/settings.js";
import { createNodeWorkspace } from "../files/node-workspace.js";
import { findProject } from "../files/paths/find-roots.js";
import {
  ChangeHistory,
  type ChangeListOptions,
  type ChangeOwnership,
  type DamagedRecord,
  type ShownChange,
} from "../pending/change-history.js";
import { endOnRecord, foldPending, isPushed } from "../pending/pending-entries.js";
import { readPending } from "../pending/read-pending.js";
import { markStaleActions } from "../pending/stale-actions.js";
import { PendingActionStore } from "../pending/store/pending-action-store.js";
import { viewPending } from "../pending/view-pending.js";
import { type ChangeOutcome, type ChangeWriter, withoutSession } from "../plans/change-writer.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { Change, PendingActionView, PendingOutcome } from "../protocol/pending.js";
import { userText } from "../record/entry-tree.js";
import { openRecord } from "../record/open-record.js";
import type { SessionRecord } from "../record/record.js";
import type { RecordOptions } from "../record/record-options.js";
import { hasPlans, plannedIds } from "../record/store/artifacts.js";
import type { ReadOnly } from "../record/store/load-session.js";
import { SessionIndex, type SessionInfo } from "../record/store/session-index.js";
import type { AgentSession } from "../session/agent-session.js";
import { createAgentSession } from "./create-agent-session.js";
import { listSessions } from "./manage-sessions.js";
import { createProjectChanges } from "./project-changes.js";
import { nameOf } from "./review/find-by-id.js";
import { filesOf, type ListedAction } from "./review/listed-action.js";

export { changeIdOf } from "../plans/change-id.js";
export type { ChangeOutcome };

export interface PendingLocation extends SessionLocation {
  readonly log?: Log;
}

export interface PendingSession {
  readonly session: Pick<SessionInfo, "path" | "id" | "name" | "firstMessage">;
  /** The next one first. */
  readonly actions: readonly ListedAction[];
  /** What cannot be read of its file: what else is pending in it is not known. */
  readonly damage?: string;
}

/** The newest session first; those without pending plans are left out. */
export async function listPendingSessions(location: PendingLocation): Promise<PendingSession[]> {
  const found: PendingSession[] = [];
  const plans = changesIn(location);
  const root = projectRoot(location);
  const index = new SessionIndex();
  for (const session of await listSessions(location, { index })) {
    const planned = await plannedIds(session.path);
    if (planned.length === 0) continue;
    const options = recordOptions({ ...location, log: silentLog });
    const record = await openRecord(session.path, options, { isReadOnly: true }).catch(messageOf);
    if (typeof record === "string") {
      found.push({ session, actions: [], damage: record });
      continue;
    }
    const store = new PendingActionStore({ clock: systemClock });
    for (const stored of (await readPending(record)).found) store.restore(stored);
    await markStaleActions(store, (seen) => plans.staleFiles(seen)).catch(() => {}); // then applying will report it
    const actions = await Promise.all(store.list().map((stored) => listed(stored, { store, record, session, root })));
    const { ids } = foldPending(record.tree.custom, record.sessionId);
    // A process that was killed may leave a plan that no entry names; beside damaged lines it may be what they named.
    const unnamed = record.warnings.length === 0 ? [] : planned.filter((id) => !ids.has(id));
    const damage = unnamed.length === 0 ? undefined : `the entries of ${unnamed.join(", ")} cannot be read`;
    store.dispose();
    await record.close();
    if (actions.length > 0 || damage !== undefined) found.push({ session, actions, damage });
  }
  for (const path of index.unreadable) {
    const about = { path, id: basename(path, ".jsonl"), firstMessage: "" };
    if (await hasPlans(path)) found.push({ session: about, actions: [], damage: "its first line cannot be read" });
  }
  return withNames(found);
}

/** Times of files are coarse. */
const slackMs = 1000;

/** How an action ended that another process has decided about since then. */
export async function endedSince(
  location: PendingLocation,
  id: string,
  sinceMs: number,
): Promise<PendingOutcome | undefined> {
  for (const { path, modifiedMs } of await listSessions(location)) {
    if (modifiedMs < sinceMs - slackMs) break;
    const options = recordOptions({ ...location, log: silentLog });
    const record = await openRecord(path, options, { isReadOnly: true }).catch(() => undefined);
    const later = record?.tree.pathTo().filter(({ timestamp }) => Date.parse(timestamp) >= sinceMs);
    const end = later && endOnRecord(later, id);
    await record?.close();
    if (end !== undefined) return end;
  }
  return undefined;
}

interface ListedFrom {
  readonly store: PendingActionStore;
  readonly record: SessionRecord;
  readonly session: SessionInfo;
  readonly root: string;
}

async function listed(stored: StoredAction, { store, record, session, root }: ListedFrom): Promise<ListedAction> {
  const { id } = stored.action;
  const files = filesOf(stored, root);
  const shownOf = new Map(files.map(({ staged, shown }) => [staged, shown]));
  const [view = stored.action] = await viewPending(store, { ids: [id] });
  const { restsOn = [], ...told }: PendingActionView = view;
  const nameOfFile = (path: string) => shownOf.get(path) ?? path;
  const named = told.files?.map((file) => ({ ...file, path: nameOfFile(file.path) }));
  return {
    session,
    id,
    name: id,
    action: { ...told, ...(named ? { files: named } : {}) },
    files,
    prompt: promptOf(stored, record),
    restsOn: restsOn.map((below) => ({ ...below, files: below.files.map(nameOfFile) })),
    stored,
  };
}

/** The prompt of the run that staged it, else the last one before the tool call that did; the user's own undo has none. */
function promptOf({ run, action }: StoredAction, { tree, sessionId }: SessionRecord): string {
  if (!run && action.toolCallId === undefined) return "";
  const [, entryId = ""] = run?.id.startsWith(`${sessionId}:`) ? run.id.split(":") : [];
  let before = "";
  for (const entry of tree.pathTo()) {
    const text = userText(entry);
    if (entry.id === entryId) return text ?? "";
    if (isPushed(entry, action.id)) break;
    if (text) before = text;
  }
  return before;
}

/** A number may be there twice: session files that an earlier version wrote, or that were copied. */
function withNames(found: readonly PendingSession[]): PendingSession[] {
  const all = found.flatMap(({ actions }) => actions);
  return found.map(({ session, actions, damage }) => ({
    session,
    damage,
    actions: actions.map((action) => ({
      ...action,
      name: nameOf(action, all),
      restsOn: action.restsOn.map(({ id, files }) => ({ id: nameOf({ id, session }, all), files })),
    })),
  }));
}

/** An apply of this project did not come to its end, or is under way. */
export async function isHalfApplied(location: PendingLocation): Promise<boolean> {
  const { leftJournals } = await import("../journal/left-journals.js");
  const root = projectRoot(location);
  return (await leftJournals(location.agentDir)).some((left) => left.root === root);
}

/** The root of the project around the working directory. */
export function projectRoot({ cwd }: Pick<PendingLocation, "cwd">): string {
  return findProject({ cwd, home: homedir() }).writableRoot;
}

/** The changes that were applied in the project and are kept, newest first. */
export function listProjectChanges(
  location: PendingLocation,
  options: Omit<ChangeListOptions, "isWholeRoot"> = {},
): Promise<Change[]> {
  return historyOf(location).list({ limit: Number.POSITIVE_INFINITY, ...options, isWholeRoot: true });
}

/** The changes of the project whose record can no longer be read. */
export function listDamagedChanges(location: PendingLocation): Promise<DamagedRecord[]> {
  return historyOf(location).damaged();
}

export function listChangeOwners(location: PendingLocation): Promise<ChangeOwnership[]> {
  return historyOf(location).owners();
}

/** What a change did to each of its files; undefined when it is no longer known. */
export function changedFiles(location: PendingLocation, changeId: string): Promise<ShownChange | undefined> {
  return historyOf(location).show(changeId);
}

function historyOf(location: PendingLocation): ChangeHistory {
  return new ChangeHistory({ changes: changesIn(location), owner: () => "" });
}

/** Runs `work` on the session of a file. Throws `busy` when another program has it, `start_failed` if read-only. */
export async function withSessionFile<T>(
  location: PendingLocation,
  path: string | undefined,
  work: (session: AgentSession) => Promise<T>,
): Promise<T> {
  const { cwd, agentDir, sessionDir, log = silentLog } = location;
  const { session } = await createAgentSession({
    cwd,
    agentDir,
    log,
    persist: true,
    sessionDir,
    ...(path === undefined ? {} : { resume: { kind: "open", target: path, isExclusive: true } }),
  });
  try {
    const { readOnly } = session.sessionManager;
    if (readOnly) throw notWritable(readOnly);
    return await work(session);
  } finally {
    await session.dispose();
  }
}

/** Finishes what a crash left half done in this project. Undefined: another program is doing it. */
export async function recoverProject(location: PendingLocation): Promise<readonly ChangeOutcome[] | undefined> {
  return changesIn(location).recover(withoutSession);
}

function changesIn(location: PendingLocation): ChangeWriter {
  const { cwd, agentDir, log = silentLog } = location;
  return createProjectChanges({
    root: projectRoot(location),
    agentDir,
    workspace: createNodeWorkspace({ cwd, agentDir }),
    settings: new Settings(),
    clock: systemClock,
    log,
    sessions: recordOptions(location),
  });
}

/** What keeps another process from deciding in a session. */
export function notWritable({ code, pid, text }: ReadOnly): GalleyError {
  if (code !== "in_use")
    return new GalleyError("start_failed", `The session cannot be changed here: ${text}. Nothing was decided.`);
  const who = pid === undefined ? "" : ` (pid ${pid})`;
  return new GalleyError("busy", `Session is open in another galley${who}. Settle it there.`);
}

function recordOptions({ cwd, agentDir, log = silentLog }: PendingLocation): RecordOptions {
  return { cwd, agentDir, clock: systemClock, ids: randomIds, log };
}
