import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  isSettingKey,
  isWithoutEffect,
  legacyKeys,
  rpcDefaultKeys,
  type SettingValue,
  settingKeys,
  settingOf,
} from "./schema.js";
import { checkValue } from "./setting.js";

const mebibyte = 1024 * 1024;

/** What the program does without any file. A change here changes it for everybody. */
const defaults = {
  steeringMode: "one-at-a-time",
  followUpMode: "one-at-a-time",
  interruptMode: "wait",
  defaultThinkingLevel: "medium",
  "thinkingBudgets.minimal": 1024,
  "thinkingBudgets.low": 2048,
  "thinkingBudgets.medium": 8192,
  "thinkingBudgets.high": 16384,
  "thinkingBudgets.xhigh": 32768,
  modelRoles: {},
  "models.discovery": "on",
  enabledModels: [],
  disabledProviders: [],
  temperature: -1,
  topP: -1,
  topK: -1,
  minP: -1,
  presencePenalty: -1,
  repetitionPenalty: -1,
  "budget.maxCost": undefined,
  "budget.maxTurns": undefined,
  "budget.maxTokens": undefined,
  "compaction.enabled": true,
  "compaction.strategy": "context-full",
  "compaction.thresholdPercent": -1,
  "compaction.thresholdTokens": -1,
  "compaction.reserveTokens": 16384,
  "compaction.keepRecentTokens": 20000,
  "compaction.autoContinue": true,
  "branchSummary.enabled": false,
  "branchSummary.reserveTokens": 16384,
  "retry.enabled": true,
  "retry.maxRetries": 3,
  "retry.baseDelayMs": 2000,
  "retry.maxDelayMs": 60000,
  "retry.fallbackChains": {},
  "retry.fallbackRevertPolicy": "cooldown-expiry",
  "ttsr.enabled": true,
  "ttsr.contextMode": "discard",
  "ttsr.interruptMode": "always",
  "ttsr.repeatMode": "once",
  "ttsr.repeatGap": 10,
  "todo.enabled": true,
  "todo.reminders": true,
  "todo.reminders.max": 3,
  "todo.eager": false,
  "tasks.todoClearDelay": 60,
  "bash.environment": {},
  shellPath: undefined,
  "bash.network": "off",
  "bash.hosts": [],
  "bash.unixSockets": "own",
  "bash.hide": [],
  "bash.show": [],
  "tools.maxTimeout": 0,
  "tools.artifactSpillThreshold": 50,
  "tools.artifactTailBytes": 20,
  "tools.artifactTailLines": 500,
  "read.defaultLimit": 300,
  "edit.fuzzyMatch": true,
  "edit.fuzzyThreshold": 0.95,
  "read.enabled": true,
  "write.enabled": true,
  "edit.enabled": true,
  "bash.enabled": true,
  "grep.enabled": true,
  "find.enabled": true,
  "ls.enabled": true,
  "astGrep.enabled": true,
  "astEdit.enabled": true,
  "ask.enabled": true,
  "ask.timeout": 30,
  "images.autoResize": true,
  "images.blockImages": false,
  "skills.enabled": true,
  "skills.customDirectories": [],
  extensions: [],
  disabledExtensions: [],
  customTools: [],
  "security.projectModules": "ask",
  "secrets.enabled": true,
  "secrets.paths": [".env*", "*.pem", "id_*"],
  "secrets.maskForModel": "on",
  access: undefined,
  sandbox: "workspace",
  maxReadBytes: 50 * mebibyte,
  "workspace.roots": [],
  staging: "auto",
  "approval.mode": "never",
  "approval.allow": [],
  "resolve.order": "lifo",
  "resolve.forcing": "force",
  "resolve.reminders": 1,
  "resolve.maxAttempts": 5,
  "resolve.ttlSeconds": 0,
  "resolve.decider": "model",
  "resolve.requireUser": false,
  "undo.keep": 50,
  "undo.maxBytes": 256 * mebibyte,
  "stage.ignored": "keep",
  "stage.maxFiles": 10_000,
  "stage.maxBytes": 64 * mebibyte,
  "stage.maxFileBytes": 16 * mebibyte,
  "stage.maxLayerBytes": 4096 * mebibyte,
  "stage.copyMaxFiles": 20_000,
  "stage.copyMaxBytes": 512 * mebibyte,
  sessionDir: undefined,
  autoResume: false,
  theme: "auto",
  notifications: "auto",
  "terminal.mouse": false,
  "terminal.plain": false,
  "terminal.title": true,
};

/** Everything else a project may set freely. */
const restricted = {
  modelRoles: "when-trusted",
  "models.discovery": "narrow, later",
  enabledModels: "when-trusted",
  "budget.maxCost": "narrow, lower",
  "budget.maxTurns": "narrow, lower",
  "budget.maxTokens": "narrow, lower",
  disabledProviders: "narrow, more",
  "retry.enabled": "when-trusted, false",
  "retry.maxRetries": "when-trusted, lower",
  "retry.baseDelayMs": "when-trusted",
  "retry.maxDelayMs": "when-trusted",
  "retry.fallbackChains": "when-trusted",
  "bash.environment": "when-trusted",
  shellPath: "when-trusted",
  "bash.network": "narrow, later",
  "bash.hosts": "narrow, fewer",
  "bash.unixSockets": "narrow, later",
  "bash.hide": "narrow, more",
  "bash.show": "never",
  "tools.maxTimeout": "when-trusted",
  "tools.artifactSpillThreshold": "when-trusted, lower",
  "tools.artifactTailBytes": "when-trusted, lower",
  "tools.artifactTailLines": "when-trusted, lower",
  "read.enabled": "when-trusted, false",
  "write.enabled": "when-trusted, false",
  "edit.enabled": "when-trusted, false",
  "bash.enabled": "when-trusted, false",
  "grep.enabled": "when-trusted, false",
  "find.enabled": "when-trusted, false",
  "ls.enabled": "when-trusted, false",
  "astGrep.enabled": "when-trusted, false",
  "astEdit.enabled": "when-trusted, false",
  "ask.enabled": "when-trusted, false",
  "ask.timeout": "when-trusted",
  "images.blockImages": "when-trusted, true",
  "skills.enabled": "when-trusted, false",
  "skills.customDirectories": "when-trusted",
  extensions: "when-trusted",
  disabledExtensions: "when-trusted, more",
  customTools: "when-trusted",
  "security.projectModules": "never",
  "secrets.enabled": "narrow, true",
  "secrets.paths": "narrow, more",
  "secrets.maskForModel": "narrow, later",
  access: "narrow, later",
  sandbox: "narrow, later",
  maxReadBytes: "when-trusted, lower",
  "workspace.roots": "never",
  staging: "narrow, later",
  "approval.mode": "narrow, later",
  "approval.allow": "never",
  "resolve.decider": "narrow, later",
  "resolve.requireUser": "narrow, true",
  "undo.keep": "when-trusted",
  "undo.maxBytes": "when-trusted",
  "stage.ignored": "when-trusted",
  "stage.maxFiles": "narrow, lower",
  "stage.maxBytes": "narrow, lower",
  "stage.maxFileBytes": "narrow, lower",
  "stage.maxLayerBytes": "narrow, lower",
  "stage.copyMaxFiles": "narrow, lower",
  "stage.copyMaxBytes": "narrow, lower",
  sessionDir: "when-trusted",
  theme: "never",
  notifications: "never",
  "terminal.mouse": "never",
  "terminal.plain": "never",
  "terminal.title": "never",
};

describe("the table of settings", () => {
  it("has these settings with these defaults", () => {
    expect(Object.fromEntries(settingKeys.map((key) => [key, settingOf(key).default]))).toStrictEqual(defaults);
  });

  it("lets a project set everything but these", () => {
    const found = settingKeys
      .map((key) => [key, settingOf(key)] as const)
      .filter(([, { projectMay }]) => projectMay !== "set")
      .map(([key, { projectMay, stricter }]) => [
        key,
        [projectMay, stricter].filter((it) => it !== undefined).join(", "),
      ]);
    expect(Object.fromEntries(found)).toEqual(restricted);
  });

  it("has defaults that pass their own check", () => {
    for (const key of settingKeys) {
      const setting = settingOf(key);
      if (setting.default !== undefined)
        expect([key, checkValue(setting, setting.default)]).toMatchObject([key, { ok: true }]);
    }
  });

  it("does not take what objects inherit for a setting", () => {
    expect(["constructor", "toString", "__proto__", ""].some(isSettingKey)).toBe(false);
    expect(isSettingKey("todo.reminders.max")).toBe(true);
  });

  it("names only settings in its other lists", () => {
    expect(rpcDefaultKeys.filter((key) => !isSettingKey(key))).toEqual([]);
    for (const key of legacyKeys.values()) expect(isSettingKey(key)).toBe(true);
    expect([...legacyKeys.keys()].filter(isSettingKey)).toEqual([]);
  });

  it("carries the types of its values", () => {
    expectTypeOf<SettingValue<"retry.maxRetries">>().toEqualTypeOf<number>();
    expectTypeOf<SettingValue<"todo.reminders">>().toEqualTypeOf<boolean>();
    expectTypeOf<SettingValue<"steeringMode">>().toEqualTypeOf<"all" | "one-at-a-time">();
    expectTypeOf<SettingValue<"shellPath">>().toEqualTypeOf<string | undefined>();
    expectTypeOf<SettingValue<"extensions">>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<SettingValue<"modelRoles">>().toEqualTypeOf<Readonly<Record<string, string>>>();
    expectTypeOf<SettingValue<"retry.fallbackChains">>().toEqualTypeOf<Readonly<Record<string, readonly string[]>>>();
  });
});

it("has a reader for every setting", () => {
  const source = join(import.meta.dirname, "../..");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.ts$/.test(name) && !/\.test\.|config.settings.(?:schema|describe-settings)\.ts$/.test(name),
  );
  const code = files.map((name) => readFileSync(join(source, name), "utf8")).join("\n");
  const unread = settingKeys.filter((key) => !code.includes(`"${key}"`));
  // A built-in tool is switched by its own name.
  const switches = new Set(["read", "write", "edit", "bash", "grep", "find", "ls", "astGrep", "astEdit", "ask"]);
  expect(unread.filter((key) => !switches.has(key.replace(/\.enabled$/, "")))).toEqual([]);
});

it("knows the settings that this version does not obey, and none of them is in the table", () => {
  expect(isWithoutEffect("cycleOrder")).toBe(true);
  expect(isWithoutEffect("task.agentModelOverrides.a.b")).toBe(true);
  expect(settingKeys.filter(isWithoutEffect)).toEqual([]);
});
