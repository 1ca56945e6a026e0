// For tests of other people's modules: writes them to a directory of their own and loads them with parts that a test
// can look at.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../src/base/json.js";
import type { Log } from "../../src/base/log.js";
import { adaptCustomTool } from "../../src/extensions/api/custom-tool-adapter.js";
import type { ModelRegistryView, ToolHost } from "../../src/extensions/api/custom-tool-context.js";
import { readonlySession } from "../../src/extensions/api/custom-tool-session.js";
import {
  type LoadedCustomTool,
  type LoadedCustomTools,
  type LoadToolsDeps,
  loadCustomTools,
  type ModuleCandidate,
} from "../../src/extensions/load/load.js";
import type { Processes } from "../../src/processes/processes.js";
import type { ToolResult } from "../../src/protocol/events.js";
import { createRecordInMemory } from "../../src/record/open-record.js";
import { type ManualClock, manualClock } from "../../src/testing/manual-clock.js";
import { temporaryDirectory } from "./temporary-directory.js";

export interface ToolModules {
  readonly directory: string;
  readonly clock: ManualClock;
  readonly warnings: string[];
  readonly log: Log;
  write(files: Record<string, string>): void;
  candidate(name: string, more?: Partial<ModuleCandidate>): ModuleCandidate;
  load(names: readonly (string | ModuleCandidate)[], more?: Partial<LoadToolsDeps>): Promise<LoadedCustomTools>;
  remove(): void;
}

export const noProcesses: Processes = {
  run: () => Promise.reject(new Error("no processes in this test")),
  shutdown: async () => {},
};

export function toolModules(): ToolModules {
  const directory = temporaryDirectory();
  const warnings: string[] = [];
  const clock = manualClock();
  const log: Log = { warn: (text) => void warnings.push(text), error: (text) => void warnings.push(text) };
  const modules: ToolModules = {
    directory,
    clock,
    warnings,
    log,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, name)), { recursive: true });
        writeFileSync(join(directory, name), text);
      }
    },
    candidate: (name, more = {}) => ({ path: name, realPath: join(directory, name), needsTrust: false, ...more }),
    load: (names, more = {}) =>
      loadCustomTools(
        names.map((name) => (typeof name === "string" ? modules.candidate(name) : name)),
        {
          cwd: directory,
          builtInToolNames: ["read", "bash"],
          processes: noProcesses,
          clock,
          log,
          cacheDirectory: join(directory, ".cache"),
          ...more,
        },
      ),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
  return modules;
}

/** A tool module whose one tool answers with the value of an expression. */
export function moduleThatSays(name: string, expression: string, before = ""): string {
  return `${before}
export default (pi) => ({
  name: "${name}", label: "${name}", description: "Says something", parameters: { type: "object", properties: {} },
  async execute(toolCallId, params, onUpdate, ctx, signal) {
    const value = ${expression};
    return { content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] };
  },
});
`;
}

const record = createRecordInMemory({ cwd: "/project" });

export const quietHost: ToolHost = {
  cwd: "/project",
  model: undefined,
  isIdle: () => true,
  hasQueuedMessages: () => false,
  abort() {},
  pending: { list: () => [], hasPending: false },
  sessionManager: readonlySession(() => record),
  modelRegistry: {
    find: () => undefined,
    getAll: () => [],
    getAvailable: () => [],
    getApiKey: async () => undefined,
    getApiKeyAndHeaders: async () => ({ ok: true, apiKey: undefined, headers: {} }),
    getApiKeyForProvider: async () => undefined,
    hasConfiguredAuth: () => false,
    isUsingOAuth: () => false,
    refresh: async () => ({ aborted: false, errors: new Map() }),
  } as Partial<ModelRegistryView> as ModelRegistryView,
};

/** Runs a loaded tool as the loop would. */
export function callTool(
  { live, tools }: LoadedCustomTools,
  name: string,
  params: JsonObject = {},
  more: { signal?: AbortSignal; host?: Partial<ToolHost>; log?: Log; onUpdate?: (partial: ToolResult) => void } = {},
): Promise<ToolResult> {
  const loaded = tools.find(({ tool }) => tool.name === name) as LoadedCustomTool;
  const { log = { warn() {}, error() {} }, onUpdate = () => {} } = more;
  const adapted = adaptCustomTool(loaded, { live, log, host: () => ({ ...quietHost, ...more.host }) });
  return adapted.execute("call_1", params, more.signal, onUpdate, { cwd: "/project" });
}

export async function textOf(result: Promise<ToolResult>): Promise<string> {
  return (await result).content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
