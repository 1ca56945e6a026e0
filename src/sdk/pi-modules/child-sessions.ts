// `createAgentSession` as modules of pi call it: a session inside the one that the extension is in. Promises: it may do no more than
// that one; its calls pass the same guards and the same policy, and its requests are counted with the others.

import { resolve } from "node:path";
import { messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import type { Settings } from "../../config/settings/settings.js";
import type { ToolHooks } from "../../loop/run.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { ModelRegistry } from "../../provider/models/model-registry.js";
import type { ProviderModel, StreamFunction } from "../../provider/provider.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { AccessControl } from "../../session/agent-session-deps.js";
import type { ApprovalPolicy } from "../../session/approval.js";
import type { ModelSource } from "../../session/models/model-source.js";
import { entryOf } from "../../session/session-messages.js";
import { accessModes } from "../access/access-mode.js";
import type { CreateAgentSessionOptions } from "../session-options.js";
import { piModel } from "./pi-model.js";
import { piSessionManager, recordOf } from "./pi-session-manager.js";
import { fromLoader } from "./resource-loader.js";
import { meantBy } from "./session-managers.js";

export interface ChildSessionsDeps {
  readonly cwd: string;
  readonly agentDir: string;
  readonly settings: Settings;
  readonly models: ModelSource;
  /** That of the session, which counts. */
  readonly stream: StreamFunction;
  create(options: CreateAgentSessionOptions): Promise<{ session: AgentSession; modelFallbackMessage?: string }>;
  session(): AgentSession;
  /** What holds for calls of the session. */
  held(): {
    around(own: ToolHooks): ToolHooks;
    readonly approve: ApprovalPolicy | undefined;
    readonly access: AccessControl;
    readonly allowsTool: CreateAgentSessionOptions["allowsTool"];
  };
  /** The names of the built-in tools. */
  builtIns(): readonly string[];
}

/** Options of pi that galley's own `createAgentSession` does not have. */
const piOptions = [
  ...["tools", "noTools", "excludeTools", "resourceLoader", "settingsManager", "modelRuntime", "sessionStartEvent"],
];

const readingTools = ["read", "grep", "find", "ls", "ast_grep"];

export function childSessions(deps: ChildSessionsDeps) {
  return async (given: JsonObject = {}) => {
    const options = { ...usual(deps, given), ...translated(deps, given), ...heldBy(deps, given) };
    const made = await deps.create(options as CreateAgentSessionOptions);
    return { ...made, session: piSession(made.session, given), extensionsResult: { extensions: [], errors: [] } };
  };
}

/** What it has of the session around it, unless the module says otherwise. */
function usual(deps: ChildSessionsDeps, given: JsonObject): Partial<CreateAgentSessionOptions> {
  const hasOwnKeys = [given.streamFn, given.apiKey, given.authStorage].some((one) => one !== undefined);
  const isOwn = hasOwnKeys || given.modelRegistry instanceof ModelRegistry;
  return {
    cwd: deps.cwd,
    agentDir: deps.agentDir,
    settings: deps.settings,
    model: isOwn ? undefined : deps.session().model,
    streamFn: isOwn ? undefined : streamWithKeysOf(deps),
    disableExtensionDiscovery: true,
  };
}

/** What holds whatever the module says: it may only be stricter. */
function heldBy(
  { held }: ChildSessionsDeps,
  given: Partial<CreateAgentSessionOptions>,
): Partial<CreateAgentSessionOptions> {
  const { around, approve, access } = held();
  const modes = [access.mode, given.access].filter((mode) => mode !== undefined && mode !== "custom");
  return {
    hooks: around(given.hooks ?? {}),
    access: accessModes.find((mode) => modes.includes(mode)),
    async approve(request) {
      return (await approve?.(request)) ?? given.approve?.(request);
    },
  };
}

function translated(deps: ChildSessionsDeps, given: JsonObject): JsonObject {
  const names = new Set(piOptions);
  const own = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !names.has(name) && value !== undefined),
  );
  const cwd = resolve(deps.cwd, typeof given.cwd === "string" ? given.cwd : ".");
  const { sessionManager, modelRegistry } = own;
  const meant = isObject(sessionManager) ? meantBy(sessionManager) : undefined;
  return {
    ...fromLoader(given.resourceLoader),
    ...own,
    ...toolsOf(deps, given),
    cwd: meant?.cwd ?? cwd,
    // A view of the models, as `ctx` has one, is that of the session anyway.
    modelRegistry: modelRegistry instanceof ModelRegistry ? modelRegistry : undefined,
    sessionManager: isObject(sessionManager) && !meant ? recordOf(sessionManager) : undefined,
    ...(meant && { persist: true, resume: meant.resume, sessionDir: meant.sessionDir }),
  };
}

/** Where every change waits for review, the user is not shown what a child stages: there it only reads. */
function toolsOf({ builtIns, held }: ChildSessionsDeps, given: JsonObject): JsonObject {
  const { toolNames, tools = toolNames, noTools, excludeTools } = given;
  const listed = Array.isArray(tools) ? tools : undefined;
  const objects = listed?.filter(isObject) ?? [];
  const wanted = listed?.map((tool) => (isObject(tool) ? tool.name : tool));
  const excluded = new Set(Array.isArray(excludeTools) ? excludeTools : []);
  const { access, allowsTool } = held();
  const isReviewed = access.staging === "all";
  const allows = (name: string) =>
    (wanted?.includes(name) ?? noTools !== "all") &&
    !excluded.has(name) &&
    (allowsTool?.(name) ?? true) &&
    (!isReviewed || readingTools.includes(name));
  const usual = wanted ?? (noTools === undefined ? ["read", "bash", "edit", "write"] : []);
  const own = new Set(objects.map(({ name }) => name));
  return {
    toolNames: builtIns().filter((name) => usual.includes(name) && !own.has(name) && allows(name)),
    allowsTool: allows,
    ...(objects.length > 0 ? { customTools: objects, overrideBuiltins: true } : {}),
  };
}

/** The session's own way to its models: its keys, its providers, its budget. */
function streamWithKeysOf({ models, stream }: ChildSessionsDeps): StreamFunction {
  return async function* (request) {
    const { model, options } = request;
    try {
      const [apiKey, headers] = await Promise.all([models.apiKeyFor(model), models.headersFor(model)]);
      const keys = { apiKey: options.apiKey ?? apiKey, headers: { ...headers, ...options.headers } };
      yield* stream({ ...request, options: { ...options, ...keys } });
    } catch (error) {
      yield { type: "error", reason: "error", errorMessage: messageOf(error) };
    }
  };
}

/** With the members that modules of pi use besides ours. */
function piSession(session: AgentSession, { modelRegistry, settingsManager, resourceLoader }: JsonObject): object {
  const state = {
    get messages() {
      return [...session.messages];
    },
    /** For a session that has none yet. */
    set messages(messages: AgentMessage[]) {
      for (const message of messages) session.sessionManager.append(entryOf(message));
    },
    get model() {
      return session.model && piModel(session.model);
    },
    get thinkingLevel() {
      return session.thinkingLevel ?? "off";
    },
    get systemPrompt() {
      return session.systemPrompt;
    },
    get tools() {
      return session.tools;
    },
    get isStreaming() {
      return session.isStreaming;
    },
  };
  const agent = {
    state,
    abort: () => void session.abort(),
    waitForIdle: () => session.waitForIdle(),
    subscribe: session.subscribe.bind(session),
  };
  const added: JsonObject = {
    agent,
    state,
    modelRegistry,
    settingsManager,
    resourceLoader,
    sessionManager: piSessionManager(session.sessionManager),
    setModel: async (model: ProviderModel | string, id?: string) =>
      typeof model === "string" ? session.setModel(model, String(id)) : session.setModel(model.provider, model.id),
    async bindExtensions({ onError }: { onError?: (failure: object) => void } = {}) {
      session.onReport((report) => {
        if (report.type === "extension_error") onError?.(report);
      });
      await session.whenReady();
    },
    async reload() {
      await session.reloadModules();
    },
  };
  return new Proxy(session, {
    get(target, name) {
      if (typeof name === "string" && Object.hasOwn(added, name)) return added[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    has: (target, name) => (typeof name === "string" && Object.hasOwn(added, name)) || Reflect.has(target, name),
  });
}
