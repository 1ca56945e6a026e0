// Which record a session begins with: a new one, the last one of this place, one that was named, or a copy of it.

import { resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import { silentLog } from "../base/log.js";
import { SessionManager, type SessionManagerOptions } from "../session/session-manager.js";
import type { SessionRecords } from "../session/session-record.js";
import { SessionIndex } from "../session/store-list.js";
import { SessionPlaces } from "../session/store-places.js";

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
  options: { persist: boolean; resume?: Resume | undefined },
): Promise<OpenedRecord> {
  const { persist, resume } = options;
  const records: SessionRecords = {
    create: (origin) => (persist ? SessionManager.create(where, origin) : SessionManager.inMemory(where, origin)),
    open: (path) => SessionManager.open(resolve(where.cwd, path), where),
  };
  if (!resume) return { record: records.create({}), records };
  if (resume.kind === "continue") return { record: await SessionManager.continueRecent(where), records };
  if (resume.kind === "fork" && !persist) throw new GalleyError("start_failed", "--fork requires session persistence");
  const path = await findSession(where, resume.target);
  const record =
    resume.kind === "fork"
      ? await SessionManager.forkFrom(path, where)
      : await SessionManager.open(path, where, { ifMissing: "fail" });
  return { record, records };
}

/** What looks like a path is one; anything else is looked up among the sessions. */
async function findSession(where: SessionManagerOptions, target: string): Promise<string> {
  if (/[/\\]|\.jsonl$/.test(target)) return resolve(where.cwd, target);
  const places = new SessionPlaces(where, where.log ?? silentLog);
  const { session, isElsewhere } = await places.find(new SessionIndex(), target);
  if (isElsewhere) throw new GalleyError("start_failed", `Session "${target}" is in another project (${session.cwd}).`);
  return session.path;
}
