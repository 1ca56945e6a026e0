import { describe, expect, it } from "vitest";
import { admitProject, findSetting, mergeValue, readLayer, type SettingValues } from "./layers.js";
import type { SettingKey } from "./schema.js";

const file = "/a/config.yml";
const read = (value: unknown) => {
  const { values, problems } = readLayer(value, file);
  return { values: Object.fromEntries(values), problems: problems.map(({ text }) => text) };
};
const values = (value: unknown) => {
  const layer = read(value);
  expect(layer.problems).toEqual([]);
  return layer.values;
};
const problems = (value: unknown) => read(value).problems;

describe("readLayer: names", () => {
  it.each([[{ todo: { enabled: false } }], [{ "todo.enabled": false }]])(
    "takes dotted and nested names as the same: %j",
    (value) => expect(values(value)).toEqual({ "todo.enabled": false }),
  );

  it.each([
    [{ "task.isolation.mode": "worktree" }],
    [{ task: { isolation: { mode: "worktree" } } }],
    [{ task: { "isolation.mode": "worktree" } }],
    [{ "task.isolation": { mode: "worktree" } }],
  ])("and every mixture: %j", (value) => expect(values(value)).toEqual({ "task.isolation.mode": "worktree" }));

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
    expect(values({ task: { isolation: { enabled: true } } })).toEqual({ "task.isolation.mode": "worktree" });
    expect(values({ "task.isolation.enabled": false })).toEqual({ "task.isolation.mode": "none" });
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
    expect(values(undefined)).toEqual({});
    expect(values(null)).toEqual({});
    expect(values({ todo: null, steeringMode: null, modelRoles: { smol: null } })).toEqual({});
    expect(values({ theme: { dark: "x" }, statusLine: 5, "keybindings.app.exit": "ctrl+q" })).toEqual({});
  });
});

describe("readLayer: problems", () => {
  it.each<[unknown, string]>([
    [{ steeringMode: "bogus" }, 'steeringMode: "bogus" is ignored, expected one of all, one-at-a-time'],
    [{ retry: { maxRetries: "3" } }, 'retry.maxRetries: "3" is ignored, expected a whole number from 0 to 100'],
    [{ retry: { maxRetries: 101 } }, "retry.maxRetries: 101 is ignored, expected a whole number from 0 to 100"],
    [{ retry: { maxRetries: Number.NaN } }, "retry.maxRetries: NaN is ignored, expected a whole number from 0 to 100"],
    [{ async: { maxJobs: 0 } }, "async.maxJobs: 0 is ignored, expected a whole number from 1 to 100"],
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
    [{ ["k".repeat(100)]: 1 }, `${"k".repeat(80)}…: unknown setting`],
    [{ compaction: { idleEnabled: true } }, "compaction.idleEnabled: has no effect in this version"],
    [{ retry: { fallbackChains: { a: ["b"], c: ["d"] } } }, "retry.fallbackChains: has no effect in this version"],
    [{ "compaction.strategy": "handoff" }, 'compaction.strategy: "handoff" is not supported, "context-full" is used'],
    [
      { "task.isolation.mode": "fuse-overlay" },
      'task.isolation.mode: "fuse-overlay" is not supported, "worktree" is used',
    ],
    [{ constructor: { prototype: 1 } }, "constructor: this name is not allowed"],
    [{ "todo.__proto__.x": 1 }, "todo.__proto__.x: this name is not allowed"],
    [{ modelRoles: { prototype: "x" } }, "modelRoles.prototype: this name is not allowed"],
    [JSON.parse('{"__proto__":{"polluted":1}}'), "__proto__: this name is not allowed"],
    [JSON.parse('{"todo":{"__proto__":{"enabled":false}}}'), "todo.__proto__: this name is not allowed"],
    [[], "expected an object of settings"],
    ["text", "expected an object of settings"],
  ])("%j", (value, text) => {
    expect(problems(value)).toEqual([`/a/config.yml: ${text}`]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
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

  it("stops telling after twenty, and takes no time over a hundred thousand", () => {
    const hostile = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`steeringMod${index}`, 1]));
    const told = problems(hostile);
    expect(told).toHaveLength(21);
    expect(told.at(-1)).toBe("/a/config.yml: and 99980 more problems");
    const roles = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`r${index}`, "m"]));
    expect(Object.keys(read({ modelRoles: roles }).values.modelRoles as object)).toHaveLength(1000);
  });
});

describe("admitProject", () => {
  const admit = (project: unknown, { user = {}, isTrusted = false }: { user?: unknown; isTrusted?: boolean } = {}) => {
    const admitted = admitProject(
      { values: readLayer(project, "/p/settings.json").values, file: "/p/settings.json" },
      readLayer(user, file).values,
      isTrusted,
    );
    return { values: Object.fromEntries(admitted.values), problems: admitted.problems.map(({ text }) => text) };
  };
  const untilTrusted = "is ignored until the project is trusted";

  it("lets any project set what can do no harm", () => {
    expect(admit({ "retry.maxRetries": 5 })).toEqual({ values: { "retry.maxRetries": 5 }, problems: [] });
  });

  it.each([
    { shellPath: "/tmp/sh" },
    { bash: { environment: { A: "b" } } },
    { extensions: ["./x.ts"] },
    { customTools: ["./x.ts"] },
    { "compaction.remoteEndpoint": "https://evil.example" },
    { modelRoles: { default: "evil/model" } },
    { sessionDir: "." },
    { "undo.keep": 0 },
  ])("lets only a trusted one set %j", (project) => {
    const key = [...readLayer(project, file).values.keys()][0] as string;
    expect(admit(project)).toEqual({ values: {}, problems: [`/p/settings.json: ${key}: ${untilTrusted}`] });
    expect(admit(project, { isTrusted: true })).toEqual({
      values: expect.objectContaining({ [key]: expect.anything() }),
      problems: [],
    });
  });

  it.each([true, false])("never lets it decide about trust (trusted: %s)", (isTrusted) => {
    expect(admit({ "security.projectModules": "allow", "workspace.roots": ["/"] }, { isTrusted })).toEqual({
      values: {},
      problems: [
        "/p/settings.json: security.projectModules: is ignored, only the user's own settings may say this",
        "/p/settings.json: workspace.roots: is ignored, only the user's own settings may say this",
      ],
    });
  });

  const narrower = (key: string, value: string) =>
    `/p/settings.json: ${key}: ${value} is ignored, a project may only make this stricter`;

  it.each([true, false])(
    "lets it tighten staging, sandbox, redaction and who decides, never loosen (trusted: %s)",
    (isTrusted) => {
      const strict = { staging: "all", sandbox: "read-only", "resolve.decider": "user", "resolve.requireUser": true };
      expect(admit(strict, { isTrusted })).toEqual({ values: strict, problems: [] });
      const loose = { staging: "off", sandbox: "off", "resolve.decider": "model", "secrets.enabled": false };
      expect(admit(loose, { user: { "resolve.decider": "both" }, isTrusted })).toEqual({
        values: {},
        problems: [
          narrower("staging", '"off"'),
          narrower("sandbox", '"off"'),
          narrower("resolve.decider", '"model"'),
          narrower("secrets.enabled", "false"),
        ],
      });
    },
  );

  it("measures by what the user says, not by the default", () => {
    expect(admit({ staging: "auto" }, { user: { staging: "off" } })).toEqual({
      values: { staging: "auto" },
      problems: [],
    });
    expect(admit({ staging: "auto" }, { user: { staging: "all" } }).values).toEqual({});
    expect(admit({ "secrets.enabled": true }, { user: { "secrets.enabled": false } }).values).toEqual({
      "secrets.enabled": true,
    });
    expect(admit({ staging: "all" }, { user: { staging: "all" } })).toEqual({
      values: { staging: "all" },
      problems: [],
    });
  });

  it("adds to deny lists and takes nothing away", () => {
    const user = { disabledProviders: ["claude"], "secrets.paths": ["*.key"] };
    expect(admit({ disabledProviders: ["codex"], secrets: { paths: [] } }, { user })).toEqual({
      values: { disabledProviders: ["claude", "codex"], "secrets.paths": ["*.key"] },
      problems: [],
    });
    expect(admit({ disabledProviders: [] }, { user, isTrusted: true }).values).toEqual({ disabledProviders: [] });
    expect(admit({ "secrets.paths": [] }, { user, isTrusted: true }).values).toEqual({ "secrets.paths": ["*.key"] });
  });

  it("lets any project switch a tool off or read less, a trusted one the other way too", () => {
    expect(admit({ "bash.enabled": false, maxReadBytes: 10 }).values).toEqual({
      "bash.enabled": false,
      maxReadBytes: 10,
    });
    const user = { "bash.enabled": false, maxReadBytes: 10 };
    const wide = { "bash.enabled": true, maxReadBytes: 20 };
    expect(admit(wide, { user })).toEqual({
      values: {},
      problems: [
        `/p/settings.json: bash.enabled: true ${untilTrusted}, which may only make this stricter`,
        `/p/settings.json: maxReadBytes: 20 ${untilTrusted}, which may only make this stricter`,
      ],
    });
    expect(admit(wide, { user, isTrusted: true }).values).toEqual(wide);
  });
});

it("mergeValue merges records and replaces everything else", () => {
  const layer = (entries: [SettingKey, unknown][]): SettingValues => new Map(entries);
  const low = layer([
    ["modelRoles", { a: "1", b: "1" }],
    ["cycleOrder", ["x", "y"]],
    ["temperature", 1],
  ]);
  const high = layer([
    ["modelRoles", { b: "2" }],
    ["cycleOrder", []],
    ["temperature", 0],
  ]);
  expect(mergeValue("modelRoles", [low, high])).toEqual({ a: "1", b: "2" });
  expect(mergeValue("cycleOrder", [low, high])).toEqual([]);
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
