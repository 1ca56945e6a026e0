// What a list of sessions does with one of them while it is not open: rename it, delete it, count what is pending in it.

import { systemClock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { randomIds } from "../../base/ids.js";
import { silentLog } from "../../base/log.js";
import type { SessionLocation } from "../../config/session-directory.js";
import { foldPending } from "../../pending/pending-entries.js";
import { openRecord } from "../../record/open-record.js";
import type { RecordOptions } from "../../record/record-options.js";
import { hasPlans } from "../../record/store/artifacts.js";
import { deleteSession } from "../../record/store/delete-session.js";

export { deleteSession };

/** Throws `busy` while another program has the session open. */
export async function renameSession(location: SessionLocation, path: string, name: string): Promise<void> {
  const record = await openRecord(path, optionsOf(location), { ifMissing: "fail" });
  try {
    if (record.readOnly) throw new GalleyError("busy", record.readOnly.text);
    record.setName(name);
    await record.sync();
    if (record.persistError !== undefined) throw new GalleyError("file_refused", record.persistError);
  } finally {
    await record.close();
  }
}

/** A session that never staged a plan is not opened. */
export async function countPending(location: SessionLocation, path: string): Promise<number> {
  if (!(await hasPlans(path))) return 0;
  const record = await openRecord(path, optionsOf(location), { isReadOnly: true });
  try {
    return foldPending(record.tree.pathTo(), record.sessionId).open.length;
  } finally {
    await record.close();
  }
}

function optionsOf({ cwd, agentDir }: SessionLocation): RecordOptions {
  return { cwd, agentDir, clock: systemClock, ids: randomIds, log: silentLog };
}
