// Loads extension modules, and gives the tools among them the API they were written for. Nothing that a module does at
// its start (throwing, exiting, hanging, printing) keeps the others from loading. Each load reads the files again, so
// it serves reloads too.

import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { canonical } from "../../files/paths/find-roots.js";
import type { Processes } from "../../processes/processes.js";
import type { CustomTool, CustomToolFactory } from "../api/custom-tool.js";
import { createLiveUI, type LiveUI, type ToolUI } from "../api/custom-tool-ui.js";
import type { ExtensionOrigin } from "../api/extension-origin.js";
import { createToolApi, createToolLogger } from "../api/tool-api.js";
import type { GivenPush, ToolPendingActions } from "../api/tool-api-pending.js";
import { type HostModules, isHostModule, VirtualModules } from "../compat/virtual-modules.js";
import { untrustedText } from "../discover/choose.js";
import type { ModuleSource } from "../discover/findings.js";
import { compiled, withinBesideCompiling } from "./compile-time.js";
import { type FoundTool, factoryOf, type ModuleFactory, makeTools, noFactoryText } from "./load-factory.js";
import { explained, type FailureContext } from "./load-failure.js";
import { runGuarded } from "./load-guard.js";
import { LoadMemory, type SharedApi } from "./load-memory.js";
import { ModuleGraph, needsBun, type Transformer } from "./load-module.js";
import { dependencyNames, isPartOf, manifestPath, packageNameAt } from "./load-packages.js";
import type { ToolSchema } from "./schema-json.js";
import { misspeltMembers } from "./tool-members.js";

/** What discovery found. */
export type ModuleCandidate = ExtensionOrigin;

/** What loading any module needs. */
export interface LoadDeps {
  readonly cwd: string;
  readonly processes: Processes;
  /** For the project's own code, which runs confined; default: the same. */
  readonly projectProcesses?: Processes | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Throws for a file that was not part of what was trusted, or not with this content. Absent: nothing was. */
  readonly coverage?: { admit(realPath: string, content: Uint8Array): void } | undefined;
  readonly hostModules?: HostModules;
  /** Where compiled modules are kept; without it every start compiles. */
  readonly cacheDirectory?: string | undefined;
  /** Of earlier loads: a reload compiles only what was changed. */
  readonly memory?: LoadMemory;
}

export interface LoadToolsDeps extends LoadDeps {
  readonly builtInToolNames: readonly string[];
  readonly pending?: ToolPendingActions | GivenPush | undefined;
  /** Shared with other loads; default: one of its own, with no user behind it. */
  readonly live?: LiveUI;
}

export interface LoadedCustomTool {
  readonly path: string;
  readonly resolvedPath: string;
  readonly tool: CustomTool;
  readonly schema: ToolSchema;
  readonly source?: ModuleSource;
}

export interface ModuleLoadError {
  readonly path: string;
  readonly error: string;
  readonly source?: ModuleSource;
  /** Without it, calls could run that it would have refused. */
  readonly isGuard?: true;
}

export interface LoadedCustomTools {
  readonly tools: readonly LoadedCustomTool[];
  readonly errors: readonly ModuleLoadError[];
  readonly live: LiveUI;
  setUIContext(ui: Partial<ToolUI> | undefined, hasUI: boolean): void;
}

const declarativeText = "Declarative tool files (.md, .json) cannot be loaded as executable modules";
const limitMs = 10_000;
/** From here on a user wonders what galley waits for. On a busy machine one small file may take as long. */
const noticed = { ms: 1000, files: 5 };
const maxModuleBytes = 16 * 1024 * 1024;

/** Never rejects. Tools are in the order of their candidates, whichever was ready first. */
export async function loadCustomTools(
  candidates: readonly ModuleCandidate[],
  deps: LoadToolsDeps,
): Promise<LoadedCustomTools> {
  const { live = createLiveUI(deps), memory = new LoadMemory() } = deps;
  const shared = { deps: { ...deps, memory }, ...sharedApi({ ...deps, live, memory }) };
  const outcomes = await Promise.all(withoutRepeats(candidates).map((candidate) => loadOne(candidate, shared)));

  const tools: LoadedCustomTool[] = [];
  const errors: ModuleLoadError[] = [];
  const taken = new Set(deps.builtInToolNames);
  for (const { candidate, found, problems } of outcomes) {
    const { path, realPath: resolvedPath, source } = candidate;
    const origin = source ? { source } : {};
    for (const { tool, schema } of found) {
      for (const { sentence } of misspeltMembers(tool)) deps.log.warn(`${path}: ${sentence}`);
      if (taken.has(tool.name)) problems.push(`Tool name "${tool.name}" conflicts with existing tool`);
      else tools.push({ path, resolvedPath, tool, schema, ...origin });
      taken.add(tool.name);
    }
    for (const error of problems) errors.push({ path, error, ...origin });
  }
  return { tools, errors, live, setUIContext: (ui, hasUI) => live.set(ui, hasUI) };
}

/** One for all tools and commands of a session, so that every import of a module gets the same instance. */
export function sharedApi(deps: Omit<LoadToolsDeps, "builtInToolNames"> & { readonly memory: LoadMemory }): SharedApi {
  const { cwd, processes, projectProcesses, pending, memory, live = createLiveUI(deps) } = deps;
  return memory.shared(() => {
    const logger = createToolLogger(deps.log);
    const virtual = new VirtualModules(deps.hostModules ?? {}, logger);
    const common = { cwd, live, logger, virtual, pending };
    const api = createToolApi({ ...common, processes });
    const projectApi = projectProcesses ? createToolApi({ ...common, processes: projectProcesses }) : api;
    return { virtual, api, projectApi };
  });
}

interface Outcome {
  readonly candidate: ModuleCandidate;
  readonly found: readonly FoundTool[];
  readonly problems: string[];
}

interface Shared extends SharedApi {
  readonly deps: LoadDeps & { readonly memory: LoadMemory };
}

async function loadOne(candidate: ModuleCandidate, { deps, virtual, api, projectApi }: Shared): Promise<Outcome> {
  if (/\.(?:md|json)$/i.test(candidate.realPath)) return { candidate, found: [], problems: [declarativeText] };
  const kept = recalled(candidate, deps);
  if (kept) return { candidate, found: kept, problems: [] };
  const loaded = await loadModule(candidate, deps, {
    virtual,
    kind: "tool",
    noFactoryText,
    make: async (factory, graph) => {
      const made = await makeTools(factory as CustomToolFactory, candidate.needsTrust ? projectApi : api);
      const isOwn = !graph.usesPackages && !graph.usesSystem && !made.isWaitedFor && made.problems.length === 0;
      if (isOwn) deps.memory.keep(canonical(candidate.realPath), { files: graph.contents, found: made.found });
      return made;
    },
  });
  return "problem" in loaded ? { candidate, found: [], problems: [loaded.problem] } : { candidate, ...loaded.made };
}

/** What an earlier load made of the same files, where the result cannot have changed. */
function recalled({ realPath, needsTrust }: ModuleCandidate, { memory, coverage }: Shared["deps"]) {
  if (needsTrust && !coverage) return undefined;
  return memory.recall(canonical(realPath), (file, content) => {
    try {
      const now = read(file);
      if (needsTrust) coverage?.admit(file, now);
      return now.equals(content);
    } catch {
      return false; // loading it reports why
    }
  });
}

export interface ModuleWork<Made> {
  readonly virtual: VirtualModules;
  readonly kind: "tool" | "extension" | "command";
  readonly noFactoryText: string;
  /** Of the object that the factory is given, for a word about a misspelt one. */
  readonly members?: readonly string[];
  /** Within the limit of the load, and guarded. */
  make(factory: ModuleFactory, graph: ModuleGraph): Promise<Made>;
}

/** Never rejects. */
export async function loadModule<Made>(
  candidate: ModuleCandidate,
  deps: LoadDeps,
  work: ModuleWork<Made>,
): Promise<Loaded<Made>> {
  if (candidate.needsTrust && !deps.coverage) return { problem: untrustedText };
  return loadGuarded(candidate.realPath, { ...deps, kind: work.kind }, () =>
    importAndMake(candidate, deps, work).catch((error: unknown) =>
      explained(error, { path: canonical(candidate.realPath), known: knownTo(work), textOf: readText }),
    ),
  );
}

function knownTo({ virtual, members = [] }: Pick<ModuleWork<unknown>, "virtual" | "members">): FailureContext["known"] {
  return {
    api: { members },
    async exportsOf(specifier) {
      if (!isHostModule(specifier)) return undefined;
      return { names: Object.keys(await virtual.load(specifier)), standIns: [] };
    },
  };
}

function readText(path: string): string {
  try {
    return read(path).toString("utf8");
  } catch {
    return "";
  }
}

export type Loaded<Made> = { made: Made } | { problem: string };

/** Never rejects: a failure, or a load that takes too long, is a sentence. */
export async function loadGuarded<Made>(
  path: string,
  { clock, log, kind }: Pick<LoadDeps, "clock" | "log"> & Pick<ModuleWork<Made>, "kind">,
  work: () => Promise<Made>,
): Promise<Loaded<Made>> {
  try {
    return { made: await withinBesideCompiling(clock, limitMs, runGuarded({ path, log }, work)) };
  } catch (error) {
    if (GalleyError.is(error, "start_failed")) return { problem: error.message };
    return { problem: `Failed to load ${kind}: ${reasonOf(error)}` };
  }
}

async function importAndMake<Made>(
  candidate: ModuleCandidate,
  deps: LoadDeps,
  { virtual, noFactoryText, make }: ModuleWork<Made>,
): Promise<Made> {
  const path = canonical(candidate.realPath);
  const { needsTrust } = candidate;
  const { clock, log } = deps;
  let [compiledMs, compiledFiles, isTold] = [0, 0, false];
  const graph = new ModuleGraph({
    files: { read, canonical },
    transformer: await transformerFor(virtual, deps.cacheDirectory),
    memory: deps.memory ?? new LoadMemory(),
    virtual,
    // A package in the project is the project's code as well: none of it may bypass the gate.
    isOwn: (file) => needsTrust || isPartOf(file, path),
    admit: (file, content) => (needsTrust ? deps.coverage?.admit(file, content) : undefined),
    compiling(work) {
      const { result, ms } = compiled(clock, work);
      compiledMs += ms;
      compiledFiles++;
      const isLong = compiledMs >= noticed.ms && compiledFiles >= noticed.files;
      if (isLong && !isTold) log.warn(`Compiling ${packageNameAt(path) ?? candidate.path} for the first time …`);
      isTold ||= isLong;
      return result;
    },
  });
  const factory = factoryOf(await graph.load(path));
  if (!factory) throw new GalleyError("start_failed", noFactoryText);
  await (graph.usesPackages ? virtual.prepareApi() : virtual.prepare());
  return make(factory, graph);
}

const transformers = new WeakMap<VirtualModules, Promise<Transformer>>();

/** One for everything that is loaded together. */
function transformerFor(virtual: VirtualModules, cacheDirectory: string | undefined): Promise<Transformer> {
  const known = transformers.get(virtual) ?? createTransformer(virtual, cacheDirectory);
  transformers.set(virtual, known);
  return known;
}

/** jiti, loaded when there is something to load. Its settings from the environment do not count. */
async function createTransformer(virtual: VirtualModules, cacheDirectory: string | undefined): Promise<Transformer> {
  const { createJiti } = await import("jiti");
  // The base path does not matter: every request names the importing file.
  const path = resolve("galley.ts");
  const options = {
    moduleCache: false,
    rebuildFsCache: false,
    tryNative: false,
    debug: false,
    sourceMaps: false,
    interopDefault: true,
    tsconfigPaths: false,
    alias: {},
    nativeModules: [],
    transformModules: [],
    virtualModules: virtual.table,
  };
  const jiti = createJiti(path, { ...options, fsCache: cacheDirectory ?? false });
  // What Node can load needs no compiling. A package that uses our modules has to be given them, which only jiti does.
  const native = createJiti(path, { ...options, fsCache: cacheDirectory ?? false, tryNative: true });
  const loaderOf = (file: string) => (needsHostModules(file) ? jiti : native);
  return {
    transform(source, filename, isAsync) {
      const request = { source, filename, ts: /\.[cm]?tsx?$/.test(filename), async: isAsync, interopDefault: true };
      try {
        return jiti.transform(request);
      } catch (error) {
        if (systemCode(error) === undefined) throw error;
        return createJiti(path, { ...options, fsCache: false }).transform(request); // the cache cannot be written
      }
    },
    resolve(specifier, from, isAsync) {
      const beside = /^\.{1,2}\//.test(specifier) ? fileAt(resolve(dirname(from), specifier)) : undefined;
      if (beside !== undefined) return beside;
      const how = { parentURL: pathToFileURL(from).href, try: true as const };
      const found: unknown = isAsync ? jiti.esmResolve(specifier, how) : jiti.resolve(specifier, how as object);
      if (found === undefined) return undefined;
      const place = String(found);
      return place.startsWith("file:") ? fileURLToPath(place) : place;
    },
    importPackage: (file) => loaderOf(file).import(file),
    requirePackage: (file) => loaderOf(file)(file),
  };
}

/** As jiti finds it, which looks at much more before: a package has hundreds of imports of its own files. */
function fileAt(path: string): string | undefined {
  const endings = ["", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"];
  return endings.map((ending) => path + ending).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

function needsHostModules(file: string): boolean {
  const manifest = manifestPath(file);
  if (manifest === undefined) return true; // a file outside of packages has no manifest that would tell
  try {
    return dependencyNames(read(manifest).toString("utf8")).some(isHostModule);
  } catch {
    return true;
  }
}

/** The same file under two names is one module. */
export function withoutRepeats(candidates: readonly ModuleCandidate[]): ModuleCandidate[] {
  const byPath = new Map<string, ModuleCandidate>();
  for (const candidate of candidates) {
    const path = canonical(candidate.realPath);
    if (!byPath.has(path)) byPath.set(path, candidate);
  }
  return [...byPath.values()];
}

function read(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size > maxModuleBytes)
      throw new GalleyError("file_refused", `${path} is larger than ${maxModuleBytes / 1024 / 1024} MiB`);
    return readFileSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw new GalleyError("not_found", `File not found: ${path}`);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return message === "Bun is not defined" ? needsBun("Bun").message : message;
}
