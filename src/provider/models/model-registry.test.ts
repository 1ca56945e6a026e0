import { describe, expect, it } from "vitest";
import { GalleyError } from "../../base/errors.js";
import type { CredentialSources } from "../credentials.js";
import { plannerModel } from "../planner/planner-model.js";
import type { ProviderModel } from "../provider.js";
import { ModelRegistry, type RegistryDeps } from "./model-registry.js";
import { problemText, readModelsFile, unreadableModelsFile } from "./models-file.js";
import { toWireModel } from "./wire-model.js";

const acme = {
  baseUrl: "https://llm.example",
  apiKey: "$ACME_KEY",
  api: "openai-completions",
  models: [{ id: "fable" }],
};
const builtIn: ProviderModel = {
  ...plannerModel,
  provider: "anthropic",
  id: "sonnet",
  name: "Sonnet",
  api: "anthropic-messages",
  baseUrl: "https://api.example",
  cost: { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 },
  compat: { a: 1, nested: { x: 1, y: 1 } },
};

interface Given extends Partial<CredentialSources> {
  providers?: Record<string, unknown>;
  builtIns?: readonly ProviderModel[];
  disabledProviders?: readonly string[];
}

function registry({ providers = {}, builtIns = [], disabledProviders = [], ...sources }: Given = {}): ModelRegistry {
  const runCommand = () => Promise.reject(new Error("no command may run here"));
  return new ModelRegistry({
    sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand, ...sources },
    file: readModelsFile({ providers }, "models.yml"),
    builtIns: tables(builtIns),
    disabledProviders,
  });
}

const tables =
  (models: readonly ProviderModel[]): NonNullable<RegistryDeps["builtIns"]> =>
  (provider) =>
    models.filter((model) => model.provider === provider);

const names = (models: ProviderModel[]) => models.map(({ provider, id }) => `${provider}/${id}`);

describe("the planner", () => {
  it("is this model", () => {
    expect(plannerModel).toEqual({
      id: "planner",
      name: "Planner",
      api: "galley-planner",
      provider: "galley",
      baseUrl: "",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
      compat: { supportsToolChoice: false },
    });
  });

  it("is available only when nothing else is, and always found", async () => {
    const alone = registry({ providers: { acme } });
    expect(names(alone.available())).toEqual(["galley/planner"]);
    const beside = registry({ providers: { acme }, env: { ACME_KEY: "k" } });
    expect(names(beside.available())).toEqual(["acme/fable"]);
    expect(names(beside.all())).toEqual(["acme/fable", "galley/planner"]);
    expect(beside.find("galley", "planner")).toBe(plannerModel);
    expect(beside.hasCredential(plannerModel)).toBe(true);
    expect(await beside.apiKeyFor(plannerModel)).toBeUndefined();
    expect(await beside.headersFor(plannerModel)).toEqual({});
  });

  it("is gone when its provider is disabled, like any other", () => {
    const none = registry({ providers: { acme }, env: { ACME_KEY: "k" }, disabledProviders: ["galley", "acme"] });
    expect(none.all()).toEqual([]);
    expect(none.available()).toEqual([]);
    expect(none.find("galley", "planner")).toBeUndefined();
    expect(none.select("fable")).toBeUndefined();
  });

  it("takes no key, not even one given for the run", async () => {
    const given = registry({ runtimeKeys: new Map([["galley", "k"]]) });
    expect(await given.apiKeyFor(plannerModel)).toBeUndefined();
  });
});

describe("credentials", () => {
  const model = { provider: "acme", id: "fable" };

  it("come from the models file when nothing stronger has one", async () => {
    const found = registry({ providers: { acme }, env: { ACME_KEY: "k" } });
    expect(found.hasCredential(model)).toBe(true);
    expect(await found.apiKeyFor(model)).toBe("k");
    const unset = registry({ providers: { acme } });
    expect(unset.hasCredential(model)).toBe(false);
    expect(await unset.apiKeyFor(model)).toBeUndefined();
  });

  it("can be given for the run, later than the registry was made", async () => {
    const given = registry({ providers: { acme }, env: { ACME_KEY: "k" }, runtimeKeys: new Map([["acme", "first"]]) });
    expect(await given.apiKeyFor(model)).toBe("first");
    given.setRuntimeApiKey("acme", "second");
    expect(await given.apiKeyFor(model)).toBe("second");
  });

  it("are told by where they were found", () => {
    const source = (given: Given) => registry({ providers: { acme }, ...given }).keySource(model);
    expect(source({ runtimeKeys: new Map([["acme", "k"]]), authFile: new Map([["acme", "k"]]) })).toBe("--api-key");
    expect(source({ authFile: new Map([["acme", "k"]]), env: { ACME_KEY: "k" } })).toBe("auth.json");
    expect(source({ env: { ACME_KEY: "k" } })).toBe("ACME_KEY");
    expect(source({ providers: { acme: { ...acme, apiKey: "!pass show acme" } } })).toBe("models.yml");
    expect(source({})).toBeUndefined();
  });

  it("reach a model that is in no list by its provider", async () => {
    const found = registry({ env: { OPENAI_API_KEY: "k" } });
    expect(await found.apiKeyFor({ provider: "openai", id: "anything" })).toBe("k");
    expect(found.hasCredential({ provider: "openai", id: "anything" })).toBe(true);
    expect(found.hasCredential({ provider: "acme", id: "anything" })).toBe(false);
  });

  it("are not wanted with auth none, and no key is sent there", async () => {
    const open = registry({ providers: { acme: { ...acme, auth: "none" } }, env: { ACME_KEY: "k" } });
    expect(open.hasCredential(model)).toBe(true);
    expect(await open.apiKeyFor(model)).toBeUndefined();
  });

  it("are optional for a local service, but only on this machine", async () => {
    const { apiKey: _key, ...bare } = acme;
    const ollama = { provider: "ollama", id: "fable" };
    const local = (baseUrl: string, env = {}) => registry({ providers: { ollama: { ...bare, baseUrl } }, env });
    expect(local("http://127.0.0.1:11434/v1").hasCredential(ollama)).toBe(true);
    expect(await local("http://127.0.0.1:11434/v1").apiKeyFor(ollama)).toBeUndefined();
    expect(await local("http://localhost:11434", { OLLAMA_API_KEY: "k" }).apiKeyFor(ollama)).toBe("k");
    expect(local("https://ollama.example").hasCredential(ollama)).toBe(false);
  });
});

describe("a key from a command", () => {
  const model = { provider: "acme", id: "fable" };
  const byCommand = { acme: { ...acme, apiKey: "!pass show acme", headers: { "X-Key": "!pass show acme" } } };

  it("is not fetched to list or select, is fetched once for requests at the same time", async () => {
    const runs: string[] = [];
    const runCommand = async (command: string) => {
      runs.push(command);
      return "k\n";
    };
    const found = registry({ providers: byCommand, runCommand });
    expect(names(found.available())).toEqual(["acme/fable"]);
    expect(found.select("fable")?.model.id).toBe("fable");
    expect(found.hasCredential(model)).toBe(true);
    expect(runs).toEqual([]);
    expect(await Promise.all([found.apiKeyFor(model), found.apiKeyFor(model)])).toEqual(["k", "k"]);
    expect(await found.headersFor(model)).toEqual({ "X-Key": "k" });
    expect(runs).toEqual(["pass show acme"]);
  });

  it("tells why there is none", async () => {
    const runCommand = async () => {
      throw new GalleyError("timeout", "The command did not end within 10 s.");
    };
    const found = registry({ providers: byCommand, runCommand });
    await expect(found.apiKeyFor(model)).rejects.toMatchObject({
      code: "no_credential",
      message: "No API key found for acme. The command did not end within 10 s.",
    });
    await expect(found.headersFor(model)).rejects.toMatchObject({
      code: "no_credential",
      message: "No value found for the header X-Key of acme. The command did not end within 10 s.",
    });
  });
});

describe("headersFor", () => {
  const model = { provider: "acme", id: "fable" };

  it("resolves values by the same rules and leaves out what is unset", async () => {
    const headers = { A: "$SET", B: "${UNSET}", C: "literal", D: "SET" };
    const found = registry({ providers: { acme: { ...acme, headers } }, env: { SET: "yes" } });
    expect(await found.headersFor(model)).toEqual({ A: "yes", C: "literal", D: "yes" });
  });

  it("carries the key where the file names a header for it, and then nothing else does", async () => {
    const env = { ACME_KEY: "k" };
    const azure = registry({ providers: { acme: { ...acme, keyHeader: "api-key" } }, env });
    expect(await azure.headersFor(model)).toEqual({ "api-key": "k" });
    expect(await azure.apiKeyFor(model)).toBeUndefined();
    expect(azure.hasCredential(model)).toBe(true);
    const usual = registry({ providers: { acme }, env });
    expect(await usual.headersFor(model)).toEqual({});
    expect(await usual.apiKeyFor(model)).toBe("k");
  });

  it("carries the key as a bearer token alone if asked, unless a header says otherwise", async () => {
    const env = { ACME_KEY: "k" };
    const bearer = registry({ providers: { acme: { ...acme, authHeader: true } }, env });
    expect(await bearer.headersFor(model)).toEqual({ Authorization: "Bearer k" });
    expect(await bearer.apiKeyFor(model)).toBeUndefined();
    const own = registry({
      providers: { acme: { ...acme, authHeader: true, headers: { authorization: "Basic x" } } },
      env,
    });
    expect(await own.headersFor(model)).toEqual({ authorization: "Basic x" });
    const unset = registry({ providers: { acme: { ...acme, authHeader: true } } });
    expect(await unset.headersFor(model)).toEqual({});
    expect(await bearer.apiKeyFor(model)).toBeUndefined();
  });

  it("sends the key of a variable that stands for a bearer token as one, and in no other header", async () => {
    const anthropic = { provider: "anthropic", id: "sonnet" };
    const token = registry({ env: { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_API_KEY: "k" } });
    expect([await token.headersFor(anthropic), await token.apiKeyFor(anthropic)]).toEqual([
      { Authorization: "Bearer t" },
      undefined,
    ]);
    const plain = registry({ env: { ANTHROPIC_API_KEY: "k" } });
    expect([await plain.headersFor(anthropic), await plain.apiKeyFor(anthropic)]).toEqual([{}, "k"]);
    const given = registry({ env: { ANTHROPIC_AUTH_TOKEN: "t" }, runtimeKeys: new Map([["anthropic", "r"]]) });
    expect([await given.headersFor(anthropic), await given.apiKeyFor(anthropic)]).toEqual([{}, "r"]);
  });
});

describe("built-in models", () => {
  it("may be asked through another api, by a provider that says nothing else", () => {
    const found = registry({ builtIns: [builtIn], providers: { anthropic: { api: "openai-completions" } } });
    expect(found.problems).toEqual([]);
    expect(found.find("anthropic", "sonnet")).toEqual({ ...builtIn, api: "openai-completions" });
  });

  it("keep their prices by size under a new price, and an unknown price stays unknown", () => {
    const tiers = [{ inputTokensAbove: 1000, input: 6, output: 30, cacheRead: 0, cacheWrite: 0 }];
    const { cost: _price, ...unpriced } = builtIn;
    const found = registry({
      builtIns: [
        { ...builtIn, cost: { ...builtIn.cost!, tiers } },
        { ...unpriced, id: "opus" },
      ],
      providers: { anthropic: { modelOverrides: { sonnet: { cost: { output: 10 } }, opus: { name: "Opus" } } } },
    });
    expect(found.find("anthropic", "sonnet")?.cost).toEqual({
      input: 3,
      output: 10,
      cacheRead: 0,
      cacheWrite: 0,
      tiers,
    });
    const opus = found.find("anthropic", "opus");
    expect(opus).not.toHaveProperty("cost");
    expect(toWireModel(opus!).cost).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
    expect(toWireModel(found.find("anthropic", "sonnet")!).cost).toEqual({
      input: 3,
      output: 10,
      cacheRead: 0,
      cacheWrite: 0,
    });
  });

  it("are changed by the provider, then by model; the file's own models replace them in place", async () => {
    const found = registry({
      builtIns: [builtIn, { ...builtIn, id: "opus" }, { ...builtIn, id: "haiku" }],
      providers: {
        acme,
        anthropic: {
          baseUrl: "https://proxy.example",
          apiKey: "k",
          api: "anthropic-messages",
          headers: { "X-Team": "core", "X-Who": "all" },
          compat: { nested: { y: 2 } },
          modelOverrides: {
            sonnet: { name: "Mine", cost: { input: 1 }, compat: { nested: { z: 3 } }, headers: { "x-who": "sonnet" } },
            haiku: { name: "Replaced anyway" },
          },
          models: [{ id: "haiku" }],
        },
      },
    });
    expect(names(found.all())).toEqual([
      "anthropic/sonnet",
      "anthropic/opus",
      "anthropic/haiku",
      "acme/fable",
      "galley/planner",
    ]);
    expect(found.find("anthropic", "sonnet")).toEqual({
      ...builtIn,
      name: "Mine",
      baseUrl: "https://proxy.example",
      cost: { input: 1, output: 15, cacheRead: 0, cacheWrite: 0 },
      compat: { a: 1, nested: { x: 1, y: 2, z: 3 } },
    });
    expect(found.find("anthropic", "opus")).toMatchObject({ name: "Sonnet", baseUrl: "https://proxy.example" });
    expect(found.find("anthropic", "haiku")).toMatchObject({ name: "haiku" });
    expect(found.find("anthropic", "haiku")).not.toHaveProperty("cost");
    expect(await found.headersFor({ provider: "anthropic", id: "sonnet" })).toEqual({
      "X-Team": "core",
      "x-who": "sonnet",
    });
    expect(await found.headersFor({ provider: "anthropic", id: "opus" })).toEqual({ "X-Team": "core", "X-Who": "all" });
    expect(found.warnings).toEqual([]);
  });

  it("that an override names but that do not exist are reported", () => {
    expect(
      registry({ builtIns: [builtIn], providers: { anthropic: { modelOverrides: { sonet: {} } } } }).warnings,
    ).toEqual(["models.yml: providers.anthropic.modelOverrides.sonet: names no built-in model and is not used"]);
  });
});

describe("tables", () => {
  const rows: ProviderModel[] = [
    { ...builtIn, id: "claude-haiku-4-5", name: "Haiku" },
    { ...builtIn, id: "claude-sonnet-5" },
    { ...builtIn, provider: "openai", id: "gpt-5.5", baseUrl: "https://api.openai.com/v1" },
    { ...builtIn, provider: "groq", id: "first-row", name: "First", baseUrl: "https://api.groq.com/openai/v1" },
  ];
  function watched(given: Omit<Given, "builtIns">) {
    const read: string[] = [];
    const runCommand = async () => "";
    const { providers = {}, disabledProviders = [], ...sources } = given;
    const found = new ModelRegistry({
      sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand, ...sources },
      file: readModelsFile({ providers }, "models.yml"),
      builtIns: (provider) => {
        read.push(provider);
        return tables(rows)(provider);
      },
      disabledProviders,
    });
    return { found, read };
  }

  it("are read when a model of them is needed, once", () => {
    const { found, read } = watched({ env: { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GROQ_API_KEY: "k" } });
    expect(found.hasCredential({ provider: "anthropic", id: "claude-sonnet-5" })).toBe(true);
    expect(read).toEqual([]);
    expect(found.usual()?.id).toBe("claude-sonnet-5");
    expect(found.smallOf("anthropic")?.id).toBe("claude-haiku-4-5");
    expect(found.find("anthropic", "claude-haiku-4-5")?.name).toBe("Haiku");
    expect(read).toEqual(["anthropic"]);
    expect(found.select("openai/gpt-5.5:high")).toMatchObject({ model: { id: "gpt-5.5" }, thinkingLevel: "high" });
    expect(read).toEqual(["anthropic", "openai"]);
    expect(names(found.available())).toEqual([
      "anthropic/claude-haiku-4-5",
      "anthropic/claude-sonnet-5",
      "openai/gpt-5.5",
      "groq/first-row",
    ]);
  });

  it("of services without a key are found by name only", () => {
    const { found } = watched({ env: { GROQ_API_KEY: "k" } });
    expect(names(found.all())).toEqual(["groq/first-row", "galley/planner"]);
    expect(found.usual()?.id).toBe("first-row");
    expect(found.find("openai", "gpt-5.5")).toBeDefined();
    expect(found.select("sonnet")?.model.id).toBe("claude-sonnet-5");
    expect(found.select("anthropic/haiku")?.model.id).toBe("claude-haiku-4-5");
    expect(found.selectRequested({ provider: "anthropic" })?.model.id).toBe("claude-sonnet-5");
    expect(names(found.allKnown())).toHaveLength(5);
    expect(names(found.all())).toHaveLength(2);
  });

  it("are no reason to prefer anything but the planner without a key", () => {
    expect(watched({}).found.usual()).toBe(plannerModel);
    expect(watched({ disabledProviders: ["galley"] }).found.usual()).toBeUndefined();
    const { found } = watched({ env: { ANTHROPIC_API_KEY: "k" }, disabledProviders: ["anthropic"] });
    expect(found.usual()).toBe(plannerModel);
    expect(found.find("anthropic", "claude-sonnet-5")).toBeUndefined();
  });

  it("of a service that the file describes wrongly are not used unasked: the request might go to the wrong host", () => {
    const env = { ANTHROPIC_API_KEY: "k", GROQ_API_KEY: "k" };
    expect(watched({ env, providers: { anthropic: { baseUrl: "http://proxy.example" } } }).found.usual()?.id).toBe(
      "first-row",
    );
  });

  it("name the variable that holds a key as users know it", () => {
    const { found } = watched({});
    const variables = ["anthropic", "google", "huggingface", "groq"].map((provider) =>
      found.keyVariable({ provider, id: "any" }),
    );
    expect(variables).toEqual(["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "GROQ_API_KEY"]);
  });
});

it("a service whose models the user has listed comes before a key in the environment", () => {
  const env = { ANTHROPIC_API_KEY: "for another program", ACME_KEY: "k" };
  const builtIns = [builtIn];
  expect(registry({ env, builtIns, providers: { acme } }).usual()?.id).toBe("fable");
  expect(registry({ env: { ANTHROPIC_API_KEY: "k" }, builtIns, providers: { acme } }).usual()?.id).toBe("sonnet");
});

describe("another address", () => {
  const openai: ProviderModel = {
    ...builtIn,
    provider: "openai",
    id: "gpt-5.5",
    api: "openai-responses",
    baseUrl: "https://api.openai.com/v1",
  };
  const at = (OPENAI_BASE_URL: string, providers: Given["providers"] = {}) =>
    registry({ builtIns: [openai], env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL }, providers });

  it("comes from the service's variable, and from the models file before it", () => {
    expect(at(" https://llm.example/v1/ ").find("openai", "gpt-5.5")).toMatchObject({
      baseUrl: "https://llm.example/v1",
      baseUrlSource: "OPENAI_BASE_URL",
    });
    const both = at("https://llm.example/v1", { openai: { baseUrl: "https://own.example" } });
    expect(both.find("openai", "gpt-5.5")?.baseUrl).toBe("https://own.example");
    expect(both.find("openai", "gpt-5.5")?.baseUrlSource).toBeUndefined();
    expect(at("").find("openai", "gpt-5.5")?.baseUrl).toBe("https://api.openai.com/v1");
  });

  it("may have models that the table does not: exactly as named, price unknown, by the API that every server has", () => {
    const found = at("https://llm.example/v1");
    const model = { id: "qwen3:30b", api: "openai-completions", contextWindow: 128_000, maxTokens: 16_384 };
    expect(found.select("openai/qwen3:30b")?.model).toMatchObject(model);
    expect(found.select("openai/qwen3:30b")?.model).not.toHaveProperty("cost");
    expect(found.selectRequested({ provider: "openai", model: "gpt-5" })?.model.id).toBe("gpt-5");
    expect(found.select("openai/gpt-5:high")).toMatchObject({ model: { id: "gpt-5" }, thinkingLevel: "high" });
    expect(found.find("openai", "qwen3:30b")).toMatchObject(model);
    expect(found.select("openai/gpt-5.5")?.model.api).toBe("openai-responses");
    expect(found.select("qwen3:30b")).toBeUndefined();
  });

  it("is not needed for a model that is newer than the table, where the user asks for it by its service", () => {
    const own = registry({ builtIns: [openai] });
    const newer = { id: "brand-new", api: "openai-responses", baseUrl: openai.baseUrl };
    expect(own.select("openai/brand-new")?.model).toMatchObject(newer);
    expect(own.select("brand-new", "openai")?.model).toMatchObject(newer);
    expect(own.select("brand-new")).toBeUndefined();
  });

  it("of the same host has what the table has", () => {
    const same = at("https://api.openai.com/other");
    expect(same.find("openai", "qwen3:30b")).toBeUndefined();
    expect(registry({ builtIns: [openai] }).find("openai", "nope")).toBeUndefined();
    expect(registry({ builtIns: [openai] }).select("openai/gpt-5")?.model.id).toBe("gpt-5.5");
  });
});

describe("discovered models", () => {
  const local: ProviderModel = {
    ...builtIn,
    provider: "ollama",
    id: "qwen3:30b",
    baseUrl: "http://127.0.0.1:11434/v1",
  };

  it("join the others, behind them, and are changed by what the file says", () => {
    const { apiKey: _key, ...bare } = acme;
    const ollama = { ...bare, baseUrl: "http://127.0.0.1:11434/v1", modelOverrides: { "qwen3:30b": { name: "Mine" } } };
    const found = registry({ providers: { acme, ollama } });
    expect(found.warnings).toEqual([]);
    expect(names(found.available())).toEqual(["ollama/fable"]);
    found.addDiscovered([local, { ...local, id: "fable", name: "not this one" }]);
    expect(names(found.all())).toEqual(["acme/fable", "ollama/fable", "ollama/qwen3:30b", "galley/planner"]);
    expect(found.find("ollama", "fable")?.name).toBe("fable");
    expect(found.find("ollama", "qwen3:30b")).toMatchObject({ name: "Mine", baseUrl: local.baseUrl });
  });

  it("are used when nothing else can be, and replace what was found before", () => {
    const found = registry();
    found.addDiscovered([local]);
    expect(found.usual()).toEqual(local);
    expect(found.hasCredential(local)).toBe(true);
    found.addDiscovered([{ ...local, contextWindow: 4096 }]);
    expect(found.available().map(({ contextWindow }) => contextWindow)).toEqual([4096]);
    const key = registry({ builtIns: [builtIn], env: { ANTHROPIC_API_KEY: "k" } });
    key.addDiscovered([local]);
    expect(key.usual()?.provider).toBe("anthropic");
  });
});

describe("problemsConcerning", () => {
  const bad = {
    acme: { ...acme, models: [{ id: "fable" }, { id: "broken", maxTokens: 0 }] },
    anthropic: { baseUrl: "http://proxy.example" },
    other: { baseUrl: 7 },
  };
  const found = registry({ builtIns: [builtIn], providers: bad });
  const concerning = (requested: { provider?: string; model?: string }) =>
    found.problemsConcerning(requested).map(({ path }) => path);

  it("is empty where a good model is named, or nothing", () => {
    expect(found.problems).toHaveLength(3);
    expect(concerning({ model: "acme/fable" })).toEqual([]);
    expect(concerning({ provider: "acme" })).toEqual([]);
    expect(concerning({ model: "galley/planner" })).toEqual([]);
    expect(concerning({})).toEqual([]);
  });

  it("names the problem of the model itself and of its provider", () => {
    expect(concerning({ provider: "acme", model: "broken" })).toEqual(["providers.acme.models[1].maxTokens"]);
    // The built-in model is there, but without the server that the file wanted for it.
    expect(concerning({ model: "sonnet:high" })).toEqual(["providers.anthropic.baseUrl"]);
    expect(concerning({ provider: "other" })).toEqual(["providers.other.baseUrl"]);
  });

  it("is everything that may be the reason when nothing is found", () => {
    expect(concerning({ model: "nope" })).toHaveLength(3);
  });

  it("holds a file that cannot be read against all but the planner", () => {
    const sources = { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: async () => "" };
    const file = unreadableModelsFile("/a/models.yml", "is not UTF-8 text");
    const unread = new ModelRegistry({ sources, file, builtIns: tables([builtIn]) });
    expect(unread.problemsConcerning({ model: "sonnet" }).map(problemText)).toEqual([
      "/a/models.yml: is not UTF-8 text",
    ]);
    expect(unread.problemsConcerning({ model: "nope" })).toHaveLength(1);
    expect(unread.problemsConcerning({ model: "planner" })).toEqual([]);
  });
});

describe("toWireModel", () => {
  it("copies every public field and nothing else", () => {
    const full: ProviderModel = {
      ...builtIn,
      thinking: { minLevel: "low", maxLevel: "high", mode: "effort" },
      premiumMultiplier: 2,
      preferWebsockets: false,
      contextPromotionTarget: "x",
      priority: 0,
      compat: { supportsStore: true, extraBody: { token: "secret" } },
    };
    const secretive = { ...full, headers: { Authorization: "Bearer secret" }, apiKey: "secret" };
    const wire = toWireModel(secretive);
    expect(wire).toEqual({ ...full, compat: { supportsStore: true } });
    expect(JSON.stringify(wire)).not.toContain("secret");
  });

  it("adds no absent field", () => {
    expect(toWireModel(plannerModel)).toEqual(plannerModel);
    expect(Object.keys(toWireModel(plannerModel)).sort()).toEqual(Object.keys(plannerModel).sort());
  });

  it("shows no configured header of a listed model", () => {
    const found = registry({ providers: { acme: { ...acme, apiKey: "secret", headers: { "X-Key": "secret" } } } });
    expect(JSON.stringify(found.all())).not.toContain("secret");
  });
});
