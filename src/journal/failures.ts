// How a step of an apply fails: with the name of what it was about and the system's word for it.

import { GalleyError, messageOf, systemCode } from "../base/errors.js";

/** Puts the name before the system's word. The innermost name stays; a sentence of ours stays as it is. */
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

/** Somebody else's bytes are where ours, or the ones we knew, should be. */
export class ForeignChange extends Error {
  constructor(shownPath: string) {
    super(`${shownPath}: somebody else changed it`);
  }
}

export function ignoring(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (codes.includes(systemCode(error) ?? "")) return undefined;
    throw error;
  };
}

/** What a file system answers that knows no second names. */
export const noLinkCodes = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Before anything is written. */
export function refusal(shownPath: string, reason: string, cause?: unknown): GalleyError {
  return new GalleyError("apply_failed", `Apply failed: ${shownPath}: ${reason}. Nothing was written.`, { cause });
}

export function staleError(files: readonly string[], total: number): GalleyError {
  const sentence = `${files.length} of ${total} files changed since the preview (${files.slice(0, 5).join(", ")}).`;
  return new GalleyError("stale_preview", sentence, { details: { files: [...files], total } });
}

/** A sentence for whatever stopped us before the commit: the targets are as they were. */
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
