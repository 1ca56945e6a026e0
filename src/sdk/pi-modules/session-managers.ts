// `SessionManager` as modules of pi use it: by directories and paths instead of options. What is opened by a path is a copy to
// read, which is there at once; a session that is made with it opens the file itself.

import { resolve } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Log } from "../../base/log.js";
import type { TextMask } from "../../base/text-mask.js";
import type { Settings } from "../../config/settings/settings.js";
import { readModuleFile } from "../../files/module-files.js";
import type { Environment } from "../../provider/credentials.js";
import { SessionReader } from "../../record/read/read-entries.js";
import { SessionRecord } from "../../record/record.js";
import type { RecordOptions } from "../../record/record-options.js";
import type { Resume } from "../choose-record.js";
import { listSessions } from "../manage-sessions.js";
import { SessionManager } from "../session-manager.js";
import { piSessionManager } from "./pi-session-manager.js";

export interface SessionManagersDeps {
  readonly cwd: string;
  readonly agentDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly env: Environment;
  readonly settings: Settings;
  readonly secrets?: TextMask | undefined;
}

/** What a session does in place of using the copy. */
export interface MeantRecord {
  readonly resume: Resume;
  readonly sessionDir?: string | undefined;
  readonly cwd?: string | undefined;
}

const meant = new WeakMap<object, MeantRecord>();
/** pi's own limit is the memory; a longer session is no list to look through. */
const maxBytes = 512 * 1024 * 1024;

export function meantBy(record: object): MeantRecord | undefined {
  return meant.get(record);
}

export function sessionManagers({ cwd, agentDir, clock, log, secrets: mask, ...location }: SessionManagersDeps) {
  const options = (place: unknown = cwd, directory?: string): RecordOptions =>
    typeof place === "object" && place !== null
      ? (place as RecordOptions) // galley's own form
      : { cwd: resolve(cwd, String(place)), agentDir, clock, log, mask, directory };
  const copyOf = (path: string, how: MeantRecord) => {
    const file = resolve(cwd, path);
    const reader = new SessionReader(file);
    reader.push(readModuleFile(file, maxBytes).bytes);
    const { header, entries, originals } = reader.end();
    const record = new SessionRecord(
      { header, entries, originals },
      { kind: "memory", options: { cwd: how.cwd ?? header.cwd, clock, log } },
    );
    const manager = piSessionManager(record, file);
    meant.set(manager, how);
    return manager;
  };
  const list = (place: string | undefined, directory: string | undefined, scope: "here" | "all") => {
    const at = options(place, directory);
    const sessionDir = directory === undefined ? {} : { sessionDir: directory };
    return listSessions({ ...location, ...sessionDir, cwd: at.cwd, agentDir }, { scope });
  };
  return {
    ...SessionManager,
    inMemory: (place?: unknown) => piSessionManager(SessionManager.inMemory(options(place))),
    create: (place?: unknown, directory?: string) => piSessionManager(SessionManager.create(options(place, directory))),
    open(path: string, second?: unknown, third?: unknown) {
      if (typeof second === "object" && second !== null)
        return SessionManager.open(path, second as never, third as never);
      const [sessionDir, place] = [second as string | undefined, third as string | undefined];
      return copyOf(path, { resume: { kind: "open", target: resolve(cwd, path) }, sessionDir, cwd: place });
    },
    forkFrom(path: string, place?: unknown, directory?: string) {
      if (typeof place === "object" && place !== null) return SessionManager.forkFrom(path, place as never, directory);
      const target = options(place, directory);
      const resume = { kind: "fork", target: resolve(cwd, path) } as const;
      return copyOf(path, { resume, sessionDir: directory, cwd: target.cwd });
    },
    list: (place?: string, directory?: string) => list(place, directory, "here"),
    listAll: () => list(undefined, undefined, "all"),
  };
}
