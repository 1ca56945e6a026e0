// The one place where the parts are connected. Provide a part to override it, omit it to have it discovered. There are
// no globals: two sessions with different directories in one process are independent.

import { GalleyError } from "../base/errors.js";
import { findContextFiles } from "../config/context-files.js";
import { readPromptFiles } from "../config/prompt-files.js";
import { findSessionPrompts, type SessionPrompts } from "../config/prompts/session-prompts.js";
import { sessionDirectory } from "../config/session-directory.js";
import { defaultPromptIn, withContextFiles, withPromptTexts } from "../config/system-prompt.js";
import { mayExist } from "../files/paths/find-roots.js";
import type { Workspace } from "../files/workspace.js";
import { createWorkspaceChangeWriter } from "../journal/workspace-change-writer.js";
import type { ToolHooks } from "../loop/run.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import { levelNamed, type StreamFunction } from "../provider/provider.js";
import { streamByApi } from "../provider/stream-by-api.js";
import type { SessionRecord } from "../record/record.js";
import { AgentSession } from "../session/agent-session.js";
import type { AgentSessionDeps } from "../session/agent-session-deps.js";
import type { ApprovalPolicy } from "../session/approval.js";
import type { AnyTool } from "../tools/tool.js";
import { SessionAccess } from "./access/access-mode.js";
import { createCallPolicy } from "./access/call-approval.js";
import { type ChosenRecord, chooseRecord, type Resume } from "./choose-record.js";
import { sortGivenTools } from "./custom-tools.js";
import type { ExtensionManager } from "./extensions/extension-manager.js";
import type { ExtensionManagerDeps } from "./extensions/extension-manager-deps.js";
import { findExtensions, mayFindExtensions } from "./extensions/find-extensions.js";
import { streamWithKeys } from "./keys/stream-with-keys.js";
import { sessionSettingsOf } from "./map-session-settings.js";
import { streamWithAdded } from "./models/added-streams.js";
import { withLocalNotices } from "./models/local-model-notices.js";
import type { ChildSessionsDeps } from "./pi-modules/child-sessions.js";
import { hostModulesOf } from "./pi-modules/host-modules.js";
import { createProjectChanges, undoRetention } from "./project-changes.js";
import { ConfinedCommands } from "./sandbox/confined-commands.js";
import { confinedProcesses } from "./sandbox/confined-processes.js";
import type { SessionSandbox } from "./sandbox/session-sandbox.js";
import { outputMask, resultMask } from "./secrets/result-masks.js";
import { createBudget, recordedModel } from "./session-budget.js";
import { findSessionEnvironment, type SessionEnvironment } from "./session-environment.js";
import { findSessionModels, isModelNamed, type SessionModels, withoutKeys } from "./session-models.js";
import type { CreateAgentSessionOptions } from "./session-options.js";
import { SessionTools, type SessionToolsDeps } from "./session-tools.js";
import { createUserQuestions, type UserQuestions } from "./session-ui.js";
import { createSurroundings } from "./surroundings.js";
import { createToolResources, type ToolResources, toolSettingsOf } from "./tool-resources.js";
import { refuseUnsupportedOptions } from "./unsupported-options.js";

export type { CreateAgentSessionOptions };

/** For a command that the user or the host runs. */
const userCommandSeconds = 300;

export interface CreateAgentSessionResult {
  session: AgentSession;
  /** The record's model is not available now. */
  modelFallbackMessage?: string;
}

/**
 * Throws `model_not_found` or `invalid_config` for a model that is unavailable, `not_found` for an unknown tool or a
 * missing working directory, `invalid_argument` or `unsupported` for an option that cannot be honoured.
 */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> {
  refuseUnsupportedOptions(options);
  const environment = await findSessionEnvironment(options);
  let session: AgentSession | undefined;
  const made = () => session ?? notReady();
  const user = createUserQuestions(options, { ...environment, signal: () => session?.signal });
  const resources = createToolResources(
    { ...environment, permit: user.permit, live: options.env ? undefined : process.env },
    options,
  );
  const mayAddModels = () => mayFindExtensions(environment, options);
  const models = await findSessionModels({ ...options, mayAddModels }, environment);
  const access = new SessionAccess(environment.settings, options);
  const confinement = new ConfinedCommands(options, {
    environment,
    access,
    askHost: user.askHost,
    pending: () => tools.pending,
    record: () => made().sessionManager,
  });
  const { sandbox } = confinement;
  const prompt = await createSystemPrompt(options, environment, { ...resources, access, sandbox });
  const changes = await watchedChanges(options, changesOf(options, environment, resources.workspace));
  const opened = await openRecords(options, environment);
  const given = await sortGivenTools(options.customTools ?? []);
  const tools = new SessionTools({ environment, resources, access, confinement, changes, given, user }, options);
  const { settings, log } = environment;
  const budget = createBudget(options.budget, { ...environment, model: firstModel(options, models, opened.record) });
  const asked = options.streamFn ?? streamWithKeys(streamWithAdded(streamByApi, models.registry), models.keys);
  const shown: StreamFunction = (request) => asked(extensions?.shownRequest(request) ?? request);
  const stream = budget.meter(withLocalNotices(shown, { typeOf: models.serverTypeOf, log }));
  const joined: Joined = { environment, resources, models, changes, tools, stream, confinement };
  const extensions = createExtensionManager(options, joined, {
    givenTools: given.custom,
    session: made,
    promptParts: () => ({ contextFiles: prompt.contextFiles, skills: prompts?.skills ?? [] }),
    held: () => ({ access, around, approve, allowsTool: options.allowsTool }),
  });
  const prompts = findPrompts(options, environment, extensions);
  const policy = policyOf(options, environment, { access, sandbox, user });
  const around = (own: ToolHooks) => {
    const hooks = { ...own, ...options.hooks };
    return extensions?.around(hooks) ?? hooks;
  };
  const approve = extensions ? extensions.closing(policy) : policy;
  session = new AgentSession({
    ...opened,
    cwd: environment.cwd,
    clock: environment.clock,
    log: environment.log,
    changes,
    stream,
    budget,
    secrets: environment.secrets,
    maskResult: resultMask(environment),
    extensions,
    library: prompts,
    confirm: user.confirmApply,
    confirmProtected: user.confirmProtected,
    ...modelsOf(options, models, opened.record),
    ...workOf(options, { ...joined, access }, extensions),
    createTools: (own) => tools.create(own, (names) => extensions?.reserve(names)),
    hooks: around({}),
    approve,
    systemPrompt: (active) => prompt.text(active, prompts),
    learnSurroundings: prompt.learn,
    settings: sessionSettingsOf(settings, options.mode),
    sandbox,
    access,
    loadRules: options.loadRules ?? (async () => options.rules ?? prompts?.rules.stream ?? []),
    ...(options.random ? { random: options.random } : {}),
  });
  session.setUIContext(options.ui);
  if (options.sessionName !== undefined) session.setSessionName(options.sessionName);
  // What was named for this start wins over the record.
  const restore = () => (isModelNamed(options) ? undefined : made().restoreModel(options.thinkingLevel));
  let modelFallbackMessage = restore();
  const isMissing = models.missing !== undefined || (extensions !== undefined && modelFallbackMessage !== undefined);
  if (!options.deferModules || isMissing) await session.whenReady();
  if (isMissing) {
    await extensions?.modelsFound();
    modelFallbackMessage = restore();
    await useMissing(session, models.missing);
  }
  return { session, modelFallbackMessage };
}

/** The model that was named and not known before extensions were loaded. */
async function useMissing(session: AgentSession, missing: SessionModels["missing"]): Promise<void> {
  try {
    const { model, thinkingLevel } = missing?.() ?? {};
    if (model) session.adoptModel({ model, thinkingLevel });
  } catch (error) {
    await session.dispose();
    throw error;
  }
}

function notReady(): never {
  throw new GalleyError("unsupported", "The session is not ready yet.");
}

/** What the steps below share. */
interface Joined extends Pick<SessionToolsDeps, "environment" | "resources" | "changes" | "confinement"> {
  readonly models: SessionModels;
  readonly tools: SessionTools;
  readonly stream: StreamFunction;
}

/** An injected workspace brings everything that writes: plans go through it, and the journal of the disk is not used. */
function changesOf(
  { changeWriter, workspace: given }: CreateAgentSessionOptions,
  { cwd, agentDir, clock, ids, log, settings, project }: SessionEnvironment,
  workspace: Workspace,
): ChangeWriter {
  if (changeWriter) return changeWriter;
  if (given) return createWorkspaceChangeWriter({ workspace, clock, retention: () => undoRetention(settings) });
  const sessions = { cwd, agentDir, clock, ids, log };
  return createProjectChanges({ root: project.writableRoot, agentDir, workspace, settings, clock, log, sessions });
}

/** For a front end that reports what was written; others do not pay for it. */
async function watchedChanges({ onFilesWritten }: CreateAgentSessionOptions, changes: ChangeWriter) {
  if (!onFilesWritten) return changes;
  return (await import("./run-report/written-files.js")).watchedWriter(changes, onFilesWritten);
}

async function openRecords(
  options: CreateAgentSessionOptions,
  { cwd, agentDir, clock, ids, log, env, settings, secrets: mask }: SessionEnvironment,
): Promise<ChosenRecord> {
  const directory = sessionDirectory(options.sessionDir, { cwd, env, settings });
  const { persist = false, sessionManager } = options;
  const usual: Resume | undefined = persist && settings.get("autoResume") ? { kind: "continue" } : undefined;
  const resume = sessionManager ? undefined : (options.resume ?? usual);
  const opened = await chooseRecord({ cwd, agentDir, clock, ids, log, directory, mask }, { persist, resume });
  return sessionManager ? { ...opened, record: sessionManager } : opened;
}

/** The prompt files are read now; what the model is told is put together for every request. */
async function createSystemPrompt(
  options: CreateAgentSessionOptions,
  environment: SessionEnvironment,
  { workspace, processes, access, sandbox }: ToolResources & { access: SessionAccess; sandbox: SessionSandbox },
) {
  const { cwd, agentDir, env, log, roots, home, project } = environment;
  const disabled = environment.settings.get("disabledProviders");
  const contextFiles =
    options.contextFiles ??
    (await findContextFiles({
      cwd,
      agentDir,
      env,
      workspace,
      disabled,
      log,
      roots,
      home,
      project,
      ...(options.workspace ? {} : { mayExist }),
    }));
  const promptFiles = readPromptFiles(agentDir, log);
  const surroundings = createSurroundings({
    cwd,
    project,
    settings: environment.settings,
    clock: environment.clock,
    path: env.PATH,
    access,
    sandbox,
    processes: options.workspace ? undefined : processes, // a workspace of the host is not where our programs run
  });
  const defaultPrompt = defaultPromptIn(surroundings.text);
  const text = (active: readonly AnyTool[], prompts: SessionPrompts | undefined): string => {
    const { replaced = promptFiles.replaced, added = promptFiles.added } = prompts?.system ?? {};
    const base = replaced ?? defaultPrompt(active);
    const standard = added === undefined ? base : `${base}\n\n${added}`;
    const { systemPrompt = standard } = options;
    const chosen = typeof systemPrompt === "string" ? systemPrompt : systemPrompt(standard);
    const texts = { skills: prompts?.skills ?? [], rules: prompts?.rules.prompt ?? [] };
    return withContextFiles(withPromptTexts(chosen, texts, active), contextFiles);
  };
  const learn = typeof options.systemPrompt === "string" ? () => undefined : surroundings.learn;
  return { text, learn, contextFiles };
}

/** Undefined where there are none. */
function createExtensionManager(
  options: CreateAgentSessionOptions,
  { environment, resources, models, changes, tools, stream, confinement }: Joined,
  {
    held,
    ...ofSession
  }: Pick<ExtensionManagerDeps, "givenTools" | "session" | "promptParts"> & Pick<ChildSessionsDeps, "held">,
): ExtensionManager | undefined {
  const { clock } = environment;
  const { workspace, processes } = resources;
  const source = sourceOf(options, models);
  const asking = { models: source, stream, direct: options.streamFn ?? streamByApi, clock };
  const parts = { ...ofSession, ...asking, environment, workspace, processes, tools, held, create: createAgentSession };
  const hostModules = hostModulesOf(parts, options);
  // Published modules show their own views only in what they know as a terminal.
  const mode = options.mode === "interactive" && options.ui?.custom ? "tui" : (options.mode ?? "print");
  const shutdown = () => options.onShutdownRequest?.();
  const deps = {
    ...environment,
    allowsTool: options.allowsTool,
    workspace,
    processes,
    projectProcesses: confinedProcesses(processes, confinement),
    changes,
    ...asking,
    registry: models.registry,
    ...ofSession,
    mode,
    hostModules,
    shutdown,
  };
  const found = findExtensions(deps, options);
  if (!found) options.resolveFlags?.(new Map());
  return found;
}

/** Undefined where there are none. */
function findPrompts(
  options: CreateAgentSessionOptions,
  environment: SessionEnvironment,
  modules: ExtensionManager | undefined,
): SessionPrompts | undefined {
  const isTrustedForThisRun = options.trustProject ?? false;
  const withoutRules = (options.loadRules ?? options.rules) !== undefined;
  return findSessionPrompts({ ...environment, modules, isTrustedForThisRun, withoutRules }, options);
}

function modelsOf(options: CreateAgentSessionOptions, models: SessionModels, { context }: SessionRecord) {
  const { model, namedLevel, usualLevel } = models;
  // What was named for this start, else the record's, where null takes an explicit one back.
  const recorded = context.thinkingLevel === undefined ? usualLevel : levelNamed(context.thinkingLevel);
  return {
    models: sourceOf(options, models),
    model,
    thinkingLevel: namedLevel ?? recorded,
    usualThinkingLevel: namedLevel ?? usualLevel,
    named: { model: isModelNamed(options), level: options.thinkingLevel !== undefined },
  };
}

/** The model that the first prompt will ask. */
function firstModel(options: CreateAgentSessionOptions, models: SessionModels, record: SessionRecord) {
  return (isModelNamed(options) ? undefined : recordedModel(record, sourceOf(options, models))) ?? models.model;
}

/** With the caller's own provider layer no keys are needed. */
function sourceOf({ streamFn }: CreateAgentSessionOptions, { source }: SessionModels) {
  return streamFn ? withoutKeys(source) : source;
}

/** What may run, and what the user is asked about. */
function policyOf(
  { approve, allowExec = false, askTiers }: CreateAgentSessionOptions,
  { settings, project, cwd, log, agentDir, clock, secrets: { mask } }: SessionEnvironment,
  { access, sandbox, user }: { access: SessionAccess; sandbox: SessionSandbox; user: UserQuestions },
): ApprovalPolicy {
  return createCallPolicy(approve, {
    access,
    sandbox,
    settings,
    allowExec,
    cwd,
    log,
    mask,
    askTiers,
    user: askTiers ? { ...user, confirmCall: user.chooseCall } : user,
    root: project.writableRoot,
    allowForGood: async (line) =>
      (await import("./access/allow-for-good.js")).allowForGood(line, { agentDir, clock, settings }),
  });
}

/** What the session does on the disk and with programs besides its tools. */
function workOf(
  options: CreateAgentSessionOptions,
  { environment, resources, confinement, access }: Joined & { access: SessionAccess },
  extensions: ExtensionManager | undefined,
): Pick<AgentSessionDeps, "readMentions" | "runBash" | "runProgram" | "exportPage" | "release"> {
  const { cwd, log, settings, env, clock } = environment;
  const { workspace, processes } = resources;
  return {
    readMentions: async (text) =>
      (await import("../config/prompts/file-mentions.js")).readMentions(text, workspace, log),
    runBash: async (request, artifacts) => {
      const { command, excludeFromContext, signal, stage, isUnsandboxed } = request;
      const taken = await extensions?.runUserBash({ command, excludeFromContext, cwd }, signal);
      if (taken && !("operations" in taken)) return taken;
      const { runPlaced } = await import("../tools/output/run-command.js");
      const { output } = toolSettingsOf(settings, env).bash ?? {};
      const timeoutSeconds = userCommandSeconds;
      const maskOutput = outputMask(environment);
      const running = { processes, artifacts, output, maskOutput };
      if (taken) {
        const { processesElsewhere } = await import("./extensions/operations-processes.js");
        const elsewhere = processesElsewhere(taken.operations, { clock, access, isStaged: stage ?? false });
        return runPlaced({ ...running, processes: elsewhere }, { ...request, cwd, timeoutSeconds }, {});
      }
      const wish = { command, sourceToolName: "bash", stage, isUnsandboxed };
      const { end, notes } = await confinement.run(wish, (place) =>
        runPlaced(running, { ...request, cwd, timeoutSeconds }, place),
      );
      return { ...end, notes };
    },
    runProgram: async (request) =>
      (await import("./exec/run-program.js")).runProgram(request, { processes, confinement, cwd }),
    exportPage: async (source, outputPath) =>
      (await import("./export-page.js")).exportPage(source, {
        outputPath,
        cwd,
        home: environment.home,
        redact: environment.secrets.mask,
        hostWorkspace: options.workspace,
      }),
    release: async (modulesMs) => {
      await extensions?.shutdown(modulesMs);
      await processes.shutdown();
      await confinement.release();
    },
  };
}
