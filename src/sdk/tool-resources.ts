// What a session's tools may touch, made from the settings: the workspace with its rules, the processes, and the tools'
// own limits.

import type { Clock } from "../base/clock.js";
import { homedir } from "../base/home.js";
import { configRootDirectory } from "../config/config-roots.js";
import { isOn, variable, wholeNumber } from "../config/environment.js";
import type { Settings } from "../config/settings/settings.js";
import { createNodeWorkspace, type NodeWorkspaceOptions } from "../files/node-workspace.js";
import { findProject } from "../files/paths/find-roots.js";
import type { Permit, Workspace } from "../files/workspace.js";
import { createNodeProcesses } from "../processes/node-processes.js";
import type { Processes } from "../processes/processes.js";
import type { Environment } from "../provider/credentials.js";
import type { ToolSettings } from "../tools/index.js";
import type { SessionEnvironment } from "./session-environment.js";

export interface ToolResources {
  readonly workspace: Workspace;
  /** The same rules without a user to ask. */
  readonly unattended: Workspace;
  readonly processes: Processes;
}

export interface ToolResourcesOptions
  extends Pick<SessionEnvironment, "cwd" | "agentDir" | "env" | "settings" | "clock" | "log">,
    Partial<Pick<SessionEnvironment, "home" | "project">> {
  readonly permit?: Permit | undefined;
  /** Our own environment, where `env` is its state at the start: what modules add to it reaches commands. */
  readonly live?: Environment | undefined;
}

/** A workspace that the caller brings has its own rules; then the user is not asked beyond them. */
export function createToolResources(
  options: ToolResourcesOptions,
  given?: { workspace?: Workspace; processes?: Processes },
): ToolResources {
  const { settings, permit, cwd, home = homedir() } = options;
  const { writableRoot } = options.project ?? findProject({ cwd, home });
  const here = { ...options, home, projectRoot: writableRoot };
  const workspace =
    given?.workspace ?? createNodeWorkspace(workspaceOptions(here, permit && remembering(permit, options.clock)));
  const unattended = given?.workspace ?? (permit ? createNodeWorkspace(workspaceOptions(here, undefined)) : workspace);
  const processes = given?.processes ?? createProcesses(here, settings);
  return { workspace, unattended, processes };
}

export function toolSettingsOf(settings: Settings, env: Environment): ToolSettings {
  const kilobyte = 1024;
  const maxFiles = wholeNumber(env, "GALLEY_MAX_AST_FILES");
  return {
    bash: {
      maxTimeoutSeconds: settings.get("tools.maxTimeout"),
      output: {
        spillThresholdBytes: settings.get("tools.artifactSpillThreshold") * kilobyte,
        tailBytes: settings.get("tools.artifactTailBytes") * kilobyte,
        tailLines: settings.get("tools.artifactTailLines"),
      },
    },
    read: { defaultLimit: settings.get("read.defaultLimit"), autoResize: settings.get("images.autoResize") },
    edit: settings.get("edit.fuzzyMatch") ? { fuzzyThreshold: settings.get("edit.fuzzyThreshold") } : {},
    ask: { timeoutMs: settings.get("ask.timeout") * 1000 },
    ...(maxFiles ? { astEdit: { maxFiles } } : {}),
  };
}

interface Here extends ToolResourcesOptions {
  readonly home: string;
  readonly projectRoot: string;
}

function workspaceOptions(
  { cwd, agentDir, env, settings, home, projectRoot }: Here,
  permit: Permit | undefined,
): NodeWorkspaceOptions {
  return {
    cwd,
    agentDir,
    home,
    projectRoot,
    configDir: configRootDirectory(env, home),
    roots: settings.get("workspace.roots"),
    secretPaths: settings.get("secrets.enabled") ? settings.get("secrets.paths") : [],
    maxReadBytes: settings.get("maxReadBytes"),
    permit,
  };
}

function createProcesses({ env, live, clock, log, projectRoot }: Here, settings: Settings): Processes {
  const shellPath = settings.get("shellPath");
  // Programs that know it ask no questions and draw nothing: there is no terminal.
  const unattended: Record<string, string> = isOn(env, "GALLEY_BASH_NO_CI") ? {} : { CI: "true" };
  return createNodeProcesses({
    env,
    live,
    clock,
    log,
    environment: { ...unattended, ...settings.get("bash.environment") },
    shellPrefix: variable(env, "GALLEY_SHELL_PREFIX"),
    projectRoot,
    shellPath,
  });
}

const noHoldsMs = 10_000;

/** One tool call checks a path more than once. A yes holds for the session, a no for as long as a call may take. */
function remembering(permit: Permit, clock: Clock): Permit {
  const answers = new Map<string, { answer: Promise<boolean>; until: number }>();
  return async (question) => {
    const key = `${question.intent} ${question.reason} ${question.path}`;
    const known = answers.get(key);
    if (known && clock.now() < known.until) return known.answer;
    const answer = permit(question).catch(() => false); // a failed answer is no yes
    answers.set(key, { answer, until: Number.POSITIVE_INFINITY });
    if (!(await answer)) answers.set(key, { answer, until: clock.now() + noHoldsMs });
    return answer;
  };
}
