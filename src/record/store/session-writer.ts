// The only writer of one session file. Entries are queued at once and written in order. A disk error is reported once and
// the write is tried again with the next entry; no queued entry is dropped meanwhile.

import { dirname } from "node:path";
import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { acquireLock, type FileLock, type LockKind, platformLock } from "../../base/path-lock.js";
import type { TextMask } from "../../base/text-mask.js";
import type { SessionEntry, SessionHeader } from "../../protocol/entries.js";
import { plainLine, type StoredFormSinks, storedLine } from "../stored-form.js";
import { AppendFile } from "./append-file.js";
import { createFile, type FileContent, replaceFile } from "./create-file.js";
import { changedText, inUseText, isForbidden, type LaterAccess, type WriteAccess } from "./load-session.js";
import { type MovePlace, moveFile } from "./move-file.js";
import { nodeDisk, type SessionDisk } from "./session-disk.js";

export interface WriterOptions {
  /** The real path. */
  readonly path: string;
  readonly header: SessionHeader;
  readonly clock: Clock;
  readonly log: Log;
  readonly disk?: SessionDisk;
  readonly sinks: StoredFormSinks;
  /** What no line may hold. */
  readonly mask?: TextMask | undefined;
  /** The exact lines of entries that are kept as another program wrote them. */
  readonly originals?: ReadonlyMap<SessionEntry, string>;
  ensureDirectory(path: string): void;
  /** Runs once the lock is held, before the file comes into being. */
  beforeCreate?(): Promise<void>;
  onCreated?(): void;
  /** A file whose lock was left to the first entry is ours now. */
  onOpened?(): void;
  /** Another program uses the file. Nothing more is written to it; the entries need another file. */
  onReadOnly(reason: string): void;
}

/** The entries, in the current format, of a file in an older one. */
interface Outdated {
  readonly version: number;
  readonly entries: readonly SessionEntry[];
}

type State =
  /** Nothing on the disk yet. */
  | { readonly kind: "unborn"; readonly lock: FileLock | undefined }
  /** Read, and not ours before there is something to write. */
  | {
      readonly kind: "unlocked";
      readonly take: LaterAccess;
      readonly length: number;
      readonly outdated?: Outdated | undefined;
    }
  /** Written by an older program: converted to the current format before the first line is added. */
  | ({ readonly kind: "outdated"; readonly file: AppendFile; readonly lock: FileLock } & Outdated)
  | { readonly kind: "open"; readonly file: AppendFile; readonly lock: FileLock }
  | { readonly kind: "over" };

/** How long an entry may stay off the disk when no caller asks for a sync. */
const lazySyncMs = 1000;

export class SessionWriter {
  #options: WriterOptions;
  readonly #disk: SessionDisk;
  #state: State;
  readonly #queue: SessionEntry[] = [];
  /** By text, the artifacts of entries that are not written yet: another attempt names them again. */
  readonly #artifactIds = new Map<string, string>();
  #isWorking = false;
  #worked: Promise<void> = Promise.resolve();
  #synced: Promise<void> = Promise.resolve();
  #released: Promise<void> = Promise.resolve();
  #syncedLength = 0;
  #hasNewName = false;
  #cancelLazySync: (() => void) | undefined;
  #isWanted = false;
  #writeError: string | undefined;
  #syncError: string | undefined;

  private constructor(options: WriterOptions, state: State) {
    this.#options = options;
    this.#disk = options.disk ?? nodeDisk;
    this.#state = state;
  }

  /** Makes no file before there is a message to put into it, or the file is asked for. */
  static create(options: WriterOptions): SessionWriter {
    return new SessionWriter(options, { kind: "unborn", lock: undefined });
  }

  /** Continues a loaded file. */
  static resume(options: WriterOptions, access: WriteAccess, outdated?: Outdated): SessionWriter {
    const writer = new SessionWriter(options, { kind: "over" });
    writer.#open(access, outdated);
    return writer;
  }

  /** The same once there is something to write. */
  static resumeLater(options: WriterOptions, take: LaterAccess, length: number, outdated?: Outdated): SessionWriter {
    return new SessionWriter(options, { kind: "unlocked", take, length, outdated });
  }

  /** The real path. */
  get path(): string {
    return this.#options.path;
  }

  /** Why the file lacks entries that were appended, or may lose them; undefined when all is well. */
  get persistError(): string | undefined {
    return this.#writeError ?? this.#syncError;
  }

  get lockKind(): LockKind {
    return ("lock" in this.#state ? this.#state.lock?.kind : undefined) ?? platformLock;
  }

  /** Bytes in the file; 0 while there is none. */
  get length(): number {
    if (this.#state.kind === "unlocked") return this.#state.length;
    return "file" in this.#state ? this.#state.file.length : 0;
  }

  /** What was appended so far, and later, is worth a file even without a message. */
  wantFile(): void {
    this.#isWanted = true;
    this.#work();
  }

  /** Never throws. Written when it returns, unless something has to be waited for: `flush` tells. */
  append(entry: SessionEntry): void {
    this.#queue.push(entry);
    if (this.#state.kind === "open" && !this.#isWorking && this.#queue.length === 1) {
      const line = this.#directLine(entry);
      if (line) return this.#attempt(this.#state.file, line);
    }
    this.#work();
  }

  /** Resolves when every entry is in the file, or has failed to get there once more. */
  async flush(): Promise<void> {
    this.#work();
    await this.#worked;
  }

  /** Resolves when every entry is on the disk, or has failed to get there: `persistError` tells. */
  async sync(): Promise<void> {
    await this.flush();
    this.#synced = this.#synced.then(() => this.#syncNow());
    await this.#synced;
  }

  async close(): Promise<void> {
    await this.sync();
    const isUnsaved = this.#queue.length > 0 && this.#writeError !== undefined;
    if (isUnsaved) this.#options.log.error(`${this.#queue.length} session entries are lost: ${this.#writeError}`);
    this.#release();
    await this.#released;
  }

  /**
   * Moves the file to the path of `options`, under their header; every other byte stays. `moveCompanions` moves the
   * companion files and returns how to undo that. New entries wait meanwhile. A failure leaves everything as it was; a
   * crash may leave both copies, never none.
   */
  async moveTo(options: WriterOptions, moveCompanions: MovePlace["moveCompanions"]): Promise<void> {
    await this.flush();
    while (this.#isWorking) await this.#worked;
    this.#isWorking = true;
    const moving = this.#move(options, moveCompanions).finally(() => {
      this.#isWorking = false;
    });
    this.#worked = moving.catch(() => {}); // the caller of `moveTo` gets the error
    await moving;
    await this.sync();
  }

  async #move(options: WriterOptions, moveCompanions: MovePlace["moveCompanions"]): Promise<void> {
    if (this.#state.kind === "unlocked") await this.#take(this.#state);
    if (this.#state.kind === "outdated") await this.#renew(this.#state);
    const state = this.#state;
    if (state.kind === "unlocked") throw new GalleyError("busy", `Session ${this.path} is not open`);
    if (state.kind === "unborn") {
      await state.lock?.release();
      this.#state = { kind: "unborn", lock: undefined };
      this.#options = options;
      return;
    }
    if (state.kind === "over") throw new GalleyError("file_refused", `Session ${this.path} is closed`);
    if (this.#queue.length > 0) throw new GalleyError("file_refused", `Session not saved: ${this.#writeError}`);
    const place = { disk: this.#disk, clock: options.clock, ensureDirectory: options.ensureDirectory, moveCompanions };
    const isReplaced = options.path === this.path; // a move to another path has synced the new name
    const { file, lock } = await moveFile(state, this.#options.path, options, place);
    this.#options = options;
    this.#state = { kind: "open", file, lock };
    this.#syncedLength = file.length;
    this.#hasNewName = isReplaced;
    this.#releaseLater(state.file, lock === state.lock ? undefined : state.lock);
  }

  #work(): void {
    if (this.#isWorking || !this.#hasWork()) return;
    this.#isWorking = true;
    this.#worked = this.#drain();
  }

  #hasWork(): boolean {
    if (this.#state.kind === "over" || this.#queue.length === 0) return false;
    return this.#state.kind !== "unborn" || this.#isWanted || this.#queue.some(({ type }) => type === "message");
  }

  async #drain(): Promise<void> {
    try {
      if (this.#state.kind === "unborn") {
        await afterNextInput(); // the request to the model goes first: the lock and the file take time
        await this.#create(this.#state.lock);
      }
      if (this.#state.kind === "unlocked") await this.#take(this.#state);
      if (this.#state.kind === "outdated")
        await this.#renew(this.#state).catch((error) => this.#giveUpIfForbidden(error));
      while (this.#state.kind === "open") {
        const [entry] = this.#queue;
        if (!entry) break;
        this.#write(this.#state.file, await this.#lineOf(entry));
      }
    } catch (error) {
      this.#noteWriteError(error);
    } finally {
      this.#isWorking = false;
    }
  }

  #open(access: WriteAccess, outdated: Outdated | undefined): void {
    const { lock, length } = access;
    const file = new AppendFile(this.#disk, this.path, access);
    this.#state = outdated ? { kind: "outdated", file, lock, ...outdated } : { kind: "open", file, lock };
    this.#syncedLength = length;
  }

  async #take({ take, outdated }: State & { kind: "unlocked" }): Promise<void> {
    const taken = await take((text) => this.#options.log.warn(text));
    if ("problem" in taken) return this.#giveUp(taken.problem);
    this.#open(taken, outdated);
    this.#options.onOpened?.();
  }

  async #create(held: FileLock | undefined): Promise<void> {
    const { path, clock, header, onCreated, beforeCreate } = this.#options;
    this.#options.ensureDirectory(dirname(path));
    const attempt = held ? { lock: held } : await acquireLock(path, clock);
    if (!attempt.lock) return this.#giveUp(inUseText(path, attempt.holderPid));
    const { lock } = attempt;
    this.#state = { kind: "unborn", lock };
    await beforeCreate?.();
    const entries = [...this.#queue];
    const made = await createFile(this.#disk, path, { header, lines: this.#lines(entries) });
    if (!made) return this.#giveUp(`Another file now exists at ${path}`);
    this.#hasNewName = true;
    this.#state = { kind: "open", file: new AppendFile(this.#disk, path, made), lock };
    this.#noteWritten(entries.length);
    onCreated?.();
  }

  async #renew({ file, lock, version, entries }: State & { kind: "outdated" }): Promise<void> {
    const { path, header } = this.#options;
    const content: FileContent & { backup: string } = {
      header,
      lines: this.#lines(entries),
      backup: `${path}.v${version}.bak`,
    };
    const made = file.isOurs ? await replaceFile(this.#disk, path, content, () => file.isOurs) : undefined;
    if (!made) return this.#giveUp(changedText(path));
    file.close();
    this.#hasNewName = true;
    this.#state = { kind: "open", file: new AppendFile(this.#disk, path, made), lock };
    this.#syncedLength = made.length;
  }

  #giveUpIfForbidden(error: unknown): void {
    if (!isForbidden(error)) throw error;
    this.#giveUp(`Session ${this.path} cannot be converted to the current format: ${messageOf(error)}`);
  }

  async *#lines(entries: readonly SessionEntry[]): AsyncGenerator<Buffer> {
    for (const entry of entries) yield await this.#lineOf(entry);
  }

  async #lineOf(entry: SessionEntry): Promise<Buffer> {
    return this.#directLine(entry) ?? storedLine(entry, this.#sinks, this.#options.mask);
  }

  get #sinks(): StoredFormSinks {
    const { saveImage, saveText } = this.#options.sinks;
    return {
      saveImage,
      saveText: async (text) => {
        const id = this.#artifactIds.get(text) ?? (await saveText(text));
        if (id !== undefined) this.#artifactIds.set(text, id);
        return id;
      },
    };
  }

  #directLine(entry: SessionEntry): Buffer | undefined {
    const original = this.#options.originals?.get(entry);
    return original === undefined ? plainLine(entry, this.#options.mask) : Buffer.from(`${original}\n`);
  }

  #attempt(file: AppendFile, line: Buffer): void {
    try {
      this.#write(file, line);
    } catch (error) {
      this.#noteWriteError(error);
    }
  }

  #write(file: AppendFile, line: Buffer): void {
    if (!file.append(line)) return this.#giveUp(changedText(this.path));
    this.#noteWritten(1);
  }

  #noteWritten(count: number): void {
    this.#queue.splice(0, count);
    this.#artifactIds.clear();
    this.#writeError = undefined;
    this.#cancelLazySync ??= this.#options.clock.after(lazySyncMs, () => {
      this.#cancelLazySync = undefined;
      void this.sync(); // never rejects
    });
  }

  #noteWriteError(error: unknown): void {
    if (this.#writeError === undefined) this.#options.log.warn(`session not saved: ${messageOf(error)} (${this.path})`);
    this.#writeError = messageOf(error);
  }

  async #syncNow(): Promise<void> {
    if (this.#state.kind !== "open") return;
    const { file } = this.#state;
    const { length } = file;
    try {
      if (length > this.#syncedLength) await file.sync();
      if (this.#hasNewName) await this.#syncName();
      this.#syncedLength = Math.max(length, this.#syncedLength);
      this.#syncError = undefined;
    } catch (error) {
      if (this.#syncError === undefined)
        this.#options.log.warn(`session not safe on disk: ${messageOf(error)} (${this.path})`);
      this.#syncError = messageOf(error);
    }
  }

  /** The directory, and the one above it, since both may be new. */
  async #syncName(): Promise<void> {
    const directory = dirname(this.path);
    await this.#disk.syncDirectory(directory);
    await this.#disk.syncDirectory(dirname(directory));
    this.#hasNewName = false;
  }

  #giveUp(reason: string): void {
    this.#release();
    this.#queue.length = 0; // the record writes them to its next file
    this.#writeError = undefined;
    this.#options.onReadOnly(reason);
  }

  #release(): void {
    this.#cancelLazySync?.();
    this.#cancelLazySync = undefined;
    const state = this.#state;
    this.#state = { kind: "over" };
    this.#releaseLater("file" in state ? state.file : undefined, "lock" in state ? state.lock : undefined);
  }

  /** Waits for a sync under way: a closed descriptor could be reused for another file. */
  #releaseLater(file: AppendFile | undefined, lock: FileLock | undefined): void {
    this.#released = this.#released
      .then(() => this.#synced)
      .then(async () => {
        await lock?.release();
        file?.close();
      })
      .catch((error: unknown) => this.#options.log.error(`closing ${this.path} failed`, error));
  }
}

/** After two rounds of the event loop: by then the request to the model is on its way. */
function afterNextInput(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
