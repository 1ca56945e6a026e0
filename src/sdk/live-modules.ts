// Loaded modules at work in a session: their tools are added, extensions can act, and both hear of what happens.

import type { Clock } from "../base/clock.js";
import type { Log } from "../base/log.js";
import { adaptCustomTool } from "../extend/custom-tool-adapter.js";
import { notifyTools } from "../extend/custom-tool-events.js";
import type { ToolFailure } from "../extend/custom-tool-failure.js";
import { runUserBash, toolSessionEvent } from "../extend/hooks-session.js";
import { extensionToolHooks } from "../extend/hooks-tools.js";
import type { SessionModuleSet } from "./load-session-modules.js";
import { createExtensionHost, createToolHost, type ModuleHostParts } from "./module-host.js";

export interface LiveParts extends Omit<ModuleHostParts, "toolsChanged"> {
  readonly clock: Clock;
  readonly log: Log;
  /** For hosts: what is also logged. */
  onToolError(failure: ToolFailure): void;
}

export type LiveModules = ReturnType<typeof liveModules>;

export function liveModules({ tools: custom, extensions }: SessionModuleSet, parts: LiveParts) {
  const { session, log, clock, onToolError: onError } = parts;
  const runner = extensions?.runner;
  const toolsChanged = () => session.addTools(runner?.tools() ?? []);
  const host = createToolHost({ ...parts, toolsChanged });
  session.addTools(
    custom.tools.map((one) => ({ tool: adaptCustomTool(one, { live: custom.live, log, host: () => host }) })),
  );
  for (const { tool, path } of runner?.tools() ?? [])
    if (session.allTools.some(({ name }) => name === tool.name)) log.warn(`${path} replaces the tool "${tool.name}"`);
  toolsChanged();
  runner?.initialize(createExtensionHost({ ...parts, toolsChanged }));
  const told = { tools: custom.tools, clock, log, live: custom.live, host: () => host, onError };
  const tellTools = (event: Parameters<typeof notifyTools>[1]) => notifyTools(told, event);
  const hasListeners = custom.tools.some(({ tool }) => typeof tool.onSession === "function");
  return {
    runner,
    hooks: runner && extensionToolHooks(runner),
    tellTools,
    observe(event: Parameters<typeof toolSessionEvent>[0]): Promise<unknown> | undefined {
      const forTools = hasListeners ? toolSessionEvent(event) : undefined;
      const heard = runner?.observe(event);
      return forTools ? Promise.all([heard, tellTools(forTools)]) : heard;
    },
    runUserBash: async (request: Parameters<typeof runUserBash>[1]) => runner && runUserBash(runner, request),
  };
}
