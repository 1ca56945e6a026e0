import { describe, expect, it } from "vitest";
import { plannerModel } from "../planner/planner-model.js";
import type { ProviderModel } from "../provider.js";
import { selectModel, selectModels } from "./select-model.js";

function models(...names: string[]): ProviderModel[] {
  return names.map((name) => {
    const [provider = "", ...id] = name.split("/");
    return { ...plannerModel, provider, id: id.join("/"), name: `Model ${id.join("/")}` };
  });
}

const none = () => false;

function select(pattern: string, list: ProviderModel[], isUsable: (model: ProviderModel) => boolean = none) {
  const selection = selectModel(list, pattern, isUsable);
  if (!selection) return undefined;
  const level = selection.thinkingLevel;
  return `${selection.model.provider}/${selection.model.id}${level === undefined ? "" : ` at ${level}`}`;
}

describe("selectModel", () => {
  it("takes exact provider/id before exact id before a part", () => {
    const list = models("router/acme/fable-2", "acme/big-fable", "acme/fable-2", "acme/fable", "other/acme/fable");
    expect(select("acme/fable-2", list)).toBe("acme/fable-2");
    expect(select("acme/fable", list)).toBe("acme/fable");
    expect(select("fable", list)).toBe("acme/fable");
    expect(select("able", list)).toBe("router/acme/fable-2");
    expect(select("router/acme/fable-2", list)).toBe("router/acme/fable-2");
  });

  it("finds a part without regard to case, in the id before the name", () => {
    const list = models("acme/claude-x", "acme/fable-xl");
    list[0] = { ...list[0]!, name: "Fable Compatible" };
    expect(select("FABLE", list)).toBe("acme/fable-xl");
    expect(select("compat", list)).toBe("acme/claude-x");
    expect(select("ACME/Fab", list)).toBe("acme/fable-xl");
  });

  it("ignores punctuation when nothing matches with it", () => {
    const list = models("acme/sonnet-4-20250514", "acme/sonnet-4-5");
    expect(select("sonnet 4.5", list)).toBe("acme/sonnet-4-5");
    expect(select("Sonnet_4", list)).toBe("acme/sonnet-4-5");
  });

  it("prefers an alias over a dated id, and a later date over an earlier one", () => {
    expect(select("sonnet", models("a/sonnet-20250514", "a/sonnet-latest"))).toBe("a/sonnet-latest");
    expect(select("gpt", models("a/gpt-2024-05-13", "a/gpt-2024-11-20", "a/gpt-2024-08-06"))).toBe("a/gpt-2024-11-20");
    expect(select("gpt", models("a/gpt-2024-05-13", "a/gpt"))).toBe("a/gpt");
  });

  it("prefers the one with a credential among equal matches, and the order of the list after that", () => {
    const list = models("acme/fable", "router/fable", "third/fable");
    expect(select("fable", list)).toBe("acme/fable");
    expect(select("fable", list, ({ provider }) => provider === "router")).toBe("router/fable");
    expect(select("acme/fable", list, ({ provider }) => provider === "router")).toBe("acme/fable");
  });

  it.each(["off", "minimal", "low", "medium", "high", "xhigh"])("reads the suffix :%s", (level) => {
    const list = models("acme/fable-2", "acme/qwen:8b");
    expect(select(`acme/fable-2:${level}`, list)).toBe(`acme/fable-2 at ${level}`);
    expect(select(`fable:${level}`, list)).toBe(`acme/fable-2 at ${level}`);
    expect(select(`qwen:8b:${level}`, list)).toBe(`acme/qwen:8b at ${level}`);
  });

  it("takes a suffix as part of the id where the id has it", () => {
    const list = models("acme/oss", "acme/oss:high", "acme/my-fable:high-res", "acme/fable");
    expect(select("oss:high", list)).toBe("acme/oss:high");
    expect(select("fable:high", list)).toBe("acme/fable at high");
    expect(select("my-fable:high", list)).toBe("acme/my-fable:high-res");
    expect(select("fable:huge", list)).toBeUndefined();
    expect(select("fable:HIGH", models("acme/fable"))).toBeUndefined();
  });

  it.each(["", " ", "/", ":high", "-", "sonet", "acme"])("finds nothing for %j", (pattern) => {
    expect(select(pattern, models("acme/sonnet"))).toBeUndefined();
  });

  it("finds the planner only by its exact name", () => {
    const list = [...models("acme/fable"), plannerModel];
    expect(select("planner", list)).toBe("galley/planner");
    expect(select("galley/planner", list)).toBe("galley/planner");
    for (const pattern of ["plan", "Planner", "galley/"]) expect(select(pattern, list)).toBeUndefined();
  });
});

describe("selectModels", () => {
  const list = [
    ...models("acme/fable-1", "acme/fable-2", "router/acme/fable-2", "other/opus", "other/odd*name"),
    plannerModel,
  ];
  const all = (pattern: string, isUsable: (model: ProviderModel) => boolean = none) =>
    selectModels(list, pattern, isUsable).map(
      ({ model, thinkingLevel }) => `${model.provider}/${model.id}${thinkingLevel ? ` at ${thinkingLevel}` : ""}`,
    );

  it.each([
    ["acme/*", ["acme/fable-1", "acme/fable-2", "router/acme/fable-2"]],
    ["router/*", ["router/acme/fable-2"]],
    ["FABLE-?", ["acme/fable-1", "acme/fable-2"]],
    ["*fable-2:high", ["acme/fable-2 at high", "router/acme/fable-2 at high"]],
    ["*o*s", ["other/opus"]],
    ["**opus", ["other/opus"]],
    ["opus?", []],
    ["opus*", ["other/opus"]],
    ["odd*name", ["other/odd*name"]],
    ["galley/*", []],
    ["", []],
  ])("%j means %j", (pattern, expected) => expect(all(pattern)).toEqual(expected));

  it("means one model without a glob, as everywhere else", () => {
    expect(all("fable:low", ({ provider }) => provider === "router")).toEqual(["router/acme/fable-2 at low"]);
    expect(all("galley/planner")).toEqual(["galley/planner"]);
    expect(all("nothing")).toEqual([]);
  });

  it("does not try every way to spread a text over many stars", () => {
    const long = models(`acme/${"a".repeat(5000)}`);
    expect(selectModels(long, `${"*a".repeat(2000)}b`, none)).toEqual([]);
  });
});
