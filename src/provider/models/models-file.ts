// The user's models file: from a parsed JSON or YAML value to providers whose types are true. A provider or model that
// does not fit is one problem naming file, path and expectation; the others stay.

import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { plannerModel } from "../planner/planner-model.js";
import type { ProviderModel } from "../provider.js";
import { keyNames, localProviders } from "../provider-list.js";
import {
  array,
  boolean,
  type Check,
  isLoopbackUrl,
  mismatch,
  object,
  oneOf,
  optional,
  serverUrl,
  step,
  text,
} from "./config-checks.js";
import {
  type Compat,
  type Headers,
  headerName,
  type ModelPatch,
  mergeCompat,
  mergeHeaders,
  patchFields,
  readCompat,
  readHeaders,
  readPatch,
} from "./model-fields.js";
import { freeOfCharge, mergePrices } from "./price-fields.js";

export interface ModelsFile {
  /** Where it was read, for messages. */
  readonly path: string;
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  readonly problems: readonly ModelProblem[];
  readonly warnings: readonly string[];
}

export interface ModelProblem {
  readonly file: string;
  /** As in `providers.acme.models[2].id`; empty when the whole file is meant. */
  readonly path: string;
  readonly message: string;
  readonly about: ProblemSubject;
  /** Line and column, where they are known. */
  readonly place?: string;
}

/** What was left out. A `model` without an id is one whose id could not be read. */
export type ProblemSubject =
  | { kind: "file" }
  | { kind: "provider"; provider: string }
  | { kind: "model"; provider: string; id?: string };

export interface ProviderEntry {
  readonly id: string;
  readonly baseUrl?: string;
  /** For built-in models too. */
  readonly api?: string;
  /** Unresolved; the rules are in credentials.ts. */
  readonly apiKey?: string;
  readonly isKeyless: boolean;
  /** The header that carries the key, and no other does; absent: as the API has it. */
  readonly keyHeader?: { readonly name: string; readonly isBearer: boolean };
  readonly headers: Headers;
  readonly compat: Compat;
  readonly models: readonly ModelEntry[];
  readonly modelOverrides: ReadonlyMap<string, ModelPatch>;
  readonly discovery?: { readonly type: DiscoveryType };
}

/** A complete model. Its headers are apart and unresolved, so that no listing can show them. */
export interface ModelEntry {
  readonly model: ProviderModel;
  readonly headers: Headers;
}

export type DiscoveryType = (typeof discoveryTypes)[number];

const apis = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"] as const;
const discoveryTypes = ["ollama", "lm-studio", "llama.cpp", "openai-compat"] as const;
const fileFields = ["providers"];
const connectionFields = [
  "baseUrl",
  "apiKey",
  "api",
  "headers",
  "authHeader",
  "keyHeader",
  "auth",
  "compat",
  "discovery",
];
const providerFields = [...connectionFields, "models", "modelOverrides"];
const modelFields = ["id", "api", ...patchFields];

/** `placeOf`: line and column of a path in the file. */
export function readModelsFile(
  value: unknown,
  path: string,
  placeOf: (path: string) => string | undefined = () => undefined,
): ModelsFile {
  const reading = new Reading(path, placeOf);
  // An empty file says nothing, which is fine.
  if (value !== undefined && value !== null)
    reading.attempt({ kind: "file" }, () => {
      const root = object(value, "");
      reading.warnUnknown(root, fileFields, "");
      const providers = optional(root, "providers", { path: "", check: object }) ?? {};
      for (const [id, entry] of Object.entries(providers))
        reading.attempt({ kind: "provider", provider: id }, () => {
          reading.providers.set(id, readProvider(reading, id, entry));
        });
    });
  return reading;
}

/** A provider's entry with the fields that are known here, and the models that are wanted; `unknown`: the other fields. */
export function knownFields(
  provider: JsonObject,
  isWanted: (id: string | undefined) => boolean,
): { value: JsonObject; unknown: string[] } {
  const unknown = new Set<string>();
  const only = (entry: JsonObject, known: readonly string[], prefix = ""): JsonObject => {
    for (const name of Object.keys(entry)) if (!known.includes(name)) unknown.add(`${prefix}${name}`);
    return Object.fromEntries(Object.entries(entry).filter(([name]) => known.includes(name)));
  };
  const value = only(provider, providerFields);
  if (Array.isArray(value.models))
    value.models = value.models
      .filter(
        (model): model is JsonObject =>
          isObject(model) && isWanted(typeof model.id === "string" ? model.id : undefined),
      )
      .map((model) => only(model, modelFields, "models: "));
  return { value, unknown: [...unknown] };
}

/** The file is there and cannot be read or parsed. */
export function unreadableModelsFile(path: string, message: string): ModelsFile {
  const problem: ModelProblem = { file: path, path: "", message, about: { kind: "file" } };
  return { path, providers: new Map(), problems: [problem], warnings: [] };
}

export function problemText({ file, place, path, message }: ModelProblem): string {
  return [file, place, path, message].filter((part) => part !== undefined && part !== "").join(": ");
}

/** What one pass over a file collects. */
class Reading implements ModelsFile {
  readonly providers = new Map<string, ProviderEntry>();
  readonly problems: ModelProblem[] = [];
  readonly warnings: string[] = [];

  constructor(
    readonly path: string,
    readonly placeOf: (path: string) => string | undefined,
  ) {}

  /** Turns a check that fails into one problem; what was read so far stays. */
  attempt(about: ProblemSubject, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!GalleyError.is(error, "invalid_config")) throw error;
      const path = String(error.details?.path ?? "");
      const place = this.placeOf(path);
      this.problems.push({
        file: this.path,
        path,
        message: messageOf(error),
        about,
        ...(place === undefined ? {} : { place }),
      });
    }
  }

  warn(path: string, message: string): void {
    const place = this.placeOf(path);
    this.warnings.push([this.path, ...(place === undefined ? [] : [place]), path, message].join(": "));
  }

  warnUnknown(value: JsonObject, known: readonly string[], path: string): void {
    for (const key of Object.keys(value))
      if (!known.includes(key)) this.warn(step(path, key), "is not a known field and is not used");
  }
}

function readProvider(reading: Reading, id: string, value: unknown): ProviderEntry {
  const path = step("providers", id);
  if (!/^[A-Za-z0-9][\w.-]{0,79}$/.test(id))
    mismatch(path, "expected a provider id of letters, digits, dots, dashes and underscores");
  if (id === plannerModel.provider) mismatch(path, "is built in and cannot be changed");
  const entry = object(value, path);
  reading.warnUnknown(entry, providerFields, path);

  const baseUrl = optional(entry, "baseUrl", { path, check: serverUrl });
  const apiKey = optional(entry, "apiKey", { path, check: text });
  const api = optional(entry, "api", { path, check: oneOf(apis) });
  const isKeyless = optional(entry, "auth", { path, check: oneOf(["apiKey", "none"]) }) === "none";
  const keyHeader = readKeyHeader(entry, path);
  const headers = optional(entry, "headers", { path, check: readHeaders }) ?? {};
  const compat = optional(entry, "compat", { path, check: readCompat }) ?? {};
  const discovery = optional(entry, "discovery", { path, check: readDiscovery });
  const listed = optional(entry, "models", { path, check: array }) ?? [];
  const overrides = optional(entry, "modelOverrides", { path, check: object });

  if (listed.length > 0) {
    if (baseUrl === undefined) mismatch(step(path, "baseUrl"), "is required for a provider with models");
    if (apiKey === undefined && !isKeyless && !keyNames.has(id))
      mismatch(step(path, "apiKey"), 'is required unless auth is "none"');
  } else if ((baseUrl ?? api ?? overrides ?? discovery) === undefined)
    mismatch(path, "expected models, or one of baseUrl, api, modelOverrides, discovery");
  if (discovery?.type === "openai-compat" && baseUrl === undefined)
    mismatch(step(path, "baseUrl"), "is required for discovery of this type");

  const isFree = isKeyless || (localProviders.has(id) && isLoopbackUrl(baseUrl ?? ""));
  const defaults = { provider: id, baseUrl: baseUrl ?? "", api, compat, headers, isFree };
  return {
    id,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(api === undefined ? {} : { api }),
    ...(apiKey === undefined ? {} : { apiKey }),
    isKeyless,
    ...(keyHeader === undefined ? {} : { keyHeader }),
    headers,
    compat,
    models: readModels(reading, listed, { path: step(path, "models"), defaults }),
    modelOverrides: readOverrides(reading, overrides ?? {}, { path: step(path, "modelOverrides"), provider: id }),
    ...(discovery === undefined ? {} : { discovery }),
  };
}

function readKeyHeader(entry: JsonObject, path: string): ProviderEntry["keyHeader"] {
  const name = optional(entry, "keyHeader", { path, check: headerName });
  const isBearer = optional(entry, "authHeader", { path, check: boolean }) ?? false;
  if (isBearer && name !== undefined) mismatch(step(path, "keyHeader"), "expected keyHeader or authHeader, not both");
  if (isBearer) return { name: "Authorization", isBearer };
  return name === undefined ? undefined : { name, isBearer };
}

interface ModelDefaults {
  provider: string;
  baseUrl: string;
  api: string | undefined;
  compat: Compat;
  headers: Headers;
  /** Nobody bills a model of this machine, or one that needs no key. */
  isFree: boolean;
}

function readModels(
  reading: Reading,
  listed: readonly unknown[],
  { path, defaults }: { path: string; defaults: ModelDefaults },
): ModelEntry[] {
  const models = new Map<string, ModelEntry>();
  for (const [index, value] of listed.entries()) {
    const at = step(path, index);
    const id = isObject(value) && typeof value.id === "string" ? value.id : undefined;
    reading.attempt({ kind: "model", provider: defaults.provider, ...(id === undefined ? {} : { id }) }, () => {
      const entry = readModel(reading, value, { path: at, defaults });
      if (models.has(entry.model.id)) mismatch(step(at, "id"), "is listed twice; the first one counts");
      models.set(entry.model.id, entry);
    });
  }
  return [...models.values()];
}

function readModel(
  reading: Reading,
  value: unknown,
  { path, defaults }: { path: string; defaults: ModelDefaults },
): ModelEntry {
  const entry = object(value, path);
  const id = text(entry.id, step(path, "id"));
  const api = optional(entry, "api", { path, check: oneOf(apis) }) ?? defaults.api;
  if (api === undefined) return mismatch(step(path, "api"), "is required here or at the provider");
  reading.warnUnknown(entry, modelFields, path);
  const patch = readPatch(entry, path);
  const compat = mergeCompat(defaults.compat, patch.compat);
  const cost = mergePrices(defaults.isFree ? freeOfCharge : undefined, patch.cost);
  return {
    model: {
      id,
      name: id,
      api,
      provider: defaults.provider,
      baseUrl: defaults.baseUrl,
      reasoning: false,
      input: ["text"],
      contextWindow: 128_000,
      maxTokens: 16_384,
      ...patch.fields,
      ...(cost === undefined ? {} : { cost }),
      ...(Object.keys(compat).length === 0 ? {} : { compat }),
    },
    headers: mergeHeaders(defaults.headers, patch.headers),
  };
}

function readOverrides(
  reading: Reading,
  overrides: JsonObject,
  { path, provider }: { path: string; provider: string },
): Map<string, ModelPatch> {
  const patches = new Map<string, ModelPatch>();
  for (const [id, value] of Object.entries(overrides))
    reading.attempt({ kind: "model", provider, id }, () => {
      const entry = object(value, step(path, id));
      reading.warnUnknown(entry, patchFields, step(path, id));
      patches.set(id, readPatch(entry, step(path, id)));
    });
  return patches;
}

const readDiscovery: Check<{ type: DiscoveryType }> = (value, path) => ({
  type: oneOf(discoveryTypes)(object(value, path).type, step(path, "type")),
});
