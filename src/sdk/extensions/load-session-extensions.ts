// From the files in the configuration directories to loaded modules: survey, trust, choice, load. Read only where there
// is something to load. Promises: nothing of an untrusted project is imported, and each module that is left out or
// fails is one sentence.

import { join } from "node:path";
import { ownDirectory } from "../../base/home.js";
import {
  type ConfigLocation,
  type ExtensionSurvey,
  surveyExtensions,
  trustFile,
} from "../../config/survey-extensions.js";
import type { LoadedCommand } from "../../extensions/api/custom-command.js";
import type { ToolFailure } from "../../extensions/api/custom-tool-failure.js";
import type { LiveUI } from "../../extensions/api/custom-tool-ui.js";
import type { ExtensionFactory, FlagDefinition } from "../../extensions/api/extension.js";
import type { SendFailure } from "../../extensions/api/extension-api.js";
import type { ToolPendingActions } from "../../extensions/api/tool-api-pending.js";
import { chooseModules, isExtension } from "../../extensions/discover/choose.js";
import type { ExplicitPath } from "../../extensions/discover/discover-modules.js";
import type { FoundModule } from "../../extensions/discover/findings.js";
import {
  type LoadDeps,
  type LoadedCustomTools,
  type LoadToolsDeps,
  loadCustomTools,
  type ModuleLoadError,
} from "../../extensions/load/load.js";
import type { LoadedCommands } from "../../extensions/load/load-commands.js";
import type { Candidate, LoadedExtensions } from "../../extensions/load/load-extensions.js";
import type { FoundTool } from "../../extensions/load/load-factory.js";
import type { Coverage } from "../../extensions/trust/digest-project.js";
import type { ProjectGrant, TrustDecision } from "../../extensions/trust/trust.js";
import { type TrustQuestion, trustQuestion } from "../../extensions/trust/trust-question.js";

export interface ExtensionOptions {
  /** Called before any extension code is loaded. */
  beforeModules?(): void;
  /** The project's own modules may run, in this session only. */
  trustProject?: boolean;
  /**
   * Asks the user about what the project would run; `once` is a yes for this session only. Default: a yes or no through
   * the session's UI.
   */
  askTrust?(question: TrustQuestion, signal: AbortSignal): Promise<"no" | "trust" | "once">;
  /** Custom tools: files or directories. */
  additionalToolPaths?: readonly string[];
  /** Extension tools that are active although they would not be by default. */
  namedTools?: readonly string[];
  /** Extensions of the program's own. */
  extensions?: readonly ExtensionFactory[];
  additionalExtensionPaths?: readonly string[];
  /** Plugins: packages whose `package.json` names their modules. */
  pluginDirectories?: readonly string[];
  /** Only those extensions that are named. */
  disableExtensionDiscovery?: boolean;
  /** Called for each module that cannot be loaded. */
  onLoadError?(error: ModuleLoadError): void;
  /**
   * What the command line says, once it is known which flags extensions have; without any extension it is called at
   * once. Undefined: the command line is wrong, and no extension is started.
   */
  resolveFlags?(flags: ReadonlyMap<string, FlagDefinition>): ReadonlyMap<string, boolean | string> | undefined;
}

export interface LoadSessionExtensionsDeps
  extends ConfigLocation,
    Required<Pick<LoadDeps, "processes" | "projectProcesses" | "clock" | "log" | "hostModules" | "memory">> {
  readonly live: LiveUI;
  readonly pending: ToolPendingActions;
  readonly builtInToolNames: readonly string[];
  /** Tools that the program passed in. */
  readonly givenTools: readonly FoundTool[];
  onError(failure: ToolFailure): void;
  onSendFailure(failure: SendFailure): void;
}

export interface LoadedSessionExtensions {
  readonly tools: LoadedCustomTools;
  readonly commands: readonly LoadedCommand[];
  readonly extensions: LoadedExtensions | undefined;
  readonly isProjectTrusted: boolean;
  readonly projectCoverage: Coverage | undefined;
  /** For modules that could not be loaded. */
  readonly errors: readonly ModuleLoadError[];
  /** Left out because the user has not trusted the project with them. */
  readonly untrusted: readonly FoundModule[];
  /** The user has not decided about what was left out. */
  readonly undecided?: UndecidedProject | undefined;
}

export interface UndecidedProject {
  /** Everything that would run, for the user. */
  readonly question: TrustQuestion;
  /** Of exactly what the question shows. Throws what `saveTrust` does. */
  rememberYes(): Promise<void>;
}

/** Used as the path of a tool that the program passed in. */
export const givenToolPath = "<program>";

/** Never rejects because of a module. */
export async function loadSessionExtensions(
  deps: LoadSessionExtensionsDeps,
  options: ExtensionOptions,
): Promise<LoadedSessionExtensions> {
  const { settings } = deps;
  const { pluginDirectories = [], trustProject: isTrustedForThisRun = false } = options;
  const explicit = explicitPaths(options, settings);
  const survey = await surveyExtensions(deps, { explicit, pluginDirectories, isTrustedForThisRun });
  const { modules, problems } = survey.discovery;
  const disabled = settings.get("disabledExtensions");
  const isWanted = (module: FoundModule) =>
    !isExtension(module) || !options.disableExtensionDiscovery || module.source.provider === "config";
  const choose = (mayRun: ProjectGrant["mayRun"]) => chooseModules(modules.filter(isWanted), { mayRun, disabled });
  const loading: LoadDeps = {
    ...deps,
    cacheDirectory: join(ownDirectory(deps.agentDir), "cache", "tools"),
    coverage: undefined,
  };

  // The user's extensions first: they may answer whether the project is trusted.
  const own = choose(() => false);
  let extensions = await loadUserExtensions(own.load, { deps, loading, factories: options.extensions ?? [] });
  const { state, grant } = await decide(survey, survey.project.items.length > 0 ? extensions : undefined, deps);
  const { coverage } = grant;
  const chosen = coverage ? choose(grant.mayRun) : own;
  const project = chosen.load.filter((module) => module.needsTrust && isExtension(module));
  if (project.length > 0) {
    extensions ??= await loadExtensionsOf([], { deps, loading });
    await extensions.add(await asCandidates(project, { ...loading, coverage }), coverage);
  }
  const { builtInToolNames, pending, live } = deps;
  const ofKind = (wanted: FoundModule["kind"]) => chosen.load.filter(({ kind }) => kind === wanted);
  const [tools, commands] = await Promise.all([
    loadCustomTools(ofKind("tool"), { ...loading, coverage, builtInToolNames, pending, live }),
    loadCommands(ofKind("command"), { ...loading, coverage, pending, live }),
  ]);
  const given = deps.givenTools.map((one) => ({ ...one, path: givenToolPath, resolvedPath: givenToolPath }));
  return {
    tools: { ...tools, tools: [...given, ...tools.tools] },
    commands: commands.commands,
    extensions,
    isProjectTrusted: state === "trusted",
    projectCoverage: coverage,
    errors: [...problems, ...(extensions?.errors ?? []), ...tools.errors, ...commands.errors],
    untrusted: chosen.untrusted,
    undecided: isOpen(survey, state, chosen.untrusted) ? undecidedProject(survey, deps) : undefined,
  };
}

/** Is there something to ask? Of texts and settings alone the user is told; a change of trusted ones is a question. */
function isOpen({ decision }: ExtensionSurvey, state: TrustDecision["state"], untrusted: readonly FoundModule[]) {
  if (state !== "undecided") return false;
  return untrusted.length > 0 || decision.trusted.size > 0;
}

async function loadCommands(
  modules: readonly FoundModule[],
  deps: Omit<LoadToolsDeps, "builtInToolNames">,
): Promise<LoadedCommands> {
  if (modules.length === 0) return { commands: [], errors: [] };
  const { loadCustomCommands } = await import("../../extensions/load/load-commands.js");
  return loadCustomCommands(modules, deps);
}

function undecidedProject({ decision, project }: ExtensionSurvey, deps: LoadSessionExtensionsDeps): UndecidedProject {
  return {
    question: trustQuestion(decision),
    async rememberYes() {
      const { saveTrust } = await import("../../extensions/trust/save-trust.js");
      await saveTrust(project, "trusted", { file: trustFile(deps), clock: deps.clock });
    },
  };
}

export function explicitPaths(options: ExtensionOptions, settings: ConfigLocation["settings"]): ExplicitPath[] {
  const named = (kind: ExplicitPath["kind"], paths: readonly string[]) =>
    paths.map((path): ExplicitPath => ({ kind, path, namedBy: "user" }));
  // The settings hold what the user names: what the project's file names is found with its own modules.
  return [
    ...named("tool", [...settings.get("customTools"), ...(options.additionalToolPaths ?? [])]),
    ...named("extension", [...settings.get("extensions"), ...(options.additionalExtensionPaths ?? [])]),
  ];
}

interface ExtensionWork {
  readonly deps: LoadSessionExtensionsDeps;
  readonly loading: LoadDeps;
}

async function loadUserExtensions(
  modules: readonly FoundModule[],
  { factories, ...work }: ExtensionWork & { factories: readonly ExtensionFactory[] },
): Promise<LoadedExtensions | undefined> {
  const inline = factories.map((factory, index) => ({ path: `<inline:${index + 1}>`, factory }));
  const candidates = [...(await asCandidates(modules.filter(isExtension), work.loading)), ...inline];
  return candidates.length === 0 ? undefined : loadExtensionsOf(candidates, work);
}

async function loadExtensionsOf(
  candidates: readonly Candidate[],
  { deps, loading }: ExtensionWork,
): Promise<LoadedExtensions> {
  const { loadExtensions } = await import("../../extensions/load/load-extensions.js");
  const { live, onError, onSendFailure } = deps;
  return loadExtensions(candidates, { ...loading, live, onError, onSendFailure });
}

/** A program becomes an extension that starts it. */
async function asCandidates(modules: readonly FoundModule[], loading: LoadDeps): Promise<Candidate[]> {
  if (!modules.some(({ isScript }) => isScript)) return [...modules];
  const { hookProgram } = await import("../../extensions/hooks/hook-programs.js");
  const { cwd, processes: own, projectProcesses = own, coverage } = loading;
  return modules.map((module) => {
    const processes = module.needsTrust ? projectProcesses : own;
    return module.isScript ? hookProgram(module, { cwd, processes, coverage }) : module;
  });
}

/** Without a decision the user's extensions are asked; without an answer of theirs, what is undecided stays out. */
async function decide(
  { decision, grant, project }: ExtensionSurvey,
  extensions: LoadedExtensions | undefined,
  { cwd, clock, log, ...location }: LoadSessionExtensionsDeps,
): Promise<{ state: TrustDecision["state"]; grant: ProjectGrant }> {
  const { state, problem } = decision;
  if (problem !== undefined) log.warn(problem);
  if (state !== "undecided" || !extensions?.runner.hasHandlers("project_trust")) return { state, grant };
  const { trusted, remember } = await extensions.runner.emit({ type: "project_trust", cwd });
  if (trusted === "undecided") return { state, grant };
  const answer = trusted === "yes" ? "trusted" : "untrusted";
  if (remember) {
    const { saveTrust } = await import("../../extensions/trust/save-trust.js");
    await saveTrust(project, answer, { file: trustFile(location), clock }).catch((error: unknown) =>
      log.error("the decision about the project could not be kept", error),
    );
  }
  const { grantOf } = await import("../../extensions/trust/trust.js");
  return { state: answer, grant: grantOf(project, { state: answer, trusted: new Set() }) };
}
