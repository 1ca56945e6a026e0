// Lists the sessions on the disk from the two ends of each file, so that a list stays cheap. Uses short blocking calls in
// slices of a few milliseconds: asynchronous calls take five times as long. An unchanged file is not read again.

import { closeSync, constants, promises as fs, openSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { GalleyError, systemCode } from "../../base/errors.js";
import { parseRecord } from "../../base/ndjson.js";
import { TimeSlices } from "../../base/time-slices.js";
import type { SessionEntry, SessionHeader } from "../../protocol/entries.js";
import { EntryTree, userText } from "../entry-tree.js";

export interface SessionInfo {
  readonly path: string;
  readonly id: string;
  readonly cwd: string;
  readonly name?: string;
  readonly parentSession?: string;
  readonly parentSessionId?: string;
  /** ISO 8601, from the header. */
  readonly created: string;
  readonly modifiedMs: number;
  /** Of the messages seen; there are more when `isCountExact` is false. */
  readonly messageCount: number;
  readonly isCountExact: boolean;
  /** The first user text, cut; empty when there is none. */
  readonly firstMessage: string;
}

export interface FoundSession {
  readonly session: SessionInfo;
  /** It belongs to another project than the one asked from. */
  readonly isElsewhere: boolean;
}

/** How much is read at each end of a file. */
export const endBytes = 64 * 1024;
const slices = new TimeSlices({ sliceMs: 8 });
/** A pipe in the place of a file must not block us. */
const readNow = constants.O_RDONLY | constants.O_NONBLOCK;
const maxFirstMessageChars = 200;

export class SessionIndex {
  /** Files that were listed and are no session that can be read. */
  readonly unreadable = new Set<string>();
  readonly #known = new Map<string, { bytes: number; modifiedMs: number; info: SessionInfo | undefined }>();

  /**
   * The sessions of these directories, newest first. A directory that is not there holds none, and so does one of the
   * others that cannot be read.
   */
  async list(own: readonly string[], others: readonly string[] = []): Promise<SessionInfo[]> {
    const ownPaths = await Promise.all([...new Set(own)].map(sessionFiles));
    const otherPaths = await Promise.all([...new Set(others)].map((path) => sessionFiles(path).catch(() => [])));
    const paths = new Set([...ownPaths, ...otherPaths].flat());
    const found: SessionInfo[] = [];
    for (const path of paths) {
      const pause = slices.turn();
      if (pause) await pause;
      const info = this.#info(path);
      if (info) found.push(info);
      else this.unreadable.add(path);
    }
    return found.sort((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? 1 : -1));
  }

  /** Every session below these: one directory for each working directory. */
  async listAll(own: readonly string[], others: readonly string[] = []): Promise<SessionInfo[]> {
    const directories = await Promise.all(own.map(sessionDirectories));
    const otherDirectories = await Promise.all(others.map((root) => sessionDirectories(root).catch(() => [])));
    return this.list(directories.flat(), otherDirectories.flat());
  }

  /** By id, by the beginning of an id, or by file name; first among `here`, then `everywhere`. */
  async find(
    query: string,
    here: readonly SessionInfo[],
    everywhere: () => Promise<readonly SessionInfo[]>,
  ): Promise<FoundSession> {
    const near = matching(here, query);
    if (near.length > 0) return { session: theOne(near, query), isElsewhere: false };
    const far = matching(await everywhere(), query);
    if (far.length === 0) throw new GalleyError("not_found", `Session "${query}" not found.`);
    return { session: theOne(far, query), isElsewhere: true };
  }

  /** Undefined for what is no session, or cannot be read: a list goes on without it. */
  #info(path: string): SessionInfo | undefined {
    try {
      const stat = statSync(path);
      if (!stat.isFile()) return undefined;
      const { size, mtimeMs } = stat;
      const known = this.#known.get(path);
      if (known?.bytes === size && known.modifiedMs === mtimeMs) return known.info;
      const info = describe(path, mtimeMs, readEnds(path, size));
      this.#known.set(path, { bytes: size, modifiedMs: mtimeMs, info });
      return info;
    } catch {
      this.#known.delete(path);
      return undefined;
    }
  }
}

/** What to call a session in a list. */
export function displayName({ name, firstMessage, id }: Pick<SessionInfo, "name" | "firstMessage" | "id">): string {
  const text = (name || firstMessage || id).replace(/\s+/g, " ").trim();
  return text.length <= 40 ? text : `${headOf(text, 39)}…`;
}

/** Never half of a character. */
function headOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

/** The directory itself and those in it: a root holds one for each working directory, or the files directly. */
export async function sessionDirectories(root: string): Promise<string[]> {
  const entries = await fs.readdir(root, { withFileTypes: true }).catch(emptyIfAbsent);
  return [root, ...entries.filter((entry) => entry.isDirectory()).map((entry) => join(root, entry.name))];
}

export async function sessionFiles(directory: string): Promise<string[]> {
  const entries = await fs.readdir(directory, { withFileTypes: true }).catch(emptyIfAbsent);
  return entries
    .filter((entry) => entry.name.endsWith(".jsonl") && !entry.isDirectory())
    .map((entry) => join(directory, entry.name));
}

/** The working directories of the first and the last session there; at once, since a new session waits for it. */
export function directoriesIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
    const ends = names.length > 1 ? [names.sort()[0], names.at(-1)] : names;
    return ends.flatMap((name) => text(headerAt(join(directory, name as string))?.cwd) ?? []);
  } catch {
    return []; // there is none yet, or creating a session there will tell
  }
}

function headerAt(path: string): Partial<SessionHeader> | undefined {
  const file = openSync(path, readNow);
  try {
    return parse(linesOf(readAt(file, 0, 4096))[0]) as Partial<SessionHeader> | undefined;
  } finally {
    closeSync(file);
  }
}

function emptyIfAbsent(error: unknown): [] {
  if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return [];
  throw error;
}

interface Ends {
  readonly head: Buffer;
  /** Undefined when `head` is the whole file. */
  readonly tail: Buffer | undefined;
}

function readEnds(path: string, bytes: number): Ends {
  const file = openSync(path, readNow);
  try {
    const isWhole = bytes <= 2 * endBytes;
    const head = readAt(file, 0, isWhole ? bytes : endBytes);
    return { head, tail: isWhole ? undefined : readAt(file, bytes - endBytes, endBytes) };
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.subarray(0, readSync(file, buffer, 0, bytes, position));
}

function describe(path: string, modifiedMs: number, { head, tail }: Ends): SessionInfo | undefined {
  const lines = linesOf(head);
  const header = parse(lines[0]);
  if (header?.type !== "session" || typeof header.id !== "string") return undefined;
  const { id, cwd, timestamp, parentSession, parentSessionId } = header as Partial<SessionHeader> & { id: string };
  // The first line of the tail is cut, and so is the last one of a head with more behind it.
  const others = tail ? [...lines.slice(1, -1), ...linesOf(tail).slice(1)] : lines.slice(1);
  const messages = others.filter(isMessageLine);
  return {
    path,
    id,
    cwd: text(cwd) ?? "",
    ...optional("name", nameIn(header as object as SessionHeader, others)),
    ...optional("parentSession", text(parentSession)),
    ...optional("parentSessionId", text(parentSessionId)),
    created: text(timestamp) ?? "",
    modifiedMs,
    messageCount: messages.length,
    isCountExact: tail === undefined,
    firstMessage: firstText(messages) ?? cutText(tail ? lines.at(-1) : undefined) ?? "",
  };
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  return lines;
}

/** By its first bytes: to parse every line would take most of the time, and counting needs none of it. */
function isMessageLine(line: Buffer): boolean {
  return line.subarray(0, messageOpening.length).equals(messageOpening);
}

const messageOpening = Buffer.from('{"type":"message"');
const nameType = Buffer.from('"session_info"');

function nameIn(header: SessionHeader, lines: readonly Buffer[]): string | undefined {
  const infos = lines.filter((line) => line.includes(nameType)).map(parse);
  const named = new EntryTree(header);
  for (const [index, info] of infos.entries())
    if (info?.type === "session_info") named.append({ ...info, id: `${index}` } as object as SessionEntry);
  return named.name;
}

function firstText(messages: readonly Buffer[]): string | undefined {
  for (const line of messages) {
    const entry = parse(line);
    const said = entry && userText(entry as object as SessionEntry)?.trim();
    if (said) return headOf(said, maxFirstMessageChars);
  }
  return undefined;
}

/** The beginning of a first message so long that its line is cut. */
function cutText(line: Buffer | undefined): string | undefined {
  if (!line || !isMessageLine(line)) return undefined;
  const start = line.toString("utf8", 0, 4096);
  const quoted = /"role":"user".*?"(?:text|content)":"((?:[^"\\]|\\u[0-9a-f]{4}|\\[^u]){1,200})/is.exec(start)?.[1];
  try {
    return quoted && (JSON.parse(`"${quoted}"`) as string);
  } catch {
    return undefined; // not JSON after all
  }
}

function parse(line: Buffer | undefined) {
  const record = line && parseRecord(line);
  return record?.ok ? record.value : undefined;
}

function matching(sessions: readonly SessionInfo[], query: string): SessionInfo[] {
  if (query === "") return [];
  const exact = sessions.filter(({ id, path }) => [id, basename(path), basename(path, ".jsonl")].includes(query));
  return exact.length > 0 ? exact : sessions.filter(({ id }) => id.startsWith(query));
}

function theOne(sessions: readonly SessionInfo[], query: string): SessionInfo {
  const [session, another] = sessions;
  if (session && !another) return session;
  const names = sessions.slice(0, 10).map((info) => `${info.id} (${displayName(info)})`);
  if (sessions.length > names.length) names.push("…");
  throw new GalleyError("invalid_argument", `Session "${query}" is ambiguous: ${names.join(", ")}`);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function optional<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: string });
}
