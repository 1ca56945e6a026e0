// How a record comes to be: new, from a file, as the last one of a directory, or as a copy of another session.

import { resolve } from "node:path";
import { systemClock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { silentLog } from "../base/log.js";
import { SessionRecord } from "./record.js";
import type { InMemoryOptions, OpenOptions, RecordOptions, RecordStart } from "./record-options.js";
import { newHeader, type Origin } from "./session-header.js";
import { createArtifactsAfter } from "./store/artifacts.js";
import { createMemoryBlobs } from "./store/blobs.js";
import { readBreadcrumb } from "./store/breadcrumbs.js";
import { loadSession } from "./store/load-session.js";
import { SessionDirectories } from "./store/session-directories.js";
import { SessionIndex } from "./store/session-index.js";

/** A new session. Nothing is on the disk before its first message. */
export function createRecord(options: RecordOptions, origin: Origin = {}, path?: string): SessionRecord {
  const place = path === undefined ? undefined : resolve(path);
  return new SessionRecord({ header: newHeader(options, origin) }, { kind: "new_file", options, path: place });
}

/** A new session that leaves nothing on the disk. */
export function createRecordInMemory(options: InMemoryOptions, origin: Origin = {}): SessionRecord {
  return new SessionRecord({ header: newHeader(options, origin) }, { kind: "memory", options });
}

/** Throws `file_refused` for a file that is no session and `session_missing` where none is; neither is touched. */
export async function openRecord(path: string, options: RecordOptions, how: OpenOptions = {}): Promise<SessionRecord> {
  const loaded = await loadSession(resolve(path), { ...loadOptions(options), ...how });
  if (loaded.kind === "absent") {
    if (how.ifMissing === "fail" && !loaded.exists) throw new GalleyError("session_missing", `File not found: ${path}`);
    return createRecord(options, {}, loaded.path);
  }
  const warnings = [...loaded.warnings, ...(loaded.readOnly ? [loaded.readOnly.text] : [])];
  const record = new SessionRecord({ ...loaded.session, warnings }, { kind: "loaded_file", options, loaded });
  logWarnings(record, options);
  return record;
}

/**
 * The last session of this terminal in the project, else the newest of the project, else a new one or, with `ifNone`
 * `fail`, the error `usage`. In memory it continues as a copy.
 */
export async function continueRecent(
  options: RecordOptions,
  { isInMemory = false, ifNone = "create" }: { isInMemory?: boolean; ifNone?: "create" | "fail" | undefined } = {},
): Promise<SessionRecord> {
  const { log = silentLog } = options;
  for (const path of await recentPaths(options)) {
    try {
      if (isInMemory) return await copyRecordInMemory(path, options);
      return await openRecord(path, options, { ifMissing: "fail", locksLate: true });
    } catch (error) {
      if (!GalleyError.is(error, "session_missing")) log.warn(`cannot continue ${path}: ${messageOf(error)}`);
    }
  }
  if (ifNone === "fail") throw new GalleyError("usage", "There is no session to continue in this project.");
  return isInMemory ? createRecordInMemory(options) : createRecord(options);
}

/** A full copy under a new id, or this one. It only reads the source, which may be open in another process. */
export async function forkRecord(path: string, options: RecordOptions, id?: string): Promise<SessionRecord> {
  const { start, from } = await readToCopy(path, options, id);
  const copy = new SessionRecord(start, { kind: "new_file", options, artifactsFrom: from });
  logWarnings(copy, options);
  await copy.flush();
  return copy;
}

/** The same with nothing written to the disk: artifacts and images of the source are read from where they are. */
export async function copyRecordInMemory(path: string, options: RecordOptions): Promise<SessionRecord> {
  const { start, from } = await readToCopy(path, options);
  const artifacts = await createArtifactsAfter(from);
  const blobs = createMemoryBlobs(directoriesOf(options).blobs(from));
  const copy = new SessionRecord(start, { kind: "memory", options, artifacts, blobs });
  logWarnings(copy, options);
  return copy;
}

/** The session of this terminal first, then those of the project, newest first. */
async function recentPaths(options: RecordOptions): Promise<string[]> {
  const { terminalId, log = silentLog } = options;
  const places = directoriesOf(options);
  const crumb = terminalId ? await readBreadcrumb(places.terminals, terminalId) : undefined;
  const listed = await places.list(new SessionIndex()).catch((error: unknown) => {
    log.warn(`cannot look for sessions to continue: ${messageOf(error)}`);
    return [];
  });
  const paths = listed.map(({ path }) => path);
  return crumb && places.isInProject(crumb.cwd) ? [crumb.sessionFile, ...paths] : paths;
}

async function readToCopy(
  path: string,
  options: RecordOptions,
  id?: string,
): Promise<{ start: RecordStart; from: string }> {
  const loaded = await loadSession(resolve(path), { ...loadOptions(options), isReadOnly: true });
  if (loaded.kind === "absent") throw new GalleyError("not_found", `File not found: ${path}`);
  const { header, entries, originals } = loaded.session;
  const child = newHeader(options, { id, parentSession: loaded.path, parentSessionId: header.id });
  const start = { header: { ...header, ...child }, entries, originals, warnings: loaded.warnings };
  return { start, from: loaded.path };
}

/** What was wrong in the file, and what its entries could not be used for. */
function logWarnings({ warnings, context }: SessionRecord, { log }: RecordOptions): void {
  for (const text of [...warnings, ...context.warnings]) log?.warn(text);
}

function directoriesOf(options: RecordOptions): SessionDirectories {
  return new SessionDirectories(options, options.log ?? silentLog);
}

function loadOptions({ clock = systemClock, disk }: RecordOptions) {
  return { clock, ...(disk ? { disk } : {}) };
}
