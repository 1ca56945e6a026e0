// What went wrong in an extension's code outside a tool call, as hosts are told.

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

/** The extension's own error: its text may be endless, and even reading it may fail. */
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

/** What we say about an extension's code. Our own stack would tell its author nothing. */
export function complaint(sentence: string): Error {
  const error = new Error(sentence);
  error.stack = "";
  return error;
}

/** Whether it was thrown in the module, or in a file beside it if the module has a directory of its own. */
export function cameFrom(thrown: unknown, realPath: string): boolean {
  const { stack = "" } = failureOf(thrown);
  return stack.includes(realPath) || (/[\\/]index\.\w+$/.test(realPath) && stack.includes(dirname(realPath) + sep));
}
