// What modules of others say about a session: a contract, so that the session need not know how they are found and run.
// Nothing here rejects because of a module.

import type { ImageContent } from "../protocol/content.js";
import type { SlashCommand } from "../protocol/data.js";
import type { ExtensionError, RpcResponse } from "../protocol/frames.js";
import type { CustomMessageInput } from "./session-messages.js";

/** What a host is told of modules outside of any run. */
export type GuestReport = ExtensionError | RpcResponse;

/** Who said it. */
export type PromptSource = "interactive" | "rpc" | "extension";

export interface HeardPrompt {
  readonly text: string;
  readonly images: readonly ImageContent[];
}

/** What is about to happen to the record, and may be prevented. */
export type RecordWish =
  | { readonly kind: "switch"; readonly reason: "new" | "resume"; readonly targetSessionFile?: string }
  | { readonly kind: "branch"; readonly entryId: string };

/** What has happened to it. */
export type RecordChange =
  | { readonly kind: "switch"; readonly reason: "new" | "resume"; readonly previousSessionFile: string | undefined }
  | { readonly kind: "branch"; readonly previousSessionFile: string | undefined }
  | { readonly kind: "tree"; readonly newLeafId: string | null; readonly oldLeafId: string | null };

export interface SessionGuests {
  /** They are loaded and their tools are there. The first call begins it. */
  ready(): Promise<void>;
  /** Somebody wants to be asked before a prompt is taken. */
  readonly hearsPrompts: boolean;
  /** Undefined where the prompt was dealt with: a command of theirs, or one of them took it. */
  hear(prompt: HeardPrompt, options: { source?: PromptSource; onAccepted(): void }): Promise<HeardPrompt | undefined>;
  /** What a run begins with beside its prompt. */
  beforeRun(
    prompt: HeardPrompt & { readonly systemPrompt: string },
  ): Promise<{ readonly messages: readonly CustomMessageInput[]; readonly systemPrompt: string }>;
  prevents(wish: RecordWish): Promise<boolean>;
  changed(change: RecordChange): Promise<void>;
  commands(): SlashCommand[];
  onReport(listener: (report: GuestReport) => void): () => void;
}
