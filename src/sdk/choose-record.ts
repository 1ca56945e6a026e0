// Which record a session begins with: a new one, the last one of this project, one that was named, or a copy of it.

import { resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import { silentLog } from "../base/log.js";
import { mayExist } from "../files/paths/find-roots.js";
import {
  continueRecent,
  copyRecordInMemory,
  createRecord,
  createRecordInMemory,
  forkRecord,
  openRecord,
} from "../record/open-record.js";
import type { SessionRecord } from "../record/record.js";
import type { RecordOptions } from "../record/record-options.js";
import { SessionDirectories } from "../record/store/session-directories.js";
import { SessionIndex } from "../record/store/session-index.js";
import type { RecordSource } from "../session/agent-session-deps.js";

export type Resume =
  /** Without a session to continue it begins a new one, unless that is to be an error (`usage`). */
  | { readonly kind: "continue"; readonly ifNone?: "create" | "fail" }
  /** A path, a file name, an id or the beginning of one. `ifMissing`: a file that is not there begins a new session. */
  | ({ readonly kind: "open"; readonly ifMissing?: "create" | "fail" } & Named & { readonly isExclusive?: boolean })
  /** `id`: of the copy. */
  | ({ readonly kind: "fork"; readonly id?: string | undefined } & Named)
  /** The session of this project with exactly this id, else a new one with it. */
  | { readonly kind: "id"; readonly id: string };

interface Named {
  readonly target: string;
}

export interface ChosenRecord {
  readonly record: SessionRecord;
  readonly records: RecordSource;
}

export async function chooseRecord(
  where: RecordOptions,
  options: { persist: boolean; resume?: Resume | undefined },
): Promise<ChosenRecord> {
  const { persist, resume } = options;
  const records: RecordSource = {
    create: (origin) => (persist ? createRecord(where, origin) : createRecordInMemory(where, origin)),
    open: (path) => openRecord(resolve(where.cwd, path), where, { ifMissing: "fail", locksLate: true }),
  };
  if (!resume) return { record: records.create({}), records };
  if (resume.kind === "continue") {
    const how = { isInMemory: !persist, ifNone: resume.ifNone };
    return { record: await continueRecent(where, how), records };
  }
  if (resume.kind === "id" && !persist) return { record: createRecordInMemory(where, resume), records };
  if (resume.kind === "id") return { record: await openWithId(where, resume.id), records };
  if (resume.kind === "fork" && !persist) throw new GalleyError("start_failed", "--fork requires session persistence");
  return { record: await openNamed(where, resume, persist), records };
}

async function openWithId(where: RecordOptions, id: string): Promise<SessionRecord> {
  const path = await pathOf(where, id);
  return path === undefined ? createRecord(where, { id }) : openRecord(path, where, { locksLate: true });
}

/** Of the newest session of the project with exactly this id. */
async function pathOf(where: RecordOptions, id: string): Promise<string | undefined> {
  const sessions = await new SessionDirectories(where, where.log ?? silentLog).listProject(new SessionIndex());
  return sessions.find((session) => session.id === id)?.path;
}

async function openNamed(
  where: RecordOptions,
  resume: Extract<Resume, Named>,
  persist: boolean,
): Promise<SessionRecord> {
  const path = await findSession(where, resume);
  if (resume.kind === "fork") {
    const { id } = resume;
    if (id !== undefined && (await pathOf(where, id)) !== undefined)
      throw new GalleyError("start_failed", `There is already a session with the id ${id} in this project.`);
    return forkRecord(path, where, id);
  }
  if (!persist) return copyRecordInMemory(path, where);
  return openRecord(path, where, { ifMissing: resume.ifMissing ?? "fail", locksLate: !resume.isExclusive });
}

/** A path if it looks like one; anything else, and a file name that does not exist, is looked up among the sessions. */
async function findSession(where: RecordOptions, resume: Extract<Resume, Named>): Promise<string> {
  const { kind, target } = resume;
  const path = resolve(where.cwd, target);
  if (/[/\\]/.test(target) || (target.endsWith(".jsonl") && mayExist(path))) return path;
  const directories = new SessionDirectories(where, where.log ?? silentLog);
  const mayBegin = kind === "open" && resume.ifMissing === "create" && target.endsWith(".jsonl");
  const found = await directories.find(new SessionIndex(), target).catch((error: unknown) => {
    if (mayBegin && GalleyError.is(error, "not_found")) return undefined;
    throw error;
  });
  if (!found) return path;
  const { session, isElsewhere } = found;
  // A copy belongs to this directory, wherever the original does.
  if (isElsewhere && kind === "open")
    throw new GalleyError("start_failed", `Session "${target}" is in another project (${session.cwd}).`);
  return session.path;
}
