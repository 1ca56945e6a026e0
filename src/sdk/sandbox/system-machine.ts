// The sandbox and the view of this machine. Loaded with the first command that needs one of them.

import { createStageView } from "../../files/layer/create-stage-view.js";
import type { StageView } from "../../files/layer/stage-view.js";
import type { Sandbox } from "../../processes/sandbox/box.js";
import { createSandbox } from "../../processes/sandbox/create-sandbox.js";
import { createViewProcesses } from "../../processes/sandbox/view-holder.js";
import { sandboxSettings } from "../access/sandbox-settings.js";
import { cleanLeftLayers } from "./left-layers.js";
import type { SandboxEnvironment, ViewRequest } from "./sandbox-machine.js";

export function systemSandbox({ env, project, log }: SandboxEnvironment): Sandbox {
  return createSandbox({ env, projectRoot: project.writableRoot, log });
}

export function systemView({ environment, roots, sessionId, hasPending }: ViewRequest): Promise<StageView> {
  const { env, agentDir, cwd, settings, home } = environment;
  const { ignored, ...limits } = sandboxSettings(settings, home).stage;
  // What killed processes left of this project; it may take a while, and the command need not wait for it.
  void cleanLeftLayers({ cwd, agentDir, env }, roots);
  const programs = createViewProcesses({ env });
  return createStageView({ ...environment, ...programs, roots, sessionId, limits, ignored, hasPending });
}
