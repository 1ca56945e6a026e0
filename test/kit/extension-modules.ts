// For tests of extensions: loads functions or modules with parts that a test can look at, and a session that only
// writes down what it was asked to do.

import { silentLog } from "../../src/base/log.js";
import type { ToolFailure } from "../../src/extensions/api/custom-tool-failure.js";
import { createLiveUI } from "../../src/extensions/api/custom-tool-ui.js";
import type { ExtensionFactory, ExtensionHost } from "../../src/extensions/api/extension.js";
import type { SendFailure } from "../../src/extensions/api/extension-api.js";
import { builtInSource } from "../../src/extensions/api/source-info.js";
import type { ModuleCandidate } from "../../src/extensions/load/load.js";
import {
  type InlineExtension,
  type LoadExtensionsDeps,
  type LoadedExtensions,
  loadExtensions,
} from "../../src/extensions/load/load-extensions.js";
import { type ManualClock, manualClock } from "../../src/testing/manual-clock.js";
import { noProcesses, quietHost } from "./tool-modules.js";

export interface Extensions extends LoadedExtensions {
  readonly clock: ManualClock;
  readonly failures: ToolFailure[];
  readonly sendFailures: SendFailure[];
  readonly warnings: string[];
  /** Every action, as `name(arguments)`. */
  readonly asked: string[];
  /** One line per failure. */
  readonly told: string[];
  readonly live: LoadExtensionsDeps["live"];
  readonly host: ExtensionHost;
}

type Extension = ExtensionFactory | InlineExtension | ModuleCandidate;

/** Functions are named `ext1`, `ext2`, … */
export async function openExtensions(
  extensions: readonly Extension[],
  more: Partial<LoadExtensionsDeps> & { host?: Partial<ExtensionHost>; isUnbound?: boolean } = {},
): Promise<Extensions> {
  const clock = manualClock();
  const failures: ToolFailure[] = [];
  const sendFailures: SendFailure[] = [];
  const warnings: string[] = [];
  const asked: string[] = [];
  const log = { ...silentLog, warn: (text: string) => void warnings.push(text) };
  const live = createLiveUI({ clock, log });
  const candidates = extensions.map((one, index) =>
    typeof one === "function" ? { path: `ext${index + 1}`, factory: one } : one,
  );
  const { host: moreHost, isUnbound, ...moreParts } = more;
  const loaded = await loadExtensions(candidates, {
    cwd: "/project",
    processes: noProcesses,
    clock,
    log,
    live,
    builtInCommands: ["model"],
    onError: (failure) => void failures.push(failure),
    onSendFailure: (failure) => void sendFailures.push(failure),
    ...moreParts,
  });
  const host: ExtensionHost = { ...recordingHost(asked), ...moreHost };
  if (!isUnbound) loaded.runner.initialize(host);
  const told = () => failures.map(({ extensionPath, event, error }) => `${extensionPath} ${event}: ${error}`);
  return {
    ...loaded,
    ...{ clock, failures, sendFailures, warnings, asked, live, host },
    get told() {
      return told();
    },
  };
}

/** Lets everything happen that needs no further push. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function recordingHost(asked: string[]): ExtensionHost {
  const note = (name: string, args: readonly unknown[]) =>
    void asked.push(`${name}(${args.flatMap((one) => JSON.stringify(one) ?? []).join(", ")})`);
  const noted =
    (name: string) =>
    async (...args: unknown[]) =>
      note(name, args);
  const changed =
    (name: string) =>
    async (...args: unknown[]) => {
      note(name, args);
      return { cancelled: false };
    };
  return {
    ...quietHost,
    mode: "rpc",
    signal: undefined,
    thinkingLevel: "low",
    scopedModels: [],
    shutdown: () => note("shutdown", []),
    getContextUsage: () => undefined,
    compact: noted("compact"),
    getSystemPrompt: () => "be brief",
    isProjectTrusted: () => false,
    waitForIdle: noted("waitForIdle"),
    newSession: changed("newSession"),
    switchSession: changed("switchSession"),
    branch: changed("branch"),
    navigateTree: changed("navigateTree"),
    reload: noted("reload"),
    sendMessage: noted("sendMessage"),
    sendUserMessage: noted("sendUserMessage"),
    appendEntry: (...args) => note("appendEntry", args),
    getActiveTools: () => ["read"],
    getAllTools: () => [
      { name: "read", description: "Reads", parameters: { type: "object" }, sourceInfo: builtInSource("read") },
    ],
    getCommands: () => [],
    setActiveTools: (...args) => note("setActiveTools", args),
    getSessionName: () => "a session",
    setSessionName: (...args) => note("setSessionName", args),
    setLabel: (...args) => note("setLabel", args),
    setModel: (...args) => note("setModel", args),
    getThinkingLevel: () => "low",
    setThinkingLevel: (...args) => note("setThinkingLevel", args),
    toolsChanged: () => note("toolsChanged", []),
    registerProvider: (_owner, ...args) => note("registerProvider", args),
    unregisterProvider: (_owner, ...args) => note("unregisterProvider", args),
  };
}
