// What went wrong in somebody else's code outside a tool call, as hosts are told.

export interface ToolFailure {
  /** The module. */
  readonly extensionPath: string;
  /** The hook, or `onSession:<reason>`, `renderCall`, `renderResult`, `command`, `shortcut`, `events:<channel>`. */
  readonly event: string;
  readonly error: string;
  /** For a log; hosts are not sent it. */
  readonly stack?: string;
}
