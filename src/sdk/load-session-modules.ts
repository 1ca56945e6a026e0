// From what lies in the configuration directories to loaded modules: survey, trust, choice, load. Read only where there
// is something to load. Promises: of a project that is not trusted nothing is imported, and each module that is left out
// or fails is one sentence.

import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import type { Log } from "../base/log.js";
import type { ToolFailure } from "../extend/custom-tool-failure.js";
import { createLiveUI } from "../extend/custom-tool-ui.js";
import { chooseModules, untrustedText } from "../extend/discover-choose.js";
import type { FoundModule } from "../extend/discover-findings.js";
import type { ExplicitPath } from "../extend/discover-modules.js";
import type { ExtensionFactory } from "../extend/extension.js";
import type { SendFailure } from "../extend/extension-api.js";
import type { LoadedExtensions } from "../extend/extension-load.js";
import { type LoadedCustomTools, type LoadParts, loadCustomTools, type ModuleLoadError } from "../extend/load.js";
import type { PendingActions } from "../extend/tool-api-pending.js";
import type { HostModules } from "../extend/virtual-modules.js";
import type { Processes } from "../workspace/processes.js";
import { type ModuleSpot, type ModuleSurvey, surveyModules, trustFile } from "./survey-modules.js";

export interface ModuleOptions {
  /** The project's own modules may run, in this session only. */
  trustProject?: boolean;
  /** Custom tools: files or directories. */
  additionalToolPaths?: readonly string[];
  /** Extensions of the program's own. */
  extensions?: readonly ExtensionFactory[];
  additionalExtensionPaths?: readonly string[];
  /** Only those extensions that are named. */
  disableExtensionDiscovery?: boolean;
}

export interface LoadModulesParts extends ModuleSpot {
  readonly processes: Processes;
  readonly clock: Clock;
  readonly log: Log;
  readonly pending: PendingActions;
  readonly builtInToolNames: readonly string[];
  readonly hostModules: HostModules;
  onError(failure: ToolFailure): void;
  onSendFailure(failure: SendFailure): void;
}

export interface SessionModuleSet {
  readonly tools: LoadedCustomTools;
  readonly extensions: LoadedExtensions | undefined;
  readonly isProjectTrusted: boolean;
  /** Of what could not be loaded. */
  readonly errors: readonly ModuleLoadError[];
  /** Left out because the project is not trusted. */
  readonly untrusted: readonly ModuleLoadError[];
}

/** Never rejects because of a module. */
export async function loadSessionModules(parts: LoadModulesParts, options: ModuleOptions): Promise<SessionModuleSet> {
  const { settings, log } = parts;
  const explicit = explicitPaths(options, settings);
  const survey = await surveyModules(parts, { explicit, isTrustedForThisRun: options.trustProject === true });
  const { modules, problems } = survey.discovery;
  const disabled = settings.get("disabledExtensions");
  const isWanted = ({ kind, source }: FoundModule) =>
    kind === "tool" || !options.disableExtensionDiscovery || source.provider === "config";
  const choose = (isProjectTrusted: boolean) => chooseModules(modules.filter(isWanted), { isProjectTrusted, disabled });
  const loading: LoadParts = {
    ...parts,
    cacheDirectory: join(parts.agentDir, "cache", "tools"),
    coverage: undefined,
  };

  // The user's extensions first: they may have a word on whether the project is trusted.
  const own = choose(false);
  let extensions = await loadUserExtensions(own.load, { parts, loading, factories: options.extensions ?? [] });
  const isProjectTrusted = await decide(survey, own.untrusted.length > 0 ? extensions : undefined, parts);
  const chosen = isProjectTrusted ? choose(true) : own;
  const coverage = isProjectTrusted ? survey.project.coverage : undefined;
  const project = chosen.load.filter((module) => module.needsTrust && isExtension(module));
  if (project.length > 0) {
    extensions ??= await loadExtensionsOf([], { parts, loading });
    await extensions.add(project, coverage);
  }
  const tools = await loadCustomTools(
    chosen.load.filter(({ kind }) => kind === "tool"),
    { ...loading, coverage, builtInToolNames: parts.builtInToolNames, pending: parts.pending },
  );
  for (const { path } of chosen.load.filter(({ isScript }) => isScript))
    log.warn(`${path} is a program; only modules are loaded as hooks`);
  return {
    tools,
    extensions,
    isProjectTrusted,
    errors: [...problems, ...(extensions?.errors ?? []), ...tools.errors],
    untrusted: chosen.untrusted.map(({ path, source }) => ({ path, error: untrustedText, source })),
  };
}

export function explicitPaths(options: ModuleOptions, settings: ModuleSpot["settings"]): ExplicitPath[] {
  const named = (kind: ExplicitPath["kind"], paths: readonly string[]) =>
    paths.map((path): ExplicitPath => ({ kind, path, namedBy: "user" }));
  // Before a project is trusted its file cannot name any: what the settings hold is the user's.
  return [
    ...named("tool", [...settings.get("customTools"), ...(options.additionalToolPaths ?? [])]),
    ...named("extension", [...settings.get("extensions"), ...(options.additionalExtensionPaths ?? [])]),
  ];
}

interface ExtensionWork {
  readonly parts: LoadModulesParts;
  readonly loading: LoadParts;
}

async function loadUserExtensions(
  modules: readonly FoundModule[],
  { factories, ...work }: ExtensionWork & { factories: readonly ExtensionFactory[] },
): Promise<LoadedExtensions | undefined> {
  const inline = factories.map((factory, index) => ({ path: `<inline:${index + 1}>`, factory }));
  const candidates = [...modules.filter(isExtension), ...inline];
  return candidates.length === 0 ? undefined : loadExtensionsOf(candidates, work);
}

async function loadExtensionsOf(
  candidates: Parameters<typeof import("../extend/extension-load.js").loadExtensions>[0],
  { parts, loading }: ExtensionWork,
): Promise<LoadedExtensions> {
  const { loadExtensions } = await import("../extend/extension-load.js");
  const { onError, onSendFailure } = parts;
  return loadExtensions(candidates, { ...loading, live: createLiveUI(parts), onError, onSendFailure });
}

function isExtension({ kind, isScript }: FoundModule): boolean {
  return kind !== "tool" && !isScript;
}

/** Where nobody has decided yet, the user's extensions are asked; where they do not know either, it is no. */
async function decide(
  { decision, project }: ModuleSurvey,
  extensions: LoadedExtensions | undefined,
  { cwd, clock, log, ...place }: LoadModulesParts,
): Promise<boolean> {
  const { state, problem } = decision;
  if (problem !== undefined) log.warn(problem);
  if (state !== "undecided" || !extensions?.runner.hasHandlers("project_trust")) return state === "trusted";
  const { trusted, remember } = await extensions.runner.emit({ type: "project_trust", cwd });
  if (remember && trusted !== "undecided") {
    const { recordTrust } = await import("../extend/trust-record.js");
    const word = trusted === "yes" ? "trusted" : "untrusted";
    await recordTrust(project, word, { file: trustFile(place), clock }).catch((error: unknown) =>
      log.error("the decision about the project could not be kept", error),
    );
  }
  return trusted === "yes";
}
