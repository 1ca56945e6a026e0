// Whether a module is usable, for its author: what it is (a custom tool, an extension, a hook), what it registers, and
// what is wrong with it. Naming a path means running it; a hook that is a program is not started.

import { basename, dirname, resolve } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import { createToolContext } from "../../extensions/api/custom-tool-context.js";
import { createLiveUI, uiMembers } from "../../extensions/api/custom-tool-ui.js";
import { EventBus } from "../../extensions/api/event-bus.js";
import { createExtensionApi } from "../../extensions/api/extension-api.js";
import { createCommandContext } from "../../extensions/api/extension-context.js";
import { ExtensionRegistrations } from "../../extensions/api/extension-registrations.js";
import { createToolApi, createToolLogger } from "../../extensions/api/tool-api.js";
import { isStandIn } from "../../extensions/compat/stand-ins.js";
import { isHostModule, VirtualModules } from "../../extensions/compat/virtual-modules.js";
import { readPackage } from "../../extensions/discover/directory.js";
import type { FoundModule } from "../../extensions/discover/findings.js";
import type { LoadDeps } from "../../extensions/load/load.js";
import { textOf } from "../../extensions/load/load-extensions.js";
import type { ToolReport } from "../../extensions/load/tool-check.js";
import { unknownMembers } from "../../extensions/load/tool-members.js";
import { findUnknownNames, type KnownNames, lineOfMember } from "../../extensions/load/unknown-names.js";
import { importTargets } from "../../extensions/trust/find-import-targets.js";
import { findImports } from "../../extensions/trust/find-imports.js";
import { isExecutable } from "../../files/module-files.js";
import { createToolHost, type ExtensionHostDeps } from "./extension-host.js";
import { type ExtensionLocation, withLoaded, withLoading } from "./manage-extensions.js";

export type ModuleForm = "custom tool" | "extension" | "hook" | "hook program";

export interface Registered {
  readonly path: string;
  readonly form: ModuleForm;
  readonly tools: readonly string[];
  readonly commands: readonly string[];
  readonly flags: readonly string[];
  readonly shortcuts: readonly string[];
  /** Types of messages that it draws. */
  readonly renderers: readonly string[];
  /** Names of events that it listens to, as it wrote them. */
  readonly events: readonly string[];
}

export interface ModuleCheck {
  readonly modules: readonly Registered[];
  readonly tools: readonly ToolReport[];
  /** Why something cannot be used. */
  readonly problems: readonly string[];
  /** What would help a model, or the user. */
  readonly advice: readonly string[];
}

const none = { tools: [], commands: [], flags: [], shortcuts: [], renderers: [], events: [] } as const;

export async function checkModule(location: ExtensionLocation, path: string): Promise<ModuleCheck> {
  const program = await hookProgramAt(location, path);
  if (program) return program;
  const { discoverModules } = await import("../../extensions/discover/discover-modules.js");
  const { cwd, home } = location;
  const whole = resolve(cwd, path);
  // A package says what its modules are; a file, by its folder.
  const isNamedHook = /(?:^|[\\/])(?:extensions|hooks)[\\/]/.test(whole) || namesExtensions(whole);
  const kind = isNamedHook ? "extension" : "tool";
  const explicit = [{ kind, path, namedBy: "user" } as const];
  const found = await discoverModules({ cwd, home, roots: [], kinds: [kind], explicit });
  const problems = found.problems.map((problem) => `${problem.path}: ${problem.error}`);
  const candidates = found.modules.filter(({ source }) => source.provider === "config");
  const checks: ModuleCheck[] = [];
  for (const candidate of candidates) {
    const found = await checkOne(location, candidate, isNamedHook);
    const isTool = found.check.modules.some(({ form }) => form === "custom tool");
    checks.push(await withLines(found, candidate));
    const unknown = await withLoading(location, (loading) =>
      unknownIn(candidate, knownNames(isTool ? "tool" : "extension", loading)),
    );
    checks.push({ modules: [], tools: [], ...unknown });
  }
  return joined([{ modules: [], tools: [], problems, advice: [] }, ...checks]);
}

function namesExtensions(directory: string): boolean {
  return Array.isArray(readPackage(directory)?.field?.extensions);
}

/** A module does not say what it is: it is loaded as an extension, and what comes of it tells. */
async function checkOne(location: ExtensionLocation, candidate: FoundModule, isNamedHook: boolean): Promise<OneCheck> {
  const tried = await loadAsExtension(location, candidate);
  if (tried.extension && !isForTools(tried.extension)) {
    const made = [...tried.extension.tools.values()].map(({ definition }) => definition);
    return { check: extensionCheck(tried.extension, tried.warnings), made };
  }
  if (tried.problem !== undefined && isNamedHook)
    return { check: failed(`${candidate.path}: ${tried.problem}`), made: [] };
  const { check, made } = await toolCheck(location, candidate);
  // A tool in a folder of extensions would do nothing there.
  const misplaced = isNamedHook ? [`${candidate.path} makes a custom tool: its place is a folder tools`] : [];
  return { check: { ...check, problems: [...check.problems, ...misplaced] }, made };
}

interface OneCheck {
  readonly check: ModuleCheck;
  readonly made: readonly object[];
}

/** With the line of a tool's unknown member, where the text of the module has it. */
async function withLines({ check, made }: OneCheck, { path, realPath }: FoundModule): Promise<ModuleCheck> {
  let { problems } = check;
  const advice = [...check.advice];
  for (const { name, sentence, isNear } of made.flatMap(unknownMembers)) {
    const line = await lineOfMember(textOf(realPath, maxFileBytes), realPath, name);
    const said = line === undefined ? `${path}: ${sentence}` : `${path}:${line}: ${sentence}`;
    if (!isNear) advice.push(said);
    problems = problems.map((problem) => (problem === `${path}: ${sentence}` ? said : problem));
  }
  return { ...check, problems, advice };
}

/** In the module and in the files beside it that it imports. */
async function unknownIn(
  { path, realPath }: FoundModule,
  known: KnownNames,
): Promise<Pick<ModuleCheck, "problems" | "advice">> {
  const files = new Set([realPath]);
  const problems: string[] = [];
  const advice: string[] = [];
  for (const file of files) {
    const text = textOf(file, maxFileBytes);
    const shown = file === realPath ? path : file;
    for (const { line, sentence, isLate } of await findUnknownNames(text, file, known))
      (isLate ? advice : problems).push(`${shown}:${line}: ${sentence}`);
    for (const specifier of findImports(text).specifiers.filter((name) => name.startsWith(".")))
      for (const target of importTargets(specifier, dirname(file), () => undefined).slice(0, 1))
        if (files.size < maxFiles && /\.[cm]?[jt]sx?$/.test(target)) files.add(target);
  }
  return { problems, advice };
}

const maxFiles = 200;
const maxFileBytes = 16 * 1024 * 1024;

async function loadAsExtension(
  location: ExtensionLocation,
  candidate: FoundModule,
): Promise<{ extension?: ExtensionRegistrations; problem?: string; warnings: readonly string[] }> {
  const [{ loadExtensions }, { createLiveUI }] = await Promise.all([
    import("../../extensions/load/load-extensions.js"),
    import("../../extensions/api/custom-tool-ui.js"),
  ]);
  return withLoading(location, async (loading) => {
    const live = createLiveUI(loading);
    const warnings: string[] = [];
    const log = { ...loading.log, warn: (text: string) => void warnings.push(text) };
    const { runner, errors } = await loadExtensions([candidate], { ...loading, log, live, onError() {} });
    const [extension] = runner.registry.extensions;
    const [error] = errors;
    return { ...(extension ? { extension } : {}), ...(error ? { problem: error.error } : {}), warnings };
  });
}

/** One that registers nothing and returns something was made for tools, even if what it returns is no tool. */
function isForTools(extension: ExtensionRegistrations): boolean {
  const returned = [extension.returned].flat().filter((one) => one !== undefined && one !== null);
  if (returned.some((one) => isObject(one) && typeof one.execute === "function")) return true;
  const { path } = extension.origin;
  return registersNothing(extension) && (returned.length > 0 || /[\\/]tools[\\/]/.test(path));
}

function registersNothing(extension: ExtensionRegistrations): boolean {
  const { handlers, tools, commands, flags, shortcuts, messageRenderers } = extension;
  return [handlers, tools, commands, flags, shortcuts, messageRenderers].every(({ size }) => size === 0);
}

/** `problems`: what a session would warn of while it loads the module. */
function extensionCheck(extension: ExtensionRegistrations, problems: readonly string[]): ModuleCheck {
  const { path } = extension.origin;
  const events = [...extension.handlers.values()].flat().map(({ name }) => name);
  const registered: Registered = {
    path,
    form: /[\\/]hooks[\\/]/.test(path) ? "hook" : "extension",
    tools: [...extension.tools.keys()],
    commands: [...extension.commands.keys()],
    flags: [...extension.flags.keys()],
    shortcuts: [...extension.shortcuts.keys()],
    renderers: [...extension.messageRenderers.keys()],
    events: [...new Set(events)],
  };
  const advice = registersNothing(extension) ? [`${path} registers nothing while it is loaded`] : [];
  return { modules: [registered], tools: [], problems, advice };
}

async function toolCheck(location: ExtensionLocation, candidate: FoundModule): Promise<OneCheck> {
  const { checkTools } = await import("../../extensions/load/tool-check.js");
  const warnings: string[] = [];
  const log = { ...location.log, warn: (text: string) => void warnings.push(text) };
  return withLoaded({ ...location, log }, { candidates: [candidate], coverage: undefined }, async (loaded) => {
    const check = await checkTools(loaded);
    const tools = check.tools.map(({ name }) => name);
    const modules =
      check.problems.length > 0 && tools.length === 0
        ? []
        : [{ ...none, path: candidate.path, form: "custom tool", tools } as const];
    const made = loaded.tools.map(({ tool }) => tool);
    return { check: { ...check, problems: [...check.problems, ...warnings], modules }, made };
  });
}

/** Undefined where the path names none. */
async function hookProgramAt({ cwd }: ExtensionLocation, given: string): Promise<ModuleCheck | undefined> {
  const path = resolve(cwd, given);
  const time = basename(dirname(path));
  if (basename(dirname(dirname(path))) !== "hooks" || (time !== "pre" && time !== "post")) return undefined;
  const [{ Findings }, { scriptFolder }] = await Promise.all([
    import("../../extensions/discover/findings.js"),
    import("../../extensions/discover/folder.js"),
  ]);
  const found = new Findings();
  found.startLocation();
  const source = { provider: "config", providerName: "Config", level: "project" } as const;
  scriptFolder(dirname(path), { kind: "hook", source, needsTrust: false, found });
  if (!found.modules.some((module) => module.path === path && module.isScript)) return undefined;
  const problems = isExecutable(path) ? [] : [`${path} cannot be started: make it executable with chmod +x`];
  const events = [time === "pre" ? "tool_call" : "tool_result"];
  return { modules: [{ ...none, path, form: "hook program", events }], tools: [], problems, advice: [] };
}

function failed(problem: string): ModuleCheck {
  return { modules: [], tools: [], problems: [problem], advice: [] };
}

function joined(checks: readonly ModuleCheck[]): ModuleCheck {
  return {
    modules: checks.flatMap(({ modules }) => modules),
    tools: checks.flatMap(({ tools }) => tools),
    problems: checks.flatMap(({ problems }) => problems),
    advice: checks.flatMap(({ advice }) => advice),
  };
}

// What modules are given, by name, taken from the very objects that a session makes: for a check that runs without one.

function knownNames(kind: "tool" | "extension", loading: LoadDeps): KnownNames {
  const { cwd, log } = loading;
  const logger = createToolLogger(log);
  const virtual = new VirtualModules(loading.hostModules ?? {}, logger);
  const live = createLiveUI(loading);
  const common = createToolApi({ ...loading, live, logger, virtual });
  const host = (): never => {
    throw new GalleyError("unsupported", "There is no session here.");
  };
  const extension = new ExtensionRegistrations({ path: "", realPath: "", needsTrust: false });
  const extensionApi = createExtensionApi({
    extension,
    common,
    log,
    host,
    builtInCommands: [],
    flagValues: new Map(),
    boundHost: () => undefined,
    bus: new EventBus(),
    guard() {},
    onSendFailure() {},
  });
  // Its members are made at once and ask the session only when they are called.
  const toolHost = createToolHost({ session: { cwd } } as ExtensionHostDeps);
  const [api, context] =
    kind === "tool"
      ? [common, createToolContext(toolHost, live)]
      : [extensionApi, createCommandContext({ cwd, live, host })];
  const { sessionManager, modelRegistry, pending } = toolHost;
  return {
    api: {
      members: Object.keys(api),
      inner: { ui: uiMembers, events: Object.keys(extensionApi.events), logger: Object.keys(logger) },
    },
    context: {
      members: Object.keys(context),
      inner: {
        ui: uiMembers,
        sessionManager: Object.keys(sessionManager),
        modelRegistry: Object.keys(modelRegistry),
        pending: Object.keys(pending),
      },
    },
    async exportsOf(specifier) {
      if (!isHostModule(specifier)) return undefined;
      const exports = await virtual.load(specifier);
      const names = Object.keys(exports);
      return { names, standIns: names.filter((name) => isStandIn(exports[name])) };
    },
  };
}
