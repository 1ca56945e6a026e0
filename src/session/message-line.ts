// A line of a session file that holds a message, read without parsing what stands around it: that is a third of the work
// of opening a long session. Only lines in the one form that this program and its kin write are known here.

import { type JsonObject, parseObject } from "../base/json.js";

export interface MessageLine {
  type: "message";
  id: string;
  parentId: string | null;
  timestamp: string;
  message: JsonObject;
}

/** Plain characters only, so that each text means itself. */
const word = String.raw`[!#-[\]-~]{1,64}`;
/** What stands before the message. It holds the id, that of the parent unless there is none, and the time. */
export const lineBeginning = `\\{"type":"message","id":"(${word})","parentId":(?:null|"(${word})"),"timestamp":"(${word})","message":(?=\\{)`;
const beginning = new RegExp(lineBeginning, "y");

/**
 * The entry that stands in `text` from `start` up to `end`, member by member what `JSON.parse` makes of it. Undefined for
 * every other line, be it sound or not. `before`: the id of the entry on the line before.
 */
export function readMessageLine(text: string, start: number, end: number, before: string): MessageLine | undefined {
  beginning.lastIndex = start;
  const found = beginning.exec(text);
  const messageAt = beginning.lastIndex;
  if (!found || messageAt >= end || text.charCodeAt(end - 1) !== closingBrace) return undefined;
  // What stands here is a whole value: then so is the line around it, and nothing else is in it.
  const message = parseObject(text.slice(messageAt, end - 1));
  if (!message) return undefined;
  // By their places: taking the list apart in one go costs as much as the search, as long as it runs cold.
  const parentId = found[2];
  return {
    type: "message",
    id: ownCopy(found[1] as string),
    parentId: parentId === undefined ? null : parentId === before ? before : ownCopy(parentId),
    timestamp: ownCopy(found[3] as string),
    message,
  };
}

const closingBrace = 0x7d;

/** V8 makes a longer part of a text a view of the whole, which would keep a megabyte alive for each of them. */
export function ownCopy(part: string): string {
  return part.length < shortestView ? part : scratch.toString("latin1", 0, scratch.write(part, "latin1"));
}

const shortestView = 13;
const scratch = Buffer.alloc(64);
