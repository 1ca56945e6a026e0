import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../base/json.js";
import { findSetting, mergeValue, readLayer, type SettingValues } from "./layers.js";
import type { SettingKey } from "./schema.js";

const file = "/a/config.yml";
const read = (value: JsonObject) => {
  const { values, problems } = readLayer(value, file);
  return { values: Object.fromEntries(values), problems: problems.map(({ text }) => text) };
};
const values = (value: JsonObject) => {
  const layer = read(value);
  expect(layer.problems).toEqual([]);
  return layer.values;
};
const problems = (value: JsonObject) => read(value).problems;

describe("readLayer: hosts, paths and modes of commands", () => {
  const host = "expected a host: a name, *.suffix or an address, with :port or without";

  it("refuses each by key and value, and the rest of the file holds", () => {
    const bad = ["https://a.example", "a.example/x", "a b", "a%41.example", "a\0b", "x".repeat(300), 5];
    const layer = read({
      "bash.hosts": ["registry.example", ...bad, "localhost", "localhost:5432"],
      bash: { hide: ["secrets", "~/vault", "/srv/keys"], show: ["../up"], network: "sometimes", unixSockets: "all" },
      access: "everything",
      "stage.maxFiles": -1,
      staging: "all",
    } as JsonObject);
    expect(layer.values).toEqual({
      "bash.hosts": ["registry.example", "localhost:5432"],
      "bash.hide": ["~/vault", "/srv/keys"],
      "bash.show": [],
      staging: "all",
    });
    expect(layer.problems).toEqual([
      `${file}: bash.hosts: "https://a.example" is ignored, ${host}`,
      `${file}: bash.hosts: "a.example/x" is ignored, ${host}`,
      `${file}: bash.hosts: "a b" is ignored, ${host}`,
      `${file}: bash.hosts: "a%41.example" is ignored, ${host}`,
      `${file}: bash.hosts: "a\\u0000b" is ignored, ${host}`,
      `${file}: bash.hosts: "${"x".repeat(80)}…" is ignored, ${host}`,
      `${file}: bash.hosts: 5 is ignored, ${host}`,
      `${file}: bash.hosts: "localhost" is ignored, expected a port behind a host on this machine or its network, such as localhost:5432`,
      `${file}: bash.hide: "secrets" is ignored, expected an absolute path, or one below ~/`,
      `${file}: bash.show: "../up" is ignored, expected an absolute path, or one below ~/`,
      `${file}: bash.network: "sometimes" is ignored, expected one of on, hosts, off`,
      `${file}: bash.unixSockets: "all" is ignored, expected one of own, none`,
      `${file}: access: "everything" is ignored, expected one of full, workspace, stage, read-only`,
      `${file}: stage.maxFiles: -1 is ignored, expected a whole number from 0 to 1000000`,
    ]);
  });

  it("repeats no password of a host", () => {
    expect(problems({ "bash.hosts": ["https://me:hunter2@a.example"] })).toEqual([
      `${file}: bash.hosts: "…@a.example" is ignored, ${host}`,
    ]);
  });

  it("refuses a list that is none", () => {
    expect(problems({ "bash.hosts": "a.example" })).toEqual([
      `${file}: bash.hosts: "a.example" is ignored, expected a list of hosts`,
    ]);
  });
});

describe("readLayer: names", () => {
  it.each([[{ todo: { enabled: false } }], [{ "todo.enabled": false }]])(
    "takes dotted and nested names as the same: %j",
    (value) => expect(values(value)).toEqual({ "todo.enabled": false }),
  );

  it.each([
    [{ "todo.reminders.max": 5 }],
    [{ todo: { reminders: { max: 5 } } }],
    [{ todo: { "reminders.max": 5 } }],
    [{ "todo.reminders": { max: 5 } }],
  ])("and every mixture: %j", (value) => expect(values(value)).toEqual({ "todo.reminders.max": 5 }));

  it.each([
    [{ todo: { reminders: false, "reminders.max": 5 } }],
    [{ "todo.reminders": false, "todo.reminders.max": 5 }],
    [{ "todo.reminders.max": 5, "todo.reminders": false }],
    [{ todo: { reminders: { max: 5 } }, "todo.reminders": false }],
    [{ "todo.reminders": false, todo: { reminders: { max: 5 } } }],
    [{ todo: { remindersMax: 5, reminders: false } }],
  ])("keeps overlapping names apart: %j", (value) =>
    expect(values(value)).toEqual({ "todo.reminders": false, "todo.reminders.max": 5 }),
  );

  it("sets one of two overlapping names without the other", () => {
    expect(values({ todo: { reminders: { max: 5 } } })).toEqual({ "todo.reminders.max": 5 });
    expect(values({ todo: { reminders: false } })).toEqual({ "todo.reminders": false });
  });

  it("reads old names, and lets the new one win wherever it stands", () => {
    expect(values({ queueMode: "all" })).toEqual({ steeringMode: "all" });
    expect(values({ steeringMode: "all", queueMode: "one-at-a-time" })).toEqual({ steeringMode: "all" });
    expect(problems({ queueMode: "some" })).toEqual([
      '/a/config.yml: queueMode: "some" is ignored, expected one of all, one-at-a-time',
    ]);
  });

  it("reads records whole, by dotted member, and with dots in a member's name", () => {
    expect(values({ modelRoles: { smol: "a/b" }, "modelRoles.slow": "c/d" })).toEqual({
      modelRoles: { smol: "a/b", slow: "c/d" },
    });
    expect(values({ bash: { environment: { "A.B": "1" } } })).toEqual({ "bash.environment": { "A.B": "1" } });
    expect(values({ "bash.environment.A.B": "1" })).toEqual({ "bash.environment": { "A.B": "1" } });
  });

  it("says nothing about what is empty and about settings of a screen", () => {
    expect(values({})).toEqual({});
    expect(values({ todo: null, steeringMode: null, modelRoles: { smol: null } })).toEqual({});
    expect(values({ symbols: { dark: "x" }, statusLine: 5, "keybindings.app.exit": "ctrl+q" })).toEqual({});
  });
});

describe("readLayer: problems", () => {
  it.each<[JsonObject, string]>([
    [{ steeringMode: "bogus" }, 'steeringMode: "bogus" is ignored, expected one of all, one-at-a-time'],
    [{ retry: { maxRetries: "3" } }, 'retry.maxRetries: "3" is ignored, expected a whole number from 0 to 100'],
    [{ retry: { maxRetries: 101 } }, "retry.maxRetries: 101 is ignored, expected a whole number from 0 to 100"],
    [{ retry: { maxRetries: Number.NaN } }, "retry.maxRetries: NaN is ignored, expected a whole number from 0 to 100"],
    [{ "edit.fuzzyThreshold": 2 }, "edit.fuzzyThreshold: 2 is ignored, expected a number from 0 to 1"],
    [{ "todo.enabled": 1 }, "todo.enabled: 1 is ignored, expected true or false"],
    [{ "todo.enabled": {} }, "todo.enabled: an object is ignored, expected true or false"],
    [{ extensions: "x.ts" }, 'extensions: "x.ts" is ignored, expected a list of texts'],
    [{ extensions: [1] }, "extensions: a list is ignored, expected a list of texts"],
    [{ modelRoles: "x" }, 'modelRoles: "x" is ignored, expected an object of texts'],
    [{ modelRoles: { smol: 5 } }, "modelRoles.smol: 5 is ignored, expected a text of one line, not empty"],
    [{ todo: true }, "todo: true is ignored, expected an object of settings"],
    [{ todo: [] }, "todo: a list is ignored, expected an object of settings"],
    [{ stearingMode: "all" }, "stearingMode: unknown setting, did you mean steeringMode?"],
    [{ todo: { reminder: true } }, "todo.reminder: unknown setting, did you mean todo.reminders?"],
    [
      { todo: { reminders: { maximum: 3 } } },
      "todo.reminders.maximum: unknown setting, did you mean todo.reminders.max?",
    ],
    [{ frobnicate: { a: 1, b: 2 } }, "frobnicate: unknown setting"],
    [{ "\u001b]0;x\u0007": 1 }, "\\u001b]0;x\\u0007: unknown setting"],
    [
      { steeringMode: "\u009b\u202ex" },
      'steeringMode: "\\u009b\\u202ex" is ignored, expected one of all, one-at-a-time',
    ],
    [{ ["k".repeat(100)]: 1 }, `${"k".repeat(80)}…: unknown setting`],
    [{ compaction: { idleEnabled: true } }, "compaction.idleEnabled: has no effect in this version"],
    [{ cycleOrder: 5 }, "cycleOrder: has no effect in this version"],
    [{ task: { isolation: { mode: "x" } } }, "task.isolation.mode: has no effect in this version"],
    [{ task: { agentModelOverrides: { a: "b", c: "d" } } }, "task.agentModelOverrides: has no effect in this version"],
    [{ "task.agentModelOverrides.a": "b" }, "task.agentModelOverrides.a: has no effect in this version"],
    [
      { retry: { fallbackChains: { default: "acme/one" } } },
      'retry.fallbackChains.default: "acme/one" is ignored, expected a list of texts',
    ],
    [
      { retry: { fallbackChains: ["acme/one"] } },
      "retry.fallbackChains: a list is ignored, expected an object of lists of texts",
    ],
    [
      { retry: { fallbackRevertPolicy: "later" } },
      'retry.fallbackRevertPolicy: "later" is ignored, expected one of cooldown-expiry, never',
    ],
    [{ "compaction.strategy": "handoff" }, 'compaction.strategy: "handoff" is not supported, "context-full" is used'],
    [{ constructor: { prototype: 1 } }, "constructor: this name is not allowed"],
    [{ "todo.__proto__.x": 1 }, "todo.__proto__.x: this name is not allowed"],
    [{ modelRoles: { prototype: "x" } }, "modelRoles.prototype: this name is not allowed"],
    [JSON.parse('{"__proto__":{"polluted":1}}'), "__proto__: this name is not allowed"],
    [JSON.parse('{"todo":{"__proto__":{"enabled":false}}}'), "todo.__proto__: this name is not allowed"],
  ])("%j", (value, text) => {
    expect(problems(value)).toEqual([`/a/config.yml: ${text}`]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("keeps nothing of a setting without effect", () => {
    expect(read({ "edit.mode": "patch", topK: 1 })).toEqual({
      values: { topK: 1 },
      problems: ["/a/config.yml: edit.mode: has no effect in this version"],
    });
  });

  it("never repeats what may be a secret", () => {
    const secret = "sk-0123456789abcdefghijklmnop";
    expect(problems({ "bash.environment": { KEY: [secret] }, steeringMode: secret })).toEqual([
      "/a/config.yml: bash.environment.KEY: the value is ignored, expected a text of one line, not empty",
      "/a/config.yml: steeringMode: a text of 29 characters is ignored, expected one of all, one-at-a-time",
    ]);
    expect(problems({ "compaction.remoteEndpoint": { x: secret } }).join()).not.toContain(secret);
  });

  it("keeps the good settings of a file with bad ones", () => {
    expect(read({ steeringMode: "bogus", followUpMode: "all" }).values).toEqual({ followUpMode: "all" });
  });

  it("stops telling after twenty", () => {
    const told = problems(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`steeringMod${index}`, 1])));
    expect(told).toHaveLength(21);
    expect(told.at(-1)).toBe("/a/config.yml: and 10 more problems");
  });

  it("stops reading after a thousand", () => {
    const junk = Array.from({ length: 200_000 }, (_, index) => [`x${index}`, "y"] as const);
    const last = "/a/config.yml: and 980 more problems; the rest of the file is not read";
    const before = read({ topK: 1, ...Object.fromEntries(junk), topP: 1 });
    expect(before.values).toEqual({ topK: 1 });
    expect(before.problems.at(-1)).toBe(last);
    const roles = read({ modelRoles: Object.fromEntries(junk) });
    expect(Object.keys(roles.values.modelRoles as object)).toHaveLength(1000);
    expect(roles.problems.at(-1)).toBe(last);
  });
});

it("mergeValue merges records and replaces everything else", () => {
  const layer = (entries: [SettingKey, unknown][]): SettingValues => new Map(entries);
  const low = layer([
    ["modelRoles", { a: "1", b: "1" }],
    ["enabledModels", ["x", "y"]],
    ["temperature", 1],
  ]);
  const high = layer([
    ["modelRoles", { b: "2" }],
    ["enabledModels", []],
    ["temperature", 0],
  ]);
  expect(mergeValue("modelRoles", [low, high])).toEqual({ a: "1", b: "2" });
  expect(mergeValue("enabledModels", [low, high])).toEqual([]);
  expect(mergeValue("temperature", [low, high])).toBe(0);
  expect(mergeValue("topP", [low, high])).toBe(-1);
});

it.each([
  ["todo.reminders", { key: "todo.reminders" }],
  ["modelRoles.smol", { key: "modelRoles", member: "smol" }],
  ["modelRoles.a.b", { key: "modelRoles", member: "a.b" }],
  ["modelRoles.", undefined],
  ["todo", undefined],
  ["todo.enabled.x", undefined],
  ["queueMode", undefined],
])("findSetting(%j)", (name, found) => expect(findSetting(name)).toEqual(found));
