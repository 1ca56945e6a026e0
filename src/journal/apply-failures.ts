// The errors of an apply. Each names the file and the cause.

import { GalleyError, messageOf, systemCode } from "../base/errors.js";

/** Puts the name before the system's error code. The innermost name wins; a GalleyError stays as it is. */
export async function failingFor<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NamedFailure || error instanceof ForeignChange || error instanceof GalleyError) throw error;
    throw new NamedFailure(`${name}: ${systemCode(error) ?? messageOf(error)}`, error);
  }
}

class NamedFailure extends Error {
  readonly code: string | undefined;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.code = systemCode(cause);
  }
}

/** Another program changed a file during the apply. */
export class ForeignChange extends Error {
  constructor(shownPath: string) {
    super(`${shownPath}: another program changed it`);
  }
}

export function ignoring(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (codes.includes(systemCode(error) ?? "")) return undefined;
    throw error;
  };
}

/** The errors of file systems without hard links. */
export const noLinkCodes = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Only for use before anything is written. */
export function refusal(shownPath: string, reason: string, cause?: unknown): GalleyError {
  return new GalleyError("apply_failed", `Apply failed: ${shownPath}: ${reason}. Nothing was written.`, { cause });
}

export function staleError(files: readonly string[], total: number): GalleyError {
  const sentence = `${files.length} of ${total} files changed since the preview (${files.slice(0, 5).join(", ")}).`;
  return new GalleyError("stale_preview", sentence, { details: { files: [...files], total } });
}

/** For any failure before the commit: the targets are untouched. */
export function untouchedError(error: unknown): GalleyError {
  if (error instanceof GalleyError && error.code !== "file_refused") return error;
  return new GalleyError("apply_failed", `Apply failed: ${messageOf(error)}. All files were restored.`, {
    cause: error,
  });
}

/** The journal stays; nothing is guessed. */
export function recoveryNeeded(cause: unknown): GalleyError {
  return new GalleyError("apply_failed", `Recovery needed: ${messageOf(cause)}`, { cause });
}
