// What extensions find under the names of the program: the package's exports, and the helpers that published extensions
// import. Made for one session, because some of them use its tools, models and processes.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import { ownLocation } from "../../base/own-location.js";
import type { Settings } from "../../config/settings/settings.js";
import { EventBus } from "../../extensions/api/event-bus.js";
import * as texts from "../../extensions/compat/module-texts.js";
import { piVersion } from "../../extensions/compat/stand-ins.js";
import type { CompactionResult } from "../../protocol/events.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { ProviderModel, StreamFunction } from "../../provider/provider.js";
import { askSummarizers } from "../../session/compaction/ask-summarizers.js";
import type { CompactionPreparation } from "../../session/compaction/compaction-extensions.js";
import { serializeMessages } from "../../session/compaction/serialize.js";
import { summarize } from "../../session/compaction/summarize.js";
import { estimateTokens } from "../../session/context-usage.js";
import { toModelMessages } from "../../session/model-messages.js";
import { defaultSessionSettings } from "../../session/session-settings.js";
import type { AstEditOutcome, AstEditRequest } from "../ast-edit-function.js";
import * as door from "../exports.js";
import * as contextFacts from "../pi-modules/context-facts.js";
import { buildSessionContext } from "../pi-modules/pi-session-manager.js";
import { resizeImage } from "../pi-modules/resize-image.js";
import { type ResourceLoaderDeps, resourceLoaderOf } from "../pi-modules/resource-loader.js";
import { sessionManagers } from "../pi-modules/session-managers.js";
import { settingsManagerOf } from "../pi-modules/settings-manager.js";
import { type ToolMakerDeps, toolMakers } from "./tool-makers.js";

export interface ExtensionExportsDeps extends ToolMakerDeps {
  readonly agentDir: string;
  readonly stream: StreamFunction;
  readonly log: Log;
  readonly settings: Settings;
  /** Of the session that the extensions are in. */
  readonly promptParts: ResourceLoaderDeps["promptParts"];
  /** On the files that the session works on. */
  readonly astEdit: (request: AstEditRequest) => Promise<AstEditOutcome>;
}

export function extensionExports(deps: ExtensionExportsDeps) {
  const { agentDir } = deps;
  return {
    ...door,
    ...texts,
    ...contextFacts,
    createEventBus: () => new EventBus(),
    ...toolMakers(deps),
    astEdit: deps.astEdit,
    /** Of the interface: packages ask it for what they may use. */
    VERSION: piVersion,
    DEFAULT_COMPACTION_SETTINGS: defaultSessionSettings.compaction,
    SettingsManager: settingsManagerOf(deps),
    SessionManager: sessionManagers(deps),
    DefaultResourceLoader: resourceLoaderOf(deps),
    resizeImage,
    estimateTokens,
    buildSessionContext,
    CONFIG_DIR_NAME: ".galley",
    getAgentDir: () => agentDir,
    ...packagePlaces(),
    /** Opaque: what holds the modules of a loader that loads none. */
    createExtensionRuntime: () => ({}),
    convertToLlm: (messages: readonly AgentMessage[]) => toModelMessages(messages),
    serializeConversation: (messages: readonly AgentMessage[]) => serializeMessages(messages).join("\n\n"),
    compact: compactor(deps),
    copyToClipboard: (text: string) => copy(text, deps),
    withFileMutationQueue: fileQueue(deps.cwd),
  };
}

/** Where the program lies, with its documentation. */
function packagePlaces() {
  const place = (...names: string[]) => join(packageDirectory(), ...names);
  return {
    getPackageDir: () => place(),
    getReadmePath: () => place("README.md"),
    getDocsPath: () => place("docs"),
    getExamplesPath: () => place("examples"),
  };
}

/** Changes one file at a time, across all callers. */
function fileQueue(cwd: string) {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
    const key = resolve(cwd, path);
    const mine = (last.get(key) ?? Promise.resolve()).then(work);
    const settled = mine.catch(() => {}); // the caller gets the error
    last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}

const clipboards = [
  ["wl-copy", []],
  ["xclip", ["-selection", "clipboard"]],
  ["xsel", ["--clipboard", "--input"]],
  ["pbcopy", []],
] as const;

async function copy(text: string, { cwd, processes }: ExtensionExportsDeps): Promise<void> {
  for (const [file, args] of clipboards) {
    const request = { command: { file, args }, cwd, stdin: text, timeoutMs: 5000 };
    const ended = await processes.run(request).catch(() => undefined); // not installed: try the next
    if (ended?.exitCode === 0) return;
  }
  throw new GalleyError("unsupported", "There is no clipboard here.");
}

type CompactArguments = [
  preparation: CompactionPreparation,
  model: ProviderModel,
  apiKey?: string,
  ...rest: (Record<string, string> | string | AbortSignal | undefined)[],
];

/** Headers, instructions and a signal may follow the key, in any order: versions differ. */
function compactor({ stream, clock }: ExtensionExportsDeps) {
  return async (...[preparation, model, apiKey, ...rest]: CompactArguments): Promise<CompactionResult> => {
    const {
      firstKeptEntryId,
      tokensBefore,
      messagesToSummarize,
      turnPrefixMessages = [],
      previousSummary,
    } = preparation;
    const signal = rest.find((one) => one instanceof AbortSignal) ?? new AbortController().signal;
    const headers = rest.find((one) => isObject(one) && !(one instanceof AbortSignal)) as
      | Record<string, string>
      | undefined;
    const customInstructions = rest.find((one) => typeof one === "string");
    const { reserveTokens } = preparation.settings ?? defaultSessionSettings.compaction;
    const options = async () => ({ apiKey, ...(headers ? { headers } : {}) });
    const request = {
      path: [],
      overheadTokens: 0,
      summarizers: [{ model, options }],
      retry: defaultSessionSettings.retry,
      stream,
      clock,
      random: Math.random,
      signal,
    };
    const task = {
      kind: "history" as const,
      pieces: serializeMessages([...messagesToSummarize, ...turnPrefixMessages]),
      maxTokens: reserveTokens * 0.8,
      previousSummary,
      customInstructions,
    };
    const { text, usage } = await askSummarizers(request, (caller) => summarize(task, caller));
    return { summary: text, firstKeptEntryId, tokensBefore, details: { usage } };
  };
}

/** Where galley is installed. */
function packageDirectory(): string {
  const own = ownLocation();
  const file = own.startsWith("file:") ? fileURLToPath(own) : own;
  return file.replace(/[\\/](?:dist|src)[\\/](?!.*[\\/](?:dist|src)[\\/]).*$/, "");
}
