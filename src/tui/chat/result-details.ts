// What the tools of ours tell about a change in the details of their result. The details are data of tools: nothing in them is
// taken for granted.

export interface ResultDetails {
  readonly diff?: unknown;
  readonly patch?: unknown;
  readonly created?: unknown;
  readonly pendingId?: unknown;
  readonly totalReplacements?: unknown;
  readonly filesTouched?: unknown;
  readonly filesSearched?: unknown;
  readonly scopePath?: unknown;
}

export function detailsOf(result: { readonly details?: unknown } | undefined): ResultDetails {
  const details = result?.details;
  return typeof details === "object" && details !== null ? details : {};
}

/** The id of what the call has staged. */
export function pendingIdOf(result: { readonly details?: unknown } | undefined): string | undefined {
  const { pendingId } = detailsOf(result);
  return typeof pendingId === "string" ? pendingId : undefined;
}
