// The one place where the parts are joined. Provide a part to override it, omit it to have it discovered. There are
// no globals: two sessions with different directories in one process do not know of each other.

import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { type Ids, randomIds } from "../base/ids.js";
import { type Log, silentLog } from "../base/log.js";
import type { ToolHooks } from "../loop/run.js";
import type { ThinkingLevel } from "../protocol/model.js";
import { chooseInitialModel } from "../provider/initial-model.js";
import type { ModelRegistry } from "../provider/model-registry.js";
import type { ProviderModel, StreamFunction } from "../provider/provider.js";
import { streamByApi } from "../provider/stream-by-api.js";
import { AgentSession } from "../session/agent-session.js";
import type { ModelSource } from "../session/model-source.js";
import { SessionManager, type SessionManagerOptions } from "../session/session-manager.js";
import type { SessionRecords } from "../session/session-record.js";
import type { SessionSettings } from "../session/session-settings.js";
import { createBuiltInTools } from "../tools/index.js";
import type { AnyTool } from "../tools/tool.js";
import { createNodeWorkspace } from "../workspace/node-workspace.js";
import type { Workspace } from "../workspace/workspace.js";
import { agentDirectory } from "./agent-directory.js";
import { loadModelRegistry } from "./load-models.js";
import { defaultSystemPrompt } from "./system-prompt.js";

export interface CreateAgentSessionOptions {
  cwd?: string;
  agentDir?: string;
  env?: NodeJS.ProcessEnv;
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
  /** A record that is already open. */
  sessionManager?: SessionManager;
  /** Retry and compaction; default the built-in values. */
  settings?: SessionSettings;
  /** For the jitter of retries. */
  random?: () => number;
  clock?: Clock;
  ids?: Ids;
  log?: Log;
}

export interface CreateAgentSessionResult {
  session: AgentSession;
}

/** Throws `model_not_found` or `invalid_config` when the named model cannot be had, `not_found` for an unknown tool. */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> {
  const { cwd = process.cwd(), env = process.env, clock = systemClock, ids = randomIds, log = silentLog } = options;
  const agentDir = options.agentDir ?? agentDirectory(env);
  const workspace = options.workspace ?? createNodeWorkspace({ cwd, agentDir });
  const builtIn = selectTools(createBuiltInTools(workspace), options.toolNames);
  const { models, model, thinkingLevel } = await findModel(options, { agentDir, env, log });
  const session = new AgentSession({
    ...openRecords(options, { cwd, agentDir, clock, ids, log }),
    cwd,
    clock,
    log,
    models: options.streamFn ? withoutKeys(models) : models,
    stream: options.streamFn ?? streamByApi,
    tools: [...builtIn, ...(options.customTools ?? [])],
    ...(options.hooks ? { hooks: options.hooks } : {}),
    systemPrompt: (active) => {
      const standard = defaultSystemPrompt({ cwd, tools: active });
      const { systemPrompt = standard } = options;
      return typeof systemPrompt === "string" ? systemPrompt : systemPrompt(standard);
    },
    model,
    thinkingLevel: options.thinkingLevel ?? thinkingLevel,
    ...(options.settings ? { settings: options.settings } : {}),
    ...(options.random ? { random: options.random } : {}),
  });
  return { session };
}

/** On the disk below the agent directory, or only in memory. */
function openRecords(
  options: CreateAgentSessionOptions,
  places: { cwd: string; agentDir: string; clock: Clock; ids: Ids; log: Log },
): { record: SessionManager; records: SessionRecords } {
  const { cwd } = places;
  const directory = options.sessionDir;
  const where: SessionManagerOptions = { ...places, ...(directory === undefined ? {} : { directory }) };
  const records: SessionRecords = {
    create: (origin) =>
      options.persist ? SessionManager.create(where, origin) : SessionManager.inMemory(where, origin),
    open: (path) => SessionManager.open(resolve(cwd, path), where),
  };
  return { record: options.sessionManager ?? records.create({}), records };
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
  places: { agentDir: string; env: NodeJS.ProcessEnv; log: Log },
): Promise<Chosen> {
  const models = options.modelRegistry ?? (await loadModelRegistry(places));
  const { provider, modelPattern } = options;
  const chosen = options.model
    ? { model: options.model }
    : chooseInitialModel(models, {
        ...(provider === undefined ? {} : { provider }),
        ...(modelPattern === undefined ? {} : { model: modelPattern }),
      });
  if (options.apiKey !== undefined && chosen.model) models.setRuntimeApiKey(chosen.model.provider, options.apiKey);
  return { models, model: chosen.model, ...("thinkingLevel" in chosen ? { thinkingLevel: chosen.thinkingLevel } : {}) };
}
