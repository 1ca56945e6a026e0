// Managing session files: listing them, and removing what no session needs any more.

import { silentLog } from "../base/log.js";
import { findSessionDirectory, type SessionLocation } from "../config/session-directory.js";
import { agentPlaces } from "../record/session-paths.js";
import { collectGarbage, type GarbageReport } from "../record/store/collect-garbage.js";
import { SessionDirectories } from "../record/store/session-directories.js";
import { displayName, SessionIndex, type SessionInfo } from "../record/store/session-index.js";

export { displayName, type GarbageReport, type SessionInfo };

/** Newest first: those of the project, of the working directory alone, or of all. */
export async function listSessions(
  location: SessionLocation,
  { scope = "project" }: { scope?: "project" | "here" | "all" } = {},
): Promise<SessionInfo[]> {
  const { cwd, agentDir } = location;
  const directories = new SessionDirectories(
    { cwd, agentDir, directory: await findSessionDirectory(location) },
    silentLog,
  );
  const index = new SessionIndex();
  if (scope === "all") return directories.listAll(index);
  return scope === "here" ? directories.listHere(index) : directories.listProject(index);
}

export async function cleanSessions(location: SessionLocation, now: number): Promise<GarbageReport> {
  const { sessions, blobs } = agentPlaces(location.agentDir);
  const chosen = await findSessionDirectory(location);
  return collectGarbage({ sessionRoots: chosen === undefined ? [sessions] : [sessions, chosen], blobs, now });
}
