// Options that a session could not honour: those of other versions of this interface, unknown or misspelt ones, a model
// or a working directory that is not there. Ignoring them would be a false promise; an option of another version that
// only asks for the absence of something is fine.

import { resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import { isObject } from "../base/json.js";
import { suggestion } from "../base/nearest-name.js";
import { lookAt } from "../files/module-files.js";
import { isSupportedApi } from "../provider/stream-by-api.js";
import type { CreateAgentSessionOptions } from "./session-options.js";

const unsupportedOptions = ["hasUI", "taskDepth", "outputSchema", "parentTaskPrefix"];

/** A table, so that a new option does not compile without its name. */
const known: Readonly<Record<keyof CreateAgentSessionOptions, true>> = {
  cwd: true,
  agentDir: true,
  env: true,
  systemPrompt: true,
  contextFiles: true,
  toolNames: true,
  allowsTool: true,
  customTools: true,
  overrideBuiltins: true,
  hooks: true,
  deferModules: true,
  mode: true,
  confirmApply: true,
  ui: true,
  onShutdownRequest: true,
  budget: true,
  onNoModel: true,
  onFilesWritten: true,
  streamFn: true,
  workspace: true,
  processes: true,
  changeWriter: true,
  permit: true,
  approve: true,
  access: true,
  defaultAccess: true,
  askEscalation: true,
  askHost: true,
  approval: true,
  askCall: true,
  askTiers: true,
  askTrust: true,
  components: true,
  allowExec: true,
  persist: true,
  sessionDir: true,
  sessionName: true,
  resume: true,
  sessionManager: true,
  settings: true,
  assignments: true,
  resetWorkflowSettings: true,
  rules: true,
  loadRules: true,
  random: true,
  clock: true,
  ids: true,
  log: true,
  model: true,
  provider: true,
  modelPattern: true,
  apiKey: true,
  thinkingLevel: true,
  scopedModels: true,
  modelRoles: true,
  modelRegistry: true,
  authStorage: true,
  providerSessionId: true,
  beforeModules: true,
  trustProject: true,
  additionalToolPaths: true,
  namedTools: true,
  extensions: true,
  additionalExtensionPaths: true,
  pluginDirectories: true,
  disableExtensionDiscovery: true,
  onLoadError: true,
  resolveFlags: true,
  skills: true,
  promptTemplates: true,
  slashCommands: true,
  skillPatterns: true,
  additionalSkillPaths: true,
  additionalPromptTemplatePaths: true,
};

/**
 * Throws `unsupported` for an option of another version, `invalid_argument` for one that is unknown or cannot be used,
 * `model_not_found` for a model that no provider here can be asked for, `not_found` for a missing working directory.
 */
export function refuseUnsupportedOptions(options: CreateAgentSessionOptions): void {
  refuseNames(options);
  refuseModel(options);
  // A workspace of the caller's own need not be on the disk.
  const cwd = resolve(options.cwd ?? ".");
  if (!options.workspace && lookAt(cwd).kind !== "directory")
    throw new GalleyError("not_found", `Working directory does not exist: ${cwd}`);
}

function refuseNames(options: object): void {
  const given = Object.entries(options).filter(([name, value]) => !Object.hasOwn(known, name) && value !== undefined);
  const later = given.filter(([name, value]) => unsupportedOptions.includes(name) && !isAbsence(value));
  if (later.length > 0) {
    const names = later.map(([name]) => name).join(", ");
    throw new GalleyError("unsupported", `createAgentSession: not in this version yet: ${names}.`);
  }
  const [name] = given.find(([each]) => !unsupportedOptions.includes(each)) ?? [];
  if (name === undefined) return;
  const meant = suggestion(name, Object.keys(known));
  throw new GalleyError("invalid_argument", `createAgentSession: unknown option "${name}"${meant || "."}`);
}

/** With the caller's own provider layer, only the caller knows which models there are. */
function refuseModel({ model, streamFn }: { model?: unknown; streamFn?: unknown }): void {
  if (model === undefined) return;
  if (typeof model === "string")
    throw new GalleyError(
      "invalid_argument",
      `createAgentSession: model takes an object. To choose a model by its name: modelPattern: ${JSON.stringify(model)}`,
    );
  const { provider, id, api } = isObject(model) ? model : {};
  if (typeof provider !== "string" || typeof id !== "string" || typeof api !== "string")
    throw new GalleyError("invalid_argument", "createAgentSession: model needs at least provider, id and api.");
  if (!streamFn && !isSupportedApi(api))
    throw new GalleyError("model_not_found", `Unsupported api "${api}" for model ${provider}/${id}.`);
}

function isAbsence(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}
