// Stages an undo or a redo for a program that holds no session: in the session that made the change, or in a new one where
// that session is not one of this project.

import type { AgentSession } from "../../session/agent-session.js";
import { listSessions } from "../manage-sessions.js";
import { listChangeOwners, type PendingLocation, withSessionFile } from "../pending-sessions.js";

export interface WantedUndo {
  readonly verb: "undo" | "redo";
  /** Default: the newest. */
  readonly changeId?: string | undefined;
}

export async function stageUndo(location: PendingLocation, { verb, changeId }: WantedUndo) {
  const candidate = changeOwner(await listChangeOwners(location), { verb, changeId });
  const isKept = (await listSessions(location)).some(({ path }) => path === candidate);
  return withSessionFile(location, isKept ? candidate : undefined, async (session) => {
    const request = { isWholeRoot: true, mustFit: true };
    const { action } = verb === "undo" ? await session.undo({ ...request, changeId }) : await session.redo(request);
    keepSession(session, `galley review: ${verb}`);
    return { id: action.id, session: session.sessionId };
  });
}

type Owners = Awaited<ReturnType<typeof listChangeOwners>>;

/** The session whose change is meant: its file, or its id. */
export function changeOwner(
  owners: Owners,
  { verb, changeId, isRun = false }: WantedUndo & { isRun?: boolean },
): string | undefined {
  const candidates = changeId === undefined ? owners : owners.filter(({ id }) => id === changeId);
  const open = candidates.filter(({ isUndone, isUndo }) => !isUndone && (isRun || isUndo === (verb === "redo")));
  const runs = open.filter(({ run }) => run !== undefined).sort((a, b) => (b.run?.at ?? 0) - (a.run?.at ?? 0));
  return ((isRun ? runs[0] : open[0]) ?? candidates[0])?.session;
}

/** A new session gets a file with its first message, and what was staged in it has to be kept. */
export function keepSession({ sessionManager }: AgentSession, text: string): void {
  if (sessionManager.isOnDisk) return;
  const content = [{ type: "text" as const, text }];
  sessionManager.appendMessage({ role: "user", content, attribution: "user", timestamp: Date.now() });
}
