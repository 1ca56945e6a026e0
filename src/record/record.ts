// The record of one conversation, as the rest of the program sees it: entries go in and are in memory at once, their
// way to the disk is not the caller's concern. Whatever happens to the file, no entry is lost from here, and no file
// of somebody else's is written: the record then moves to a file of its own and says so.

import { resolve } from "node:path";
import { systemClock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { randomIds } from "../base/ids.js";
import { silentLog } from "../base/log.js";
import { type LockKind, platformLock } from "../base/path-lock.js";
import type { MessageEntry, SessionEntry, SessionHeader } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import { ContextBuilder, type SessionContext } from "./build-context.js";
import {
  cleanName,
  EntryTree,
  entryNotFound,
  isBookkeeping,
  type NameSource,
  userText,
  withoutMargin,
} from "./entry-tree.js";
import type {
  EntryFields,
  Fields,
  InMemoryOptions,
  OpenOptions,
  SessionManagerOptions,
  SessionMove,
} from "./record-options.js";
import { newHeader, type Origin } from "./session-header.js";
import { type ArtifactStore, createArtifactsAfter, createMemoryArtifacts } from "./store/artifacts.js";
import { type BlobStore, createMemoryBlobs } from "./store/blobs.js";
import { readBreadcrumb } from "./store/breadcrumbs.js";
import { deleteSession } from "./store/delete.js";
import { endBytes, SessionIndex } from "./store/list.js";
import { loadSession } from "./store/load.js";
import { SessionDirectories } from "./store/session-directories.js";
import { SessionFile } from "./store/session-file.js";

export type { EntryFields, SessionManagerOptions, SessionMove };

interface Start {
  readonly header: SessionHeader;
  readonly entries?: readonly SessionEntry[];
  readonly indexById?: Map<string, number>;
  readonly originals?: ReadonlyMap<SessionEntry, string>;
  readonly warnings?: readonly string[];
}

export class SessionManager {
  readonly warnings: string[];
  #options: SessionManagerOptions | InMemoryOptions;
  readonly #tree: EntryTree;
  readonly #originals: ReadonlyMap<SessionEntry, string>;
  #header: SessionHeader;
  #context = new ContextBuilder();
  /** Undefined for a session that leaves nothing on the disk. */
  #file: SessionFile | undefined;
  #memoryArtifacts: ArtifactStore = createMemoryArtifacts();
  #memoryBlobs: BlobStore = createMemoryBlobs();
  #hasAppended = false;
  /** How long the file was when it was last told the name. */
  #namedAtLength = 0;

  private constructor(options: SessionManagerOptions | InMemoryOptions, start: Start) {
    this.#options = options;
    this.#header = start.header;
    this.#originals = start.originals ?? new Map();
    this.warnings = [...(start.warnings ?? [])];
    this.#tree = new EntryTree(start.header, start.entries, start.indexById);
    this.#rebuildContext();
  }

  /** A new session. Nothing is on the disk before its first message. */
  static create(options: SessionManagerOptions, origin: Origin = {}, path?: string): SessionManager {
    const place = path === undefined ? undefined : resolve(path);
    return SessionManager.#begin(options, { header: newHeader(options, origin) }, place);
  }

  static inMemory(options: InMemoryOptions, origin: Origin = {}): SessionManager {
    return new SessionManager(options, { header: newHeader(options, origin) });
  }

  /** Throws `file_refused` for what is no session and `not_found` for what is not there; neither is touched. */
  static async open(path: string, options: SessionManagerOptions, how: OpenOptions = {}): Promise<SessionManager> {
    const loaded = await loadSession(resolve(path), { ...loadOptions(options), ...how });
    if (loaded.kind === "absent") {
      if (how.ifMissing === "fail" && !loaded.exists) throw new GalleyError("not_found", `File not found: ${path}`);
      const places = new SessionDirectories(options, options.log ?? silentLog);
      if (!places.isForSessions(loaded.path)) await how.checkNewPlace?.(loaded.path);
      return SessionManager.create(options, {}, loaded.path);
    }
    const warnings = [...loaded.warnings, ...(loaded.readOnlyReason ? [loaded.readOnlyReason] : [])];
    const manager = new SessionManager(options, { ...loaded.session, warnings });
    manager.#file = SessionFile.resume(manager.#fileOptions(options), loaded);
    manager.#tellWarnings();
    return manager;
  }

  /**
   * The session that this terminal had last here, else the newest of this working directory, else a new one. In memory
   * it goes on as a copy.
   */
  static async continueRecent(options: SessionManagerOptions, { isInMemory = false } = {}): Promise<SessionManager> {
    const { terminalId, log = silentLog } = options;
    const index = new SessionIndex();
    const places = new SessionDirectories(options, log);
    const crumb = terminalId ? await readBreadcrumb(places.terminals, terminalId) : undefined;
    const listed = await places.list(index).catch((error: unknown) => {
      log.warn(`cannot look for sessions to continue: ${messageOf(error)}`);
      return [];
    });
    const paths = listed.map(({ path }) => path);
    if (crumb && places.isHere(crumb.cwd)) paths.unshift(crumb.sessionFile);
    for (const path of paths) {
      try {
        if (isInMemory) return await SessionManager.copyInMemory(path, options);
        return await SessionManager.open(path, options, { ifMissing: "fail" });
      } catch (error) {
        if (!GalleyError.is(error, "not_found")) log.warn(`cannot continue ${path}: ${messageOf(error)}`);
      }
    }
    return isInMemory ? SessionManager.inMemory(options) : SessionManager.create(options);
  }

  /** A full copy under a new id, whoever is writing to the source. */
  static async forkFrom(path: string, options: SessionManagerOptions): Promise<SessionManager> {
    const { start, from } = await SessionManager.#readToCopy(path, options);
    const copy = SessionManager.#begin(options, start, undefined, from);
    copy.#tellWarnings();
    await copy.flush();
    return copy;
  }

  /** The same, with nothing left on the disk: what the source has there is only read. */
  static async copyInMemory(path: string, options: SessionManagerOptions): Promise<SessionManager> {
    const { start, from } = await SessionManager.#readToCopy(path, options);
    const copy = new SessionManager(options, start);
    copy.#memoryArtifacts = await createArtifactsAfter(from);
    copy.#memoryBlobs = createMemoryBlobs(new SessionDirectories(options, options.log ?? silentLog).blobs(from));
    copy.#tellWarnings();
    return copy;
  }

  static async #readToCopy(path: string, options: SessionManagerOptions): Promise<{ start: Start; from: string }> {
    const loaded = await loadSession(resolve(path), { ...loadOptions(options), isReadOnly: true });
    if (loaded.kind === "absent") throw new GalleyError("not_found", `File not found: ${path}`);
    const { header, entries, originals } = loaded.session;
    const child = newHeader(options, { parentSession: loaded.path, parentSessionId: header.id });
    const start = { header: { ...header, ...child }, entries, originals, warnings: loaded.warnings };
    return { start, from: loaded.path };
  }

  /** The file and what lies beside it. Throws `busy` for a session that somebody has open, this program included. */
  static delete(path: string, options: Pick<SessionManagerOptions, "clock" | "disk"> = {}): Promise<void> {
    return deleteSession(path, options.clock, options.disk);
  }

  static #begin(options: SessionManagerOptions, start: Start, path?: string, artifactsFrom?: string): SessionManager {
    const manager = new SessionManager(options, start);
    manager.#file = SessionFile.begin(manager.#fileOptions(options), path, artifactsFrom);
    return manager;
  }

  // What there is

  get header(): SessionHeader {
    return this.#header;
  }

  get sessionId(): string {
    return this.#header.id;
  }

  /** Where the file is, or will be. Undefined for a session in memory. */
  get sessionFile(): string | undefined {
    return this.#file?.path;
  }

  /** There is a file, and it is this session's to write. */
  get isOnDisk(): boolean {
    return (this.#file?.length ?? 0) > 0;
  }

  get cwd(): string {
    return this.#header.cwd || this.#options.cwd;
  }

  get tree(): Omit<EntryTree, "append" | "moveLeaf"> {
    return this.#tree;
  }

  get context(): SessionContext {
    return this.#context;
  }

  get artifacts(): ArtifactStore {
    return this.#file?.artifacts ?? this.#memoryArtifacts;
  }

  get blobs(): BlobStore {
    return this.#file?.blobs ?? this.#memoryBlobs;
  }

  /** Why entries are not safe on the disk at the moment, or undefined. */
  get persistError(): string | undefined {
    return this.#file?.persistError;
  }

  get lockKind(): LockKind {
    return this.#file?.lockKind ?? platformLock;
  }

  /** Why the file is only read; the first entry then goes to a new one. */
  get readOnlyReason(): string | undefined {
    return this.#file?.readOnlyReason;
  }

  // What is added

  append<Given extends EntryFields>(fields: Given): Extract<SessionEntry, { type: Given["type"] }> {
    const entry = this.#placed(fields, this.#tree.leafId);
    this.#add(entry);
    return entry as Extract<SessionEntry, { type: Given["type"] }>;
  }

  appendMessage(message: AgentMessage): MessageEntry {
    return this.append({ type: "message", message });
  }

  /** Puts the leaf elsewhere, `null` before the first entry. Undefined when it is there already. */
  moveLeaf(targetId: string | null): SessionEntry | undefined {
    if (targetId !== null && !this.#tree.has(targetId)) throw entryNotFound(targetId);
    if (targetId === this.#tree.leafId) return undefined;
    // Hung on its target: a program that knows no leaf entries takes the last line for the leaf.
    const entry = this.#placed({ type: "leaf", targetId }, targetId);
    this.#add(entry);
    this.#rebuildContext();
    return entry;
  }

  /** Undefined when an automatic name comes after a person's. */
  setName(name: string, source: NameSource = "user"): SessionEntry | undefined {
    const clean = cleanName(name);
    if (clean === "") throw new GalleyError("invalid_argument", "Session name cannot be empty");
    if (source === "auto" && this.#tree.nameSource === "user") return undefined;
    const entry = this.#placed({ type: "session_info", name: clean, source }, this.#tree.leafId);
    this.#add(entry);
    this.#namedAtLength = this.#file?.length ?? 0;
    return entry;
  }

  /** Without a label the one there is goes. */
  setLabel(targetId: string, label?: string): SessionEntry {
    if (!this.#tree.has(targetId)) throw entryNotFound(targetId);
    const entry = this.#placed({ type: "label", targetId, ...(label ? { label } : {}) }, this.#tree.leafId);
    this.#add(entry);
    return entry;
  }

  /** A new session with what came before a user message; this one stays as it is. */
  async branchTo(entryId: string): Promise<{ session: SessionManager; text: string }> {
    const entry = this.#tree.get(entryId);
    const text = entry && userText(entry);
    if (!entry || text === undefined) throw new GalleyError("invalid_argument", "Invalid entry ID for branching");
    await this.flush(); // what the new file names is in its place then
    const entries = withoutMargin(this.#tree.pathTo(entry.parentId));
    const header = this.#childHeader();
    const session = this.#file
      ? this.#branchOnDisk(header, entries, this.#file.path)
      : this.#branchInMemory(header, entries);
    const { name, nameSource, labels } = this.#tree;
    if (name !== undefined) session.setName(name, nameSource);
    for (const [targetId, label] of labels) if (session.tree.has(targetId)) session.setLabel(targetId, label);
    await session.flush();
    return { session, text };
  }

  /** A full copy under a new id, with what has not reached the disk yet; this one stays as it is. */
  async copy(): Promise<SessionManager> {
    await this.flush(); // what the new file names is in its place then
    const header = { ...this.#header, ...this.#childHeader() };
    const { entries } = this.#tree;
    const session = this.#file
      ? this.#branchOnDisk(header, entries, this.#file.path)
      : this.#branchInMemory(header, entries);
    await session.flush();
    return session;
  }

  /**
   * Belongs to another working directory from now on: the header says so, and the file goes where its sessions are
   * kept, with what lies beside it. What fails leaves everything as it was.
   */
  async moveTo(cwd: string): Promise<void> {
    const before = this.cwd;
    const options = { ...this.#options, cwd: resolve(cwd) };
    this.#header = { ...this.#header, cwd: options.cwd };
    try {
      if ("agentDir" in options) await this.#file?.moveTo(new SessionDirectories(options, options.log ?? silentLog));
    } catch (error) {
      this.#header = { ...this.#header, cwd: before };
      throw error;
    }
    this.#options = options;
  }

  // Its way to the disk

  /** Resolves when every entry is in the file, or has failed to get there. */
  async flush(): Promise<void> {
    await this.#file?.flush();
  }

  /** Resolves when every entry would survive a power cut, or has failed to get there: `persistError` tells. */
  async sync(): Promise<void> {
    await this.#file?.sync();
  }

  /** Entries that come later stay in memory only. */
  async close(): Promise<void> {
    this.#repeatName();
    await this.#file?.close();
  }

  // Inside

  #placed(fields: Fields<SessionEntry>, parentId: string | null): SessionEntry {
    const { ids = randomIds, clock = systemClock } = this.#options;
    let id = ids.entry();
    while (this.#tree.has(id)) id = ids.entry();
    const { type, ...rest } = fields;
    return { type, id, parentId, timestamp: new Date(clock.now()).toISOString(), ...rest } as SessionEntry;
  }

  #add(entry: SessionEntry): void {
    this.#tree.append(entry);
    if (!isBookkeeping(entry)) this.#context.push(entry);
    this.#hasAppended = true;
    this.#file?.append(entry);
  }

  /** What was found in the file, and what its entries make of it. */
  #tellWarnings(): void {
    for (const text of [...this.warnings, ...this.#context.warnings]) this.#options.log?.warn(text);
  }

  #rebuildContext(): void {
    const context = new ContextBuilder(this.#context.revision + 1);
    for (const entry of this.#tree.pathTo()) context.push(entry);
    this.#context = context;
  }

  /** Of a session that descends from this one. */
  #childHeader(): SessionHeader {
    const origin = { parentSession: this.sessionFile, parentSessionId: this.sessionId };
    return newHeader({ ...this.#options, cwd: this.cwd }, origin);
  }

  #fileOptions(options: SessionManagerOptions) {
    const { clock = systemClock, log = silentLog, disk, terminalId } = options;
    const manager = this;
    return {
      record: {
        get header() {
          return manager.#header;
        },
        get entries() {
          return manager.#tree.entries;
        },
      },
      originals: this.#originals,
      // Of its own working directory: one that was opened from another leaves its branches with its own kind.
      places: new SessionDirectories({ ...options, cwd: this.cwd }, log),
      clock,
      log,
      disk,
      terminalId,
      beforeMove: () => {
        this.#header = { ...this.#header, ...this.#childHeader() };
      },
      afterMove: (move: SessionMove) => {
        const sentence = `${move.reason}. The conversation goes on in ${move.to}`;
        this.warnings.push(sentence);
        log.warn(sentence);
      },
    };
  }

  #branchOnDisk(header: SessionHeader, entries: readonly SessionEntry[], from: string): SessionManager {
    const options = this.#options as SessionManagerOptions; // what has a file was given these
    return SessionManager.#begin(options, { header, entries, originals: this.#originals }, undefined, from);
  }

  #branchInMemory(header: SessionHeader, entries: readonly SessionEntry[]): SessionManager {
    const branch = new SessionManager(this.#options, { header, entries });
    branch.#memoryArtifacts = this.artifacts;
    branch.#memoryBlobs = this.blobs;
    return branch;
  }

  /** A list reads only the ends of a long file: the name has to be at one of them. */
  #repeatName(): void {
    const { name, nameSource } = this.#tree;
    const length = this.#file?.length ?? 0;
    const isFar = length > 2 * endBytes && length - this.#namedAtLength > endBytes / 2;
    if (isFar && this.#hasAppended && name !== undefined && name !== this.#header.title) this.setName(name, nameSource);
  }
}

function loadOptions({ clock = systemClock, disk }: SessionManagerOptions) {
  return { clock, ...(disk ? { disk } : {}) };
}
