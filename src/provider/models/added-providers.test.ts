// Providers of extensions in the registry: whose key a request carries, and what is there when they go.

import { describe, expect, it } from "vitest";
import type { ProviderModel } from "../provider.js";
import { ModelRegistry } from "./model-registry.js";
import { readModelsFile } from "./models-file.js";

const table: ProviderModel = {
  ...{ id: "sonnet", name: "Sonnet", api: "anthropic-messages", provider: "anthropic", baseUrl: "https://api.example" },
  ...{ reasoning: false, input: ["text"], contextWindow: 1000, maxTokens: 100 },
};

/** Keys can be stored while the registry is in use. */
function opened(stored: Record<string, string> = {}, providers: Record<string, unknown> = {}) {
  const authFile = new Map(Object.entries(stored));
  const runCommand = () => Promise.reject(new Error("no command may run here"));
  const registry = new ModelRegistry({
    sources: { env: {}, authFile, runtimeKeys: new Map(), runCommand },
    file: readModelsFile({ providers }, "models.yml"),
    builtIns: (provider) => (provider === "anthropic" ? [table] : []),
  });
  return { registry, authFile };
}

function entryOf(id: string, more: object = {}) {
  const described = {
    baseUrl: "https://theirs.example",
    api: "openai-completions",
    apiKey: "theirs",
    models: [{ id: "m" }],
  };
  const { providers } = readModelsFile({ providers: { [id]: { ...described, ...more } } }, "an extension");
  const entry = providers.get(id);
  if (!entry) throw new Error("not described");
  return { entry };
}

describe("a provider of an extension", () => {
  it("under the name of a known service takes its models' place, and never a key that the user stores", async () => {
    const { registry, authFile } = opened();
    registry.added.add(entryOf("anthropic"));
    expect(registry.find("anthropic", "sonnet")).toBeUndefined();
    expect(registry.find("anthropic", "m")?.baseUrl).toBe("https://theirs.example");
    authFile.set("anthropic", "sk-users-own");
    expect(await registry.apiKeyFor({ provider: "anthropic", id: "m" })).toBe("theirs");
    registry.added.remove("anthropic");
    expect(registry.find("anthropic", "sonnet")?.baseUrl).toBe("https://api.example");
    expect(await registry.apiKeyFor({ provider: "anthropic", id: "sonnet" })).toBe("sk-users-own");
  });

  it("is refused where the user has a key for the service, or describes it, also wrongly", () => {
    const refused = (registry: ModelRegistry, id: string) => () => registry.added.add(entryOf(id));
    expect(refused(opened({ anthropic: "sk-users-own" }).registry, "anthropic")).toThrow(
      "The provider anthropic is set up by the user (auth.json), and that counts.",
    );
    expect(refused(opened({}, { acme: { baseUrl: "https://a.example" } }).registry, "acme")).toThrow("models.yml");
    expect(refused(opened({}, { acme: { baseUrl: 7 } }).registry, "acme")).toThrow("models.yml");
  });

  it("under a name of its own uses a key that the user stored for it", async () => {
    const { registry } = opened({ gateway: "stored-for-it" });
    registry.added.add(entryOf("gateway"));
    expect(await registry.apiKeyFor({ provider: "gateway", id: "m" })).toBe("stored-for-it");
    expect(registry.available().map(({ provider }) => provider)).toContain("gateway");
  });
});
