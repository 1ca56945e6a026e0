// Every setting galley knows, as one table: the loader, the checks, `galley config` and the types all come from it.

import type { Item, Kind, ProjectMay, Setting, Stricter } from "./setting.js";

interface Extra {
  projectMay?: ProjectMay;
  stricter?: Stricter;
  isPrivate?: true;
}

interface Range extends Extra {
  min?: number;
  max: number;
}

const tokens = 10_000_000;
const daySeconds = 86_400;
const dayMs = daySeconds * 1000;
const mebibyte = 1024 * 1024;
const queueModes = ["all", "one-at-a-time"] as const;
const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;

/** Names a program, a module, a server or a directory to write to: the project's file alone is not enough. */
const trusted: Extra = { projectMay: "when-trusted" };
/** Any project can switch a tool off, and a trusted one can switch it on. */
const tool = flag(true, { ...trusted, stricter: false });
const denyList: Extra = { ...trusted, stricter: "more" };
/** Trusted or not, a project can only ask for less. */
const lowerOnly: Extra = { projectMay: "narrow", stricter: "lower" };

export const settingTable = {
  steeringMode: choice(queueModes, "one-at-a-time"),
  followUpMode: choice(queueModes, "one-at-a-time"),
  interruptMode: choice(["immediate", "wait"], "wait"),

  defaultThinkingLevel: choice(thinkingLevels, "medium"),
  "thinkingBudgets.minimal": whole(1024, { max: tokens }),
  "thinkingBudgets.low": whole(2048, { max: tokens }),
  "thinkingBudgets.medium": whole(8192, { max: tokens }),
  "thinkingBudgets.high": whole(16_384, { max: tokens }),
  "thinkingBudgets.xhigh": whole(32_768, { max: tokens }),

  modelRoles: record("text", trusted),
  "models.discovery": choice(["on", "off"], "on", { projectMay: "narrow", stricter: "later" }),
  enabledModels: list([], trusted),
  // Also decides which directories are searched, and so what there is to trust: no trust may depend on it.
  disabledProviders: list([], { projectMay: "narrow", stricter: "more" }),
  // -1: whatever the provider does by itself.
  temperature: fraction(-1, { min: -1, max: 2 }),
  topP: fraction(-1, { min: -1, max: 1 }),
  topK: whole(-1, { min: -1, max: 100_000 }),
  minP: fraction(-1, { min: -1, max: 1 }),
  presencePenalty: fraction(-1, { min: -2, max: 2 }),
  repetitionPenalty: fraction(-1, { min: -1, max: 10 }),

  "budget.maxCost": limit({ min: 0.0001, max: 1_000_000, isWhole: false }),
  "budget.maxTurns": limit({ min: 1, max: 1_000_000_000, isWhole: true }),
  "budget.maxTokens": limit({ min: 1, max: 1_000_000_000_000, isWhole: true }),

  "compaction.enabled": flag(true),
  "compaction.strategy": choice(["context-full", "off"], "context-full", {}, { handoff: "context-full" }),
  "compaction.thresholdPercent": fraction(-1, { min: -1, max: 100 }),
  "compaction.thresholdTokens": whole(-1, { min: -1, max: tokens }),
  "compaction.reserveTokens": whole(16_384, { max: tokens }),
  "compaction.keepRecentTokens": whole(20_000, { max: tokens }),
  "compaction.autoContinue": flag(true),
  "branchSummary.enabled": flag(false),
  "branchSummary.reserveTokens": whole(16_384, { max: tokens }),

  // More attempts cost more, and come sooner: a project may ask for fewer.
  "retry.enabled": flag(true, { ...trusted, stricter: false }),
  "retry.maxRetries": whole(3, { max: 100, ...trusted, stricter: "lower" }),
  "retry.baseDelayMs": whole(2000, { max: dayMs, ...trusted }),
  "retry.maxDelayMs": whole(60_000, { max: dayMs, ...trusted }),
  "retry.fallbackChains": record("list", trusted),
  "retry.fallbackRevertPolicy": choice(["cooldown-expiry", "never"], "cooldown-expiry"),

  "ttsr.enabled": flag(true),
  "ttsr.contextMode": choice(["discard", "keep"], "discard"),
  "ttsr.interruptMode": choice(["never", "prose-only", "tool-only", "always"], "always"),
  "ttsr.repeatMode": choice(["once", "after-gap"], "once"),
  "ttsr.repeatGap": whole(10, { max: 1_000_000 }),

  "todo.enabled": flag(true),
  "todo.reminders": flag(true),
  "todo.reminders.max": whole(3, { max: 100 }),
  "todo.eager": flag(false),
  "tasks.todoClearDelay": fraction(60, { min: -daySeconds, max: daySeconds }),

  "bash.environment": record("text", { ...trusted, isPrivate: true }),
  shellPath: text(trusted),
  "bash.network": choice(["on", "hosts", "off"], "off", { projectMay: "narrow", stricter: "later" }),
  "bash.hosts": listOf("host", { projectMay: "narrow", stricter: "fewer" }),
  "bash.unixSockets": choice(["own", "none"], "own", { projectMay: "narrow", stricter: "later" }),
  "bash.hide": listOf("path", { projectMay: "narrow", stricter: "more" }),
  "bash.show": listOf("path", { projectMay: "never" }),

  // 0 means no limit, so that a lower number is not always stricter.
  "tools.maxTimeout": fraction(0, { max: daySeconds, ...trusted }),
  "tools.artifactSpillThreshold": whole(50, { min: 1, max: mebibyte, ...trusted, stricter: "lower" }),
  "tools.artifactTailBytes": whole(20, { min: 1, max: mebibyte, ...trusted, stricter: "lower" }),
  "tools.artifactTailLines": whole(500, { min: 1, max: 1_000_000, ...trusted, stricter: "lower" }),
  "read.defaultLimit": whole(300, { min: 1, max: 1_000_000 }),
  "edit.fuzzyMatch": flag(true),
  "edit.fuzzyThreshold": fraction(0.95, { max: 1 }),
  "read.enabled": tool,
  "write.enabled": tool,
  "edit.enabled": tool,
  "bash.enabled": tool,
  "grep.enabled": tool,
  "find.enabled": tool,
  "ls.enabled": tool,
  "astGrep.enabled": tool,
  "astEdit.enabled": tool,
  "ask.enabled": tool,
  "ask.timeout": fraction(30, { max: daySeconds, ...trusted }),
  "images.autoResize": flag(true),
  "images.blockImages": flag(false, { ...trusted, stricter: true }),

  "skills.enabled": flag(true, { ...trusted, stricter: false }),
  "skills.customDirectories": list([], trusted),
  extensions: list([], trusted),
  disabledExtensions: list([], denyList),
  customTools: list([], trusted),

  "security.projectModules": choice(["ask", "allow", "deny"], "ask", { projectMay: "never" }),
  "secrets.enabled": flag(true, { projectMay: "narrow", stricter: true }),
  "secrets.paths": list([".env*", "*.pem", "id_*"], { projectMay: "narrow", stricter: "more" }),
  "secrets.maskForModel": choice(["off", "on"], "on", { projectMay: "narrow", stricter: "later" }),
  access: mayChoose(["full", "workspace", "stage", "read-only"], { projectMay: "narrow", stricter: "later" }),
  sandbox: choice(["off", "workspace", "read-only"], "workspace", { projectMay: "narrow", stricter: "later" }),
  maxReadBytes: whole(50 * mebibyte, { min: 1, max: 1024 * mebibyte, ...trusted, stricter: "lower" }),
  "workspace.roots": list([], { projectMay: "never" }),

  staging: choice(["off", "auto", "all"], "auto", { projectMay: "narrow", stricter: "later" }),
  "approval.mode": choice(["never", "unconfined", "ask", "ask-writes"], "never", {
    projectMay: "narrow",
    stricter: "later",
  }),
  "approval.allow": list([], { projectMay: "never" }),
  "resolve.order": choice(["lifo", "fifo"], "lifo"),
  "resolve.forcing": choice(["force", "remind", "off"], "force"),
  "resolve.reminders": whole(1, { max: 100 }),
  "resolve.maxAttempts": whole(5, { min: 1, max: 100 }),
  "resolve.ttlSeconds": fraction(0, { max: 365 * daySeconds }),
  "resolve.decider": choice(["model", "both", "user"], "model", { projectMay: "narrow", stricter: "later" }),
  "resolve.requireUser": flag(false, { projectMay: "narrow", stricter: true }),
  // A project that could switch undo off would take undo away from the user.
  "undo.keep": whole(50, { max: 10_000, ...trusted }),
  "undo.maxBytes": whole(256 * mebibyte, { max: 1024 * 1024 * mebibyte, ...trusted }),

  "stage.ignored": choice(["keep", "plan", "drop"], "keep", trusted),
  "stage.maxFiles": whole(10_000, { max: 1_000_000, ...lowerOnly }),
  "stage.maxBytes": whole(64 * mebibyte, { max: 1024 * mebibyte, ...lowerOnly }),
  "stage.maxFileBytes": whole(16 * mebibyte, { max: 1024 * mebibyte, ...lowerOnly }),
  "stage.maxLayerBytes": whole(4096 * mebibyte, { max: 1024 * 1024 * mebibyte, ...lowerOnly }),
  "stage.copyMaxFiles": whole(20_000, { max: 10_000_000, ...lowerOnly }),
  "stage.copyMaxBytes": whole(512 * mebibyte, { max: 1024 * 1024 * mebibyte, ...lowerOnly }),

  sessionDir: text(trusted),
  autoResume: flag(false),

  // How a terminal looks and behaves is the user's business alone.
  theme: setting({ type: "text" }, "auto", { projectMay: "never" }),
  notifications: choice(["auto", "bell", "osc9", "off"], "auto", { projectMay: "never" }),
  "terminal.mouse": flag(false, { projectMay: "never" }),
  "terminal.plain": flag(false, { projectMay: "never" }),
  "terminal.title": flag(true, { projectMay: "never" }),
} as const;

export type SettingKey = keyof typeof settingTable;
export type SettingValue<K extends SettingKey> = (typeof settingTable)[K]["default"];

export const settingKeys = Object.keys(settingTable) as SettingKey[];

export function isSettingKey(name: string): name is SettingKey {
  return Object.hasOwn(settingTable, name);
}

/** The row without its own value type, for code that treats all settings alike. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return settingTable[key];
}

/** Other names that are still read; the setting's own name wins where both are given. */
export const legacyKeys: ReadonlyMap<string, SettingKey> = new Map([
  ["queueMode", "steeringMode"],
  ["todo.remindersMax", "todo.reminders.max"],
]);

/** Settings of compatible programs that this version does not obey; a file that holds one is told so. */
const namesWithoutEffect: ReadonlySet<string> = new Set([
  ..."async.enabled async.maxJobs bash.autoBackground.enabled bash.autoBackground.thresholdMs".split(" "),
  ..."compaction.handoffSaveToDisk compaction.idleEnabled compaction.idleThresholdTokens".split(" "),
  ..."compaction.idleTimeoutSeconds compaction.remoteEnabled compaction.remoteEndpoint cycleOrder".split(" "),
  ..."edit.mode fetch.enabled lsp.enabled notebook.enabled python.enabled task.agentModelOverrides".split(" "),
  ..."task.disabledAgents task.eager task.enabled task.isolation.commits task.isolation.enabled".split(" "),
  ..."task.isolation.merge task.isolation.mode task.maxConcurrency task.maxRecursionDepth".split(" "),
  ..."todo.verbose tools.intentTracing webSearch.enabled web_search.enabled".split(" "),
]);

/** Such a setting, or a member of one. */
export function isWithoutEffect(name: string): boolean {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1))
    if (namesWithoutEffect.has(name.slice(0, end))) return true;
  return false;
}

/** All names that a file may hold, current and old, with effect and without. */
export function knownNames(): string[] {
  return [...settingKeys, ...legacyKeys.keys(), ...namesWithoutEffect];
}

/** In RPC mode these keep their defaults, whatever the files say: the host decides the workflow. */
export const rpcDefaultKeys: readonly SettingKey[] = [
  "todo.enabled",
  "todo.reminders",
  "todo.reminders.max",
  "todo.eager",
];

/** First words of settings that only a screen knows; a file shared with another front end may hold them. */
export const displayWords: ReadonlySet<string> = new Set([
  ..."autocompleteMaxVisible clearOnShrink collapseChangelog colorBlindMode completion display".split(" "),
  ..."doubleEscapeAction editorPaddingX emojiAutocomplete hideThinkingBlock keybindings keys".split(" "),
  ..."lastChangelogVersion markdown notifications quietStartup shortcuts showHardwareCursor speech".split(" "),
  ..."startup statusLine stt symbolPreset symbols terminal theme themes treeFilterMode tts tui".split(" "),
]);

function flag(standard: boolean, extra: Extra = {}): Setting<boolean> {
  return setting({ type: "boolean" }, standard, extra);
}

function whole(standard: number, range: Range): Setting<number> {
  return setting({ type: "number", min: range.min ?? 0, max: range.max, isWhole: true }, standard, range);
}

function fraction(standard: number, range: Range): Setting<number> {
  return setting({ type: "number", min: range.min ?? 0, max: range.max, isWhole: false }, standard, range);
}

/** Without a value there is no limit. A project may only lower it. */
function limit(range: { min: number; max: number; isWhole: boolean }): Setting<number | undefined> {
  return setting({ type: "number", ...range }, undefined, { projectMay: "narrow", stricter: "lower" });
}

function choice<const V extends string>(
  values: readonly V[],
  standard: NoInfer<V>,
  extra: Extra = {},
  instead?: Readonly<Record<string, NoInfer<V>>>,
): Setting<V> {
  return setting({ type: "choice", values, instead }, standard, extra);
}

/** Without a value, what holds is decided elsewhere. */
function mayChoose<const V extends string>(values: readonly V[], extra: Extra): Setting<V | undefined> {
  return setting({ type: "choice", values }, undefined, extra);
}

function text(extra: Extra): Setting<string | undefined> {
  return setting({ type: "text" }, undefined, extra);
}

function list(standard: readonly string[], extra: Extra = {}): Setting<readonly string[]> {
  return setting({ type: "list" }, Object.freeze([...standard]), extra);
}

function listOf(of: Item, extra: Extra): Setting<readonly string[]> {
  return setting({ type: "list", of }, Object.freeze([]), extra);
}

function record(of: "text", extra: Extra): Setting<Readonly<Record<string, string>>>;
function record(of: "list", extra: Extra): Setting<Readonly<Record<string, readonly string[]>>>;
function record(of: "text" | "list", extra: Extra): Setting<Readonly<Record<string, never>>> {
  return setting({ type: "record", of }, Object.freeze({}), extra);
}

/** Member by member: the whole table is built on the path to the first answer, and spreading a hundred rows is slow. */
function setting<T>(kind: Kind, standard: T, extra: Extra): Setting<T> {
  const { projectMay = "set", stricter, isPrivate } = extra;
  return { kind, default: standard, projectMay, stricter, isPrivate };
}
