// Loaded extensions at work in a session: their tools are added, their commands can be called, extensions can act, and
// listeners are told what happens.

import type { Clock } from "../../base/clock.js";
import type { Log } from "../../base/log.js";
import { splitWords } from "../../config/prompts/template.js";
import { customSlashCommand, type LoadedCommand, runCustomCommand } from "../../extensions/api/custom-command.js";
import { type AdaptedTool, adaptCustomTool } from "../../extensions/api/custom-tool-adapter.js";
import { notifyTools } from "../../extensions/api/custom-tool-events.js";
import { cameFrom, type ToolFailure } from "../../extensions/api/custom-tool-failure.js";
import { findCommand } from "../../extensions/api/extension-commands.js";
import { type RenderHooks, ToolRenderer } from "../../extensions/api/render.js";
import { builtInSource, sourceInfoOf } from "../../extensions/api/source-info.js";
import type { ExtensionRunner } from "../../extensions/hooks/extension-runner.js";
import { compactionExtensions } from "../../extensions/hooks/hooks-compaction.js";
import { runUserBash, toolSessionEvent, type UserCommand } from "../../extensions/hooks/hooks-session.js";
import { extensionToolHooks } from "../../extensions/hooks/hooks-tools.js";
import type { AddedTool } from "../../session/active-tools.js";
import type { ExtensionDrawing } from "../../session/session-extensions.js";
import type { AnyTool } from "../../tools/tool.js";
import { type ModelFunctionsDeps, modelFunctions } from "../pi-modules/model-functions.js";
import { createExtensionHost, createToolHost, type ExtensionHostDeps } from "./extension-host.js";
import { refusalWithout } from "./failed-guards.js";
import { type ExtensionOptions, givenToolPath, type LoadedSessionExtensions } from "./load-session-extensions.js";

export interface LiveDeps
  extends Omit<ExtensionHostDeps, "toolsChanged" | "functions" | "sourceOf">,
    ModelFunctionsDeps,
    Pick<ExtensionOptions, "namedTools"> {
  readonly clock: Clock;
  readonly log: Log;
  /** Which tools there may be; default: all. */
  readonly allowsTool?: ((name: string) => boolean) | undefined;
  /** The names of the built-in tools, including hidden ones. */
  readonly builtInToolNames: readonly string[];
  /** For hosts: what is also logged. */
  onToolError(failure: ToolFailure): void;
  onCommandError(failure: ToolFailure): void;
}

export type LiveExtensions = ReturnType<typeof liveExtensions>;

/** `old` are the tools of the extensions that these replace. */
export function liveExtensions(
  { tools: custom, commands, extensions, errors }: LoadedSessionExtensions,
  deps: LiveDeps,
  old: readonly AnyTool[] = [],
) {
  const { session, log, clock, onToolError: onError } = deps;
  const runner = extensions?.runner;
  const refusal = refusalWithout(errors);
  if (refusal !== undefined) log.warn(refusal);
  const toolsChanged = () => session.addTools(registeredTools());
  const functions = () => modelFunctions(deps);
  const sourceOf = (name: string) => {
    const origin = runner?.registry.extensions.find(({ tools }) => tools.has(name))?.origin;
    const place = origin ?? custom.tools.find(({ tool }) => tool.name === name);
    return place ? sourceInfoOf(place.path, place.source) : builtInSource(name);
  };
  const hostDeps = { ...deps, functions, sourceOf, toolsChanged };
  const host = createToolHost(hostDeps);
  const adapted = custom.tools.map((one) => adaptCustomTool(one, { live: custom.live, log, host: () => host }));
  const others = new Set(session.allTools.filter((tool) => !old.includes(tool)).map(({ name }) => name));
  for (const name of [...deps.builtInToolNames, ...adapted.map((tool) => tool.name)]) others.add(name);
  const isNamed = (name: string) => deps.namedTools?.includes(name) ?? false;
  const offered = ({ tool, startsActive = true }: AddedTool): AddedTool => {
    if (!isNamed(tool.name)) return { tool, startsActive };
    const { hidden: _hidden, ...shown } = tool;
    return { tool: shown };
  };
  const { allowsTool = () => true } = deps;
  const allowed = ({ tool }: AddedTool) => allowsTool(tool.name);
  const registeredTools = () => {
    const registered = (runner?.tools() ?? []).filter(allowed);
    // Logged once: an extension that registers a tool again has replaced its own.
    for (const { tool, path } of registered)
      if (others.delete(tool.name)) log.warn(`${path} replaces the tool "${tool.name}"`);
    return registered;
  };
  const added = [...adapted.map((tool) => ({ tool })).filter(allowed), ...registeredTools()].map(offered);
  session.replaceTools(old, added);
  const extensionHost = createExtensionHost(hostDeps);
  runner?.initialize(extensionHost);
  deps.providers.renew(() => runner?.registerProviders());
  const taken = new Set(runner?.commands().map(({ name }) => name));
  for (const { path, command } of commands)
    if (taken.has(command.name)) log.warn(`${path}: /${command.name} is a command of an extension, which comes first`);
  const told = { tools: custom.tools, clock, log, live: custom.live, host: () => host, onError };
  const tellTools = (event: Parameters<typeof notifyTools>[1]) => notifyTools(told, event);
  const hasListeners = custom.tools.some(({ tool }) => typeof tool.onSession === "function");
  return {
    runner,
    /** Why no call may write or execute. */
    refusal,
    customCommands: customCommands(commands, {
      context: { cwd: session.cwd, live: custom.live, host: () => extensionHost },
      log,
      onError: deps.onCommandError,
    }),
    /** A module can stage; a tool that the program passed in cannot. */
    mayStage: commands.length > 0 || custom.tools.some(({ resolvedPath }) => resolvedPath !== givenToolPath),
    /** Everything they registered. */
    tools: (): AnyTool[] => [...added, ...(runner?.tools() ?? [])].map(({ tool }) => tool),
    drawing: extensionDrawing({ tools: custom.tools, runner, log, onError }),
    hooks: runner && extensionToolHooks(runner),
    compaction: () => runner && compactionExtensions(runner, () => session.sessionId),
    tellTools,
    /** The module in whose files an error was thrown. */
    blame: (error: unknown): string | undefined =>
      runner?.registry.blame(error) ??
      custom.tools.find(({ resolvedPath }) => cameFrom(error, resolvedPath))?.path ??
      commands.find(({ realPath }) => cameFrom(error, realPath))?.path,
    /** All are told at once: they share the remaining time. Never rejects. */
    async shutdown(reason: "reload" | "quit"): Promise<void> {
      await Promise.all([
        runner?.emit({ type: "session_shutdown", reason }),
        tellTools({ reason: "shutdown", previousSessionFile: undefined }),
      ]);
    },
    observe(event: Parameters<typeof toolSessionEvent>[0]): Promise<unknown> | undefined {
      const forTools = hasListeners ? toolSessionEvent(event) : undefined;
      const observed = runner?.observe(event);
      return forTools ? Promise.all([observed, tellTools(forTools)]) : observed;
    },
    runUserBash: async (request: UserCommand, signal: AbortSignal) => runner && runUserBash(runner, request, signal),
  };
}

function customCommands(commands: readonly LoadedCommand[], deps: Parameters<typeof runCustomCommand>[2]) {
  const byName = new Map(commands.map((one) => [one.command.name, one]));
  return {
    list: () => commands.map(customSlashCommand),
    /** The work of the command that a prompt begins with, which returns the prompt it made. */
    workFor(text: string): (() => Promise<string | undefined>) | undefined {
      const found = findCommand(byName, text);
      return found && (() => runCustomCommand(found.command, splitWords(found.args), deps));
    },
  };
}

// What extensions draw in a terminal and which keys they have. A renderer that failed once is not used again, whichever call
// it is asked about.

interface DrawingDeps {
  readonly tools: readonly AdaptedTool[];
  readonly runner: ExtensionRunner | undefined;
  readonly log: Log;
  onError(failure: ToolFailure): void;
}

function extensionDrawing({ tools, runner, log, onError }: DrawingDeps): ExtensionDrawing {
  const failed = new Map<string, Set<string>>();
  const failedOf = (name: string) => {
    const known = failed.get(name) ?? new Set();
    failed.set(name, known);
    return known;
  };
  return {
    toolRenderer(name) {
      const registered = runner?.tools().find(({ definition }) => definition.name === name);
      const own = tools.find(({ tool }) => tool.name === name);
      const tool = (registered?.definition ?? own?.tool) as (RenderHooks & { name: string }) | undefined;
      if (!tool?.renderCall && !tool?.renderResult) return undefined;
      const path = registered?.path ?? own?.resolvedPath ?? "";
      return new ToolRenderer({ tool, path, log, onError, failed: failedOf(name) });
    },
    messageRenderer: (customType) => runner?.registry.messageRenderer(customType),
    shortcuts: () =>
      [...(runner?.registry.shortcuts() ?? [])].map(([key, { definition }]) => ({
        key,
        description: definition.description,
        run: () => void runner?.runShortcut(key),
      })),
  };
}
