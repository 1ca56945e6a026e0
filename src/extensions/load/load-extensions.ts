// Loads extensions: modules that were found, and functions that a program passes in. A failing one is one sentence and
// leaves nothing behind; the others load, in the order in which they were named.

import { readModuleFile } from "../../files/module-files.js";
import type { ToolLogger } from "../api/custom-tool.js";
import type { ExtensionAPI, ExtensionFactory } from "../api/extension.js";
import { createExtensionApi } from "../api/extension-api.js";
import type { ExtensionOrigin } from "../api/extension-origin.js";
import { ExtensionRegistrations } from "../api/extension-registrations.js";
import { createToolApi, createToolLogger } from "../api/tool-api.js";
import { VirtualModules } from "../compat/virtual-modules.js";
import { ExtensionRunner, type RunnerDeps } from "../hooks/extension-runner.js";
import {
  type LoadDeps,
  loadGuarded,
  loadModule,
  type ModuleCandidate,
  type ModuleLoadError,
  withoutRepeats,
} from "./load.js";

/** A function of the program's own. */
export interface InlineExtension {
  /** For messages. */
  readonly path: string;
  readonly factory: ExtensionFactory;
  /** Whose it is; default: the program's, whose functions count as the user's. */
  readonly origin?: ExtensionOrigin;
  /** Of one that is made anew: what it was before. Without it, calls would run that it would have refused. */
  readonly isGuard?: boolean;
}

const maxTextBytes = 4 * 1024 * 1024;

export type Candidate = ModuleCandidate | InlineExtension;

export interface LoadExtensionsDeps extends LoadDeps, RunnerDeps {
  /** Names that no extension may take. */
  readonly builtInCommands?: readonly string[];
}

export interface LoadedExtensions {
  readonly runner: ExtensionRunner;
  readonly errors: readonly ModuleLoadError[];
  /** Those of a project, once it is trusted. Their errors are returned, and join the others. */
  add(candidates: readonly Candidate[], coverage: LoadDeps["coverage"]): Promise<readonly ModuleLoadError[]>;
  /** The same extensions for another conversation: their functions are called again, their modules not evaluated. */
  again(): Promise<LoadedExtensions>;
}

/** Never rejects. */
export function loadExtensions(candidates: readonly Candidate[], deps: LoadExtensionsDeps): Promise<LoadedExtensions> {
  const logger = createToolLogger(deps.log);
  return loadWith(candidates, deps, new VirtualModules(deps.hostModules ?? {}, logger), logger);
}

async function loadWith(
  candidates: readonly Candidate[],
  deps: LoadExtensionsDeps,
  virtual: VirtualModules,
  logger: ToolLogger,
): Promise<LoadedExtensions> {
  const runner = new ExtensionRunner(deps);
  const made: (() => InlineExtension)[] = [];
  const { cwd, processes, projectProcesses = processes, live } = deps;
  const common = { cwd, live, logger, virtual, missingCode: 1 }; // as in pi
  const usersApi = createToolApi({ ...common, processes });
  const projectApi = createToolApi({ ...common, processes: projectProcesses });
  const { log, builtInCommands = [] } = deps;
  const apiOf = (extension: ExtensionRegistrations): ExtensionAPI =>
    createExtensionApi({
      extension,
      common: extension.origin.needsTrust ? projectApi : usersApi,
      log,
      builtInCommands,
      bus: runner.bus,
      flagValues: runner.flagValues,
      host: () => runner.host(),
      boundHost: () => runner.boundHost(),
      guard: (...args) => runner.guard(...args),
      onSendFailure: (failure) => runner.onSendFailure(failure),
    });
  const errors: ModuleLoadError[] = [];
  const load = async (wanted: readonly Candidate[], loadParts: LoadDeps) => {
    const outcomes = await Promise.all(once(wanted).map((one) => loadOne(one, { deps: loadParts, virtual, apiOf })));
    for (const { candidate, extension, factory } of outcomes) {
      const { origin } = extension;
      if (factory)
        made.push(() => ({ path: origin.path, factory, origin, isGuard: wasGuard(candidate, extension, loadParts) }));
    }
    runner.registry.add(outcomes.flatMap(({ extension, problem }) => (problem === undefined ? [extension] : [])));
    const found = outcomes.flatMap(({ extension, problem, isGuard }) =>
      problem === undefined ? [] : [errorOf(extension, problem, isGuard)],
    );
    for (const sentence of runner.registry.replacedCommands()) log.warn(sentence);
    errors.push(...found);
    return found;
  };
  await load(candidates, deps);
  return {
    runner,
    errors,
    add: (more, coverage) => load(more, { ...deps, coverage }),
    again: () =>
      loadWith(
        made.map((one) => one()),
        deps,
        virtual,
        logger,
      ),
  };
}

interface Shared {
  readonly deps: LoadDeps;
  readonly virtual: VirtualModules;
  apiOf(extension: ExtensionRegistrations): ExtensionAPI;
}

async function loadOne(candidate: Candidate, { deps, virtual, apiOf }: Shared) {
  const extension = new ExtensionRegistrations(originOf(candidate));
  let factory: ExtensionFactory | undefined;
  const make = async (found: unknown) => {
    factory = found as ExtensionFactory;
    extension.returned = await factory(apiOf(extension));
  };
  const { path } = candidate;
  const noFactoryText = `Extension does not export a valid factory function: ${path}`;
  const work = { virtual, kind: "extension", noFactoryText, make } as const;
  const loaded =
    "factory" in candidate
      ? await loadGuarded(path, { ...deps, kind: "extension" }, async () => {
          await virtual.prepare(String(candidate.factory));
          return make(candidate.factory);
        })
      : await loadModule(candidate, deps, { ...work, members: Object.keys(apiOf(extension)) });
  const problem = "problem" in loaded ? loaded.problem : undefined;
  extension.isGone = problem !== undefined;
  const isGuard = problem !== undefined && wasGuard(candidate, extension, deps);
  return { candidate, extension, problem, isGuard, factory: problem === undefined ? factory : undefined };
}

/**
 * Would it have decided about calls? It began to listen, or its text says that it would have; one that was named to be
 * there counts as well. What the project is not trusted with was never going to decide anything.
 */
function wasGuard(candidate: Candidate, { handlers, origin }: ExtensionRegistrations, { coverage }: LoadDeps): boolean {
  if (handlers.has("tool_call")) return true;
  if ("factory" in candidate && candidate.isGuard !== undefined) return candidate.isGuard;
  if (origin.needsTrust && !coverage) return false;
  if ("factory" in candidate) return candidate.origin === undefined;
  const isNamed = origin.source?.provider === "config" && !origin.needsTrust;
  return isNamed || /\btool_call\b/.test(textOf(origin.realPath));
}

/** Empty where it cannot be read: the load tells why, and the name alone has to say what it is. */
export function textOf(path: string, maxBytes = maxTextBytes): string {
  try {
    return Buffer.from(readModuleFile(path, maxBytes).bytes).toString("utf8");
  } catch {
    return "";
  }
}

/** A function of the program counts as the user's. */
function originOf(candidate: Candidate): ExtensionOrigin {
  const { path } = candidate;
  if ("factory" in candidate) return candidate.origin ?? { path, realPath: path, needsTrust: false };
  const { realPath, needsTrust, source } = candidate;
  return { path, realPath, needsTrust, ...(source ? { source } : {}) };
}

function once(candidates: readonly Candidate[]) {
  const kept = new Set<unknown>(withoutRepeats(candidates.filter((one) => "realPath" in one)));
  return candidates.filter((one) => "factory" in one || kept.has(one));
}

function errorOf(
  { origin: { path, source } }: ExtensionRegistrations,
  error: string,
  isGuard: boolean,
): ModuleLoadError {
  return { path, error, ...(source ? { source } : {}), ...(isGuard ? { isGuard } : {}) };
}
