// The one error of the client. `kind` is closed and says how the call ended; `code` is any code that the agent sent, an
// open set, which is why this is no GalleyError.

export type RpcErrorKind =
  | "refused" // the agent answered with a failure
  | "late" // a prompt was accepted and then could not start
  | "timeout" // no answer before the deadline of the call; the agent may still do it
  | "aborted" // the caller's signal fired; the agent may still do it
  | "exited" // the agent's process ended
  | "stopped" // stop() was called, or the agent was never started
  | "start_failed"
  | "protocol" // the agent wrote something that is no frame, or that answers nothing
  | "overflow" // a reader or the agent is too slow for what waits for it
  | "listener"; // a listener or handler of the host threw; `cause` is what it threw

export interface RpcErrorFields {
  command?: string | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  exitCode?: number | null | undefined;
  cause?: unknown;
}

export class RpcError extends Error {
  readonly kind: RpcErrorKind;
  /** The command that failed, `start`, or what else was going on. */
  declare readonly command: string | undefined;
  /** The agent's error code, where it sent one. */
  declare readonly code: string | undefined;
  declare readonly requestId: string | undefined;
  declare readonly exitCode: number | null | undefined;

  constructor(kind: RpcErrorKind, message: string, fields: RpcErrorFields = {}) {
    super(message);
    this.name = "RpcError";
    this.kind = kind;
    Object.assign(this, fields);
  }

  static is(error: unknown, kind: RpcErrorKind): error is RpcError {
    return error instanceof RpcError && error.kind === kind;
  }
}
