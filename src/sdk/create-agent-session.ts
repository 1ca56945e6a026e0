// The one place where the parts are joined. Provide a part to override it, omit it to have it discovered. There are
// no globals: two sessions with different directories in one process do not know of each other.

import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { type Ids, randomIds } from "../base/ids.js";
import { type Log, silentLog } from "../base/log.js";
import type { ToolHooks } from "../loop/run.js";
import type { Environment } from "../provider/credentials.js";
import type { StreamFunction } from "../provider/provider.js";
import { streamByApi } from "../provider/stream-by-api.js";
import { AgentSession } from "../session/agent-session.js";
import type { ApprovalPolicy } from "../session/approval.js";
import type { PlanHands } from "../session/pending/plan-hands.js";
import type { SessionManager, SessionManagerOptions } from "../session/session-manager.js";
import type { StreamRule } from "../session/ttsr/rule.js";
import { createBuiltInTools } from "../tools/index.js";
import { createResolve } from "../tools/resolve.js";
import type { AnyTool } from "../tools/tool.js";
import { createUndo } from "../tools/undo.js";
import { findWritableRoot } from "../workspace/find-roots.js";
import type { Processes } from "../workspace/processes.js";
import type { Permit, Workspace } from "../workspace/workspace.js";
import { agentDirectory } from "./agent-directory.js";
import { refuseComingOptions } from "./coming-options.js";
import { type ContextFile, findContextFiles } from "./context-files.js";
import { discoverEnvironment, discoverRules, discoverSettings } from "./discover.js";
import { variable } from "./environment.js";
import type { ModuleOptions } from "./load-session-modules.js";
import { type OpenedRecord, openRecord, type Resume } from "./open-record.js";
import { createPlanHands } from "./plan-hands.js";
import { readPromptFiles } from "./prompt-files.js";
import { selectTools } from "./select-tools.js";
import { createHands, toolSettingsOf } from "./session-hands.js";
import { findSessionModels, type ModelOptions, withoutKeys } from "./session-models.js";
import { findSessionModules } from "./session-modules.js";
import { sessionSettingsOf } from "./session-settings.js";
import type { Assignment } from "./settings/assignment.js";
import type { Settings } from "./settings/settings.js";
import { stagingOf } from "./staging.js";
import { withStagingPolicy } from "./staging-policy.js";
import { defaultSystemPrompt, withContextFiles } from "./system-prompt.js";

/** For a command that the user or the host runs. */
const userCommandSeconds = 300;

export interface CreateAgentSessionOptions extends ModelOptions, ModuleOptions {
  cwd?: string;
  agentDir?: string;
  env?: Environment;
  /** Replaces the default prompt, or is made from it. */
  systemPrompt?: string | ((standard: string) => string);
  /** What the model is told of the user's and the project's wishes; default: found on disk. They follow the prompt. */
  contextFiles?: readonly ContextFile[];
  /** The built-in tools that are active; default: those that the settings leave on. */
  toolNames?: readonly string[];
  /** Always active. */
  customTools?: readonly AnyTool[];
  hooks?: ToolHooks;
  /** Do not wait for custom tools and extensions: `session.whenReady()` does, and a prompt. */
  deferModules?: boolean;
  /** What extensions are told of who drives the session; default `print`. */
  mode?: "interactive" | "rpc" | "print" | "json";
  /** An extension wants the program to end; default: it does not. */
  onShutdownRequest?: () => void;
  /** Replaces the provider layer (tests, proxies), and with it the question of keys. */
  streamFn?: StreamFunction;
  workspace?: Workspace;
  /** What starts programs; default: the system's. */
  processes?: Processes;
  /** How plans reach the disk; default: through the journal of the project. */
  plans?: PlanHands;
  /** Asked where only the user may decide about a file; default: nobody is there, and the answer is no. */
  permit?: Permit;
  /** Policy on every tool call that is about to run; default: all may. */
  approve?: ApprovalPolicy;
  /** Commands may run although every change is staged, which they do not know of. */
  allowExec?: boolean;
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
  rules?: readonly StreamRule[];
  /** The same for whoever wants to be asked with the first prompt. */
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
  refuseComingOptions(options);
  const { cwd = process.cwd(), clock = systemClock, ids = randomIds, log = silentLog } = options;
  const agentDir = options.agentDir ?? agentDirectory(options.env ?? process.env);
  const env = options.env ?? discoverEnvironment({ cwd, agentDir, log });
  const settings = options.settings ?? (await discoverSettings({ cwd, agentDir, log }, options));
  const disabled = settings.get("disabledProviders");
  const hands = createHands({ cwd, agentDir, env, settings, clock, log, permit: options.permit }, options);
  const { workspace, processes } = hands;
  const models = await findSessionModels(options, { agentDir, env, settings, log });
  const contextFiles =
    options.contextFiles ?? (await findContextFiles({ cwd, agentDir, env, workspace, disabled, log }));
  const toolSettings = toolSettingsOf(settings);
  const promptFiles = readPromptFiles(agentDir, log);
  const plans =
    options.plans ??
    createPlanHands({
      root: findWritableRoot({ cwd, home: homedir() }),
      agentDir,
      workspace,
      settings,
      clock,
      log,
      sessions: { cwd, agentDir, clock, ids, log },
    });
  const opened = await openRecords(options, { env, settings }, { cwd, agentDir, clock, ids, log });
  const sources = options.streamFn ? withoutKeys(models.source) : models.source;
  const modules = findSessionModules(
    {
      ...{ cwd, home: homedir(), agentDir, env, settings, workspace, processes, plans, clock, log },
      models: sources,
      mode: options.mode ?? "print",
      hostModules: { galley: async () => ({ ...(await import("./exports.js")), createAgentSession }) },
      shutdown: () => options.onShutdownRequest?.(),
    },
    options,
  );
  const session = new AgentSession({
    ...opened,
    cwd,
    clock,
    log,
    models: sources,
    guests: modules,
    stream: options.streamFn ?? streamByApi,
    createTools: (own) => {
      const isPersistent = options.persist ?? false;
      const staging = stagingOf(own.pending, { plans, settings });
      const builtIn = createBuiltInTools({ ...own, ...hands, staging, clock, isPersistent, settings: toolSettings });
      const isNamed = options.toolNames?.includes("undo") ?? false;
      const chosen = selectTools(
        builtIn,
        settings,
        options.toolNames?.filter((name) => name !== "undo"),
      );
      const added = [
        createUndo((request) => own.changes.undo(request), { hidden: !isNamed }),
        ...(options.customTools ?? []),
        createResolve((params) => own.pending.resolve(params)),
      ];
      modules?.reserve([...builtIn, ...added].map(({ name }) => name));
      return [...chosen, ...added];
    },
    hooks: modules?.around(options.hooks ?? {}) ?? options.hooks ?? {},
    approve: withStagingPolicy(options.approve, {
      isReviewed: settings.get("staging") === "all",
      allowExec: options.allowExec ?? false,
    }),
    plans,
    runBash: async (request, artifacts) => {
      const { command, excludeFromContext } = request;
      const outcome = await modules?.runUserBash({ command, excludeFromContext, cwd });
      if (outcome) return outcome;
      const { runCommand } = await import("../tools/output-command.js");
      return runCommand(
        { processes, artifacts, output: toolSettings.bash?.output },
        { ...request, cwd, timeoutSeconds: userCommandSeconds },
      );
    },
    resolveWrite: (path) => workspace.resolve(path, "write"),
    release: async () => {
      await modules?.shutdown();
      await processes.shutdown();
    },
    systemPrompt: (active) => {
      const base = promptFiles.replaced ?? defaultSystemPrompt({ cwd, tools: active });
      const standard = promptFiles.added === undefined ? base : `${base}\n\n${promptFiles.added}`;
      const { systemPrompt = standard } = options;
      return withContextFiles(typeof systemPrompt === "string" ? systemPrompt : systemPrompt(standard), contextFiles);
    },
    model: models.model,
    thinkingLevel: models.thinkingLevel,
    settings: sessionSettingsOf(settings),
    loadRules:
      options.loadRules ?? (async () => options.rules ?? discoverRules({ cwd, agentDir, log }, { env, disabled })),
    ...(options.random ? { random: options.random } : {}),
  });
  modules?.attach(session);
  const modelFallbackMessage = restore(session, options);
  if (!options.deferModules) await session.whenReady();
  return { session, ...(modelFallbackMessage === undefined ? {} : { modelFallbackMessage }) };
}

/** What was named now wins over what the record was left with. */
function restore(session: AgentSession, options: CreateAgentSessionOptions): string | undefined {
  const isNamed = (options.model ?? options.provider ?? options.modelPattern) !== undefined;
  if (isNamed) return undefined;
  const problem = session.restoreModel();
  if (options.thinkingLevel !== undefined) session.setThinkingLevel(options.thinkingLevel);
  return problem;
}

async function openRecords(
  options: CreateAgentSessionOptions,
  { env, settings }: { env: Environment; settings: Settings },
  places: { cwd: string; agentDir: string; clock: Clock; ids: Ids; log: Log },
): Promise<OpenedRecord> {
  const named = options.sessionDir ?? variable(env, "GALLEY_SESSION_DIR") ?? settings.get("sessionDir");
  const where: SessionManagerOptions = {
    ...places,
    ...(named === undefined ? {} : { directory: resolve(places.cwd, named) }),
  };
  const { persist = false, sessionManager } = options;
  const usual: Resume | undefined = persist && settings.get("autoResume") ? { kind: "continue" } : undefined;
  const resume = sessionManager ? undefined : (options.resume ?? usual);
  const opened = await openRecord(where, { persist, resume });
  return sessionManager ? { ...opened, record: sessionManager } : opened;
}
