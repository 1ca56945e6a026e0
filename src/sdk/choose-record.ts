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
  /** A path, a file name, an id or the beginning of one. */
  | { readonly kind: "open" | "fork"; readonly target: string };

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
    open: (path) => openRecord(resolve(where.cwd, path), where, { ifMissing: "fail" }),
  };
  if (!resume) return { record: records.create({}), records };
  if (resume.kind === "continue") {
    const how = { isInMemory: !persist, ifNone: resume.ifNone };
    return { record: await continueRecent(where, how), records };
  }
  if (resume.kind === "fork" && !persist) throw new GalleyError("start_failed", "--fork requires session persistence");
  return { record: await openNamed(where, resume, persist), records };
}

async function openNamed(
  where: RecordOptions,
  { kind, target }: Exclude<Resume, { kind: "continue" }>,
  persist: boolean,
): Promise<SessionRecord> {
  const path = await findSession(where, target, kind);
  if (kind === "fork") return forkRecord(path, where);
  if (!persist) return copyRecordInMemory(path, where);
  return openRecord(path, where, { ifMissing: "fail" });
}

/** A path if it looks like one; anything else, and a file name that does not exist, is looked up among the sessions. */
async function findSession(where: RecordOptions, target: string, kind: "open" | "fork"): Promise<string> {
  const path = resolve(where.cwd, target);
  if (/[/\\]/.test(target) || (target.endsWith(".jsonl") && mayExist(path))) return path;
  const directories = new SessionDirectories(where, where.log ?? silentLog);
  const { session, isElsewhere } = await directories.find(new SessionIndex(), target);
  // A copy belongs to this directory, wherever the original does.
  if (isElsewhere && kind === "open")
    throw new GalleyError("start_failed", `Session "${target}" is in another project (${session.cwd}).`);
  return session.path;
}
