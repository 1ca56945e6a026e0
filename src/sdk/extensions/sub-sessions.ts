// Sessions that an extension begins by itself, named and shaped as pi does it. Such a session asks the same models as the
// one that loaded the extension, within its budget, and may do no more than that one may.

import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import type { ContextFile } from "../../config/context-files.js";
import { readonlySession } from "../../extensions/api/custom-tool-session.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { SessionRecord } from "../../record/record.js";
import type { RecordOptions } from "../../record/record-options.js";
import { SessionDirectories } from "../../record/store/session-directories.js";
import { SessionIndex } from "../../record/store/session-index.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { CreateAgentSessionResult, createAgentSession } from "../create-agent-session.js";
import { SessionManager } from "../session-manager.js";
import type { CreateAgentSessionOptions } from "../session-options.js";

export interface SubSessionDeps extends Pick<RecordOptions, "cwd" | "agentDir" | "clock" | "ids" | "mask"> {
  readonly log: Log;
  readonly create: typeof createAgentSession;
  /** What holds for each such session unless the extension says so itself. */
  usual(): Pick<CreateAgentSessionOptions, "model" | "streamFn" | "access" | "approve" | "allowsTool">;
}

type Asked = Record<string, unknown>;

/** What galley takes in another form, or decides by itself. */
const translated = ["resourceLoader", "settingsManager", "modelRegistry", "modelRuntime", "sessionStartEvent"];
const restricting = ["tools", "noTools", "excludeTools"];

export function subSessions(deps: SubSessionDeps) {
  return {
    SessionManager: { ...SessionManager, ...managers(deps) },
    createExtensionRuntime: () => ({}),
    async createAgentSession(asked: Asked = {}): Promise<CreateAgentSessionResult> {
      const rest = Object.fromEntries(
        Object.entries(asked).filter(([name]) => !translated.includes(name) && !restricting.includes(name)),
      );
      const { thinkingLevel, sessionManager } = asked;
      const usual = deps.usual();
      const made = await deps.create({
        ...usual,
        cwd: deps.cwd,
        agentDir: deps.agentDir,
        ...toolsOf(asked, usual),
        ...textsOf(asked.resourceLoader),
        ...rest,
        // The manager of a file may still be opening it.
        sessionManager: (await sessionManager) as CreateAgentSessionOptions["sessionManager"],
        thinkingLevel: thinkingLevel as CreateAgentSessionOptions["thinkingLevel"],
      });
      return Object.assign(made, {
        session: withAgent(made.session),
        extensionsResult: { extensions: [], errors: [] },
      });
    },
  };
}

/** As in pi: `create(cwd)`, `inMemory(cwd)`. With an object as the first argument, as in galley. */
function managers({ cwd: usualCwd, agentDir, clock, ids, log, mask }: SubSessionDeps) {
  const own = { agentDir, clock, ids, log, mask };
  const optionsOf = (asked: unknown, directory?: unknown): RecordOptions => {
    if (isObject(asked)) return { ...own, cwd: usualCwd, ...asked };
    const cwd = typeof asked === "string" ? asked : usualCwd;
    return { ...own, cwd, directory: typeof directory === "string" ? directory : undefined };
  };
  return {
    create: (cwd?: unknown, directory?: unknown) => withNames(SessionManager.create(optionsOf(cwd, directory))),
    inMemory: (cwd?: unknown) => withNames(SessionManager.inMemory(optionsOf(cwd))),
    open: async (path: string, directory?: unknown, cwd?: unknown) =>
      withNames(
        await SessionManager.open(path, isObject(directory) ? optionsOf(directory) : optionsOf(cwd, directory)),
      ),
    forkFrom: async (path: string, cwd?: unknown, directory?: unknown) =>
      withNames(await SessionManager.forkFrom(path, optionsOf(cwd, directory))),
    continueRecent: async (cwd?: unknown, directory?: unknown) =>
      withNames(await SessionManager.continueRecent(optionsOf(cwd, directory))),
    list: (cwd?: unknown, directory?: unknown) =>
      new SessionDirectories(optionsOf(cwd, directory), log).listProject(new SessionIndex()),
  };
}

/** The record with the methods that packages know, as `ctx.sessionManager` has them, and those that add to it. */
function withNames(record: SessionRecord) {
  return Object.assign(
    record,
    readonlySession(() => record),
    {
      isPersisted: () => record.sessionFile !== undefined,
      appendCustomEntry: (customType: string, data?: unknown) => record.append({ type: "custom", customType, data }).id,
      buildSessionContext: () => record.context,
    },
  );
}

type ToolOptions = Pick<CreateAgentSessionOptions, "toolNames" | "allowsTool">;

const usualTools = ["read", "bash", "edit", "write"];

/** pi names tools in one list, its own and those of extensions. */
function toolsOf({ tools, noTools, excludeTools }: Asked, { allowsTool = () => true }: ToolOptions): ToolOptions {
  const named = Array.isArray(tools) ? tools.map(nameOf) : undefined;
  const excluded = Array.isArray(excludeTools) ? excludeTools.map(nameOf) : [];
  const isAllowed = (name: string) =>
    allowsTool(name) && noTools !== "all" && !excluded.includes(name) && (named?.includes(name) ?? true);
  const usual = noTools === undefined ? usualTools : [];
  const builtIn = named?.filter((name) => ours.includes(name)) ?? usual;
  return { toolNames: builtIn.filter(isAllowed), allowsTool: isAllowed };
}

const ours = [...usualTools, "grep", "find", "ls"];

function nameOf(tool: unknown): string {
  return isObject(tool) ? String(tool.name) : String(tool);
}

/** What a loader of resources says: the prompt, the context files, and that no other extensions are to be loaded. */
function textsOf(loader: unknown): Partial<CreateAgentSessionOptions> {
  if (!isObject(loader)) return {};
  const say = (name: string): unknown => {
    const get = loader[name];
    return typeof get === "function" ? get.call(loader) : undefined;
  };
  const replaced = say("getSystemPrompt");
  const added = say("getAppendSystemPrompt");
  const extensions = memberOf(say("getExtensions"), "extensions");
  return {
    systemPrompt: (standard) =>
      [typeof replaced === "string" ? replaced : standard, ...(Array.isArray(added) ? added : [])].join("\n\n"),
    contextFiles: (memberOf(say("getAgentsFiles"), "agentsFiles") ?? []) as ContextFile[],
    disableExtensionDiscovery: !Array.isArray(extensions) || extensions.length === 0,
    skills: [],
    promptTemplates: [],
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** `session.agent`, as far as packages reach into it: the conversation may be begun with messages. */
function withAgent(session: AgentSession): AgentSession {
  const state = {
    get messages() {
      return session.messages;
    },
    set messages(given: readonly AgentMessage[]) {
      const before = session.messages.length;
      if (session.isStreaming || given.length < before)
        throw new GalleyError("unsupported", "galley cannot take messages out of a conversation: begin another.");
      for (const message of given.slice(before)) session.sessionManager.appendMessage(message);
    },
  };
  const agent = {
    state,
    abort: () => session.abort(),
    waitForIdle: () => session.waitForIdle(),
    subscribe: (...args: Parameters<AgentSession["subscribe"]>) => session.subscribe(...args),
  };
  withNames(session.sessionManager);
  return Object.assign(session, { agent, bindExtensions: async () => {} });
}
