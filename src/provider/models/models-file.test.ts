import { describe, expect, it } from "vitest";
import { type ModelsFile, problemText, readModelsFile } from "./models-file.js";

const good = {
  baseUrl: "https://llm.example/v1",
  apiKey: "$ACME_KEY",
  api: "openai-completions",
  models: [{ id: "m" }],
};

function read(providers: unknown): ModelsFile {
  return readModelsFile({ providers }, "models.yml");
}

const problems = (file: ModelsFile) => file.problems.map(problemText);
const models = (file: ModelsFile) =>
  [...file.providers.values()].flatMap((entry) => entry.models.map(({ model }) => model));
const onlyProblem = (providers: unknown) => {
  const found = problems(read(providers));
  expect(found).toHaveLength(1);
  return found[0];
};

const thinking = { minLevel: "low", maxLevel: "high", mode: "effort" };

describe("a model", () => {
  it("has defaults for all but its id", () => {
    const file = read({ acme: good });
    expect(problems(file)).toEqual([]);
    expect(file.warnings).toEqual([]);
    expect(models(file)).toEqual([
      {
        id: "m",
        name: "m",
        api: "openai-completions",
        provider: "acme",
        baseUrl: "https://llm.example/v1",
        reasoning: false,
        input: ["text"],
        contextWindow: 128_000,
        maxTokens: 16_384,
      },
    ]);
  });

  it("keeps what it says and merges compat and headers over the provider's", () => {
    const file = read({
      acme: {
        ...good,
        headers: { "X-Team": "core", "x-trace": "on" },
        compat: { supportsStore: false, supportsStrictMode: true, extraBody: { a: 1, b: 1 } },
        models: [
          {
            id: "vendor/fable:free",
            name: "Fable",
            api: "anthropic-messages",
            reasoning: true,
            thinking: { minLevel: "low", maxLevel: "high", mode: "budget" },
            input: ["text", "image", "text"],
            cost: { input: 3, output: 15 },
            contextWindow: 200_000,
            maxTokens: 64_000,
            headers: { "X-Trace": "!trace" },
            compat: { supportsStore: true, extraBody: { b: 2 } },
          },
        ],
      },
    });
    expect(problems(file)).toEqual([]);
    expect(file.providers.get("acme")?.models).toEqual([
      {
        model: {
          id: "vendor/fable:free",
          name: "Fable",
          api: "anthropic-messages",
          provider: "acme",
          baseUrl: "https://llm.example/v1",
          reasoning: true,
          thinking: { minLevel: "low", maxLevel: "high", mode: "budget" },
          input: ["text", "image"],
          cost: { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 },
          contextWindow: 200_000,
          maxTokens: 64_000,
          compat: { supportsStore: true, supportsStrictMode: true, extraBody: { a: 1, b: 2 } },
        },
        headers: { "X-Team": "core", "X-Trace": "!trace" },
      },
    ]);
  });

  it.each<[string, unknown, string]>([
    ["not an object", "m", "models[1]: expected an object"],
    ["no id", {}, "models[1].id: expected a text of one line, not empty"],
    ["a numeric id", { id: 7 }, "models[1].id: expected a text of one line, not empty"],
    ["control characters", { id: "a\u001b[31m" }, "models[1].id: expected a text of one line, not empty"],
    ["the same id again", { id: "m" }, "models[1].id: is listed twice; the first one counts"],
    ["an empty name", { id: "x", name: " " }, "models[1].name: expected a text of one line, not empty"],
    ["a word for a boolean", { id: "x", reasoning: "yes" }, "models[1].reasoning: expected true or false"],
    ["an unknown input", { id: "x", input: ["text", "smell"] }, "models[1].input[1]: expected one of text, image"],
    ["no input", { id: "x", input: [] }, "models[1].input: expected at least one of text, image"],
    ["a negative price", { id: "x", cost: { input: -1 } }, "models[1].cost.input: expected a number from 0 up"],
    ["an endless price", { id: "x", cost: { output: Infinity } }, "models[1].cost.output: expected a number from 0 up"],
    ["prices by size that are no list", { id: "x", cost: { tiers: {} } }, "models[1].cost.tiers: expected an array"],
    [
      "a tier without its size",
      { id: "x", cost: { tiers: [{ input: 1 }] } },
      "models[1].cost.tiers[0].inputTokensAbove: expected a whole number above 0",
    ],
    [
      "a wrong price in a tier",
      { id: "x", cost: { tiers: [{ inputTokensAbove: 1, cacheWrite1h: "2" }] } },
      "models[1].cost.tiers[0].cacheWrite1h: expected a number from 0 up",
    ],
    ["a broken window", { id: "x", contextWindow: 1.5 }, "models[1].contextWindow: expected a whole number above 0"],
    ["no tokens", { id: "x", maxTokens: 0 }, "models[1].maxTokens: expected a whole number above 0"],
    [
      "an unknown api",
      { id: "x", api: "galley-planner" },
      "models[1].api: expected one of anthropic-messages, openai-completions, openai-responses, google-generative-ai",
    ],
    [
      "levels upside down",
      { id: "x", thinking: { minLevel: "high", maxLevel: "low", mode: "effort" } },
      "models[1].thinking.minLevel: expected a level not above maxLevel",
    ],
    [
      "no thinking mode",
      { id: "x", thinking: { minLevel: "low", maxLevel: "low" } },
      "models[1].thinking.mode: expected one of effort, budget, google-level, anthropic-adaptive, anthropic-budget-effort",
    ],
    [
      "an unknown level",
      { id: "x", thinking: { ...thinking, levels: { max: "max" } } },
      "models[1].thinking.levels.max: is not a level: off, minimal, low, medium, high, xhigh",
    ],
    [
      "a number for a level",
      { id: "x", thinking: { ...thinking, levels: { low: 1 } } },
      "models[1].thinking.levels.low: expected a text of one line, not empty",
    ],
    [
      "no level at all",
      { id: "x", thinking: { ...thinking, levels: { low: null, medium: null, high: null, xhigh: "max" } } },
      "models[1].thinking.levels: expected at least one level from minLevel to maxLevel that is not null",
    ],
    [
      "an unknown cacheControlFormat",
      { id: "x", compat: { cacheControlFormat: "google" } },
      "models[1].compat.cacheControlFormat: expected one of anthropic",
    ],
    [
      "a sessionHeader that is none",
      { id: "x", compat: { sessionHeader: "a: b" } },
      "models[1].compat.sessionHeader: expected a header name",
    ],
    [
      "a word for supportsTemperature",
      { id: "x", compat: { supportsTemperature: "no" } },
      "models[1].compat.supportsTemperature: expected true or false",
    ],
    [
      "a header name with a line break",
      { id: "x", headers: { "a\nb": "c" } },
      'models[1].headers["a\\nb"]: expected a header name',
    ],
    [
      "a header of many lines",
      { id: "x", headers: { a: "b\r\nc: d" } },
      "models[1].headers.a: expected a text of one line, not empty",
    ],
    [
      "a word for a compat flag",
      { id: "x", compat: { supportsStore: "no" } },
      "models[1].compat.supportsStore: expected true or false",
    ],
    [
      "an unknown token field",
      { id: "x", compat: { maxTokensField: "tokens" } },
      "models[1].compat.maxTokensField: expected one of max_tokens, max_completion_tokens",
    ],
  ])("with %s is one problem, and the others stay", (_what, bad, expected) => {
    const file = read({ acme: { ...good, models: [{ id: "m" }, bad, { id: "last" }] } });
    expect(problems(file)).toEqual([`models.yml: providers.acme.${expected}`]);
    expect(models(file).map(({ id }) => id)).toEqual(["m", "last"]);
  });

  it("says which model a problem is about, where its id can be read", () => {
    const file = read({ acme: { ...good, models: [{ id: "x", maxTokens: 0 }, { id: 7 }] } });
    expect(file.problems.map(({ about }) => about)).toEqual([
      { kind: "model", provider: "acme", id: "x" },
      { kind: "model", provider: "acme" },
    ]);
  });

  it("needs an api somewhere", () => {
    const { api: _api, ...bare } = good;
    expect(onlyProblem({ acme: bare })).toBe(
      "models.yml: providers.acme.models[0].api: is required here or at the provider",
    );
    for (const api of ["anthropic-messages", "openai-responses", "google-generative-ai"])
      expect(models(read({ acme: { ...bare, models: [{ id: "m", api }] } }))[0]?.api).toBe(api);
  });

  it("has the words for its levels, and null for those that it has not", () => {
    const levels = { off: null, low: "least", medium: null };
    const file = read({ acme: { ...good, models: [{ id: "m", reasoning: true, thinking: { ...thinking, levels } }] } });
    expect(models(file)[0]?.thinking).toEqual({ ...thinking, levels });
  });

  it("takes an empty YAML value for a missing one", () => {
    expect(models(read({ acme: { ...good, models: [{ id: "m", name: null, cost: null }] } }))[0]?.name).toBe("m");
  });
});

describe("a price", () => {
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const costOf = (provider: object, cost?: object, id = "acme") =>
    models(read({ [id]: { ...good, ...provider, models: [{ id: "m", cost }] } }))[0]?.cost;

  it("is unknown unless it is told", () => {
    expect(costOf({})).toBeUndefined();
    expect(costOf({}, {})).toEqual(free);
    expect(costOf({}, { input: 3 })).toEqual({ ...free, input: 3 });
  });

  it("is none for what needs no key, and for servers of this machine", () => {
    const local = { baseUrl: "http://127.0.0.1:11434/v1" };
    expect(costOf({ auth: "none", apiKey: undefined })).toEqual(free);
    expect(costOf(local, undefined, "ollama")).toEqual(free);
    expect(costOf({}, undefined, "ollama")).toBeUndefined();
    expect(costOf(local)).toBeUndefined();
    expect(costOf({ auth: "none" }, { input: 1 })).toEqual({ ...free, input: 1 });
  });

  it("may depend on the size of the prompt; what a tier does not say is the model's", () => {
    const cost = { input: 3, output: 15, cacheWrite1h: 6, tiers: [{ inputTokensAbove: 200_000, input: 6 }] };
    expect(costOf({}, cost)).toEqual({
      ...free,
      input: 3,
      output: 15,
      cacheWrite1h: 6,
      tiers: [{ ...free, input: 6, output: 15, cacheWrite1h: 6, inputTokensAbove: 200_000 }],
    });
  });
});

describe("a provider", () => {
  it.each<[string, unknown, string]>([
    ["not an object", [], "expected an object"],
    ["empty", {}, "expected models, or one of baseUrl, api, modelOverrides, discovery"],
    ["a key alone", { apiKey: "k" }, "expected models, or one of baseUrl, api, modelOverrides, discovery"],
    ["models of the wrong type", { ...good, models: { m: {} } }, "models: expected an array"],
    ["no baseUrl", { ...good, baseUrl: undefined }, "baseUrl: is required for a provider with models"],
    ["no key", { ...good, apiKey: undefined }, 'apiKey: is required unless auth is "none"'],
    ["a numeric key", { ...good, apiKey: 12345 }, "apiKey: expected a text of one line, not empty"],
    ["an unknown auth", { ...good, auth: "oauth" }, "auth: expected one of apiKey, none"],
    ["a keyHeader that is none", { ...good, keyHeader: "api key" }, "keyHeader: expected a header name"],
    [
      "two ways to send the key",
      { ...good, keyHeader: "api-key", authHeader: true },
      "keyHeader: expected keyHeader or authHeader, not both",
    ],
    ["a word for authHeader", { ...good, authHeader: "true" }, "authHeader: expected true or false"],
    [
      "an unknown discovery",
      { ...good, discovery: { type: "bonjour" } },
      "discovery.type: expected one of ollama, lm-studio, llama.cpp, openai-compat",
    ],
    ["a list for compat", { ...good, compat: [] }, "compat: expected an object"],
    ["a list for overrides", { ...good, modelOverrides: [] }, "modelOverrides: expected an object"],
    ["a relative URL", { ...good, baseUrl: "llm.example" }, "baseUrl: expected an http or https URL"],
    ["a file URL", { ...good, baseUrl: "file:///etc/passwd" }, "baseUrl: expected an http or https URL"],
    ["a number for a URL", { ...good, baseUrl: 7 }, "baseUrl: expected an http or https URL"],
    [
      "plain http to another machine",
      { ...good, baseUrl: "http://llm.example" },
      "baseUrl: expected https: plain http is for loopback hosts only",
    ],
    [
      "a host that only starts like loopback",
      { ...good, baseUrl: "http://127.0.0.1.evil.example" },
      "baseUrl: expected https: plain http is for loopback hosts only",
    ],
    [
      "a password in the URL",
      { ...good, baseUrl: "https://u:p@llm.example" },
      "baseUrl: expected a URL without user name and password",
    ],
    [
      "a query in the URL",
      { ...good, baseUrl: "https://llm.example/?key=1" },
      "baseUrl: expected a URL without query and fragment",
    ],
  ])("with %s is one problem, and the others stay", (_what, bad, expected) => {
    const file = read({ bad, acme: good });
    const separator = expected.startsWith("expected") ? ": " : ".";
    expect(problems(file)).toEqual([`models.yml: providers.bad${separator}${expected}`]);
    expect(file.problems[0]?.about).toEqual({ kind: "provider", provider: "bad" });
    expect([...file.providers.keys()]).toEqual(["acme"]);
  });

  it.each([
    "http://localhost:11434/v1",
    "http://127.0.0.1:8080",
    "http://127.1",
    "http://[::1]:9",
    "https://llm.example",
  ])("may live at %s", (baseUrl) => expect(problems(read({ acme: { ...good, baseUrl } }))).toEqual([]));

  it("loses the slash at the end of its URL", () => {
    expect(read({ acme: { ...good, baseUrl: "https://llm.example/v1//" } }).providers.get("acme")?.baseUrl).toBe(
      "https://llm.example/v1",
    );
  });

  it("needs no key with auth none, nor where the environment has a name for it", () => {
    const { apiKey: _key, ...bare } = good;
    const file = read({ acme: { ...bare, auth: "none" }, openai: bare });
    expect(problems(file)).toEqual([]);
    expect(file.providers.get("acme")?.isKeyless).toBe(true);
    expect(file.providers.get("openai")?.isKeyless).toBe(false);
  });

  it("may only override: baseUrl, modelOverrides or discovery is enough", () => {
    const file = read({
      a: { baseUrl: "https://llm.example" },
      b: { modelOverrides: { m: { maxTokens: 5, cost: { input: 1 }, headers: { X: "1" } }, n: { maxTokens: "5" } } },
      c: { discovery: { type: "ollama" } },
    });
    expect(file.providers.get("a")?.models).toEqual([]);
    expect([...(file.providers.get("b")?.modelOverrides ?? [])]).toEqual([
      ["m", { fields: { maxTokens: 5 }, cost: { input: 1 }, compat: {}, headers: { X: "1" } }],
    ]);
    expect(problems(file)).toEqual([
      "models.yml: providers.b.modelOverrides.n.maxTokens: expected a whole number above 0",
    ]);
    expect(file.problems[0]?.about).toEqual({ kind: "model", provider: "b", id: "n" });
  });

  it("keeps discovery, which needs an address where none is usual", () => {
    const file = read({
      local: { ...good, discovery: { type: "openai-compat" } },
      nowhere: { discovery: { type: "openai-compat" } },
    });
    expect(file.providers.get("local")?.discovery).toEqual({ type: "openai-compat" });
    expect(file.warnings).toEqual([]);
    expect(problems(file)).toEqual(["models.yml: providers.nowhere.baseUrl: is required for discovery of this type"]);
  });

  it("cannot stand in for the planner", () => {
    expect(onlyProblem({ galley: good })).toBe("models.yml: providers.galley: is built in and cannot be changed");
  });

  it.each(["__proto__", "", "a/b", "a b", "\u001b[2J", "x".repeat(81)])("cannot be called %j", (id) => {
    const file = readModelsFile(
      JSON.parse(`{"providers":{${JSON.stringify(id)}:${JSON.stringify(good)}}}`),
      "models.json",
    );
    expect(file.providers.size).toBe(0);
    expect(file.problems).toHaveLength(1);
    expect(problems(file)[0]).toMatch(/: expected a provider id of letters, digits, dots, dashes and underscores$/);
    expect(problems(file)[0]).not.toMatch(/\p{Cc}/u);
  });

  it("may be called constructor, and no name reaches a prototype", () => {
    const hostile = `{"constructor":${JSON.stringify(good)},"acme":{"baseUrl":"https://x.example","auth":"none","api":"openai-completions",
      "modelOverrides":{"__proto__":{"reasoning":true}},"models":[{"id":"__proto__","__proto__":{"reasoning":true}}]}}`;
    const file = read(JSON.parse(hostile));
    expect([...file.providers.keys()]).toEqual(["constructor", "acme"]);
    expect(models(file)[1]).toMatchObject({ id: "__proto__", reasoning: false });
    expect(({} as { reasoning?: boolean }).reasoning).toBeUndefined();
    for (const field of ["headers", "compat"]) {
      const bad = JSON.parse(`{"acme":{"baseUrl":"https://x.example","${field}":{"__proto__":{"a":1}}}}`);
      expect(onlyProblem(bad)).toMatch(`models.yml: providers.acme.${field}.__proto__: `);
    }
  });
});

describe("the file", () => {
  it.each([undefined, null, {}, { providers: null }, { providers: {} }])("may be empty: %j", (value) => {
    const file = readModelsFile(value, "models.yml");
    expect([file.providers.size, file.problems, file.warnings]).toEqual([0, [], []]);
  });

  it.each<[unknown, string]>([
    [[], "models.yml: expected an object"],
    ["text", "models.yml: expected an object"],
    [{ providers: [] }, "models.yml: providers: expected an object"],
  ])("is one problem as a whole: %j", (value, expected) => {
    const file = readModelsFile(value, "models.yml");
    expect(problems(file)).toEqual([expected]);
    expect(file.problems[0]?.about).toEqual({ kind: "file" });
  });

  it("warns about unknown fields", () => {
    const file = readModelsFile(
      { version: 1, providers: { acme: { ...good, apikey: "x", models: [{ id: "m", contextwindow: 5 }] } } },
      "models.yml",
    );
    expect(file.warnings).toEqual([
      "models.yml: version: is not a known field and is not used",
      "models.yml: providers.acme.apikey: is not a known field and is not used",
      "models.yml: providers.acme.models[0].contextwindow: is not a known field and is not used",
    ]);
  });

  it("repeats no value in what it says", () => {
    const secret = "sk-very\nsecret";
    const file = read({
      a: { ...good, apiKey: secret },
      b: { ...good, baseUrl: `https://u:${encodeURIComponent(secret)}@x.example` },
      c: { ...good, headers: { Authorization: secret } },
    });
    expect(problems(file)).toHaveLength(3);
    expect(JSON.stringify([file.problems, file.warnings])).not.toMatch(/sk-very/);
  });
});
