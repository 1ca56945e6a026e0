// The record of one conversation in memory. Entries are in memory as soon as they are appended, and the file follows.
// Whatever happens to the file, no entry is lost here, and another program's file is never overwritten: the record then
// moves to a new file and says so. The functions of open-record.ts make records.

import { resolve } from "node:path";
import { systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
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
  isBlank,
  isBookkeeping,
  type NameSource,
  userText,
  withoutBookkeeping,
} from "./entry-tree.js";
import type {
  EntryFields,
  Fields,
  InMemoryOptions,
  RecordOptions,
  RecordStart,
  RecordStorage,
} from "./record-options.js";
import { newHeader } from "./session-header.js";
import { type ArtifactStore, createMemoryArtifacts } from "./store/artifacts.js";
import { type BlobStore, createMemoryBlobs } from "./store/blobs.js";
import type { ReadOnly } from "./store/load-session.js";
import { SessionDirectories } from "./store/session-directories.js";
import { SessionFile, type SessionFileOptions, type SessionMove } from "./store/session-file.js";
import { endBytes } from "./store/session-index.js";

type Kept =
  | {
      readonly kind: "memory";
      readonly options: InMemoryOptions;
      readonly artifacts: ArtifactStore;
      readonly blobs: BlobStore;
    }
  | { readonly kind: "file"; readonly options: RecordOptions; readonly file: SessionFile };

export class SessionRecord {
  readonly warnings: string[];
  /** Told when the record goes on in another file. */
  onMoved: (move: SessionMove) => void = () => {};
  readonly #tree: EntryTree;
  readonly #originals: ReadonlyMap<SessionEntry, string>;
  #header: SessionHeader;
  #context = new ContextBuilder();
  readonly #kept: Kept;
  #hasAppended = false;
  /** How long the file was when the name was last written to it. */
  #namedAtLength = 0;

  constructor(start: RecordStart, storage: RecordStorage) {
    this.#header = start.header;
    this.#originals = start.originals ?? new Map();
    this.warnings = [...(start.warnings ?? [])];
    this.#tree = new EntryTree(start.header, start.entries);
    this.#rebuildContext();
    this.#kept = this.#keepIn(storage);
  }

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

  /** The file exists, and this session may write it. */
  get isOnDisk(): boolean {
    return (this.#file?.length ?? 0) > 0;
  }

  get cwd(): string {
    return this.#header.cwd || this.#kept.options.cwd;
  }

  get tree(): Omit<EntryTree, "append" | "moveLeaf"> {
    return this.#tree;
  }

  get context(): SessionContext {
    return this.#context;
  }

  get artifacts(): ArtifactStore {
    return this.#kept.kind === "file" ? this.#kept.file.artifacts : this.#kept.artifacts;
  }

  get blobs(): BlobStore {
    return this.#kept.kind === "file" ? this.#kept.file.blobs : this.#kept.blobs;
  }

  /** Why entries are not safe on the disk at the moment, or undefined. */
  get persistError(): string | undefined {
    return this.#file?.persistError;
  }

  get lockKind(): LockKind | "held" {
    return this.#file?.lockKind ?? platformLock;
  }

  /** Why the file is only read; the first entry then goes to a new one. */
  get readOnly(): ReadOnly | undefined {
    return this.#file?.readOnly;
  }

  get readOnlyReason(): string | undefined {
    return this.readOnly?.text;
  }

  append<Given extends EntryFields>(fields: Given): Extract<SessionEntry, { type: Given["type"] }> {
    const entry = this.#placed(fields, this.#tree.leafId);
    this.#add(entry);
    return entry as Extract<SessionEntry, { type: Given["type"] }>;
  }

  appendMessage(message: AgentMessage): MessageEntry {
    return this.append({ type: "message", message });
  }

  /** `null` puts the leaf before the first entry. Undefined when the leaf is there already. */
  moveLeaf(targetId: string | null): SessionEntry | undefined {
    if (targetId !== null && !this.#tree.has(targetId)) throw entryNotFound(targetId);
    if (targetId === this.#tree.leafId) return undefined;
    // Its parent is the target: a program that does not know leaf entries takes the last line for the leaf.
    const entry = this.#placed({ type: "leaf", targetId }, targetId);
    this.#add(entry);
    this.#rebuildContext();
    return entry;
  }

  /** Undefined when an automatic name would replace the user's. */
  setName(name: string, source: NameSource = "user"): SessionEntry | undefined {
    const clean = cleanName(name);
    if (isBlank(clean)) throw new GalleyError("invalid_argument", "Session name cannot be empty");
    if (source === "auto" && this.#tree.nameSource === "user") return undefined;
    const entry = this.#placed({ type: "session_info", name: clean, source }, this.#tree.leafId);
    this.#add(entry);
    this.#namedAtLength = this.#file?.length ?? 0;
    return entry;
  }

  /** Without a label the present one is removed. */
  setLabel(targetId: string, label?: string): SessionEntry {
    if (!this.#tree.has(targetId)) throw entryNotFound(targetId);
    const entry = this.#placed({ type: "label", targetId, ...(label ? { label } : {}) }, this.#tree.leafId);
    this.#add(entry);
    return entry;
  }

  /** A new session with what came before a user message; this one stays as it is. */
  async branchTo(entryId: string): Promise<{ session: SessionRecord; text: string }> {
    const entry = this.#tree.get(entryId);
    const text = entry && userText(entry);
    if (!entry || text === undefined) throw new GalleyError("invalid_argument", "Invalid entry ID for branching");
    await this.flush(); // the artifacts and images that the new file names are written then
    const path = this.#tree.pathTo(entry.parentId);
    const entries = withoutBookkeeping(path);
    const header = this.#childHeader();
    const session = this.#child(header, entries);
    const { labels } = this.#tree;
    const { name, nameSource } = this.#tree.namedOn(path);
    if (name !== undefined) session.setName(name, nameSource);
    for (const [targetId, label] of labels) if (session.tree.has(targetId)) session.setLabel(targetId, label);
    await session.flush();
    return { session, text };
  }

  /** A full copy under a new id, with what has not reached the disk yet; this one stays as it is. */
  async copy(): Promise<SessionRecord> {
    await this.flush(); // the artifacts and images that the new file names are written then
    const header = { ...this.#header, ...this.#childHeader() };
    const session = this.#child(header, this.#tree.entries);
    await session.flush();
    return session;
  }

  /**
   * Moves the session to another working directory: its header names it, and the file goes to its session directory
   * with the artifacts and images beside it. A failure leaves everything as it was.
   */
  async moveTo(cwd: string): Promise<void> {
    const before = this.#header.cwd;
    const moved = resolve(cwd);
    this.#header = { ...this.#header, cwd: moved };
    if (this.#kept.kind === "memory") return;
    const { file, options } = this.#kept;
    try {
      await file.moveTo(new SessionDirectories({ ...options, cwd: moved }, options.log ?? silentLog));
    } catch (error) {
      this.#header = { ...this.#header, cwd: before };
      throw error;
    }
  }

  /** Makes the file even if no message comes: what is in the record must outlive the process. */
  wantFile(): void {
    this.#file?.want();
  }

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

  /** Undefined for a session that leaves nothing on the disk. */
  get #file(): SessionFile | undefined {
    return this.#kept.kind === "file" ? this.#kept.file : undefined;
  }

  #keepIn(storage: RecordStorage): Kept {
    if (storage.kind === "memory")
      return { artifacts: createMemoryArtifacts(), blobs: createMemoryBlobs(), ...storage };
    const { options } = storage;
    const fileOptions = this.#fileOptions(options);
    const file =
      storage.kind === "loaded_file"
        ? SessionFile.resume(fileOptions, storage.loaded)
        : SessionFile.begin(fileOptions, storage.path, storage.artifactsFrom);
    return { kind: "file", options, file };
  }

  #placed(fields: Fields<SessionEntry>, parentId: string | null): SessionEntry {
    const { ids = randomIds, clock = systemClock } = this.#kept.options;
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

  #rebuildContext(): void {
    const context = new ContextBuilder(this.#context.revision + 1);
    for (const entry of this.#tree.pathTo()) context.push(entry);
    this.#context = context;
  }

  /** The header of a session that descends from this one. */
  #childHeader(): SessionHeader {
    const origin = { parentSession: this.sessionFile, parentSessionId: this.sessionId };
    return newHeader({ ...this.#kept.options, cwd: this.cwd }, origin);
  }

  #fileOptions(options: RecordOptions): SessionFileOptions {
    const { clock = systemClock, log = silentLog, disk, terminalId, mask } = options;
    const record = this;
    return {
      record: {
        get header() {
          return record.#header;
        },
        get entries() {
          return record.#tree.entries;
        },
      },
      originals: this.#originals,
      // Of the record's own working directory: a record that was opened from another one leaves its branches there.
      places: new SessionDirectories({ ...options, cwd: this.#header.cwd || options.cwd }, log),
      clock,
      log,
      disk,
      terminalId,
      mask,
      beforeMove: () => {
        this.#header = { ...this.#header, ...this.#childHeader() };
      },
      afterMove: (move) => {
        const sentence = `${move.reason}. The conversation continues in ${move.to}`;
        this.warnings.push(sentence);
        log.warn(sentence);
        this.onMoved(move);
      },
    };
  }

  #child(header: SessionHeader, entries: readonly SessionEntry[]): SessionRecord {
    const kept = this.#kept;
    if (kept.kind === "memory") return new SessionRecord({ header, entries }, kept);
    const start = { header, entries, originals: this.#originals };
    return new SessionRecord(start, { kind: "new_file", options: kept.options, artifactsFrom: kept.file.path });
  }

  /** Listing reads only the two ends of a long file, so the name has to be at one of them. */
  #repeatName(): void {
    const { name, nameSource } = this.#tree;
    const length = this.#file?.length ?? 0;
    const isFar = length > 2 * endBytes && length - this.#namedAtLength > endBytes / 2;
    if (isFar && this.#hasAppended && name !== undefined && name !== this.#header.title) this.setName(name, nameSource);
  }
}
