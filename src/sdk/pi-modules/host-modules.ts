// What the extensions of a session find under the names of pi's modules, each part made when a module is first imported.

import type { HostModules } from "../../extensions/compat/virtual-modules.js";
import { applyBeside, astEditBy } from "../ast-edit-function.js";
import type { SessionEnvironment } from "../session-environment.js";
import type { CreateAgentSessionOptions } from "../session-options.js";
import type { SessionTools } from "../session-tools.js";
import { type ToolResources, toolSettingsOf } from "../tool-resources.js";
import type { ChildSessionsDeps } from "./child-sessions.js";
import type { ModelFunctionsDeps } from "./model-functions.js";
import type { ResourceLoaderDeps } from "./resource-loader.js";

export interface HostModulesDeps
  extends Pick<ChildSessionsDeps, "create" | "held" | "session">,
    Pick<ToolResources, "workspace" | "processes">,
    ModelFunctionsDeps,
    ResourceLoaderDeps {
  readonly environment: SessionEnvironment;
  readonly tools: Pick<SessionTools, "in" | "staging">;
}

export function hostModulesOf(deps: HostModulesDeps, { components }: CreateAgentSessionOptions): HostModules {
  const { environment, tools, workspace, processes } = deps;
  const { maxFiles } = toolSettingsOf(environment.settings, environment.env).astEdit ?? {};
  return {
    async galley() {
      const [{ extensionExports }, { childSessions }] = await Promise.all([
        import("../extensions/extension-exports.js"),
        import("./child-sessions.js"),
      ]);
      const astEdit = astEditBy({ workspace, processes, apply: applyBeside(() => tools.staging), maxFiles });
      const toolsIn: typeof tools.in = (...args) => tools.in(...args);
      const builtIns = () => toolsIn(environment.cwd).map(({ name }) => name);
      const createAgentSession = childSessions({ ...environment, ...deps, builtIns });
      return { ...extensionExports({ ...environment, ...deps, astEdit, toolsIn }), createAgentSession };
    },
    tui: components,
    ai: async () => (await import("./model-functions.js")).modelFunctions(deps),
    core: async () => (await import("./agent-class.js")).agentExports(deps),
  };
}
