// What extensions do for a session: a contract, so that the session need not know how they are found and run. Nothing
// here rejects because of an extension.

import type { ImageContent } from "../protocol/content.js";
import type { SlashCommand } from "../protocol/data.js";
import type { BranchSummaryEntry } from "../protocol/entries.js";
import type { ExtensionError, RpcResponse } from "../protocol/frames.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { ProviderModel } from "../provider/provider.js";
import type { CompactionExtensions, TreePreparation, TreeVerdict } from "./compaction/compaction-extensions.js";
import type { CustomMessageInput } from "./session-messages.js";

/** What a host is told about extensions outside of any run. */
export type ExtensionReport = ExtensionError | RpcResponse;

/** Who said it. */
export type PromptSource = "interactive" | "rpc" | "extension";

export interface InterceptedPrompt {
  readonly text: string;
  readonly images: readonly ImageContent[];
}

export interface InterceptOptions {
  readonly source?: PromptSource;
  /** Fires when the answer is no longer needed. */
  readonly signal: AbortSignal;
  onAccepted(): void;
}

export type SwitchReason = "new" | "resume" | "fork";

/** What is about to happen to the record, and may be prevented. */
export type RequestedChange =
  | { readonly kind: "switch"; readonly reason: SwitchReason; readonly targetSessionFile?: string }
  | { readonly kind: "branch"; readonly entryId: string; readonly position: "before" | "at" };

export type RecordChange =
  | { readonly kind: "switch"; readonly reason: SwitchReason; readonly previousSessionFile: string | undefined }
  | { readonly kind: "branch"; readonly previousSessionFile: string | undefined }
  | {
      readonly kind: "tree";
      readonly newLeafId: string | null;
      readonly oldLeafId: string | null;
      readonly summaryEntry?: BranchSummaryEntry;
    };

export type ModelSelection =
  | {
      readonly type: "model_select";
      readonly model: ProviderModel;
      readonly previousModel: ProviderModel | undefined;
      readonly source: "set" | "cycle" | "restore";
    }
  | { readonly type: "thinking_level_select"; readonly level: ThinkingLevel; readonly previousLevel: ThinkingLevel };

/** What was loaded, in numbers, for a user. */
export interface ExtensionSummary {
  readonly tools: number;
  readonly extensions: number;
  /** Something of the project was left out, because the user has not trusted it. */
  readonly hasUntrusted: boolean;
}

export interface ExtensionShortcut {
  readonly key: string;
  readonly description?: string;
  /** Reports what fails, and never throws. */
  run(): void;
}

export interface ExtensionDrawing {
  /** What draws a call of this tool; undefined where the tool does not draw itself. One for each call. */
  toolRenderer(name: string): object | undefined;
  /** What draws the messages of this type; as it was registered. */
  messageRenderer(customType: string): unknown;
  shortcuts(): readonly ExtensionShortcut[];
}

export interface SessionExtensions {
  summary(): ExtensionSummary;
  /** They are loaded and their tools are there. The first call starts loading. */
  loaded(): Promise<void>;
  /** And the texts that they name are read. */
  textsKnown(): Promise<void>;
  /** They have also been told that the session begins. */
  ready(): Promise<void>;
  /** The session is about to end: from now on no extension gets more time than this. */
  beginShutdown(mostMs: number): void;
  /** One of them could stage something at any moment, whatever its tools say of themselves. */
  readonly mayStage: boolean;
  /** An extension wants to be asked before a prompt is accepted, or may want to once the session has begun. */
  readonly interceptsPrompts: boolean;
  /**
   * Undefined where the prompt was handled: by an extension's command, accepted before it runs, or by an extension that
   * took it, which left nothing to accept.
   */
  intercept(prompt: InterceptedPrompt, options: InterceptOptions): Promise<InterceptedPrompt | undefined>;
  /** Extra messages that a run begins with. */
  beforeRun(
    prompt: InterceptedPrompt & { readonly systemPrompt: string },
    signal: AbortSignal,
  ): Promise<{ readonly messages: readonly CustomMessageInput[]; readonly systemPrompt: string }>;
  /** An extension wants to change what a model call is told. */
  readonly revisesContext: boolean;
  /** Before every model call: what it is told instead. The record keeps the original. */
  reviseContext(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]>;
  prevents(requested: RequestedChange, signal: AbortSignal): Promise<boolean>;
  /** Nothing prevents it any more: the present record is about to be left. */
  leaving(change: RequestedChange): Promise<void>;
  /** Before the session moves to another entry of the tree. */
  beforeTree(preparation: TreePreparation, signal: AbortSignal): Promise<TreeVerdict>;
  /** Undefined while no extension takes part in summaries. */
  readonly compaction: CompactionExtensions | undefined;
  /** Does not wait for them. */
  selected(selected: ModelSelection): void;
  /** The session has another name. Does not wait for them. */
  renamed(name: string | undefined): void;
  /** Another record, or another entry of it, is current now. */
  changed(change: RecordChange): Promise<void>;
  commands(): SlashCommand[];
  /** Themes that they name, for a terminal. */
  readonly themePaths: readonly string[];
  /** For a terminal; undefined until they are loaded. */
  readonly drawing: ExtensionDrawing | undefined;
  /** How to ask the user, with the methods of `ctx.ui` that it has; undefined: it is not possible. Applies at once. */
  setUIContext(ui: object | undefined, hasUI: boolean): void;
  /** Reads them again: removed ones are gone, new ones are there, and all of them start again. */
  reload(): Promise<void>;
  /** The extension in whose files an uncaught error was thrown, if it can be told. */
  blame(error: unknown): string | undefined;
  onReport(listener: (report: ExtensionReport) => void): () => void;
}
