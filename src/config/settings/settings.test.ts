import { describe, expect, expectTypeOf, it } from "vitest";
import type { JsonObject } from "../../base/json.js";
import { readLayer } from "./layers.js";
import { rpcDefaultKeys, settingKeys } from "./schema.js";
import { Settings } from "./settings.js";

const layer = (value: JsonObject) => readLayer(value, "file").values;

describe("Settings", () => {
  it("has the defaults without any layer", () => {
    const settings = new Settings();
    expect(settings.get("steeringMode")).toBe("one-at-a-time");
    expect(settings.get("shellPath")).toBeUndefined();
    expect(settings.sourceOf("steeringMode")).toBe("default");
    expect(settings.problems).toEqual([]);
  });

  it("lets the project win over the user and an override over both", () => {
    const settings = new Settings({
      user: layer({ "retry.maxRetries": 1, "ttsr.repeatGap": 1, steeringMode: "all", modelRoles: { a: "u", b: "u" } }),
      project: layer({ "retry.maxRetries": 2, "ttsr.repeatGap": 2, modelRoles: { b: "p" } }),
      overrides: layer({ "retry.maxRetries": 4, modelRoles: { c: "o" } }),
    });
    expect(settings.get("retry.maxRetries")).toBe(4);
    expect(settings.get("ttsr.repeatGap")).toBe(2);
    expect(settings.get("steeringMode")).toBe("all");
    expect(settings.get("modelRoles")).toEqual({ a: "u", b: "p", c: "o" });
    const sources = (["retry.maxRetries", "ttsr.repeatGap", "steeringMode", "topK"] as const).map((key) =>
      settings.sourceOf(key),
    );
    expect(sources).toEqual(["override", "project", "user", "default"]);
  });

  it("gives the type of the setting", () => {
    const settings = new Settings();
    expectTypeOf(settings.get("retry.maxRetries")).toEqualTypeOf<number>();
    expectTypeOf(settings.snapshot().interruptMode).toEqualTypeOf<"immediate" | "wait">();
  });

  it("overrides one setting, of this object only", () => {
    const shared = { user: layer({ steeringMode: "all" }), overrides: layer({ followUpMode: "all" }) };
    const [one, other] = [new Settings(shared), new Settings(shared)];
    one.override("steeringMode", "one-at-a-time");
    one.override("followUpMode", "one-at-a-time");
    one.resetForRpc();
    expect([one.get("steeringMode"), one.get("followUpMode")]).toEqual(["one-at-a-time", "one-at-a-time"]);
    expect([other.get("steeringMode"), other.get("followUpMode")]).toEqual(["all", "all"]);
  });

  it("refuses an override that the setting does not take", () => {
    const settings = new Settings();
    expect(() => settings.override("retry.maxRetries", 1000)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: "retry.maxRetries: expected a whole number from 0 to 100",
      }),
    );
    expect(settings.get("retry.maxRetries")).toBe(3);
  });

  it("gives lists and records that cannot be changed", () => {
    const settings = new Settings({ user: layer({ modelRoles: { a: "b" }, extensions: ["x"] }) });
    for (const key of ["modelRoles", "extensions", "enabledModels", "bash.environment"] as const)
      expect(Object.isFrozen(settings.get(key))).toBe(true);
  });

  it("snapshots every setting", () => {
    const settings = new Settings({ user: layer({ autoResume: true }) });
    const snapshot = settings.snapshot();
    expect(Object.keys(snapshot)).toEqual(settingKeys);
    expect(snapshot.autoResume).toBe(true);
    settings.override("autoResume", false);
    expect(snapshot.autoResume).toBe(true);
  });

  it("in RPC mode has the default workflow, whatever the files say; overrides still win", () => {
    const workflow = {
      todo: { enabled: false, reminders: false, "reminders.max": 9, eager: true },
      tasks: { todoClearDelay: 5 },
      steeringMode: "all",
    };
    const settings = new Settings({
      user: layer(workflow),
      project: layer(workflow),
      overrides: layer({ "todo.eager": true }),
    });
    settings.resetForRpc();
    const defaults = new Settings();
    for (const key of rpcDefaultKeys)
      if (key !== "todo.eager") expect([key, settings.get(key)]).toEqual([key, defaults.get(key)]);
    expect(rpcDefaultKeys).toHaveLength(4);
    expect(settings.get("todo.eager")).toBe(true);
    expect(settings.get("tasks.todoClearDelay")).toBe(5);
    expect(settings.get("steeringMode")).toBe("all");
    settings.override("todo.enabled", false);
    expect(settings.get("todo.enabled")).toBe(false);
  });

  it("remembers which files are broken", () => {
    const settings = new Settings({ brokenFiles: ["/a/config.yml"] });
    expect([settings.isBroken("/a/config.yml"), settings.isBroken("/b")]).toEqual([true, false]);
  });
});
