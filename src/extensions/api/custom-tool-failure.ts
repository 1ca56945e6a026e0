// What went wrong in somebody else's code outside a tool call, as hosts are told.

import { dirname, sep } from "node:path";
import { messageOf } from "../../base/errors.js";

export interface ToolFailure {
  /** The module. */
  readonly extensionPath: string;
  /** The hook, or `onSession:<reason>`, `renderCall`, `renderResult`, `command`, `shortcut`, `events:<channel>`. */
  readonly event: string;
  readonly error: string;
  /** For a log; hosts are not sent it. */
  readonly stack?: string;
}

const maxSentence = 4000;

/** Somebody else's words: they may be endless, and even asking for them may fail. */
export function failureOf(thrown: unknown): Pick<ToolFailure, "error" | "stack"> {
  try {
    const error = messageOf(thrown);
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    const short = error.length > maxSentence ? `${error.slice(0, maxSentence)}…` : error;
    return { error: short, ...(typeof stack === "string" ? { stack } : {}) };
  } catch {
    return { error: "it threw something that cannot be read" };
  }
}

/** Whether it came up in the module, or in a file beside it if the module has a directory of its own. */
export function cameFrom(thrown: unknown, realPath: string): boolean {
  const { stack = "" } = failureOf(thrown);
  return stack.includes(realPath) || (/[\\/]index\.\w+$/.test(realPath) && stack.includes(dirname(realPath) + sep));
}
