// What modules of others say about a session: a contract, so that the session need not know how they are found and run.
// Nothing here rejects because of a module.

import type { ImageContent } from "../protocol/content.js";
import type { SlashCommand } from "../protocol/data.js";
import type { BranchSummaryEntry } from "../protocol/entries.js";
import type { ExtensionError, RpcResponse } from "../protocol/frames.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { CompactionExtensions, TreePreparation, TreeVerdict } from "./compaction/compaction-extensions.js";
import type { CustomMessageInput } from "./session-messages.js";

/** What a host is told of modules outside of any run. */
export type ExtensionReport = ExtensionError | RpcResponse;

/** Who said it. */
export type PromptSource = "interactive" | "rpc" | "extension";

export interface InterceptedPrompt {
  readonly text: string;
  readonly images: readonly ImageContent[];
}

export interface InterceptOptions {
  readonly source?: PromptSource;
  /** After it nobody waits for the answer. */
  readonly signal: AbortSignal;
  onAccepted(): void;
}

export type SwitchReason = "new" | "resume" | "fork";

/** What is about to happen to the record, and may be prevented. */
export type RecordWish =
  | { readonly kind: "switch"; readonly reason: SwitchReason; readonly targetSessionFile?: string }
  | { readonly kind: "branch"; readonly entryId: string };

/** What has happened to it. */
export type RecordChange =
  | { readonly kind: "switch"; readonly reason: SwitchReason; readonly previousSessionFile: string | undefined }
  | { readonly kind: "branch"; readonly previousSessionFile: string | undefined }
  | {
      readonly kind: "tree";
      readonly newLeafId: string | null;
      readonly oldLeafId: string | null;
      readonly summaryEntry?: BranchSummaryEntry;
    };

export interface SessionExtensions {
  /** They are loaded and their tools are there. The first call begins it. */
  loaded(): Promise<void>;
  /** They also have heard that the session begins. */
  ready(): Promise<void>;
  /** The session is about to end: from now on nobody waits for one of them longer than so. */
  beginShutdown(mostMs: number): void;
  /** One of them could stage something at any moment, whatever its tools say of themselves. */
  readonly mayStage: boolean;
  /** Somebody wants to be asked before a prompt is taken, or may want to once the session has begun. */
  readonly interceptsPrompts: boolean;
  /**
   * Undefined where the prompt was dealt with: a command of theirs, accepted before it runs, or one of them took it,
   * and then nothing was left to accept.
   */
  intercept(prompt: InterceptedPrompt, options: InterceptOptions): Promise<InterceptedPrompt | undefined>;
  /** What a run begins with beside its prompt. */
  beforeRun(
    prompt: InterceptedPrompt & { readonly systemPrompt: string },
    signal: AbortSignal,
  ): Promise<{ readonly messages: readonly CustomMessageInput[]; readonly systemPrompt: string }>;
  /** Somebody wants a say in what a model call is told. */
  readonly revisesContext: boolean;
  /** Before every model call: what it is told instead, which nobody keeps. */
  reviseContext(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]>;
  prevents(wish: RecordWish, signal: AbortSignal): Promise<boolean>;
  /** Before another place of the tree is gone to. */
  beforeTree(preparation: TreePreparation, signal: AbortSignal): Promise<TreeVerdict>;
  /** Undefined while nobody has a word on summaries. */
  readonly compaction: CompactionExtensions | undefined;
  changed(change: RecordChange): Promise<void>;
  commands(): SlashCommand[];
  /** Who can ask a person, with the methods of `ctx.ui` that it has; undefined: nobody. Counts from now on. */
  setUIContext(ui: object | undefined, hasUI: boolean): void;
  /** Reads them anew: what was taken away is gone, what was added is there, and those that are there begin again. */
  reload(): Promise<void>;
  /** The one in whose files an error came up that nobody caught, if it can be told. */
  blame(error: unknown): string | undefined;
  onReport(listener: (report: ExtensionReport) => void): () => void;
}
