import { describe, expect, it } from "vitest";
import { findPlaces } from "./config-places.js";

const yaml = `# a comment
providers:
  mine:
    api: nope
    models:
      - id: m
      - { id: "x", cost: { input: -1 } }
  "odd name": &shared
    baseUrl: 7
  other: *shared
`;

describe("the place of a value", () => {
  it.each([
    ["providers", "line 2, column 1"],
    ["providers.mine.api", "line 4, column 10"],
    ["providers.mine.models", "line 5, column 5"],
    ["providers.mine.models[0].id", "line 6, column 13"],
    ["providers.mine.models[1].cost.input", "line 7, column 35"],
    ['providers["odd name"].baseUrl', "line 9, column 14"],
  ])("%s", async (path, place) => {
    expect((await findPlaces(yaml))(path)).toBe(place);
  });

  it.each([
    ["of what is missing is that of what it is missing in", "providers.mine.baseUrl", "line 3, column 3"],
    ["in a list", "providers.mine.models[9].id", "line 5, column 5"],
    ["behind an alias is that of the alias", "providers.other.baseUrl", "line 10, column 3"],
    ["of nothing at all is not known", "elsewhere", undefined],
    ["of the whole file is not known", "", undefined],
  ])("%s", async (_name, path, place) => {
    expect((await findPlaces(yaml))(path)).toBe(place);
  });

  it("is found in JSON too", async () => {
    const json = '{\n\t"providers": {\n\t\t"a.b": { "api": 3 }\n\t}\n}\n';
    expect((await findPlaces(json))('providers["a.b"].api')).toBe("line 3, column 19");
  });
});
