// One session file, and the only hand that writes to it. Entries are taken at once and written in order; a disk that
// fails is told once and tried again with the next entry, and nothing that was handed over is forgotten meanwhile.

import { dirname } from "node:path";
import type { Clock } from "../base/clock.js";
import { messageOf, systemCode } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { SessionEntry, SessionHeader } from "../protocol/entries.js";
import { nodeDisk, O_APPEND, O_CREAT, O_EXCL, O_RDWR, type SessionDisk } from "./store-disk.js";
import { inUseText, type WriteAccess, writeAll } from "./store-load.js";
import { acquireLock, type FileLock, type LockKind, platformLock } from "./store-lock.js";
import { plainLine, type StoredFormSinks, storedLine } from "./stored-form.js";
