// A session file that holds a conversation which runs straight on, told from its text: one pattern proves most lines
// sound, and what a host shows after a switch need not be made into objects and back. Everything out of the ordinary is
// left to those who read the entries one by one.

import { isAscii, isUtf8 } from "node:buffer";
import { parseObject } from "../base/json.js";
import type { MessageEntry, SessionEntry } from "../protocol/entries.js";
import { messageOfEntry } from "./entry-message.js";
import { isBookkeeping } from "./entry-tree.js";
import type { LinkedEntries } from "./link-entries.js";
import { lineBeginning, ownCopy, readMessageLine } from "./message-line.js";
import { Flaw, flawOf, maxLineBytes } from "./read-entries.js";

/** For a whole file of the current version. Undefined where its text alone does not prove that it is one. */
export function findPlainConversation(bytes: Buffer): PlainConversation | undefined {
  const encoding = isAscii(bytes) ? "latin1" : "utf8";
  if (encoding === "utf8" && (!isUtf8(bytes) || lineSeparators.some((separator) => bytes.includes(separator)))) return;
  const conversation = new PlainConversation(bytes, encoding);
  // The header, on the first line, has been looked at.
  for (let start = bytes.indexOf(LF) + 1; start < bytes.length; ) {
    const end = endOfBlock(bytes, start);
    if (end <= start || end - start > maxLineBytes || !conversation.readBlock(start, end)) return;
    start = end;
  }
  return conversation;
}

const LF = 0x0a;
/** So short that V8 makes no object of its own kind of it: the memory for those is new each time. */
const blockBytes = 64 * 1024;
/** Which some readers of lines take for the end of one: they would have to be written in another way. */
const lineSeparators = ["\u0085", "\u2028", "\u2029"].map((separator) => Buffer.from(separator));

/** Behind the last line that ends within a block, or that is longer than one. */
function endOfBlock(bytes: Buffer, start: number): number {
  const last = bytes.lastIndexOf(LF, start + blockBytes - 1);
  return (last >= start ? last : bytes.indexOf(LF, start)) + 1;
}

export class PlainConversation {
  readonly #bytes: Buffer;
  readonly #encoding: "latin1" | "utf8";
  // One of each for every line. Lists of plain values: an object for each line would be all there is to clear away.
  readonly #ids: string[] = [];
  readonly #times: string[] = [];
  /** Of the message, in bytes. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** By the index of their line: those that are not told from the bytes. */
  readonly #others = new Map<number, OtherLine>();
  #leafId: string | null = null;

  constructor(bytes: Buffer, encoding: "latin1" | "utf8") {
    this.#bytes = bytes;
    this.#encoding = encoding;
  }

  /** The list that `SessionContext.messages` would be, as JSON text in pieces. */
  *messages(): Generator<string, void> {
    let text = "[";
    let isFirst = true;
    for (let index = 0; index < this.#ids.length; index++) {
      const other = this.#others.get(index);
      if (other && other.message === undefined) continue;
      if (!isFirst) text += ",";
      isFirst = false;
      text += other?.message ?? this.#textOf(index);
      if (text.length < blockBytes) continue;
      yield text;
      text = "";
    }
    yield `${text}]`;
  }

  /** All of them; each message is fit for use as it is and holds no image. Undefined where an id is there twice. */
  entries(): LinkedEntries | undefined {
    const entries: SessionEntry[] = [];
    const indexById = new Map<string, number>();
    let parentId: string | null = null;
    for (let index = 0; index < this.#ids.length; index++) {
      const entry: SessionEntry = this.#others.get(index)?.entry ?? this.#messageEntry(index, parentId);
      indexById.set(entry.id, index);
      entries.push(entry);
      if (!isBookkeeping(entry)) parentId = entry.id;
    }
    return indexById.size < entries.length ? undefined : { entries, indexById };
  }

  /** Whole lines. False where something is out of the ordinary. */
  readBlock(blockStart: number, blockEnd: number): boolean {
    const text = this.#bytes.toString(this.#encoding, blockStart, blockEnd);
    // Where every character is a byte, the places are the same.
    const isPlain = blockEnd - blockStart === text.length;
    let lineAt = blockStart;
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf("\n", start);
      const lineEnd = isPlain ? blockStart + end : this.#bytes.indexOf(LF, lineAt);
      const found = end - start > maxPatternLength ? null : plainMessageAt(text, start);
      if (found && plainMessage.lastIndex === end && (found[3] ?? null) === this.#leafId)
        this.#add(found, lineAt, lineEnd);
      else if (!this.#addOther(otherLine(text, start, end))) return false;
      start = end + 1;
      lineAt = lineEnd + 1;
    }
    return true;
  }

  #add(found: RegExpExecArray, lineAt: number, lineEnd: number): void {
    this.#leafId = ownCopy(found[2] as string);
    this.#ids.push(this.#leafId);
    this.#times.push(ownCopy(found[4] as string));
    this.#starts.push(lineAt + (found[1] as string).length);
    this.#ends.push(lineEnd - 1);
  }

  #addOther(line: OtherLine | undefined): boolean {
    if (!line || line.entry.parentId !== this.#leafId) return false;
    this.#others.set(this.#ids.length, line);
    this.#ids.push(line.entry.id);
    this.#times.push("");
    this.#starts.push(0);
    this.#ends.push(0);
    if (!isBookkeeping(line.entry)) this.#leafId = line.entry.id;
    return true;
  }

  #messageEntry(index: number, parentId: string | null): MessageEntry {
    const [id, timestamp] = [this.#ids[index] as string, this.#times[index] as string];
    return { type: "message", id, parentId, timestamp, message: JSON.parse(this.#textOf(index)) };
  }

  #textOf(index: number): string {
    return this.#bytes.toString(this.#encoding, this.#starts[index], this.#ends[index]);
  }
}

/** A longer text takes a pattern more memory than it is worth. */
const maxPatternLength = 64 * 1024;

/** What stands before the message, the id, that of its parent unless there is none, and the time. */
function plainMessageAt(text: string, start: number): RegExpExecArray | null {
  plainMessage.lastIndex = start;
  return plainMessage.exec(text);
}

const string = String.raw`"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"`;
/** None that a number here could not hold to the digit. */
const number = String.raw`(?:0|[1-9]\d{0,14})(?:\.\d{1,20})?(?:e-\d{1,2})?`;
const content = `"content":\\[\\{"type":"text","text":${string}\\}\\]`;
const figures = `"input":${number},"output":${number},"cacheRead":${number},"cacheWrite":${number}`;
const usage = `"usage":\\{${figures},"totalTokens":${number},"cost":\\{${figures},"total":${number}\\}\\}`;
const names = `"api":${string},"provider":${string},"model":${string}`;
const stopReason = '"stopReason":"(?:stop|length|toolUse|error|aborted)"';
const time = `"timestamp":${number}`;
const user = `\\{"role":"user",${content},(?:"attribution":"(?:user|agent)",)?${time}\\}`;
const assistant = `\\{"role":"assistant",${content},${names},${usage},${stopReason},${time}\\}`;

/**
 * A line with a message of text, as it is written by this program and its kin, member by member: what it matches is whole,
 * sound and in need of no mending. Any other order is another line.
 */
const plainMessage = new RegExp(`(${lineBeginning})(?:${user}|${assistant})\\}`, "y");

interface OtherLine {
  readonly entry: SessionEntry;
  /** Its message as JSON, if it is one. */
  readonly message?: string;
}

/** Any other line, parsed. Undefined for what changes more than the end of a conversation, or is not sound. */
function otherLine(text: string, start: number, end: number): OtherLine | undefined {
  const entry = readMessageLine(text, start, end, "") ?? parseObject(text.slice(start, end));
  if (!entry || typeof entry.id !== "string" || entry.id === "" || typeof entry.timestamp !== "string")
    return undefined;
  if (typeof entry.type !== "string" || flawOf(entry, 1) !== Flaw.none) return undefined;
  const known = entry as object as SessionEntry;
  if (known.type === "message") {
    const fit = messageOfEntry(known);
    if (!fit || fit !== known.message) return undefined; // it has to be mended first
    const message = JSON.stringify(fit);
    return message.includes('"type":"image"') ? undefined : { entry: known, message }; // which may lie elsewhere
  }
  return quietTypes.has(known.type) ? { entry: known } : undefined;
}

/** Entries that are no message and take none away. */
const quietTypes: ReadonlySet<string> = new Set<SessionEntry["type"]>([
  "model_change",
  "thinking_level_change",
  "service_tier_change",
  "custom",
  "label",
  "ttsr_injection",
  "mcp_tool_selection",
  "session_init",
  "mode_change",
  "session_info",
]);
