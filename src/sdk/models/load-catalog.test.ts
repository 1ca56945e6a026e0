// The tables that come with galley, as a session sees them.

import { describe, expect, it } from "vitest";
import { knownProviders } from "../../provider/provider-list.js";
import { isSupportedApi } from "../../provider/stream-by-api.js";
import { catalogModels, readCatalog } from "./load-catalog.js";

const supported = knownProviders.filter(({ api }) => isSupportedApi(api));

describe.each(supported)("the table of $id", ({ id, api, baseUrl, defaults = [], small }) => {
  const models = catalogModels(id);

  it("holds whole models, the usual one first", () => {
    expect(models.length).toBeGreaterThan(1);
    for (const model of models) {
      expect(model).toMatchObject({ provider: id, api, baseUrl });
      expect([model.name, model.reasoning, model.input]).toEqual([
        expect.any(String),
        expect.any(Boolean),
        expect.arrayContaining(["text"]),
      ]);
      expect(model.maxTokens).toBeLessThanOrEqual(model.contextWindow);
    }
    expect(models.map((model) => model.id)).toEqual(
      expect.arrayContaining([...defaults, ...(small === undefined ? [] : [small])]),
    );
    expect(defaults[0] ?? models[0]?.id).toBe(models[0]?.id);
  });

  it("has a usual model with a price", () => {
    expect(models[0]?.cost?.input).toBeGreaterThan(0);
    expect(models[0]?.cost?.output).toBeGreaterThan(0);
  });

  it("has nothing but conversations", () => {
    const other = /batch|image|audio|realtime|deep-research|embedding/;
    expect(models.filter((model) => other.test(model.id))).toEqual([]);
  });
});

it("every table says where it comes from and of when its prices are", () => {
  for (const { id } of knownProviders)
    expect(readCatalog(id)).toMatchObject({
      source: "@earendil-works/pi-ai",
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      date: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
      notice: expect.stringContaining("MIT License"),
    });
});

it("a service without a table has no models, whatever its name", () => {
  for (const name of ["acme", "../provider", "__proto__", ""]) expect(catalogModels(name)).toEqual([]);
});
