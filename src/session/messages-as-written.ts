// The messages of a session file as JSON, taken from its text: what a host shows after a switch need not be made into
// objects and back. Only for conversations that run straight on; everything that is out of the ordinary is left to those
// who read the entries.

import { isAscii, isUtf8 } from "node:buffer";
import { isObject, type JsonObject } from "../base/json.js";
import type { SessionEntry } from "../protocol/entries.js";
import { messageOfEntry } from "./entry-message.js";
import { isBookkeeping } from "./entry-tree.js";
import { lineBeginning, readMessageLine } from "./message-line.js";
import { Flaw, flawOf, maxLineBytes } from "./read-entries.js";

/**
 * The list that `SessionContext.messages` would be, as JSON text in pieces, for a whole file of the current version.
 * Undefined where it cannot be told from the text alone that it is that list.
 */
export function messagesAsWritten(bytes: Buffer): Iterable<string> | undefined {
  const encoding = isAscii(bytes) ? "latin1" : "utf8";
  if (encoding === "utf8" && (!isUtf8(bytes) || lineSeparators.some((separator) => bytes.includes(separator)))) return;
  const places = new Places();
  let leafId: string | null = null;
  // The header, on the first line, has been looked at.
  for (let start = bytes.indexOf(LF) + 1; start < bytes.length; ) {
    const end = endOfBlock(bytes, start);
    if (end <= start || end - start > maxLineBytes) return;
    const block = { bytes, start, end, text: bytes.toString(encoding, start, end) };
    const reached = readBlock(block, leafId, places);
    if (!reached) return;
    leafId = reached.leafId;
    start = end;
  }
  return { [Symbol.iterator]: () => pieces(bytes, encoding, places) };
}

/** Where the messages stand, in bytes. Lists of numbers: an object for each message would be all there is to clear away. */
class Places {
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  /** By their index: those that are not taken from the bytes. */
  readonly others = new Map<number, string>();

  add(start: number, end: number): void {
    this.starts.push(start);
    this.ends.push(end);
  }

  addText(text: string): void {
    this.others.set(this.starts.length, text);
    this.add(0, 0);
  }
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

function* pieces(bytes: Buffer, encoding: BufferEncoding, { starts, ends, others }: Places): Generator<string, void> {
  let text = "[";
  for (let index = 0; index < starts.length; index++) {
    if (index > 0) text += ",";
    text += others.get(index) ?? bytes.toString(encoding, starts[index], ends[index]);
    if (text.length < blockBytes) continue;
    yield text;
    text = "";
  }
  yield `${text}]`;
}

interface Block {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Whole lines. */
  readonly text: string;
}

/** Adds what the lines say. Behind them the conversation goes on from `leafId`. */
function readBlock(
  { bytes, start: blockStart, end: blockEnd, text }: Block,
  before: string | null,
  places: Places,
): { leafId: string | null } | undefined {
  // Where every character is a byte, the places are the same.
  const isPlain = blockEnd - blockStart === text.length;
  let leafId = before;
  let lineAt = blockStart;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const lineEnd = isPlain ? blockStart + end : bytes.indexOf(LF, lineAt);
    const found = end - start > maxPatternLength ? null : plainMessageAt(text, start);
    if (found && plainMessage.lastIndex === end && (found[3] ?? null) === leafId) {
      places.add(lineAt + (found[1] as string).length, lineEnd - 1);
      leafId = found[2] as string;
    } else {
      const line = otherLine(text, start, end);
      if (!line || line.entry.parentId !== leafId) return undefined;
      if (line.message !== undefined) places.addText(line.message);
      if (!isBookkeeping(line.entry)) leafId = line.entry.id;
    }
    start = end + 1;
    lineAt = lineEnd + 1;
  }
  return { leafId };
}

/** A longer text takes a pattern more memory than it is worth. */
const maxPatternLength = 64 * 1024;

/** What stands before the message, the id, and that of its parent unless there is none. */
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

/** Any other line, parsed. Undefined for what changes more than the end of a conversation, or is not sound. */
function otherLine(text: string, start: number, end: number): { entry: SessionEntry; message?: string } | undefined {
  const entry = readMessageLine(text, start, end, "") ?? parse(text.slice(start, end));
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

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // a damaged line is for those who can mend it
  }
}
