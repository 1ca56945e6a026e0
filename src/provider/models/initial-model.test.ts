import { expect, it } from "vitest";
import { plannerModel } from "../planner/planner-model.js";
import { chooseInitialModel } from "./initial-model.js";
import { ModelRegistry } from "./model-registry.js";
import { readModelsFile } from "./models-file.js";

const server = { baseUrl: "https://llm.example", api: "openai-completions" };
const providers = {
  locked: { ...server, apiKey: "$LOCKED_KEY", models: [{ id: "first" }, { id: "fable" }] },
  acme: { ...server, apiKey: "k", models: [{ id: "fable" }, { id: "vendor/fable-2" }] },
};

function choose(
  requested: { provider?: string; model?: string },
  given: { providers?: object; disabled?: string[] } = {},
) {
  const registry = new ModelRegistry({
    sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: async () => "" },
    file: readModelsFile({ providers: given.providers ?? providers }, "/a/models.yml"),
    disabledProviders: given.disabled ?? [],
  });
  const { model, thinkingLevel } = chooseInitialModel(registry, requested);
  return [model && `${model.provider}/${model.id}`, thinkingLevel];
}

it("takes the first available model when nothing is named", () => {
  expect(choose({})).toEqual(["acme/fable", undefined]);
});

it("takes the planner when nothing is available, and no model when it is disabled", () => {
  expect(choose({}, { providers: {} })).toEqual(["galley/planner", undefined]);
  expect(choose({}, { providers: { locked: providers.locked } })).toEqual(["galley/planner", undefined]);
  expect(choose({}, { providers: {}, disabled: [plannerModel.provider] })).toEqual([undefined, undefined]);
});

it("names models like one that is not known", () => {
  const named = { model: "fabel" };
  expect(() => choose(named)).toThrow(
    expect.objectContaining({
      message: "Model not found: fabel",
      details: { suggestions: ["locked/fable", "acme/fable"] },
    }),
  );
  expect(() => choose({ model: "something else" })).toThrow(expect.objectContaining({ details: { suggestions: [] } }));
});

it("takes what is named, also without a credential", () => {
  expect(choose({ model: "locked/first" })).toEqual(["locked/first", undefined]);
  expect(choose({ provider: "locked", model: "fable:high" })).toEqual(["locked/fable", "high"]);
  expect(choose({ provider: "locked" })).toEqual(["locked/first", undefined]);
  expect(choose({ provider: "acme", model: "vendor/fable-2" })).toEqual(["acme/vendor/fable-2", undefined]);
  expect(choose({ provider: "acme", model: "acme/fable" })).toEqual(["acme/fable", undefined]);
  expect(choose({ model: "fable:low" })).toEqual(["acme/fable", "low"]);
  expect(choose({ provider: "galley" })).toEqual(["galley/planner", undefined]);
});

it.each<[{ provider?: string; model?: string }, string]>([
  [{ model: "nope:high" }, "Model not found: nope:high"],
  [{ provider: "nope" }, "Model not found: nope"],
  [{ provider: "acme", model: "first" }, "Model not found: acme/first"],
  [{ provider: "nope", model: "fable" }, "Model not found: nope/fable"],
  [{ model: "" }, "Model not found: "],
])("fails for %j, which names nothing known", (requested, message) => {
  expect(() => choose(requested)).toThrow(expect.objectContaining({ code: "model_not_found", message }));
});

it("fails when the file is broken where the named model depends on it, and only then", () => {
  const twice = { ...providers.acme, models: [{ id: "fable" }, { id: "fable", maxTokens: 5 }, { id: "other" }] };
  expect(choose({ model: "acme/other" }, { providers: { acme: twice } })).toEqual(["acme/other", undefined]);
  expect(choose({}, { providers: { acme: twice } })).toEqual(["acme/fable", undefined]);
  expect(() => choose({ model: "acme/fable" }, { providers: { acme: twice } })).toThrow(
    expect.objectContaining({
      code: "invalid_config",
      message: "/a/models.yml: providers.acme.models[1].id: is listed twice; the first one counts",
    }),
  );
});

it("without a name prefers the usual model, then the scope, then whatever can be used", () => {
  const registry = new ModelRegistry({
    sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: async () => "" },
    file: readModelsFile({ providers }, "/a/models.yml"),
  });
  const scope = (...patterns: string[]) => patterns.flatMap((pattern) => registry.selectAll(pattern));
  const start = (usual: string | undefined, ...patterns: string[]) => {
    const preferences = { usual: usual === undefined ? undefined : registry.select(usual), scope: scope(...patterns) };
    const { model, thinkingLevel } = chooseInitialModel(registry, {}, preferences);
    return `${model?.provider}/${model?.id}${thinkingLevel === undefined ? "" : ` at ${thinkingLevel}`}`;
  };
  expect(start("fable-2:low")).toBe("acme/vendor/fable-2 at low");
  expect(start("locked/first")).toBe("acme/fable");
  expect(start("acme/fable", "locked/*", "*fable-2:high")).toBe("acme/vendor/fable-2 at high");
  expect(start("fable-2:low", "acme/*")).toBe("acme/vendor/fable-2 at low");
  expect(start(undefined, "locked/*")).toBe("acme/fable");
  expect(start(undefined)).toBe("acme/fable");
});
