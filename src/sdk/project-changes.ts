// The changes of one project: written through its journal, kept for undo as the settings say, and settled in session
// files.

import type { Settings } from "../config/settings/settings.js";
import type { ChangeWriterDeps } from "../journal/create-change-writer.js";
import { createChangeWriter } from "../journal/create-change-writer.js";
import { appliedEntries, foldPending } from "../pending/pending-entries.js";
import type { ChangeMade, ChangeOwner, ChangeWriter } from "../plans/change-writer.js";
import { openRecord } from "../record/open-record.js";
import type { RecordOptions } from "../record/record-options.js";

export interface ProjectChangesDeps
  extends Pick<ChangeWriterDeps, "root" | "agentDir" | "workspace" | "clock" | "log"> {
  readonly settings: Settings;
  readonly sessions: RecordOptions;
}

export function createProjectChanges({ settings, sessions, ...deps }: ProjectChangesDeps): ChangeWriter {
  return createChangeWriter({
    ...deps,
    retention: () => undoRetention(settings),
    settleElsewhere: (owner, change) => settleElsewhere(sessions, owner, change),
  });
}

export function undoRetention(settings: Settings): { keep: number; maxBytes: number } {
  return { keep: settings.get("undo.keep"), maxBytes: settings.get("undo.maxBytes") };
}

/** In the file of another session, unless it is there. False while that session is open in another process. */
async function settleElsewhere(
  options: RecordOptions,
  { session, ...applied }: ChangeOwner,
  change: ChangeMade,
): Promise<boolean> {
  const record = await openRecord(session, options).catch(() => undefined);
  if (!record) return true; // the session has no file: there is nothing to settle
  try {
    if (record.readOnly) return false;
    const entries = appliedEntries(foldPending(record.tree.custom, record.sessionId).open, applied, change);
    for (const { entry } of entries) record.append(entry);
    await record.sync();
    return record.persistError === undefined;
  } finally {
    await record.close();
  }
}
