// The extension contract: what a module exports, and what it is given. The names and the order of arguments are those
// that published extensions were written for.

import { GalleyError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import type { TextMask } from "../../base/text-mask.js";
import type { InputContent } from "../../protocol/content.js";
import type { SlashCommand } from "../../protocol/data.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import type { SendCustomOptions } from "../../session/queue-message.js";
import type { CustomMessageInput } from "../../session/session-messages.js";
import type { AnyTool } from "../../tools/tool.js";
import type { HookAnswers, HookEvent, HookName } from "../hooks/hooks.js";
import type { CustomTool, CustomToolAPI, CustomToolResult } from "./custom-tool.js";
import type { CommandDefinition } from "./extension-commands.js";
import type { CommandHost, ContextHost, ExtensionContext, SendHost } from "./extension-context.js";
import type { ExtensionOrigin } from "./extension-origin.js";
import type { SourceInfo } from "./source-info.js";

/** A module's default export. It registers; actions on the session come later. */
export type ExtensionFactory = (pi: ExtensionAPI) => unknown;

type AnswerTo<Type extends string> = Type extends keyof HookAnswers ? HookAnswers[Type] | undefined | void : unknown;

export type ExtensionHandler<Event extends { readonly type: string } = never> = (
  event: Event,
  ctx: ExtensionContext,
) => AnswerTo<Event["type"]> | Promise<AnswerTo<Event["type"]>>;

type SessionEventOf<Type> = Extract<AgentSessionEvent, { type: Type }>;

export interface ExtensionAPI extends Pick<CustomToolAPI, "cwd" | "exec" | "logger" | "typebox" | "zod" | "pi"> {
  /** Returns what ends it. An unknown name is accepted: a newer galley may have the event. */
  on<Name extends HookName>(name: Name, handler: ExtensionHandler<HookEvent<Name>>): () => void;
  on<Type extends AgentSessionEvent["type"]>(name: Type, handler: ExtensionHandler<SessionEventOf<Type>>): () => void;
  // biome-ignore lint/suspicious/noExplicitAny: nothing is known of an event that we do not have
  on(name: string, handler: (event: any, ctx: ExtensionContext) => unknown): () => void;

  /** Applies from the next model call on. Throws for a tool that cannot be used. */
  // biome-ignore lint/suspicious/noExplicitAny: what a schema of another library describes is known only there
  registerTool(tool: ToolDefinition<any, any>): void;
  registerCommand(name: string, definition: CommandDefinition): void;
  registerFlag(name: string, definition: FlagDefinition): void;
  /** What the command line said, or the default. Undefined for a flag of another extension. */
  getFlag(name: string): boolean | string | undefined;
  registerShortcut(key: string, definition: ShortcutDefinition): void;
  /** Draws custom messages of this type in a terminal. */
  registerMessageRenderer(customType: string, renderer: unknown): void;
  /** Accepted from packages of pi; nothing is drawn with it. */
  registerEntryRenderer(customType: string, renderer: unknown): void;
  /** Accepted from packages of pi; nothing is changed by it. */
  registerMarkdownTransformer(transformer: unknown): void;
  /** Draws what a model thinks in a terminal. */
  registerAssistantThinkingRenderer(renderer: unknown): void;

  /**
   * Adds models behind one of our APIs, or behind a function of its own. Takes effect when loading is over. What cannot be used
   * is reported and left out.
   */
  registerProvider(name: string, config: object): void;
  registerProvider(provider: { readonly id: string }): void;
  unregisterProvider(name: string): void;

  sendMessage(message: CustomMessageInput, options?: SendCustomOptions): void;
  sendUserMessage(content: string | readonly InputContent[], options?: { deliverAs?: "steer" | "followUp" }): void;
  /** Kept in the session file, never shown to the model. */
  appendEntry(customType: string, data?: unknown): void;
  getActiveTools(): string[];
  getAllTools(): ToolInfo[];
  /** As hosts list them: commands of extensions, skills and prompts. */
  getCommands(): SlashCommand[];
  setActiveTools(names: readonly string[]): void;
  getSessionName(): string | undefined;
  setSessionName(name: string): void;
  /** What the extension is called in lists. */
  setLabel(label: string): void;
  /** A bookmark on an entry; without a label, the existing one is removed. */
  setLabel(entryId: string, label: string | undefined): void;
  /** False where the model is not known or has no key. */
  setModel(model: { readonly provider: string; readonly id: string }): Promise<boolean>;
  getThinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel | undefined): void;
  readonly events: {
    on(channel: string, handler: (data: unknown) => void): () => void;
    emit(channel: string, data?: unknown): void;
  };
}

export type ToolInfo = Pick<AnyTool, "name" | "description" | "parameters" | "promptGuidelines"> & {
  readonly sourceInfo: SourceInfo;
};

/** As a custom tool, but `execute` takes its arguments in another order. */
// biome-ignore lint/suspicious/noExplicitAny: what a schema of another library describes is known only there
export interface ToolDefinition<Params = any, Details = any>
  extends Omit<CustomTool<Params, Details>, "execute" | "onSession"> {
  /** Offered only when it is switched on. */
  defaultInactive?: boolean;
  /** A line for the system prompt, and rules of use. */
  promptSnippet?: string;
  promptGuidelines?: string[];
  /** Before the arguments are checked. */
  prepareArguments?(args: Record<string, unknown>): Record<string, unknown>;
  execute(
    toolCallId: string,
    params: Params,
    signal: AbortSignal | undefined,
    onUpdate: ((partial: CustomToolResult<Details>) => void) | undefined,
    ctx: ExtensionContext,
  ): Promise<CustomToolResult<Details>>;
}

export interface FlagDefinition {
  type: "boolean" | "string";
  default?: boolean | string;
  description?: string;
}

export interface ShortcutDefinition {
  description?: string;
  handler(ctx: ExtensionContext): unknown;
}

/** What an extension may say about models. */
export interface ProviderHost {
  /** Throws a sentence for the author of the extension. */
  registerProvider(owner: ExtensionOrigin, name: string, config: JsonObject): void;
  unregisterProvider(owner: ExtensionOrigin, name: string): void;
}

/** The session, as far as extensions reach it. */
export interface ExtensionHost
  extends ContextHost,
    ProviderHost,
    CommandHost,
    SendHost,
    Pick<
      ExtensionAPI,
      | "appendEntry"
      | "getCommands"
      | "getActiveTools"
      | "setActiveTools"
      | "getSessionName"
      | "setSessionName"
      | "getThinkingLevel"
      | "setThinkingLevel"
    > {
  /** What events do not show. */
  readonly secrets?: TextMask;
  getAllTools(): readonly ToolInfo[];
  setLabel(entryId: string, label?: string): void;
  setModel(provider: string, modelId: string): unknown;
  /** An extension registered a tool after it was loaded. */
  toolsChanged(): void;
}

const tooEarlyText = "Extension runtime not initialized. Action methods cannot be called during extension loading.";
const tooLateText =
  "This extension was reloaded, or its session has ended. Objects it kept from before no longer work.";

const otherConversationText = "This extension belongs to a conversation that has ended.";

/** Before there is a session, and after it is gone or about another conversation. */
export class ExtensionRuntimeNotInitializedError extends GalleyError {
  constructor(end?: "over" | "other_conversation") {
    const late = end === "over" ? tooLateText : otherConversationText;
    super("unsupported", end === undefined ? tooEarlyText : late);
    this.name = "ExtensionRuntimeNotInitializedError";
  }
}
