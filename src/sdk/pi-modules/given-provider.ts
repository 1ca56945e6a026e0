// What `pi.registerProvider` is given, checked once: a provider as the models file describes one. It speaks one of our APIs, or
// brings the function that asks. What does not fit is a sentence with its path.

import { GalleyError } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { serverUrl, step, text } from "../../provider/models/config-checks.js";
import { knownFields, type ModelEntry, type ProviderEntry, readModelsFile } from "../../provider/models/models-file.js";
import { isSupportedApi } from "../../provider/stream-by-api.js";
import { thinkingFrom } from "./pi-model.js";

/** A provider as an object with functions, as pi's `createProvider` makes one. */
export interface NativeProvider {
  readonly id: string;
  readonly baseUrl?: string;
  readonly headers?: Record<string, string>;
  readonly auth?: { readonly apiKey?: { resolve?(input: unknown): Promise<unknown> }; readonly oauth?: unknown };
  getModels(): readonly unknown[];
  refreshModels?(context: object): Promise<void>;
  streamSimple(model: object, context: object, options?: object): unknown;
}

export interface GivenProvider {
  readonly entry: ProviderEntry;
  /** For the user: what is not used, or was left out. */
  readonly warnings: readonly string[];
}

/** Members of pi's descriptions that change nothing here. */
const ignoredFields = new Set(["name", "models: promptCache", "models: inputLimits", "models: samplingParams"]);
/** Stands for an address or an API of the extension's own while the rest is checked. */
const ownAddress = "https://extension.invalid";
const ownApi = "openai-completions";
const noKey = "none";

/** Throws `invalid_argument` where nothing of it can be used. `mayRun`: its key may be the output of a command. */
export function readGivenProvider(id: string, config: JsonObject, { mayRun }: { mayRun: boolean }): GivenProvider {
  const asksItself = typeof config.streamSimple === "function";
  const data = asData(config);
  const { apiKey } = data;
  if (!mayRun && isCommand(data))
    throw unusable(`the key of ${id} is the output of a command, which a project may not run`);
  const listed = Array.isArray(data.models) ? data.models : undefined;
  const { value, unknown } = knownFields(
    { ...data, models: listed?.map((model) => asListed(model, asksItself)) },
    () => true,
  );
  const instead = asksItself ? { baseUrl: ownAddress, api: ownApi } : {};
  const described = { ...value, apiKey: apiKey ?? noKey, ...instead };
  const { providers, problems } = readModelsFile({ providers: { [id]: described } }, "registerProvider");
  const sentences = problems.map(({ path, message }) => `${path.replace(/^providers\./, "")}: ${message}`);
  const read = providers.get(id);
  if (!read || (listed?.length && read.models.length === 0))
    throw unusable(apiHint(data, asksItself) ?? sentences.join("; "));
  const models = read.models.map((model) => withOwn(model, { id, data, asksItself }));
  const unused = unknown.filter((name) => !ignoredFields.has(name));
  return {
    entry: {
      ...read,
      models,
      ...(asksItself ? { baseUrl: optionalText(data.baseUrl), api: optionalText(data.api) } : {}),
      apiKey: apiKey === undefined ? undefined : read.apiKey,
      // Without a key, one may be stored under this name; a function of its own finds what it needs.
      isKeyless: read.isKeyless || (asksItself && apiKey === undefined),
    },
    warnings: [
      ...sentences,
      ...unused.map((name) => `${id}: ${name} is not a known field and is not used`),
      ...(config.oauth === undefined ? [] : [loginText(id, apiKey !== undefined)]),
    ],
  };
}

/** What a provider with functions says, in the form of the other. */
export function configOfNative(provider: NativeProvider): JsonObject {
  const { baseUrl, headers, auth } = provider;
  const streamSimple = provider.streamSimple.bind(provider);
  return { baseUrl, headers, oauth: auth?.oauth, models: [...provider.getModels()], streamSimple };
}

export function isNativeProvider(value: unknown): value is NativeProvider {
  if (!isObject(value)) return false;
  return (
    typeof value.id === "string" && typeof value.getModels === "function" && typeof value.streamSimple === "function"
  );
}

/** Getters and prototypes of a stranger's object are read once, here. */
function asData(config: JsonObject): JsonObject {
  const { streamSimple: _stream, refreshModels: _refresh, oauth: _oauth, ...data } = config;
  try {
    return JSON.parse(JSON.stringify(data));
  } catch {
    throw unusable("the description is not plain data");
  }
}

function asListed(model: unknown, asksItself: boolean): unknown {
  if (!isObject(model)) return model;
  const { thinkingLevelMap, baseUrl: _address, api, provider: _provider, ...rest } = model;
  const compat = isObject(model.compat) ? usableCompat(model.compat) : undefined;
  const thinking = thinkingFrom(thinkingLevelMap, { api: String(api ?? ""), compat });
  return { ...rest, api: asksItself ? undefined : api, compat, thinking: thinking ?? rest.thinking };
}

/** A way to ask for thoughts that galley does not have is not a reason to do without the model. */
function usableCompat(compat: JsonObject): JsonObject {
  const { thinkingFormat, ...rest } = compat;
  const isKnown = ["openai", "openrouter", "zai", "qwen", "qwen-chat-template", "deepseek"].includes(
    String(thinkingFormat),
  );
  return isKnown ? compat : rest;
}

/** The address and the API that stood aside while the rest was checked. */
function withOwn(
  { model, headers }: ModelEntry,
  { id, data, asksItself }: { id: string; data: JsonObject; asksItself: boolean },
): ModelEntry {
  const listed = (data.models as JsonObject[]).find((one) => one.id === model.id) ?? {};
  const path = step(step(id, "models"), model.id);
  const ownBase = listed.baseUrl;
  if (asksItself) {
    const api = text(listed.api ?? data.api ?? id, step(path, "api"));
    return { model: { ...model, api, baseUrl: optionalText(ownBase ?? data.baseUrl) ?? "" }, headers };
  }
  return ownBase === undefined
    ? { model, headers }
    : { model: { ...model, baseUrl: serverUrl(ownBase, step(path, "baseUrl")) }, headers };
}

function optionalText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function unusable(sentence: string): GalleyError {
  return new GalleyError("invalid_argument", `registerProvider: ${sentence}`);
}

/** The commonest reason: an API of pi that galley does not speak. */
function apiHint({ api, models }: JsonObject, asksItself: boolean): string | undefined {
  const named = [api, ...(Array.isArray(models) ? models.map((model) => isObject(model) && model.api) : [])];
  const foreign = named.find((name) => typeof name === "string" && !isSupportedApi(name));
  if (asksItself || foreign === undefined) return undefined;
  return (
    `galley does not speak the API ${JSON.stringify(foreign)}. It has anthropic-messages, openai-completions, ` +
    "openai-responses and google-generative-ai; another needs streamSimple."
  );
}

function isCommand({ apiKey, headers }: JsonObject): boolean {
  const texts = [apiKey, ...(isObject(headers) ? Object.values(headers) : [])];
  return texts.some((value) => typeof value === "string" && value.startsWith("!"));
}

function loginText(id: string, hasKey: boolean): string {
  const instead = hasKey ? "its apiKey is used" : `a key for ${id} in auth.json or --api-key is used`;
  return `${id}: galley has no login for it (oauth); ${instead}`;
}
