// The published name of a record. SDK users and extensions make, open and delete session files by it.

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
import { deleteSession } from "../record/store/delete-session.js";

export const SessionManager = {
  create: createRecord,
  inMemory: createRecordInMemory,
  open: openRecord,
  continueRecent,
  forkFrom: forkRecord,
  copyInMemory: copyRecordInMemory,
  delete: deleteSession,
} as const;

export type SessionManager = SessionRecord;
export type SessionManagerOptions = RecordOptions;
