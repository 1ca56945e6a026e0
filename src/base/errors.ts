// The one error class. Callers branch on `code`, people read `message`; `details` is JSON-safe data for hosts.

export type ErrorCode =
  | "aborted" // the user or the host asked us to stop
  | "apply_failed" // a change set could not be written; the sentence says what was restored
  | "busy" // a run is active and the caller did not say how to queue
  | "cannot_continue" // nothing in the context to continue from
  | "depends" // an apply would also write other pending actions; `details.actions` names them
  | "disconnected" // the other end of the pipe is gone
  | "file_changed" // what is on disk is not what the caller saw
  | "file_refused" // a path or file the workspace will not open
  | "invalid_argument" // a caller passed something outside the contract
  | "invalid_config" // a configuration file says something we cannot use
  | "invalid_frame" // an inbound line that is not a frame
  | "limit" // the session's budget is used up
  | "model_not_found"
  | "no_credential"
  | "no_model"
  | "not_found" // a file or an entry that is not there
  | "pending_unavailable" // a preview was pushed where nothing can hold it
  | "protected" // an apply would change protected paths without the user's word; `details.files` names them
  | "revision_mismatch" // the pending action is not as the caller saw it
  | "script_mismatch" // a scripted model or server was asked for something else
  | "session_missing" // there is no session file at the path
  | "session_busy" // the conversation is changing, and the answer would not hold
  | "stale_cursor" // the list that a page belongs to has changed
  | "stale_preview" // files changed since they were previewed; `details.files` names them where they are known
  | "start_failed" // the program cannot start as asked
  | "timeout"
  | "tool_failed" // the text is for the model
  | "unknown_price" // a budget in dollars cannot hold for this model
  | "unknown_since" // the session does not have the entry to continue from
  | "unsupported" // a known thing that this build cannot do
  | "usage"; // the command line is wrong

export class GalleyError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: Record<string, unknown> } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "GalleyError";
    this.code = code;
    this.details = options.details;
  }

  static is(error: unknown, code: ErrorCode): error is GalleyError {
    return error instanceof GalleyError && error.code === code;
  }
}

/** The message of a thrown value of any type. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === "string") return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown); // a cycle or a hostile toJSON: the plain form is all there is
  }
}

/** The system's error code (`ENOENT`), if the thrown value has one. */
export function systemCode(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
