// A session for tests: a scripted model, an in-memory workspace, a clock that stands still, ids that count. What it
// emits is collected, so that whole runs compare with `toEqual`.

import { homedir } from "../base/home.js";
import { countedIds } from "../base/ids.js";
import { Settings } from "../config/settings/settings.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { ProviderModel } from "../provider/provider.js";
import {
  type AgentSession,
  type AnyTool,
  type CreateAgentSessionOptions,
  createAgentSession,
  defineAgentTool,
} from "../sdk/index.js";
import { type ManualClock, manualClock } from "./manual-clock.js";
import { createMemoryChangeWriter } from "./memory-change-writer.js";
import { createMemoryWorkspace, type MemoryWorkspace } from "./memory-workspace.js";
import { type ScriptedModel, type ScriptStep, scriptedModel } from "./scripted-model.js";

export interface OpenSessionOptions {
  model?: readonly ScriptStep[];
  files?: Record<string, string | Uint8Array>;
  /** The workspace that `createAgentSession` makes, and not one in memory; with `cwd` and `agentDir` in `session`. */
  onDisk?: true;
  tools?: readonly AnyTool[];
  /** Anything else `createAgentSession` takes. */
  session?: CreateAgentSessionOptions;
}

export interface OpenSession {
  session: AgentSession;
  model: ScriptedModel;
  clock: ManualClock;
  /** What the session works on, unless another was given or it works on the disk. */
  workspace: MemoryWorkspace;
  /** Every event so far. */
  events: AgentSessionEvent[];
}

export const scriptedProviderModel: ProviderModel = {
  id: "script",
  name: "Script",
  api: "scripted",
  provider: "test",
  baseUrl: "",
  reasoning: false,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 16_384,
};

/** What is found in the home of the user who runs the tests: a session without directories of its own must not use it. */
const foundSources = ["native", "claude", "codex", "gemini", "plugin"];

function settingsOf({ agentDir, settings = new Settings() }: CreateAgentSessionOptions): Settings {
  if (agentDir === undefined && settings.sourceOf("disabledProviders") === "default")
    settings.override("disabledProviders", foundSources);
  return settings;
}

export async function openSession(options: OpenSessionOptions = {}): Promise<OpenSession> {
  const model = scriptedModel(options.model ?? []);
  // A directory on the disk may be in the home of the user who runs the tests, which is no other's then.
  const home = options.session?.agentDir ? homedir() : undefined;
  const workspace = createMemoryWorkspace(options.files ?? {}, { home });
  const clock = manualClock();
  if (options.onDisk && !(options.session?.cwd && options.session.agentDir))
    throw new Error("openSession: onDisk needs a cwd and an agentDir");
  const { session } = await createAgentSession({
    cwd: "/project",
    agentDir: "/nowhere/galley-agent",
    env: {},
    model: scriptedProviderModel,
    streamFn: model.stream,
    ...(options.onDisk || options.session?.workspace
      ? {}
      : { workspace, changeWriter: createMemoryChangeWriter(workspace) }),
    customTools: (options.tools ?? []).map(defineAgentTool),
    clock,
    ids: countedIds(),
    loadRules: async () => [],
    random: () => 0.5,
    ...(options.session?.agentDir ? {} : { skills: [], promptTemplates: [], slashCommands: [] }),
    ...options.session,
    settings: settingsOf(options.session ?? {}),
  });
  const events: AgentSessionEvent[] = [];
  session.subscribe((event) => {
    events.push(event);
  });
  return { session, model, clock, events, workspace };
}
