// Which record a session begins with: a new one, the last one of this directory, one that was named, or a copy of it.

import { resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import { silentLog } from "../base/log.js";
import { mayExist } from "../files/paths/find-roots.js";
import { SessionManager, type SessionManagerOptions } from "../record/record.js";
import type { OpenOptions } from "../record/record-options.js";
import type { SessionRecords } from "../record/session-record.js";
import { SessionIndex } from "../record/store/list.js";
import { SessionDirectories } from "../record/store/session-directories.js";

export type Resume =
  | { readonly kind: "continue" }
  /** A path, a file name, an id or the beginning of one. */
  | { readonly kind: "open" | "fork"; readonly target: string };

export interface OpenedRecord {
  readonly record: SessionManager;
  readonly records: SessionRecords;
}

export async function openRecord(
  where: SessionManagerOptions,
  options: Pick<OpenOptions, "checkNewPlace"> & { persist: boolean; resume?: Resume | undefined },
): Promise<OpenedRecord> {
  const { persist, resume, checkNewPlace } = options;
  const records: SessionRecords = {
    create: (origin) => (persist ? SessionManager.create(where, origin) : SessionManager.inMemory(where, origin)),
    open: (path, ask) =>
      SessionManager.open(resolve(where.cwd, path), where, {
        ...(checkNewPlace ? { checkNewPlace: (place) => ask(() => checkNewPlace(place)) } : {}),
      }),
  };
  if (!resume) return { record: records.create({}), records };
  if (resume.kind === "continue")
    return { record: await SessionManager.continueRecent(where, { isInMemory: !persist }), records };
  if (resume.kind === "fork" && !persist) throw new GalleyError("start_failed", "--fork requires session persistence");
  return { record: await openNamed(where, resume, persist), records };
}

async function openNamed(
  where: SessionManagerOptions,
  { kind, target }: Exclude<Resume, { kind: "continue" }>,
  persist: boolean,
): Promise<SessionManager> {
  const path = await findSession(where, target, kind);
  if (kind === "fork") return SessionManager.forkFrom(path, where);
  if (!persist) return SessionManager.copyInMemory(path, where);
  return SessionManager.open(path, where, { ifMissing: "fail" });
}

/** A path if it looks like one; anything else, and a file name that does not exist, is looked up among the sessions. */
async function findSession(where: SessionManagerOptions, target: string, kind: "open" | "fork"): Promise<string> {
  const path = resolve(where.cwd, target);
  if (/[/\\]/.test(target) || (target.endsWith(".jsonl") && mayExist(path))) return path;
  const directories = new SessionDirectories(where, where.log ?? silentLog);
  const { session, isElsewhere } = await directories.find(new SessionIndex(), target);
  // A copy belongs to this directory, wherever the original does.
  if (isElsewhere && kind === "open")
    throw new GalleyError("start_failed", `Session "${target}" is in another project (${session.cwd}).`);
  return session.path;
}
