// Why a session has no language model to ask, for a front end that must not let the planner pass for one.

import { join } from "node:path";
import { type Environment, loginCommand, noKeyText } from "../provider/credentials.js";
import type { ModelRegistry } from "../provider/models/model-registry.js";
import { problemText } from "../provider/models/models-file.js";
import { plannerModel } from "../provider/planner/planner-model.js";
import type { ProviderModel } from "../provider/provider.js";
import { keyNames } from "../provider/provider-list.js";
import { findStoredKeys } from "./load-models.js";

export type NoModelReason =
  /** Nothing at all is set up: the planner may answer what it understands. */
  | { readonly kind: "unconfigured" }
  /** The models file cannot be used as it is. */
  | { readonly kind: "broken_file"; readonly text: string }
  /** Something is set up and cannot be used yet: what is missing, and the commands that mend it. */
  | { readonly kind: "unusable"; readonly text: string };

export interface ModelSurroundings {
  readonly agentDir: string;
  readonly env: Environment;
}

/** `model`: the one that was chosen for the session. Undefined: it can be asked. */
export async function whyNoModel(
  registry: ModelRegistry,
  { model, isNamed }: { model: ProviderModel | undefined; isNamed: boolean },
  around: ModelSurroundings,
): Promise<NoModelReason | undefined> {
  if (model && model !== plannerModel)
    return registry.hasCredential(model) ? undefined : { kind: "unusable", text: keyText([model], registry) };
  if (isNamed) return undefined;
  const [problem] = registry.problems;
  if (problem) return { kind: "broken_file", text: problemText(problem) };
  const known = registry.all().filter((candidate) => candidate !== plannerModel);
  if (known.length > 0) return { kind: "unusable", text: keyText(known, registry) };
  if (registry.hasProviders) return { kind: "unusable", text: noModelsText(around.agentDir) };
  const key = environmentKey(around.env);
  return key === undefined ? whyNoStoredKey(around) : { kind: "unusable", text: keyOnlyText(key, around.agentDir) };
}

/** Of a file that cannot be used, its keys are not known. */
async function whyNoStoredKey({ agentDir }: ModelSurroundings): Promise<NoModelReason> {
  const path = join(agentDir, "auth.json");
  const { keys, problem } = await findStoredKeys(path);
  if (problem !== undefined) return { kind: "unusable", text: problem };
  const [provider] = keys.keys();
  if (provider === undefined) return { kind: "unconfigured" };
  return { kind: "unusable", text: keyOnlyText(`${path} holds a key for ${provider}`, agentDir) };
}

function keyText(models: readonly ProviderModel[], registry: ModelRegistry): string {
  const [first] = models as [ProviderModel];
  if (loginCommand(first.provider) !== undefined) return noKeyText(first.provider, registry.keyVariable(first));
  const name = registry.keyVariable(first) ?? "NAME_OF_THE_KEY";
  const providers = [...new Set(models.map(({ provider }) => provider))].slice(0, 5).join(", ");
  return mended(`No key for ${providers}: ${name} is not set. Nothing was sent.`, [
    [`export ${name}=KEY`, "then the same again"],
    [`galley --model ${first.provider}/${first.id} --api-key KEY -p …`, "for one run"],
  ]);
}

function noModelsText(agentDir: string): string {
  return mended(`${join(agentDir, "models.yml")} names a service and none of its models.`, describing(agentDir));
}

/** Of a service without a table. */
function keyOnlyText(key: string, agentDir: string): string {
  return mended(
    `${key}, but galley does not know the models of this service: describe one in ${join(agentDir, "models.yml")}.`,
    describing(agentDir),
  );
}

function describing(agentDir: string): [string, string][] {
  return [
    ["galley --model planner -p help", "shows what to write there"],
    [`"$EDITOR" '${join(agentDir, "models.yml")}'`, "to write it"],
  ];
}

function mended(problem: string, commands: readonly [string, string][]): string {
  const width = Math.max(...commands.map(([command]) => command.length));
  return [problem, ...commands.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`)].join("\n");
}

/** A token that is also meant for other programs says nothing about models: `GITHUB_TOKEN`, `HF_TOKEN`. */
const vendorName = /_API_KEY$|^ANTHROPIC_OAUTH_TOKEN$|^COPILOT_GITHUB_TOKEN$/;

function environmentKey(env: Environment): string | undefined {
  const names = [...keyNames.values()].flat().filter((name) => vendorName.test(name));
  const found = names.find((name) => Object.hasOwn(env, name) && env[name]?.trim());
  return found === undefined ? undefined : `${found} is set`;
}
