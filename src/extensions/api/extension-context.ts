// `ctx`: what an extension may know and do while it is called. Every member asks the session when it is used, so that a
// context which an extension kept is never out of date.

import type { InputContent } from "../../protocol/content.js";
import type { ContextUsage } from "../../protocol/data.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import type { SendCustomOptions } from "../../session/queue-message.js";
import type { CustomMessageInput } from "../../session/session-messages.js";
import { runAsHost } from "../load/load-guard.js";
import type { CustomToolContext, ToolHost } from "./custom-tool-context.js";
import type { LiveUI } from "./custom-tool-ui.js";

/** What the session provides beside what it provides to tools. */
export interface ContextHost extends ToolHost {
  /** `interactive`, `rpc`, `print` or `json`. */
  readonly mode: string;
  /** Of the run that is active. */
  readonly signal: AbortSignal | undefined;
  /** The program ends when it has nothing left to do. */
  shutdown(): void;
  readonly thinkingLevel: ThinkingLevel;
  /** What cycling is limited to; empty: nothing is. */
  readonly scopedModels: readonly { readonly model: unknown; readonly thinkingLevel?: ThinkingLevel | undefined }[];
  getContextUsage(): ContextUsage | undefined;
  compact(customInstructions?: string): Promise<unknown>;
  getSystemPrompt(): string;
  isProjectTrusted(): boolean;
}

/** What only a command may do: inside an event it would wait for itself. */
export interface CommandHost {
  waitForIdle(): Promise<void>;
  newSession(options: NewSessionOptions): Promise<SessionChange>;
  switchSession(path: string, options?: ChangeOptions): Promise<SessionChange>;
  branch(entryId: string, options?: ChangeOptions): Promise<SessionChange>;
  navigateTree(entryId: string, options: { summarize?: boolean; customInstructions?: string }): Promise<SessionChange>;
  /** Reads the extensions again. */
  reload(): Promise<void>;
}

/** What extensions say in the conversation. */
export interface SendHost {
  sendMessage(message: CustomMessageInput, options?: SendCustomOptions): Promise<void>;
  sendUserMessage(
    content: string | readonly InputContent[],
    options?: { deliverAs?: "steer" | "followUp" },
  ): Promise<void>;
}

export interface ChangeOptions {
  /** Goes on in the other conversation, with a context of the extensions there: this one is over by then. */
  withSession?(ctx: ExtensionCommandContext & SendHost): Promise<void> | void;
}

export interface NewSessionOptions extends ChangeOptions {
  parentSession?: string;
  /** Fills the new session before anything else happens in it. */
  setup?(session: unknown): Promise<void> | void;
}

export interface SessionChange {
  readonly cancelled: boolean;
}

export interface CompactOptions {
  customInstructions?: string;
  onComplete?(result: unknown): void;
  onError?(error: Error): void;
}

export interface ExtensionContext extends CustomToolContext, Omit<ContextHost, keyof ToolHost | "compact"> {
  /** With options the caller need not wait: its callbacks are told of the end. */
  compact(request?: string | CompactOptions): Promise<void>;
}

export interface ExtensionCommandContext extends ExtensionContext, CommandHost {
  newSession(options?: NewSessionOptions): Promise<SessionChange>;
  navigateTree(entryId: string, options?: { summarize?: boolean; customInstructions?: string }): Promise<SessionChange>;
  /** Another name for `branch`. */
  fork(entryId: string, options?: ChangeOptions): Promise<SessionChange>;
}

export interface ContextDeps<Host = ContextHost> {
  readonly cwd: string;
  readonly live: LiveUI;
  /** Throws before there is a session. */
  host(): Host;
}

export function createExtensionContext(
  { cwd, live, host }: ContextDeps,
  call: { toolCallId?: string; signal?: AbortSignal | undefined } = {},
): ExtensionContext {
  const ask = <Result>(question: (host: ContextHost) => Result): Result => runAsHost(() => question(host()));
  return {
    cwd,
    ui: live.ui,
    get hasUI() {
      return live.hasUI;
    },
    toolCallId: call.toolCallId,
    get signal() {
      return call.signal ?? ask(({ signal }) => signal);
    },
    get mode() {
      return ask(({ mode }) => mode);
    },
    get sessionManager() {
      return ask(({ sessionManager }) => sessionManager);
    },
    get modelRegistry() {
      return ask(({ modelRegistry }) => modelRegistry);
    },
    get model() {
      return ask(({ model }) => model);
    },
    get thinkingLevel() {
      return ask(({ thinkingLevel }) => thinkingLevel);
    },
    get scopedModels() {
      return ask(({ scopedModels }) => scopedModels);
    },
    get pending() {
      return ask(({ pending }) => pending);
    },
    get settings() {
      return ask(({ settings }) => settings);
    },
    isIdle: () => ask((session) => session.isIdle()),
    hasQueuedMessages: () => ask((session) => session.hasQueuedMessages()),
    hasPendingMessages: () => ask((session) => session.hasQueuedMessages()),
    abort: () => ask((session) => session.abort()),
    shutdown: () => ask((session) => session.shutdown()),
    getContextUsage: () => ask((session) => session.getContextUsage()),
    getSystemPrompt: () => ask((session) => session.getSystemPrompt()),
    isProjectTrusted: () => ask((session) => session.isProjectTrusted()),
    compact: (request) => compacted(request, (instructions) => ask((session) => session.compact(instructions))),
  };
}

export function createCommandContext(deps: ContextDeps<ContextHost & CommandHost>): ExtensionCommandContext {
  const ask = <Result>(question: (host: CommandHost) => Result): Result => runAsHost(() => question(deps.host()));
  const branch: CommandHost["branch"] = (...args) => ask((session) => session.branch(...args));
  return Object.assign(createExtensionContext(deps), {
    waitForIdle: () => ask((session) => session.waitForIdle()),
    newSession: (options: NewSessionOptions = {}) => ask((session) => session.newSession(options)),
    switchSession: (...args: Parameters<CommandHost["switchSession"]>) =>
      ask((session) => session.switchSession(...args)),
    branch,
    fork: branch,
    navigateTree: (entryId: string, options = {}) => ask((session) => session.navigateTree(entryId, options)),
    reload: () => ask((session) => session.reload()),
  });
}

/** The caller need not wait for it, so a failure without a waiting caller is no uncaught error. */
function compacted(
  request: string | CompactOptions | undefined,
  compact: (customInstructions?: string) => Promise<unknown>,
): Promise<void> {
  const done = runCompaction(request, compact);
  done.catch(() => {}); // a caller that waits gets the error
  return done;
}

async function runCompaction(
  request: string | CompactOptions | undefined,
  compact: (customInstructions?: string) => Promise<unknown>,
): Promise<void> {
  const options = typeof request === "string" ? { customInstructions: request } : (request ?? {});
  const { customInstructions, onComplete, onError } = options as CompactOptions;
  let result: unknown;
  try {
    result = await compact(customInstructions);
  } catch (error) {
    if (!onError) throw error;
    onError(error as Error);
    return;
  }
  onComplete?.(result);
}
