// What the author of an extension reads when its code throws: the line that says where, and the stack, once for every
// place in the code. A place that fails again is one line.

import type { Log } from "../../base/log.js";
import type { ToolFailure } from "./custom-tool-failure.js";

/** By log, because a log belongs to one session. */
const places = new WeakMap<Log, Set<string>>();
const maxPlaces = 1000;

/** `line` names the extension, what it was doing, and the message. */
export function logFailure(log: Log, line: string, { stack = "" }: Pick<ToolFailure, "stack">): void {
  const frames = framesOf(stack);
  const place = frames.split("\n", 1)[0] as string;
  const known = places.get(log) ?? new Set();
  places.set(log, known);
  if (place === "" || known.has(place) || known.size >= maxPlaces) return log.warn(line);
  known.add(place);
  log.error(line, frames);
}

/** Without the message, which the line has, and without our own frames, which begin where we call the extension. */
function framesOf(stack: string): string {
  const at = stack.search(/^ {4}at /m);
  if (at < 0) return "";
  const frames = stack.slice(at).trimEnd();
  const end = frames.search(/\n {4}at (?:async )?AsyncLocalStorage\.run /);
  return end < 0 ? frames : frames.slice(0, end);
}
