// The one place where the parts are joined. Provide a part to override it, omit it to have it discovered. There are
// no globals: two sessions with different directories in one process do not know of each other.

import { resolve as resolvePath } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { type Ids, randomIds } from "../base/ids.js";
import { type Log, silentLog } from "../base/log.js";
import { agentDirectory } from "../config/agent-directory.js";
import { type ContextFile, findContextFiles } from "../config/context-files.js";
import { discoverEnvironment, discoverSettings } from "../config/discover.js";
import { variable } from "../config/environment.js";
import { readPromptFiles } from "../config/prompt-files.js";
import type { PromptTextOptions } from "../config/prompts/find-prompt-texts.js";
import { findSessionPrompts } from "../config/prompts/session-prompts.js";
import { sessionDirectory } from "../config/session-directory.js";
import type { Assignment } from "../config/settings/assignment.js";
import type { Settings } from "../config/settings/settings.js";
import { moduleRoots } from "../config/survey-modules.js";
import { defaultPromptIn, withContextFiles, withPromptTexts } from "../config/system-prompt.js";
import { createLiveUI } from "../extensions/api/custom-tool-ui.js";
import { findProject, mayExist } from "../files/paths/find-roots.js";
import type { Permit, Workspace } from "../files/workspace.js";
import type { ToolHooks } from "../loop/run.js";
import type { PlanHands } from "../preview/change-writer.js";
import type { Processes } from "../processes/processes.js";
import type { Environment } from "../provider/credentials.js";
import type { StreamFunction } from "../provider/provider.js";
import { streamByApi } from "../provider/stream-by-api.js";
import type { SessionManager, SessionManagerOptions } from "../record/record.js";
import { AgentSession } from "../session/agent-session.js";
import type { ApprovalPolicy } from "../session/approval.js";
import { levelNamed } from "../session/models/thinking.js";
import type { StreamRule } from "../session/rules/rule.js";
import { createBuiltInTools } from "../tools/index.js";
import { createResolve } from "../tools/resolve.js";
import type { Staging } from "../tools/staging.js";
import type { AnyTool } from "../tools/tool.js";
import { createUndo } from "../tools/undo.js";
import { applyBeside, astEditBy } from "./ast-edit-function.js";
import { createPlanHands, undoRetention } from "./create-change-writer.js";
import { type GivenTool, sortGivenTools, withoutReplaced } from "./custom-tools.js";
import { findSessionModules } from "./extensions/find-session-modules.js";
import type { ModuleOptions } from "./extensions/load-session-modules.js";
import { sessionSettingsOf } from "./map-session-settings.js";
import { type OpenedRecord, openRecord, type Resume } from "./open-record.js";
import { selectTools } from "./select-tools.js";
import { findSessionModels, type ModelOptions, type SessionModels, withoutKeys } from "./session-models.js";
import { applyConfirmationBy, callApprovalBy, dialogsOf, permitBy, type SessionUI } from "./session-ui.js";
import { withStagingPolicy } from "./staging-policy.js";
import { createHands, toolSettingsOf } from "./tool-access.js";
import { stagingOf } from "./tool-staging.js";
import { refuseUnsupportedOptions } from "./unsupported-options.js";
import { createWorkspacePlans } from "./workspace-change-writer.js";

/** For a command that the user or the host runs. */
const userCommandSeconds = 300;

const onlyHereText =
  "The host brought the workspace of this session. Tools can be made for the session's own directory only.";

export interface CreateAgentSessionOptions extends ModelOptions, ModuleOptions, PromptTextOptions {
  cwd?: string;
  agentDir?: string;
  env?: Environment;
  /** Replaces the default prompt, or is made from it. */
  systemPrompt?: string | ((standard: string) => string);
  /** What the model is told of the user's and the project's wishes; default: found on disk. They follow the prompt. */
  contextFiles?: readonly ContextFile[];
  /** The built-in tools that are active; default: those that the settings leave on. */
  toolNames?: readonly string[];
  /** Always active. The name of a built-in tool is refused, unless it is to be replaced. */
  customTools?: readonly GivenTool[];
  overrideBuiltins?: boolean;
  hooks?: ToolHooks;
  /** Do not wait for custom tools and extensions: `session.whenReady()` does, and a prompt. */
  deferModules?: boolean;
  /** What extensions are told of who drives the session; default `print`. */
  mode?: "interactive" | "rpc" | "print" | "json";
  /** How a person is asked: by the `ask` tool, by modules, and where only a person may decide; default: nobody is there. */
  ui?: SessionUI;
  /** An extension wants the program to end; default: it does not. */
  onShutdownRequest?: () => void;
  /** Replaces the provider layer (tests, proxies), and with it the question of keys. */
  streamFn?: StreamFunction;
  /**
   * The files that the session works on; default: those on the disk, by the rules of the settings. What tools, plans and
   * exports write goes through it. It has no journal: see docs/workspace.md. Programs are a matter of `processes`.
   */
  workspace?: Workspace;
  /** What starts programs; default: the system's. */
  processes?: Processes;
  /** How plans are written; default: through `workspace` where one is given, else through the journal of the project. */
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
  /** Begin with an earlier session instead of a new one; in memory only, with a copy of it. */
  resume?: Resume;
  /** A record that is already open. */
  sessionManager?: SessionManager;
  /** Default: the user's and the project's files, with `assignments` on top. */
  settings?: Settings;
  /** What the command line says about settings. */
  assignments?: readonly Assignment[];
  /** Workflow settings as they come built in, whatever the files say: programs that drive us rely on them. */
  resetWorkflowSettings?: boolean;
  /** Stream rules; default: those in the configuration directories, a project's once it is trusted. */
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
  refuseUnsupportedOptions(options);
  const { clock = systemClock, ids = randomIds, log: told = silentLog } = options;
  const cwd = resolvePath(options.cwd ?? ".");
  const agentDir = options.agentDir ?? agentDirectory(options.env ?? process.env);
  const env = options.env ?? discoverEnvironment({ cwd, agentDir, log: told });
  const logFile = variable(env, "GALLEY_LOG");
  const log =
    logFile === undefined
      ? told
      : (await import("../files/log-file.js")).withLogFile(told, logFile, { cwd, agentDir, clock });
  const home = homedir();
  const project = findProject({ cwd, home }); // once, so that all parts see the same
  const settings = options.settings ?? (await discoverSettings({ cwd, agentDir, log, project }, { ...options, env }));
  const disabled = settings.get("disabledProviders");
  const live = options.ui && createLiveUI({ clock, log });
  live?.set(options.ui, true);
  let current: AgentSession | undefined;
  const permit = options.permit ?? (live && permitBy(live.ui, () => current?.questionSignal));
  const hands = createHands({ cwd, agentDir, env, settings, clock, log, permit, home, project }, options);
  const { workspace, processes } = hands;
  const models = await findSessionModels(options, { agentDir, env, settings, log });
  const spot = { cwd, home, agentDir, env, settings };
  const roots = moduleRoots(spot, project);
  const contextFiles =
    options.contextFiles ??
    (await findContextFiles({
      ...{ cwd, agentDir, env, workspace, disabled, log, roots, home, project },
      ...(options.workspace ? {} : { mayExist }),
    }));
  const toolSettings = toolSettingsOf(settings, env);
  const promptFiles = readPromptFiles(agentDir, log);
  const plans =
    options.plans ??
    (options.workspace
      ? createWorkspacePlans({ workspace, clock, retention: () => undoRetention(settings) })
      : createPlanHands({
          root: project.writableRoot,
          agentDir,
          workspace,
          settings,
          clock,
          log,
          sessions: { cwd, agentDir, clock, ids, log },
        }));
  const opened = await openRecords(options, { env, settings, workspace }, { cwd, agentDir, clock, ids, log });
  const sources = options.streamFn ? withoutKeys(models.source) : models.source;
  const given = await sortGivenTools(options.customTools ?? []);
  const stream = options.streamFn ?? streamByApi;
  let toolsIn: (elsewhere: string) => readonly AnyTool[] = () => [];
  let staging: Staging | undefined;
  const modules = findSessionModules(
    {
      ...{ ...spot, roots, workspace, processes, plans, clock, log },
      models: sources,
      givenTools: given.custom,
      mode: options.mode ?? "print",
      hostModules: {
        async galley() {
          const { moduleExports } = await import("./extensions/module-exports.js");
          const apply = applyBeside(() => staging);
          const astEdit = astEditBy({ workspace, processes, apply, maxFiles: toolSettings.astEdit?.maxFiles });
          return {
            ...moduleExports({ cwd, agentDir, clock, processes, stream, astEdit, toolsIn: (place) => toolsIn(place) }),
            createAgentSession,
          };
        },
        ai: async () => (await import("./extensions/module-ai.js")).modelFunctions({ models: sources, stream, clock }),
      },
      shutdown: () => options.onShutdownRequest?.(),
    },
    options,
  );
  if (!modules) options.resolveFlags?.(new Map());
  const prompts = findSessionPrompts(
    {
      ...{ ...spot, roots, log, modules },
      isTrustedForThisRun: options.trustProject ?? false,
      withoutRules: (options.loadRules ?? options.rules) !== undefined,
    },
    options,
  );
  const defaultPrompt = defaultPromptIn(cwd);
  const session = new AgentSession({
    ...opened,
    cwd,
    clock,
    log,
    models: sources,
    guests: modules,
    library: prompts,
    readMentions: async (text) =>
      (await import("../config/prompts/file-mentions.js")).readMentions(text, workspace, log),
    stream,
    createTools: (own) => {
      const isPersistent = options.persist ?? false;
      const ownStaging = stagingOf(own.pending, { plans, settings });
      staging = ownStaging;
      const dialogs = live && dialogsOf(live.ui);
      const tools = { ...own, ...hands, staging: ownStaging, clock, isPersistent, dialogs, settings: toolSettings };
      const builtIn = createBuiltInTools(tools);
      toolsIn = (elsewhere) => {
        const place = { cwd: elsewhere, agentDir, env, settings, clock, log, permit };
        if (elsewhere === cwd) return createBuiltInTools(tools);
        if (options.workspace) throw new GalleyError("unsupported", onlyHereText);
        const there = createHands(place, { processes });
        const { workspace } = there;
        return createBuiltInTools({
          ...tools,
          ...there,
          staging: stagingOf(own.pending, { plans, settings, workspace }),
        });
      };
      const isNamed = options.toolNames?.includes("undo") ?? false;
      const chosen = selectTools(
        builtIn,
        settings,
        options.toolNames?.filter((name) => name !== "undo"),
      );
      const undo = createUndo((request) => own.changes().undo(request), { hidden: !isNamed });
      const resolve = createResolve((params) => own.pending.resolve(params));
      const added = [...given.agent, resolve];
      const known = [...builtIn, undo];
      modules?.reserve([...known, ...added, ...given.custom.map(({ tool }) => tool)].map(({ name }) => name));
      const { overrideBuiltins } = options;
      const kept = withoutReplaced([...chosen, undo], given, { overrideBuiltins, known, reserved: resolve.name });
      return [...kept, ...added];
    },
    hooks: modules?.around(options.hooks ?? {}) ?? options.hooks ?? {},
    approve: withStagingPolicy(options.approve, {
      isReviewed: settings.get("staging") === "all",
      allowExec: options.allowExec ?? false,
      ask: live && callApprovalBy(live.ui),
    }),
    confirm: live && applyConfirmationBy(live.ui),
    plans,
    runBash: async (request, artifacts) => {
      const { command, excludeFromContext, signal } = request;
      const outcome = await modules?.runUserBash({ command, excludeFromContext, cwd }, signal);
      if (outcome) return outcome;
      const { runCommand } = await import("../tools/output/run-command.js");
      return runCommand(
        { processes, artifacts, output: toolSettings.bash?.output },
        { ...request, cwd, timeoutSeconds: userCommandSeconds },
      );
    },
    exportPage: async (source, outputPath) =>
      (await import("./export-page.js")).exportPage(source, {
        outputPath,
        workspace,
        isHostWorkspace: options.workspace !== undefined,
      }),
    release: async (modulesMs) => {
      await modules?.shutdown(modulesMs);
      await processes.shutdown();
    },
    systemPrompt: (active) => {
      const { replaced, added } = { ...promptFiles, ...prompts?.system };
      const base = replaced ?? defaultPrompt(active);
      const standard = added === undefined ? base : `${base}\n\n${added}`;
      const { systemPrompt = standard } = options;
      const chosen = typeof systemPrompt === "string" ? systemPrompt : systemPrompt(standard);
      const texts = { skills: prompts?.skills ?? [], rules: prompts?.rules.prompt ?? [] };
      return withContextFiles(withPromptTexts(chosen, texts, active), contextFiles);
    },
    model: models.model,
    thinkingLevel: initialLevel(models, opened.record),
    usualThinkingLevel: models.namedLevel ?? models.usualLevel,
    named: { model: isModelNamed(options), level: options.thinkingLevel !== undefined },
    settings: sessionSettingsOf(settings),
    loadRules: options.loadRules ?? (async () => options.rules ?? prompts?.rules.stream ?? []),
    ...(options.random ? { random: options.random } : {}),
  });
  current = session;
  modules?.attach(session);
  session.setUIContext(options.ui);
  const modelFallbackMessage = restore(session, options);
  if (!options.deferModules) await session.whenReady();
  return { session, ...(modelFallbackMessage === undefined ? {} : { modelFallbackMessage }) };
}

/** What was named now, else what the record was left with, where null takes an explicit one back. */
function initialLevel({ namedLevel, usualLevel }: SessionModels, { context }: SessionManager) {
  return namedLevel ?? (context.thinkingLevel === undefined ? usualLevel : levelNamed(context.thinkingLevel));
}

/** What was named now wins over what the record was left with. */
function restore(session: AgentSession, options: CreateAgentSessionOptions): string | undefined {
  return isModelNamed(options) ? undefined : session.restoreModel(options.thinkingLevel);
}

function isModelNamed({ model, provider, modelPattern }: CreateAgentSessionOptions): boolean {
  return (model ?? provider ?? modelPattern) !== undefined;
}

async function openRecords(
  options: CreateAgentSessionOptions,
  { env, settings, workspace }: { env: Environment; settings: Settings; workspace: Workspace },
  places: { cwd: string; agentDir: string; clock: Clock; ids: Ids; log: Log },
): Promise<OpenedRecord> {
  const directory = sessionDirectory(options.sessionDir, { cwd: places.cwd, env, settings });
  const where: SessionManagerOptions = { ...places, directory };
  const { persist = false, sessionManager } = options;
  const usual: Resume | undefined = persist && settings.get("autoResume") ? { kind: "continue" } : undefined;
  const resume = sessionManager ? undefined : (options.resume ?? usual);
  const opened = await openRecord(where, {
    persist,
    resume,
    checkNewPlace: (path) => workspace.resolve(path, "write"),
  });
  return sessionManager ? { ...opened, record: sessionManager } : opened;
}
