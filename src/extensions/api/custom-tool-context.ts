// `ctx`: what a tool may know about the session during one call. Everything is a view; the only things it can do are
// ask for an abort, and store a long output as an artifact.

import type { SessionEntry, SessionHeader } from "../../protocol/entries.js";
import type { PendingAction } from "../../protocol/pending.js";
import type { EntryNode } from "../../record/entry-tree.js";
import { runAsHost } from "../load/load-guard.js";
import type { LiveUI, ToolUI } from "./custom-tool-ui.js";

export interface ReadonlySession {
  getCwd(): string;
  getSessionDir(): string | undefined;
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getSessionName(): string | undefined;
  getEntries(): SessionEntry[];
  /** From the root to the entry, or to the leaf. */
  getBranch(entryId?: string): SessionEntry[];
  getEntry(id: string): SessionEntry | undefined;
  getLeafId(): string | null;
  getLeafEntry(): SessionEntry | undefined;
  getLabel(entryId: string): string | undefined;
  getHeader(): SessionHeader;
  getTree(): EntryNode[];
  getArtifactsDir(): string | undefined;
  /** Returns the id: the model is told `artifact://<id>`. */
  saveArtifact(text: string, toolName?: string): Promise<string>;
  getUsageStatistics(): unknown;
}

export interface ModelRegistryView {
  find(provider: string, modelId: string): unknown;
  /** With those of services without a key. */
  getAll(): readonly unknown[];
  getAvailable(): readonly unknown[];
  getApiKey(model: unknown): Promise<string | undefined>;
  getApiKeyAndHeaders(
    model: unknown,
  ): Promise<{ ok: true; apiKey: string | undefined; headers: Record<string, string> } | { ok: false; error: string }>;
  getApiKeyForProvider(provider: string): Promise<string | undefined>;
  hasConfiguredAuth(model: unknown): boolean;
  /** galley keeps keys only. */
  isUsingOAuth(model: unknown): boolean;
  getProviderAuth(provider: string): Promise<{ auth: { apiKey: string } } | undefined>;
  getProviderAuthStatus(provider: string): { configured: boolean };
  getProvider(provider: string): object | undefined;
  getProviderDisplayName(provider: string): string;
  /** Of the models file; galley says it at its start. */
  getError(): undefined;
  /** Reads stored keys again, and asks the providers of extensions for their models. */
  refresh(): Promise<{ aborted: boolean; errors: ReadonlyMap<string, Error> }>;
  /** Over the provider, with its key. */
  stream(model: unknown, context: unknown, options?: unknown): unknown;
  streamSimple(model: unknown, context: unknown, options?: unknown): unknown;
  complete(model: unknown, context: unknown, options?: unknown): Promise<unknown>;
  /** As `pi.registerProvider`, which should be preferred: it waits until loading is over. */
  registerProvider(given: unknown, config?: unknown): void;
  unregisterProvider(name: string): void;
  getRegisteredProviderConfig(name: string): unknown;
  getRegisteredProviderIds(): readonly string[];
}

/** What the session provides. Every member is read again for every call. */
export interface ToolHost {
  readonly cwd: string;
  readonly sessionManager: ReadonlySession;
  readonly modelRegistry: ModelRegistryView;
  readonly model: { readonly id: string; readonly provider: string } | undefined;
  readonly pending: { list(): readonly Readonly<PendingAction>[]; readonly hasPending: boolean };
  readonly settings?: { get(key: string): unknown };
  isIdle(): boolean;
  hasQueuedMessages(): boolean;
  /** Does not wait for the end. */
  abort(): void;
}

export interface CustomToolContext extends Omit<ToolHost, "settings"> {
  readonly settings?: { get(key: string): unknown } | undefined;
  readonly ui: ToolUI;
  readonly hasUI: boolean;
  readonly signal: AbortSignal | undefined;
  readonly toolCallId: string | undefined;
  hasPendingMessages(): boolean;
}

export function createToolContext(
  host: ToolHost,
  live: LiveUI,
  call: { toolCallId?: string; signal?: AbortSignal | undefined } = {},
): CustomToolContext {
  const { pending, settings } = host;
  return {
    cwd: host.cwd,
    sessionManager: host.sessionManager,
    modelRegistry: host.modelRegistry,
    model: host.model,
    settings,
    pending,
    ui: live.ui,
    get hasUI() {
      return live.hasUI;
    },
    signal: call.signal,
    toolCallId: call.toolCallId,
    isIdle: () => host.isIdle(),
    hasQueuedMessages: () => host.hasQueuedMessages(),
    hasPendingMessages: () => host.hasQueuedMessages(),
    abort: () => runAsHost(() => host.abort()),
  };
}
