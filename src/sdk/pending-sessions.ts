// Pending plans of all sessions of a directory, found without opening sessions that have none; and a session opened to
// decide about its own. For a program that holds no session itself.

import { systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { randomIds } from "../base/ids.js";
import { type Log, silentLog } from "../base/log.js";
import { findSessionDirectory, type SessionLocation } from "../config/session-directory.js";
import { Settings } from "../config/settings/settings.js";
import { createNodeWorkspace } from "../files/node-workspace.js";
import { findProject } from "../files/paths/find-roots.js";
import { readPending } from "../pending/read-pending.js";
import { markStaleActions } from "../pending/stale-actions.js";
import { viewPending } from "../pending/view-pending.js";
import { type ChangeOutcome, type ChangeWriter, withoutSession } from "../preview/change-writer.js";
import { PendingActionStore } from "../preview/pending-action-store.js";
import type { PendingActionView } from "../protocol/pending.js";
import { openRecord } from "../record/open-record.js";
import type { RecordOptions } from "../record/record-options.js";
import { hasPlans } from "../record/store/artifacts.js";
import { SessionDirectories } from "../record/store/session-directories.js";
import { SessionIndex, type SessionInfo } from "../record/store/session-index.js";
import type { AgentSession } from "../session/agent-session.js";
import { createAgentSession } from "./create-agent-session.js";
import { createProjectChanges } from "./project-changes.js";

export type { ChangeOutcome };

export interface PendingLocation extends SessionLocation {
  readonly log?: Log;
}

export interface PendingSession {
  readonly session: SessionInfo;
  /** The next one first. */
  readonly actions: readonly PendingActionView[];
}

/** The newest session first; those without pending plans are left out. */
export async function listPendingSessions(location: PendingLocation, { diff = false } = {}): Promise<PendingSession[]> {
  const found: PendingSession[] = [];
  const plans = changesIn(location);
  const { cwd, agentDir } = location;
  const directories = new SessionDirectories(
    { cwd, agentDir, directory: await findSessionDirectory(location) },
    silentLog,
  );
  for (const session of await directories.listHere(new SessionIndex())) {
    if (!(await hasPlans(session.path))) continue;
    const record = await openRecord(session.path, recordOptions({ ...location, log: silentLog }), {
      isReadOnly: true,
    }).catch(() => undefined);
    if (!record) continue; // damaged: `galley sessions` reports it
    const store = new PendingActionStore({ clock: systemClock });
    for (const stored of (await readPending(record)).found) store.restore(stored);
    await markStaleActions(store, (seen) => plans.staleFiles(seen)).catch(() => {}); // then applying will report it
    const actions = await viewPending(store, { diff });
    store.dispose();
    await record.close();
    if (actions.length > 0) found.push({ session, actions });
  }
  return found;
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
    ...(sessionDir === undefined ? {} : { sessionDir }),
    ...(path === undefined ? {} : { resume: { kind: "open", target: path } }),
  });
  try {
    if (session.readOnlyReason !== undefined) throw notWritable(session.readOnlyReason);
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
    root: findProject({ cwd, home: homedir() }).writableRoot,
    agentDir,
    workspace: createNodeWorkspace({ cwd, agentDir }),
    settings: new Settings(),
    clock: systemClock,
    log,
    sessions: recordOptions(location),
  });
}

function notWritable(reason: string): GalleyError {
  const [isHeld, pid = ""] = / is in use by another galley( \(pid \d+\))?$/.exec(reason) ?? [];
  if (isHeld === undefined)
    return new GalleyError("start_failed", `The session cannot be changed here: ${reason}. Nothing was decided.`);
  return new GalleyError("busy", `Session is open in another galley${pid}. Settle it there.`);
}

function recordOptions({ cwd, agentDir, log = silentLog }: PendingLocation): RecordOptions {
  return { cwd, agentDir, clock: systemClock, ids: randomIds, log };
}
