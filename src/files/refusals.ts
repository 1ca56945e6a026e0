// The errors of a workspace that refuses or fails.

import { GalleyError, messageOf, systemCode } from "../base/errors.js";
import { quoted } from "./paths/resolve-path.js";

export function refusal(shownPath: string, reason: string): GalleyError {
  return new GalleyError("file_refused", `Refused to open ${quoted(shownPath)}: ${reason}.`);
}

export function cannotOpen(shownPath: string, error: unknown): GalleyError {
  if (error instanceof GalleyError) return error;
  return new GalleyError("file_refused", `Cannot open ${quoted(shownPath)}: ${systemReason(error)}.`, { cause: error });
}

export function cannotWrite(shownPath: string, reason: string, cause?: unknown): GalleyError {
  return new GalleyError("file_refused", `Cannot write ${shownPath}: ${reason}.`, { cause });
}

/** A failed write, with its cause. */
export function writeFailure(shownPath: string, error: unknown): GalleyError {
  return error instanceof GalleyError ? error : cannotWrite(shownPath, systemReason(error), error);
}

/** Another program moved a parent directory or replaced it by a link. */
export function parentChanged(shownPath: string): GalleyError {
  return cannotWrite(shownPath, "a parent directory changed meanwhile");
}

/** The new file is written; a power failure may still lose its name. */
export function notLasting(shownPath: string, error: unknown): GalleyError {
  return new GalleyError(
    "file_refused",
    `Wrote ${shownPath}, but it may not outlast a power failure: ${systemReason(error)}.`,
    { cause: error },
  );
}

/** Without it the change could not be undone, so it is not made. */
export function notKept(shownPaths: string, error: unknown): GalleyError {
  return cannotWrite(shownPaths, `what undo needs could not be kept: ${systemReason(error)}`, error);
}

export function fileChanged(shownPath: string): GalleyError {
  return new GalleyError("file_changed", `File changed since it was last read: ${shownPath}. Read it again.`);
}

/** `undefined` if the path does not exist; rethrows any other failure. For use in `catch`. */
export function ifAbsent(error: unknown): undefined {
  if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
  throw error;
}

const reasons: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "too many symbolic links",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EBUSY: "something is mounted there",
};

function systemReason(error: unknown): string {
  const code = systemCode(error);
  return (code && reasons[code]) ?? code ?? messageOf(error);
}
