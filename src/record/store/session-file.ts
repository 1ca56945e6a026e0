// The file that a record is kept in, with its companion files. When another program turns out to use the file, the record
// moves to a new one, which is written from the entries in memory.

import { basename, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { type LockKind, platformLock } from "../../base/path-lock.js";
import type { TextMask } from "../../base/text-mask.js";
import type { SessionEntry, SessionHeader } from "../../protocol/entries.js";
import { currentVersion } from "../read/migrate-entries.js";
import { artifactDirectory } from "../session-paths.js";
import { type ArtifactStore, copyArtifacts } from "./artifacts.js";
import { type BlobStore, copyBlobs } from "./blobs.js";
import { writeBreadcrumb } from "./breadcrumbs.js";
import { copyNamedBlobs, moveArtifacts, removeBlobs } from "./companion-files.js";
import type { LoadedSession, ReadOnly } from "./load-session.js";
import { canonical, type SessionDirectories } from "./session-directories.js";
import { realPath, type SessionDisk } from "./session-disk.js";
import { SessionWriter, type WriterOptions } from "./session-writer.js";

/** The record, as it is at the moment of asking. */
export interface LiveRecord {
  readonly header: SessionHeader;
  readonly entries: readonly SessionEntry[];
}

export interface SessionFileOptions {
  readonly record: LiveRecord;
  /** The exact lines of entries that are kept as another program wrote them. */
  readonly originals: ReadonlyMap<SessionEntry, string>;
  readonly places: SessionDirectories;
  readonly clock: Clock;
  readonly log: Log;
  readonly disk?: SessionDisk | undefined;
  readonly terminalId?: string | undefined;
  readonly mask?: TextMask | undefined;
  /** The record needs another file. Gives it the header of a session that descends from this one. */
  beforeMove(): void;
  afterMove(move: SessionMove): void;
}

/** Paths, and why. */
export interface SessionMove {
  readonly reason: string;
  readonly from: string;
  readonly to: string;
}

export class SessionFile {
  readonly #options: SessionFileOptions;
  #places: SessionDirectories;
  #at: Place;
  #writer: SessionWriter | undefined;
  #readOnly: ReadOnly | undefined;
  #isClosing = false;
  #isWanted = false;
  /** Work that only `close` waits for. */
  readonly #background: Promise<unknown>[] = [];

  private constructor(options: SessionFileOptions, path: string) {
    this.#options = options;
    this.#places = options.places;
    this.#at = new Place(options.places, path);
  }

  /** A new file for all entries of the record; `path` is absolute. `artifactsFrom` is the session file whose artifacts they name. */
  static begin(options: SessionFileOptions, path?: string, artifactsFrom?: string): SessionFile {
    const file = new SessionFile(options, path === undefined ? newPath(options, options.places) : realPath(path));
    file.#start(artifactsFrom);
    return file;
  }

  /** Continues the file that the record was loaded from. */
  static resume(options: SessionFileOptions, { path, access, later, readOnly, session }: LoadedSession): SessionFile {
    const file = new SessionFile(options, path);
    file.#readOnly = readOnly;
    const outdated = session.version < currentVersion ? session : undefined;
    if (access) file.#writer = SessionWriter.resume(file.#writerOptions(), access, outdated);
    if (later) file.#writer = SessionWriter.resumeLater(file.#writerOptions(), later, session.length, outdated);
    file.#leaveBreadcrumb();
    return file;
  }

  get path(): string {
    return this.#at.path;
  }

  get artifacts(): ArtifactStore {
    return this.#at.artifacts;
  }

  get blobs(): BlobStore {
    return this.#at.blobs;
  }

  get persistError(): string | undefined {
    return this.#writer?.persistError;
  }

  /** `held`: by another process. */
  get lockKind(): LockKind | "held" {
    return this.#readOnly?.code === "in_use" ? "held" : (this.#writer?.lockKind ?? platformLock);
  }

  get readOnly(): ReadOnly | undefined {
    return this.#readOnly;
  }

  /** 0 as long as another process has it. */
  get length(): number {
    return (this.#readOnly ? undefined : this.#writer?.length) ?? 0;
  }

  /** The entry is part of the record already. */
  append(entry: SessionEntry): void {
    if (this.#readOnly && !this.#writer) this.#move(this.#readOnly.text);
    else this.#writer?.append(entry);
  }

  /** The file is made even if no message comes. */
  want(): void {
    this.#isWanted = true;
    this.#writer?.wantFile();
  }

  flush(): Promise<void> {
    return this.#withWriter((writer) => writer.flush());
  }

  sync(): Promise<void> {
    return this.#withWriter((writer) => writer.sync());
  }

  /**
   * Moves the file and its companions to these session directories; the record has its new header already. On failure,
   * or for a file that we may only read, it throws and leaves everything as it was.
   */
  async moveTo(places: SessionDirectories): Promise<void> {
    const writer = this.#writer;
    if (this.#readOnly || !writer)
      throw new GalleyError("file_refused", this.#readOnly?.text ?? `Session ${this.path} is closed`);
    const from = this.path;
    const to = new Place(places, realPath(join(places.directory, basename(from))));
    const hasOwnBlobs = places.blobDirectory(from) !== places.blobDirectory(to.path);
    await writer.moveTo(this.#writerOptions(to, places), async (file) => {
      if (hasOwnBlobs) await copyNamedBlobs(file.chunks(), this.blobs, to.blobs);
      return moveArtifacts(from, to.path, places.ensureDirectory);
    });
    this.#places = places;
    this.#at = to;
    if (hasOwnBlobs) await this.#orWarn("images were left behind", removeBlobs(from));
    if (writer.length > 0) this.#leaveBreadcrumb();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#withWriter((writer) => writer.close());
    await Promise.all(this.#background);
  }

  /** Asks again when the record has moved to another file meanwhile. */
  async #withWriter(ask: (writer: SessionWriter) => Promise<void>): Promise<void> {
    for (let asked: SessionWriter | undefined; this.#writer && asked !== this.#writer; ) {
      asked = this.#writer;
      await ask(asked);
    }
  }

  #start(artifactsFrom: string | undefined): void {
    const writer = SessionWriter.create({
      ...this.#writerOptions(),
      beforeCreate: async () => {
        if (artifactsFrom !== undefined) await this.#copyCompanions(artifactsFrom);
      },
    });
    this.#writer = writer;
    for (const entry of this.#options.record.entries) writer.append(entry);
    if (this.#isWanted) writer.wantFile();
  }

  /** Continues in a new file with all entries, the one that is just being appended included. */
  #move(reason: string): void {
    const { beforeMove, afterMove } = this.#options;
    const from = this.path;
    if (this.#writer) this.#background.push(this.#writer.close());
    beforeMove();
    this.#at = new Place(this.#places, newPath(this.#options, this.#places));
    this.#start(from);
    this.#readOnly = undefined;
    afterMove({ reason, from, to: this.path });
  }

  #writerOptions(at = this.#at, places = this.#places): WriterOptions {
    const { record, clock, log, disk, originals } = this.#options;
    return {
      path: at.path,
      header: { ...record.header, version: currentVersion },
      clock,
      log,
      ...(disk ? { disk } : {}),
      originals,
      ensureDirectory: places.ensureDirectory,
      mask: this.#options.mask,
      sinks: {
        saveImage: (bytes) => this.#orWait("a large image was not saved separately", at.blobs.put(bytes)),
        saveText: (text) => this.#orWait("a long text was not saved separately", at.artifacts.save("session", text)),
      },
      onCreated: () => this.#leaveBreadcrumb(),
      onOpened: () => {
        this.#readOnly = undefined; // the process that had it has ended
      },
      onReadOnly: (reason) => this.#move(reason),
    };
  }

  /** Copies the artifacts and images of the other file that the entries name. */
  async #copyCompanions(from: string): Promise<void> {
    const places = this.#places;
    const copying = copyArtifacts(artifactDirectory(from), artifactDirectory(this.path), places.ensureDirectory);
    await this.#orWarn("artifacts were not copied", copying);
    if (places.blobDirectory(from) === places.blobDirectory(this.path)) return;
    const { entries } = this.#options.record;
    await this.#orWarn("images were not copied", copyBlobs(entries, places.blobs(from), this.blobs));
  }

  #leaveBreadcrumb(): void {
    const { terminalId, record } = this.#options;
    const places = this.#places;
    if (!terminalId) return;
    const crumb = { cwd: record.header.cwd, sessionFile: this.path };
    const write = async () => {
      places.ensureDirectory(places.terminals);
      await writeBreadcrumb(places.terminals, terminalId, crumb);
    };
    this.#background.push(this.#orWarn("the breadcrumb was not written", write()));
  }

  /** Throws when there may be room later, so that the entry waits; while closing it is too late to wait. */
  #orWait<Kept>(loss: string, work: Promise<Kept>): Promise<Kept | undefined> {
    return this.#orWarn(loss, work, (error) => !this.#isClosing && isForNow(error));
  }

  /** A failure of a companion file must not stop the session file: it is logged, not thrown. */
  async #orWarn<Kept>(loss: string, work: Promise<Kept>, isThrown = (_: unknown) => false): Promise<Kept | undefined> {
    try {
      return await work;
    } catch (error) {
      if (isThrown(error)) throw error;
      this.#options.log.warn(`${loss}: ${messageOf(error)}`);
      return undefined;
    }
  }
}

/** A session file, and its artifacts and images, which are opened on first use. */
class Place {
  readonly path: string;
  readonly #places: SessionDirectories;
  #artifacts: ArtifactStore | undefined;
  #blobs: BlobStore | undefined;

  constructor(places: SessionDirectories, path: string) {
    this.#places = places;
    this.path = path;
  }

  /** The same object each time, since it numbers the artifacts. */
  get artifacts(): ArtifactStore {
    this.#artifacts ??= this.#places.artifacts(this.path);
    return this.#artifacts;
  }

  get blobs(): BlobStore {
    this.#blobs ??= this.#places.blobs(this.path);
    return this.#blobs;
  }
}

/** The disk is full or no descriptor is free. Other failures do not pass, so waiting would not help. */
function isForNow(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE"].includes(systemCode(error) ?? "");
}

function newPath({ record, clock }: SessionFileOptions, places: SessionDirectories): string {
  return canonical(places.newPath(clock.now(), record.header.id)); // it may be out of reach now and back later
}
