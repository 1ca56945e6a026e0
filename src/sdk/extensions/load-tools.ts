// Custom tools for a program without a session: found and loaded as a session would, together with the errors. Heavy
// code is loaded when one of these is called.

import { join } from "node:path";
import { systemClock } from "../../base/clock.js";
import { ownDirectory } from "../../base/home.js";
import { silentLog } from "../../base/log.js";
import type { ExtensionSurvey } from "../../config/survey-extensions.js";
import type { GivenPush } from "../../extensions/api/tool-api-pending.js";
import type { FoundModule, ModuleSource, ToolMetadata } from "../../extensions/discover/findings.js";
import type { LoadedCustomTools, ModuleLoadError } from "../../extensions/load/load.js";
import type { ExtensionLocation } from "./manage-extensions.js";

export interface CustomToolPath {
  readonly path: string;
  readonly source?: ModuleSource;
}

export interface CustomToolPaths {
  /** In order, each file once; of a project only if it is trusted. */
  readonly paths: readonly CustomToolPath[];
  /** Tools that are described but not programmed. */
  readonly metadata: readonly ToolMetadata[];
  readonly errors: readonly ModuleLoadError[];
}

export type CustomToolSet = Pick<LoadedCustomTools, "tools" | "errors" | "setUIContext">;

/** Nothing of what is found is run. */
export async function discoverCustomToolPaths(
  configuredPaths: readonly string[],
  cwd: string,
): Promise<CustomToolPaths> {
  const { chosen, survey, errors } = await choose(configuredPaths, await locationAt(cwd, []));
  const paths = chosen.map(({ path, source }) => ({ path, source }));
  return { paths, metadata: survey.discovery.metadata, errors };
}

/** Naming a path means running it. Never rejects because of one. */
export async function loadCustomTools(
  paths: readonly (string | CustomToolPath)[],
  cwd: string,
  builtInToolNames: readonly string[],
  pushPendingAction?: GivenPush,
): Promise<CustomToolSet> {
  const location = await locationAt(cwd, builtInToolNames);
  const named = paths.map((one) => (typeof one === "string" ? { path: one } : one));
  const { discoverModules } = await import("../../extensions/discover/discover-modules.js");
  const explicit = named.map(({ path }) => ({ kind: "tool" as const, path, namedBy: "user" as const }));
  const { home } = location;
  const { modules, problems } = await discoverModules({ cwd, home, roots: [], kinds: ["tool"], explicit });
  const sourceOf = new Map(named.map(({ path, source }) => [path, source]));
  const wanted = modules
    .filter(({ source }) => source.provider === "config")
    .map((module) => ({ ...module, source: sourceOf.get(module.path) ?? module.source }));
  return load(wanted, { location, pushPendingAction, errors: problems });
}

/** A project's own only if it is trusted; else each is an error. */
export async function discoverAndLoadCustomTools(
  configuredPaths: readonly string[],
  cwd: string,
  builtInToolNames: readonly string[],
  pushPendingAction?: GivenPush,
): Promise<CustomToolSet> {
  const location = await locationAt(cwd, builtInToolNames);
  const { chosen, survey, errors } = await choose(configuredPaths, location);
  return load(chosen, { location, pushPendingAction, errors, coverage: survey.grant.coverage });
}

async function locationAt(cwd: string, builtInToolNames: readonly string[]): Promise<ExtensionLocation> {
  const { findExtensionLocation } = await import("./manage-extensions.js");
  return findExtensionLocation({ cwd, log: silentLog, builtInToolNames });
}

async function choose(configuredPaths: readonly string[], location: ExtensionLocation) {
  const [{ surveyExtensions }, { chooseModules, untrustedText }] = await Promise.all([
    import("../../config/survey-extensions.js"),
    import("../../extensions/discover/choose.js"),
  ]);
  const named = [...location.settings.get("customTools"), ...configuredPaths];
  const explicit = named.map((path) => ({ kind: "tool" as const, path, namedBy: "user" as const }));
  const survey: ExtensionSurvey = await surveyExtensions(location, { explicit });
  const { modules, problems } = survey.discovery;
  const tools = modules.filter(({ kind }) => kind === "tool");
  const chosen = chooseModules(tools, { mayRun: survey.grant.mayRun });
  const untrusted = chosen.untrusted.map(({ path, source }) => ({ path, error: untrustedText, source }));
  return { chosen: chosen.load, survey, errors: [...problems, ...untrusted] };
}

interface LoadWork {
  readonly location: ExtensionLocation;
  readonly pushPendingAction: GivenPush | undefined;
  readonly errors: readonly ModuleLoadError[];
  readonly coverage?: ExtensionSurvey["project"]["coverage"] | undefined;
}

async function load(modules: readonly FoundModule[], work: LoadWork): Promise<CustomToolSet> {
  const [loader, { createToolResources }, { sessionlessHostModules }] = await Promise.all([
    import("../../extensions/load/load.js"),
    import("../tool-resources.js"),
    import("./sessionless-host-modules.js"),
  ]);
  const { location, pushPendingAction, coverage } = work;
  const { cwd, agentDir, log, builtInToolNames } = location;
  const { processes } = createToolResources({ ...location, clock: systemClock });
  const loaded = await loader.loadCustomTools(modules, {
    cwd,
    processes,
    clock: systemClock,
    log,
    coverage,
    builtInToolNames,
    pending: pushPendingAction,
    cacheDirectory: join(ownDirectory(agentDir), "cache", "tools"),
    hostModules: sessionlessHostModules(location, processes),
  });
  const { tools, setUIContext } = loaded;
  return { tools, errors: [...work.errors, ...loaded.errors], setUIContext };
}
