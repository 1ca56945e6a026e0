import { describe, expect, it } from "vitest";
import { GalleyError } from "../../base/errors.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import type { ProviderModel } from "../../provider/provider.js";
import type { SessionRecord } from "../../record/record.js";
import { ModelControl } from "./model-control.js";
import type { ModelSource } from "./model-source.js";

function modelOf(id: string, fields: Partial<ProviderModel> = {}): ProviderModel {
  return {
    id,
    name: id,
    api: "openai-completions",
    provider: "acme",
    baseUrl: "",
    reasoning: true,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1000,
    maxTokens: 100,
    ...fields,
  };
}

const [a, b, c] = [modelOf("a"), modelOf("b"), modelOf("c", { reasoning: false, contextWindow: 5000 })] as const;

function control(
  source: Partial<ModelSource>,
  start: { model?: ProviderModel | undefined; level?: ThinkingLevel } = {},
) {
  const entries: object[] = [];
  const models: ModelSource = {
    available: () => [a, b, c],
    find: (_provider, id) => [a, b, c].find((model) => model.id === id),
    hasCredential: () => true,
    noKeyText: ({ provider }) => `No key for ${provider}`,
    apiKeyFor: async () => "k",
    headersFor: async () => ({}),
    ...source,
  };
  const context: { thinkingLevel?: string | null; path: object[] } = { path: entries };
  const append = (entry: object) => {
    entries.push(entry);
    if ("thinkingLevel" in entry) context.thinkingLevel = entry.thinkingLevel as string | null;
  };
  const record = { append, context } as unknown as SessionRecord;
  return {
    entries,
    models: new ModelControl({
      models,
      model: "model" in start ? start.model : a,
      thinkingLevel: start.level,
      record: () => record,
      sessionId: () => "s-1",
      problemWith: (model) => (model.cost ? undefined : new GalleyError("unknown_price", "Its price is not known.")),
    }),
  };
}

const cycled = (models: ModelControl, times: number) =>
  Array.from({ length: times }, () => {
    const next = models.cycle();
    return next && [next.model.id, next.thinkingLevel, next.isScoped];
  });

describe("cycle", () => {
  it("goes through all that is available, wraps, and records each step", () => {
    const { models, entries } = control({}, { level: "high" });
    expect(cycled(models, 4)).toEqual([
      ["b", "high", false],
      ["c", undefined, false],
      ["a", "high", false],
      ["b", "high", false],
    ]);
    expect(models.model).toBe(b);
    expect(entries.slice(0, 2)).toEqual([
      { type: "model_change", provider: "acme", modelId: "b", model: "acme/b", role: "default" },
      { type: "model_change", provider: "acme", modelId: "c", model: "acme/c", role: "default" },
    ]);
  });

  it("keeps to the scope where there is one, with the scope's own level, fitted to the model", () => {
    const scope = [
      { model: c, thinkingLevel: "high" as const },
      { model: b, thinkingLevel: "xhigh" as const },
      { model: a },
    ];
    const { models, entries } = control({ scope }, { level: "low" });
    expect(cycled(models, 3)).toEqual([
      ["c", undefined, true],
      ["b", "high", true],
      ["a", "high", true],
    ]);
    expect(entries).toContainEqual({ type: "thinking_level_change", thinkingLevel: "high" });
  });

  it("tells one model at two levels apart", () => {
    const scope = [
      { model: a, thinkingLevel: "low" as const },
      { model: a, thinkingLevel: "high" as const },
      { model: b },
    ];
    expect(cycled(control({ scope }, { level: "low" }).models, 3)).toEqual([
      ["a", "high", true],
      ["b", "high", true],
      ["a", "low", true],
    ]);
  });

  it("counts a model outside of the list, or none, as the first", () => {
    const scope = [{ model: b }, { model: c }];
    expect(cycled(control({ scope }).models, 1)).toEqual([["c", undefined, true]]);
    expect(cycled(control({}, { model: undefined }).models, 1)).toEqual([["b", undefined, false]]);
  });

  it("is null where there is no other with a credential, and changes nothing", () => {
    const scope = [{ model: a }, { model: b }];
    for (const source of [
      { scope, hasCredential: (model: ProviderModel) => model === a },
      { available: () => [a] },
      { available: () => [] },
    ]) {
      const { models, entries } = control(source);
      expect([models.cycle(), models.model, entries]).toEqual([null, a, []]);
    }
  });
});

const levelsIn = (entries: object[]) =>
  entries.flatMap((entry) => ("thinkingLevel" in entry ? [entry.thinkingLevel] : []));

describe("a change of model", () => {
  const big = modelOf("big", { thinking: { minLevel: "minimal", maxLevel: "xhigh", mode: "effort" } });
  const small = modelOf("small", { thinking: { minLevel: "minimal", maxLevel: "low", mode: "effort" } });
  const known = [big, small, c];
  const find = (_provider: string, id: string) => known.find((model) => model.id === id);

  it("keeps the wish, fits it to the model, and records a level that a reader would not come to", () => {
    const { models, entries } = control({ find }, { model: big, level: "medium" });
    models.setThinkingLevel("xhigh");
    const levels = ["small", "big", "c", "small", "big"].map((id) => {
      models.set("acme", id);
      return models.thinkingLevel;
    });
    expect(levels).toEqual(["low", "xhigh", undefined, "low", "xhigh"]);
    expect(levelsIn(entries)).toEqual(["xhigh"]); // from which a reader comes to all of these
    models.setThinkingLevel("minimal");
    models.set("acme", "small");
    models.setThinkingLevel("high");
    models.set("acme", "big");
    expect([models.thinkingLevel, levelsIn(entries).slice(1)]).toEqual(["high", ["minimal", "low", "high"]]);
  });

  it("records that there is none, where a reader would come to one", () => {
    const { models, entries } = control({ find }, { model: c, level: "medium" });
    models.setThinkingLevel(undefined);
    models.set("acme", "big");
    expect([models.thinkingLevel, levelsIn(entries).at(-1)]).toEqual([undefined, null]);
  });

  it("records no level while the default fits", () => {
    const { models, entries } = control({ find }, { model: big, level: "low" });
    models.set("acme", "small");
    models.set("acme", "big");
    expect(entries.map((entry) => (entry as { type: string }).type)).toEqual(["model_change", "model_change"]);
  });
});

describe("what a request carries", () => {
  it("is the session's id and what was set for every request", async () => {
    const base = { apiKey: "k", headers: {}, reasoning: "low", sessionId: "s-1" };
    expect(await control({}, { level: "low" }).models.streamOptions(a, "low")).toEqual(base);
    const requestSettings = { temperature: 0.2, cacheRetention: "long", sessionId: "mine", idleTimeoutMs: 0 } as const;
    expect(await control({ requestSettings }, { level: "low" }).models.streamOptions(a, "low")).toEqual({
      ...base,
      ...requestSettings,
    });
  });
});

describe("summarizers", () => {
  it("are the session's model, those with a role, then the widest; each once, and only those with a credential", () => {
    const roles = new Map([
      ["smol", { model: b }],
      ["slow", { model: modelOf("locked") }],
      ["default", { model: a }],
    ]);
    const { models } = control({ roles, hasCredential: ({ id }) => id !== "locked" });
    expect(models.summarizers().map(({ model }) => model.id)).toEqual(["a", "b", "c"]);
  });
});

describe("the widest model", () => {
  it("summarizes for another of its service that is no cheaper, and for no other: nothing goes elsewhere unasked", () => {
    const priced = (id: string, output: number, more: object = {}) => ({
      ...modelOf(id),
      cost: { input: 1, output, cacheRead: 0, cacheWrite: 0 },
      ...more,
    });
    const own = priced("own", 10);
    const others = [
      priced("dear", 11, { contextWindow: 9e6 }),
      priced("cheap", 10, { contextWindow: 8e6 }),
      priced("cheap-too", 1, { contextWindow: 7e6 }),
      priced("elsewhere", 1, { provider: "other", contextWindow: 9e6 }),
      { ...modelOf("unpriced"), cost: undefined, contextWindow: 9e6 },
    ] as ProviderModel[];
    const { models } = control({ available: () => [own, ...others] }, { model: own });
    expect(models.summarizers().map(({ model }) => model.id)).toEqual(["own", "cheap"]);
  });
});

describe("a fallback model", () => {
  it("is named with or without a level; an unknown model or one without a credential is skipped", () => {
    const free = modelOf("b:low");
    const { models } = control({
      find: (provider, id) => [a, b, c, free].find((model) => model.provider === provider && model.id === id),
      hasCredential: (model) => model !== c,
    });
    expect(models.choiceOf("acme/b:high")).toEqual({ model: b, thinkingLevel: "high" });
    expect(models.choiceOf("acme/b:low")).toEqual({ model: free }); // a model of that very name
    expect(models.choiceOf("acme/b:low:off")).toEqual({ model: free, thinkingLevel: "off" });
    expect(["acme/c", "acme/d", "b", "acme/b:loud", ""].map((name) => models.choiceOf(name))).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
  });
});
