// Where a record rests: its file, what lies beside it, and the move to another file when this one turns out not to be
// ours. The record itself lives in memory with whoever owns it; everything here can be begun again from that.

import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { SessionEntry, SessionHeader } from "../protocol/entries.js";
import { currentVersion } from "./migrate-entries.js";
import { artifactDirectory } from "./session-paths.js";
import { SessionStore, type StoreOptions } from "./store.js";
import { type ArtifactStore, copyArtifacts } from "./store-artifacts.js";
import { type BlobStore, copyBlobs } from "./store-blobs.js";
import { writeBreadcrumb } from "./store-breadcrumbs.js";
import { realPath, type SessionDisk } from "./store-disk.js";
import type { LoadedSession } from "./store-load.js";
import { type LockKind, platformLock } from "./store-lock.js";
import type { SessionPlaces } from "./store-places.js";

/** The record, as it is at the moment of asking. */
export interface LiveRecord {
  readonly header: SessionHeader;
  readonly entries: readonly SessionEntry[];
}

export interface SessionFileOptions {
  readonly record: LiveRecord;
  /** The exact lines of entries that are not ours to word. */
  readonly originals: ReadonlyMap<SessionEntry, string>;
  readonly places: SessionPlaces;
  readonly clock: Clock;
  readonly log: Log;
  readonly disk?: SessionDisk | undefined;
  readonly terminalId?: string | undefined;
  /** The record needs another file. Gives it the header of a session that descends from this one. */
  beforeMove(): void;
  afterMove(move: { reason: string; from: string; to: string }): void;
}

export class SessionFile {
  readonly #options: SessionFileOptions;
  #path: string;
  #store: SessionStore | undefined;
  #readOnlyReason: string | undefined;
  #artifacts: ArtifactStore;
  #blobs: BlobStore;
  /** Work that nobody waits for but `close`. */
  readonly #background: Promise<unknown>[] = [];

  private constructor(options: SessionFileOptions, path: string) {
    this.#options = options;
    this.#path = path;
    this.#artifacts = options.places.artifacts(path);
    this.#blobs = options.places.blobs(path);
  }

  /** A new file for all entries of the record; `path` is absolute. `artifactsFrom` is the session file whose artifacts they name. */
  static begin(options: SessionFileOptions, path?: string, artifactsFrom?: string): SessionFile {
    const file = new SessionFile(options, path === undefined ? newPath(options) : realPath(path));
    file.#start(artifactsFrom);
    return file;
  }

  /** Goes on with the file that the record was loaded from. */
  static resume(options: SessionFileOptions, { path, access, readOnlyReason, session }: LoadedSession): SessionFile {
    const file = new SessionFile(options, path);
    const { version, entries } = session;
    file.#readOnlyReason = readOnlyReason;
    const outdated = version < currentVersion ? { version, entries } : undefined;
    if (access) file.#store = SessionStore.resume(file.#storeOptions(), access, outdated);
    file.#leaveBreadcrumb();
    return file;
  }

  get path(): string {
    return this.#path;
  }

  get artifacts(): ArtifactStore {
    return this.#artifacts;
  }

  get blobs(): BlobStore {
    return this.#blobs;
  }

  get persistError(): string | undefined {
    return this.#store?.persistError;
  }

  get lockKind(): LockKind {
    return this.#store?.lockKind ?? platformLock;
  }

  get readOnlyReason(): string | undefined {
    return this.#readOnlyReason;
  }

  get length(): number {
    return this.#store?.length ?? 0;
  }

  /** The entry is part of the record already. */
  append(entry: SessionEntry): void {
    if (this.#readOnlyReason !== undefined) this.#move(this.#readOnlyReason);
    else this.#store?.append(entry);
  }

  flush(): Promise<void> {
    return this.#withStore((store) => store.flush());
  }

  sync(): Promise<void> {
    return this.#withStore((store) => store.sync());
  }

  async close(): Promise<void> {
    await this.#withStore((store) => store.close());
    await Promise.all(this.#background);
  }

  /** What is asked of the file is asked of the one that it moves to meanwhile, too. */
  async #withStore(ask: (store: SessionStore) => Promise<void>): Promise<void> {
    for (let asked: SessionStore | undefined; this.#store && asked !== this.#store; ) {
      asked = this.#store;
      await ask(asked);
    }
  }

  #start(artifactsFrom: string | undefined): void {
    const store = SessionStore.create({
      ...this.#storeOptions(),
      onCreated: () => this.#leaveBreadcrumb(),
      beforeCreate: async () => {
        if (artifactsFrom !== undefined) await this.#bringAlong(artifactsFrom);
      },
    });
    this.#store = store;
    for (const entry of this.#options.record.entries) store.append(entry);
  }

  /** Takes everything along that the record holds, the entry that is just being appended included. */
  #move(reason: string): void {
    const { places, beforeMove, afterMove } = this.#options;
    const from = this.#path;
    if (this.#store) this.#background.push(this.#store.close());
    this.#readOnlyReason = undefined;
    beforeMove();
    this.#path = newPath(this.#options);
    this.#artifacts = places.artifacts(this.#path);
    this.#blobs = places.blobs(this.#path);
    this.#start(from);
    afterMove({ reason, from, to: this.#path });
  }

  #storeOptions(): StoreOptions {
    const { record, clock, log, disk, originals, places } = this.#options;
    const [artifacts, blobs] = [this.#artifacts, this.#blobs];
    return {
      path: this.#path,
      header: { ...record.header, version: currentVersion },
      clock,
      log,
      ...(disk ? { disk } : {}),
      originals,
      ensureDirectory: places.ensureDirectory,
      sinks: {
        saveImage: (bytes) => this.#orWarn("a large image was not put aside", blobs.put(bytes)),
        saveText: (text) => this.#orWarn("a long text was not put aside", artifacts.save("session", text)),
      },
      onReadOnly: (reason) => this.#move(reason),
    };
  }

  /** What lies beside the other file and is named in the entries. */
  async #bringAlong(from: string): Promise<void> {
    const { places, record } = this.#options;
    const copying = copyArtifacts(artifactDirectory(from), artifactDirectory(this.#path), places.ensureDirectory);
    await this.#orWarn("artifacts were not copied", copying);
    if (places.blobDirectory(from) === places.blobDirectory(this.#path)) return;
    await this.#orWarn("images were not copied", copyBlobs(record.entries, places.blobs(from), this.#blobs));
  }

  #leaveBreadcrumb(): void {
    const { terminalId, places, record } = this.#options;
    if (!terminalId) return;
    const crumb = { cwd: record.header.cwd, sessionFile: this.#path };
    const write = async () => {
      places.ensureDirectory(places.terminals);
      await writeBreadcrumb(places.terminals, terminalId, crumb);
    };
    this.#background.push(this.#orWarn("no breadcrumb was left", write()));
  }

  /** What is only beside the record must not keep it from being written: it is told, not thrown. */
  async #orWarn<Kept>(loss: string, work: Promise<Kept>): Promise<Kept | undefined> {
    try {
      return await work;
    } catch (error) {
      this.#options.log.warn(`${loss}: ${messageOf(error)}`);
      return undefined;
    }
  }
}

function newPath({ record, places, clock }: SessionFileOptions): string {
  return realPath(places.newPath(clock.now(), record.header.id));
}
