// The one place where the parts are joined. Provide a part to override it, omit it to have it discovered. There are
// no globals: two sessions with different directories in one process do not know of each other.

import { type Clock, systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { type Ids, randomIds } from "../base/ids.js";
import { type Log, silentLog } from "../base/log.js";
import type { ToolHooks } from "../loop/run.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { Environment } from "../provider/credentials.js";
import { chooseInitialModel, type InitialModel } from "../provider/initial-model.js";
import type { ModelRegistry } from "../provider/model-registry.js";
import type { ProviderModel, StreamFunction } from "../provider/provider.js";
import { streamByApi } from "../provider/stream-by-api.js";
import { AgentSession } from "../session/agent-session.js";
import type { ModelSource } from "../session/model-source.js";
import type { SessionManager, SessionManagerOptions } from "../session/session-manager.js";
import type { StreamRule } from "../session/ttsr/rule.js";
import { createBuiltInTools } from "../tools/index.js";
import type { AnyTool } from "../tools/tool.js";
import { createNodeWorkspace } from "../workspace/node-workspace.js";
import type { Workspace } from "../workspace/workspace.js";
import { agentDirectory } from "./agent-directory.js";
import { discoverEnvironment, discoverRules, discoverSettings } from "./discover.js";
import { loadModelRegistry } from "./load-models.js";
import { type OpenedRecord, openRecord, type Resume } from "./open-record.js";
import { sessionSettingsOf } from "./session-settings.js";
import type { Assignment } from "./settings/assignment.js";
import type { Settings } from "./settings/settings.js";
import { defaultSystemPrompt } from "./system-prompt.js";

export interface CreateAgentSessionOptions {
  cwd?: string;
  agentDir?: string;
  env?: Environment;
  /** A model object, when the caller has one; else `provider` and `modelPattern` select. */
  model?: ProviderModel;
  provider?: string;
  modelPattern?: string;
  /** A key for the chosen model's provider, for this session only. */
  apiKey?: string;
  thinkingLevel?: ThinkingLevel;
  /** Replaces the default prompt, or is made from it. */
  systemPrompt?: string | ((standard: string) => string);
  /** The built-in tools that are active; default all. */
  toolNames?: readonly string[];
  /** Always active. */
  customTools?: readonly AnyTool[];
  hooks?: ToolHooks;
  /** Replaces the provider layer (tests, proxies), and with it the question of keys. */
  streamFn?: StreamFunction;
  modelRegistry?: ModelRegistry;
  workspace?: Workspace;
  /** Keep the session in a file below the agent directory, or in `sessionDir`; default: in memory only. */
  persist?: boolean;
  sessionDir?: string;
  /** Begin with an earlier session instead of a new one. */
  resume?: Resume;
  /** A record that is already open. */
  sessionManager?: SessionManager;
  /** Default: the user's and the project's files, with `assignments` on top. */
  settings?: Settings;
  /** What the command line says about settings. */
  assignments?: readonly Assignment[];
  /** Workflow settings as they come built in, whatever the files say: programs that drive us rely on them. */
  resetWorkflowSettings?: boolean;
  /** Stream rules; default: those in the user's configuration directories. */
  loadRules?: () => Promise<readonly StreamRule[]>;
  /** For the jitter of retries. */
  random?: () => number;
  clock?: Clock;
  ids?: Ids;
  log?: Log;
}

export interface CreateAgentSessionResult {
  session: AgentSession;
  /** The record was left with a model that cannot be had now. */
  modelFallbackMessage?: string;
}

/** Throws `model_not_found` or `invalid_config` when the named model cannot be had, `not_found` for an unknown tool. */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> {
  const { cwd = process.cwd(), clock = systemClock, ids = randomIds, log = silentLog } = options;
  const agentDir = options.agentDir ?? agentDirectory(options.env ?? process.env);
  const env = options.env ?? discoverEnvironment({ cwd, agentDir, log });
  const settings = options.settings ?? (await discoverSettings({ cwd, agentDir, log }, options));
  const workspace = options.workspace ?? createNodeWorkspace({ cwd, agentDir });
  const { models, model, thinkingLevel } = await findModel(options, {
    agentDir,
    env,
    settings,
    log,
  });
  const opened = await openRecords(options, settings, { cwd, agentDir, clock, ids, log });
  const session = new AgentSession({
    ...opened,
    cwd,
    clock,
    log,
    models: options.streamFn ? withoutKeys(models) : models,
    stream: options.streamFn ?? streamByApi,
    createTools: (own) => [
      ...selectTools(
        createBuiltInTools({ ...own, workspace, isPersistent: options.persist ?? false }),
        options.toolNames,
      ),
      ...(options.customTools ?? []),
    ],
    ...(options.hooks ? { hooks: options.hooks } : {}),
    systemPrompt: (active) => {
      const standard = defaultSystemPrompt({ cwd, tools: active });
      const { systemPrompt = standard } = options;
      return typeof systemPrompt === "string" ? systemPrompt : systemPrompt(standard);
    },
    model,
    thinkingLevel: options.thinkingLevel ?? thinkingLevel ?? settings.get("defaultThinkingLevel"),
    settings: sessionSettingsOf(settings),
    loadRules: options.loadRules ?? (() => discoverRules({ cwd, agentDir, log }, env)),
    ...(options.random ? { random: options.random } : {}),
  });
  // A model that was named wins over the one the record was left with.
  const isNamed = options.model ?? options.provider ?? options.modelPattern;
  const modelFallbackMessage = isNamed === undefined ? session.restoreModel() : undefined;
  return { session, ...(modelFallbackMessage === undefined ? {} : { modelFallbackMessage }) };
}

async function openRecords(
  options: CreateAgentSessionOptions,
  settings: Settings,
  places: { cwd: string; agentDir: string; clock: Clock; ids: Ids; log: Log },
): Promise<OpenedRecord> {
  const directory = options.sessionDir ?? settings.get("sessionDir");
  const where: SessionManagerOptions = { ...places, ...(directory === undefined ? {} : { directory }) };
  const { persist = false, resume, sessionManager } = options;
  const opened = await openRecord(where, { persist, resume: sessionManager ? undefined : resume });
  return sessionManager ? { ...opened, record: sessionManager } : opened;
}

function selectTools(builtIn: readonly AnyTool[], names?: readonly string[]): readonly AnyTool[] {
  if (!names) return builtIn;
  return names.map((name) => {
    const tool = builtIn.find((candidate) => candidate.name === name);
    const known = builtIn.map((candidate) => candidate.name).join(", ");
    if (!tool) throw new GalleyError("not_found", `Unknown tool "${name}". Built-in tools: ${known}.`);
    return tool;
  });
}

/** Whoever brings the provider layer brings the keys. */
function withoutKeys(models: ModelSource): ModelSource {
  return {
    available: () => models.available(),
    find: (provider, modelId) => models.find(provider, modelId),
    hasCredential: () => true,
    apiKeyFor: async () => undefined,
    headersFor: async () => ({}),
  };
}

interface Chosen {
  models: ModelRegistry;
  model: ProviderModel | undefined;
  thinkingLevel?: ThinkingLevel | undefined;
}

async function findModel(
  options: CreateAgentSessionOptions,
  { settings, ...places }: { agentDir: string; env: Environment; settings: Settings; log: Log },
): Promise<Chosen> {
  const disabledProviders = settings.get("disabledProviders");
  const models = options.modelRegistry ?? (await loadModelRegistry({ ...places, disabledProviders }));
  const { provider, modelPattern } = options;
  const isNamed = provider !== undefined || modelPattern !== undefined;
  const preferred = isNamed ? undefined : configuredModel(models, settings.get("modelRoles").default, places.log);
  const chosen = options.model
    ? { model: options.model }
    : (preferred ??
      chooseInitialModel(models, {
        ...(provider === undefined ? {} : { provider }),
        ...(modelPattern === undefined ? {} : { model: modelPattern }),
      }));
  if (options.apiKey !== undefined && chosen.model) models.setRuntimeApiKey(chosen.model.provider, options.apiKey);
  return { models, model: chosen.model, ...("thinkingLevel" in chosen ? { thinkingLevel: chosen.thinkingLevel } : {}) };
}

/** The user's own choice, if it can be had; else the next in the order, and a line that says so. */
function configuredModel(models: ModelRegistry, pattern: string | undefined, log: Log): InitialModel | undefined {
  const found = pattern === undefined ? undefined : models.select(pattern);
  if (found && models.hasCredential(found.model)) return found;
  if (pattern !== undefined) log.warn(`modelRoles.default: ${pattern} cannot be used now`);
  return undefined;
}
