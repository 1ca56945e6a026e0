// Looking after session files: what there is, and what nobody needs any more.

import { homedir, tmpdir } from "../base/home.js";
import { silentLog } from "../base/log.js";
import { agentPlaces } from "../session/session-paths.js";
import { collectGarbage, type GarbageReport } from "../session/store-gc.js";
import { displayName, SessionIndex, type SessionInfo } from "../session/store-list.js";
import { SessionPlaces } from "../session/store-places.js";

export { displayName, type GarbageReport, type SessionInfo };

/** Newest first. `cwd` names whose; without it, everybody's. */
export async function listSessions(options: { agentDir: string; cwd?: string }): Promise<SessionInfo[]> {
  const { agentDir, cwd } = options;
  const index = new SessionIndex();
  if (cwd === undefined) return index.listAll(agentPlaces(agentDir).sessions);
  return new SessionPlaces({ agentDir, cwd, home: homedir(), temp: tmpdir() }, silentLog).list(index);
}

export function cleanSessions(agentDir: string, now: number): Promise<GarbageReport> {
  const { sessions, blobs } = agentPlaces(agentDir);
  return collectGarbage({ sessionRoots: [sessions], blobs, now });
}
