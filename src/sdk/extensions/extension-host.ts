// The session as extensions see it: views for tools, and what extensions may do besides.

import { isSettingKey } from "../../config/settings/schema.js";
import type { Settings } from "../../config/settings/settings.js";
import type { ToolHost } from "../../extensions/api/custom-tool-context.js";
import { readonlySession } from "../../extensions/api/custom-tool-session.js";
import type { ExtensionHost } from "../../extensions/api/extension.js";
import type {
  ChangeOptions,
  ContextHost,
  ExtensionCommandContext,
  SessionChange,
} from "../../extensions/api/extension-context.js";
import type { SourceInfo } from "../../extensions/api/source-info.js";
import type { AgentSession } from "../../session/agent-session.js";
import { textAndImages } from "../../session/session-messages.js";
import { type ModelRegistryViewDeps, modelRegistryView } from "../pi-modules/model-registry-view.js";
import { piModel } from "../pi-modules/pi-model.js";

export interface ExtensionHostDeps
  extends Pick<ContextHost, "mode" | "isProjectTrusted" | "shutdown">,
    ModelRegistryViewDeps {
  readonly session: AgentSession;
  readonly settings: Settings;
  /** For commands, of the extensions that are live now. */
  commandContext(): ExtensionCommandContext | undefined;
  /** Where a tool comes from. */
  sourceOf(tool: string): SourceInfo;
  /** An extension registered another tool. */
  toolsChanged(): void;
  /** An extension wants all extensions to be loaded again. */
  reload(): Promise<void>;
}

export function createToolHost({ session, models, settings, providers, functions }: ExtensionHostDeps): ToolHost {
  return {
    cwd: session.cwd,
    sessionManager: readonlySession(() => session.sessionManager),
    modelRegistry: modelRegistryView({ models, providers, functions }),
    get model() {
      return session.model && piModel(session.model);
    },
    pending: {
      list: () => session.pendingActions,
      get hasPending() {
        return session.pendingActionCount > 0;
      },
    },
    settings: { get: (key) => (isSettingKey(key) ? settings.get(key) : undefined) },
    isIdle: () => !session.isStreaming,
    hasQueuedMessages: () => session.queuedMessageCount > 0,
    abort: () => void session.abort(),
  };
}

export function createExtensionHost(deps: ExtensionHostDeps): ExtensionHost {
  const { session, mode } = deps;
  const goneOn = async (change: SessionChange, { withSession }: ChangeOptions = {}) => {
    const ctx = change.cancelled ? undefined : deps.commandContext();
    if (ctx) await withSession?.(Object.assign(ctx, { sendMessage, sendUserMessage }));
    return change;
  };
  const sendMessage: ExtensionHost["sendMessage"] = (message, options) => session.sendCustomMessage(message, options);
  const sendUserMessage: ExtensionHost["sendUserMessage"] = (content, { deliverAs } = {}) => {
    const { text, images } = textAndImages(content);
    const behaviour = deliverAs ? { streamingBehavior: deliverAs } : {};
    return session.prompt(text, { images, source: "extension", ...behaviour });
  };
  return {
    ...createToolHost(deps),
    get model() {
      return session.model && piModel(session.model); // copying the members above has read it once
    },
    get signal() {
      return session.signal;
    },
    get thinkingLevel() {
      return session.thinkingLevel ?? "off";
    },
    get scopedModels() {
      return (deps.models.scope ?? []).map(({ model, ...choice }) => ({ ...choice, model: piModel(model) }));
    },
    mode,
    secrets: session.secrets,
    shutdown: () => deps.shutdown(),
    getContextUsage: () => session.getContextUsage(),
    compact: (customInstructions) => session.compact(customInstructions),
    getSystemPrompt: () => session.systemPrompt,
    isProjectTrusted: () => deps.isProjectTrusted(),
    waitForIdle: () => session.waitForIdle(),
    async newSession({ setup, withSession, ...options }) {
      const cancelled = !(await session.newSession(options));
      if (!cancelled) await setup?.(session.sessionManager);
      return goneOn({ cancelled }, { withSession });
    },
    switchSession: async (path, options) => goneOn({ cancelled: !(await session.switchSession(path)) }, options),
    branch: async (entryId, options) => goneOn({ cancelled: (await session.branch(entryId)).cancelled }, options),
    navigateTree: async (entryId, options) => ({ cancelled: (await session.navigateTree(entryId, options)).cancelled }),
    reload: () => deps.reload(),
    sendMessage,
    sendUserMessage,
    appendEntry: (customType, data) => void session.sessionManager.append({ type: "custom", customType, data }),
    getCommands: () => session.getCommands(),
    getActiveTools: () => session.getActiveToolNames(),
    getAllTools: () => session.allTools.map((tool) => ({ ...tool, sourceInfo: deps.sourceOf(tool.name) })),
    setActiveTools: (names) => session.setActiveToolsByName(names),
    getSessionName: () => session.sessionName,
    setSessionName: (name) => session.setSessionName(name),
    setLabel: (entryId, label) => session.setLabel(entryId, label),
    setModel: (provider, modelId) => session.setModel(provider, modelId),
    getThinkingLevel: () => session.thinkingLevel ?? "off",
    setThinkingLevel: (level) => session.setThinkingLevel(level),
    toolsChanged: () => deps.toolsChanged(),
    registerProvider: (...args) => deps.providers.register(...args),
    unregisterProvider: (...args) => deps.providers.unregister(...args),
  };
}
