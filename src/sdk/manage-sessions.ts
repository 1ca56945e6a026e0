// Managing session files: listing and finding them, and removing what no session needs any more.

import { resolve } from "node:path";
import { silentLog } from "../base/log.js";
import { findSessionDirectory, type SessionLocation } from "../config/session-directory.js";
import { mayExist } from "../files/paths/find-roots.js";
import { agentPlaces } from "../record/session-paths.js";
import { collectGarbage, type GarbageReport } from "../record/store/collect-garbage.js";
import { SessionDirectories } from "../record/store/session-directories.js";
import { displayName, SessionIndex, type SessionInfo } from "../record/store/session-index.js";

export { displayName, type GarbageReport, type SessionInfo };

/** Newest first: those of the project, of the working directory alone, or of all. */
export async function listSessions(
  location: SessionLocation,
  { scope = "project", index = new SessionIndex() }: { scope?: "project" | "here" | "all"; index?: SessionIndex } = {},
): Promise<SessionInfo[]> {
  const directories = await directoriesOf(location);
  if (scope === "all") return directories.listAll(index);
  return scope === "here" ? directories.listHere(index) : directories.listProject(index);
}

/**
 * The file of a session, named by its path, its id or the beginning of one, wherever it was made. Throws `not_found`, or
 * `invalid_argument` when several match; whether a path leads to a session is not asked.
 */
export async function findSessionFile(location: SessionLocation, target: string): Promise<string> {
  const path = resolve(location.cwd, target);
  if (/[/\\]/.test(target) || target.endsWith(".jsonl") || mayExist(path)) return path;
  const { session } = await (await directoriesOf(location)).find(new SessionIndex(), target);
  return session.path;
}

async function directoriesOf(location: SessionLocation): Promise<SessionDirectories> {
  const { cwd, agentDir } = location;
  return new SessionDirectories({ cwd, agentDir, directory: await findSessionDirectory(location) }, silentLog);
}

export async function cleanSessions(location: SessionLocation, now: number): Promise<GarbageReport> {
  const { sessions, blobs } = agentPlaces(location.agentDir);
  const chosen = await findSessionDirectory(location);
  return collectGarbage({ sessionRoots: chosen === undefined ? [sessions] : [sessions, chosen], blobs, now });
}
