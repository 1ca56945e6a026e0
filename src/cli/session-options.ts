// From the command line to the SDK's options. The options mean the same in every mode.

import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve, sep } from "node:path";
import { GalleyError, messageOf } from "../base/errors.js";
import { homedir } from "../base/home.js";
import type { Log } from "../base/log.js";
import { parseAssignment } from "../config/settings/assignment.js";
import type { ThinkingLevel } from "../protocol/model.js";
import { dialectOf } from "../rpc/dialect.js";
import type { CreateAgentSessionOptions } from "../sdk/index.js";
import type { CommandLine } from "./arguments.js";
import { guardFromExtensions } from "./guard-stdout.js";

const roleFlags = ["smol", "slow", "plan"];
const thinkingLevels: readonly string[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

interface OptionSettings {
  log: Log;
  /** A bad level or tool name is reported and ignored, because a program drives galley. */
  lenient: boolean;
  /** The user can be asked; default: no. */
  hasUI?: boolean;
}

export function sessionOptions(line: CommandLine, settings: OptionSettings): CreateAgentSessionOptions {
  const { log } = settings;
  const value = (name: string) => line.options.get(name)?.[0];
  const cwd = workingDirectory(value("cwd"));
  const level = thinkingLevel(value("thinking"), settings);
  const toolNames = activeTools(line, settings);
  const provider = value("provider");
  const modelPattern = value("model");
  const apiKey = value("api-key");
  // Read once: a file that is created later, perhaps by the model, has no effect.
  const texts = (name: string) =>
    (line.options.get(name) ?? []).map((given) => textOrFile(given, { cwd, log, option: name }));
  const [replaced] = texts("system-prompt");
  const added = texts("append-system-prompt");
  const sessionDir = value("session-dir");
  const scope = value("models");
  const providerSessionId = value("provider-session-id");
  return {
    cwd,
    log,
    persist: !line.options.has("no-session"),
    sessionDir,
    sessionName: value("name"),
    ...resumeOption(line, settings),
    assignments: [...(line.options.get("set") ?? []), ...saidByOptions(line)].map(parseAssignment),
    askTiers: askedTiers(line),
    allowsTool: toolFilter(line),
    hooks: dialectOf(process.argv[1], process.env).showsDiffs ? displayHooks : undefined,
    ...accessOf(line),
    ...budgetOf(line),
    ...(line.options.has("allow-exec") ? { allowExec: true } : {}),
    resetWorkflowSettings: settings.lenient,
    provider,
    modelPattern,
    apiKey,
    thinkingLevel: level,
    toolNames,
    ...(scope === undefined ? {} : { scopedModels: listed(scope) }),
    modelRoles: Object.fromEntries(
      roleFlags.flatMap((role) => line.options.get(role)?.map((name) => [role, name]) ?? []),
    ),
    providerSessionId,
    ...moduleOptions(line),
    ...textOptions(line),
    systemPrompt: (standard) => [replaced ?? standard, ...added].join("\n\n"),
  };
}

/** Also a program that drives galley is not left with another access than the one it named. */
export function accessOf({ options }: Pick<CommandLine, "options">): Pick<CreateAgentSessionOptions, "access"> {
  const named = options.get("access")?.[0];
  const mode = accessNames.find((name) => name === named);
  if (named !== undefined && mode === undefined)
    throw new GalleyError("usage", `--access must be one of ${accessNames.join(", ")}, not "${named}".`);
  const given = [
    ...(mode === undefined ? [] : [{ option: `--access ${mode}`, mode }]),
    ...(options.has("stage") ? [{ option: "--stage", mode: "stage" as const }] : []),
    ...(options.has("auto") ? [{ option: "--auto", mode: "workspace" as const }] : []),
  ];
  const [first] = given;
  const other = given.find((one) => one.mode !== first?.mode);
  if (first && other) throw new GalleyError("usage", `${first.option} and ${other.option} exclude each other.`);
  return first ? { access: first.mode } : {};
}

const displayHooks: CreateAgentSessionOptions["hooks"] = {
  async afterToolCall(_call, result, { tool }) {
    return (await import("../sdk/review/display-diffs.js")).withDisplayDiff(tool.name, result);
  },
};

/** What other options say in the words of the settings. */
function saidByOptions({ options }: CommandLine): string[] {
  if (options.has("trust-project") && options.has("no-approve"))
    throw new GalleyError("usage", "--approve and --no-approve exclude each other.");
  return [
    ...(options.has("no-approve") ? ["security.projectModules=deny"] : []),
    ...(options.has("approval-mode") || options.has("yolo") ? ["approval.mode=never"] : []),
  ];
}

/** What each approval mode asks about; the question is the host's, so the settings' own is off. */
const askedBy: Readonly<Record<string, CreateAgentSessionOptions["askTiers"]>> = {
  "always-ask": ["write", "exec"],
  write: ["exec"],
  yolo: undefined,
};

/** Also a program that drives galley is not left without the questions that it asked for. */
function askedTiers({ options }: CommandLine): CreateAgentSessionOptions["askTiers"] {
  const mode = options.get("approval-mode")?.[0];
  if (mode === undefined) return undefined;
  if (!Object.hasOwn(askedBy, mode))
    throw new GalleyError("usage", `--approval-mode must be one of ${Object.keys(askedBy).join(", ")}, not "${mode}".`);
  if (options.has("yolo") && mode !== "yolo")
    throw new GalleyError("usage", `--approval-mode ${mode} and --yolo exclude each other.`);
  return askedBy[mode];
}

/** Undefined where every tool may be there. */
function toolFilter({ options }: CommandLine): CreateAgentSessionOptions["allowsTool"] {
  const excluded = listed(options.get("exclude-tools")?.[0] ?? "");
  const named = options.get("tools")?.[0] ?? (options.has("no-tools") ? "" : undefined);
  if (named === undefined && excluded.length === 0) return undefined;
  const only = named === undefined ? undefined : listed(named);
  return (name) => !excluded.includes(name) && (only?.includes(name) ?? true);
}

/** The names of the working modes, the strictest first. */
export const accessNames = ["read-only", "stage", "workspace", "full"] as const;

/** Also a program that drives galley is not left without the limit that it named. */
function budgetOf({ options }: CommandLine): Pick<CreateAgentSessionOptions, "budget"> {
  const limits = Object.entries(limitOptions).flatMap(([option, { name, form, expectation }]) => {
    const given = options.get(option)?.[0];
    if (given === undefined) return [];
    const value = form.test(given) ? Number(given) : 0;
    if (value > 0) return [[name, value]];
    throw new GalleyError("usage", `--${option} must be ${expectation}, not "${given}".`);
  });
  return limits.length === 0 ? {} : { budget: Object.fromEntries(limits) };
}

const wholeLimit = { form: /^\d{1,12}$/, expectation: "a whole number from 1" };
const limitOptions = {
  "max-cost": { name: "maxCost", form: /^\d{1,6}(\.\d{1,9})?$/, expectation: "dollars above 0, as in 0.50" },
  "max-turns": { name: "maxTurns", ...wholeLimit },
  "max-tokens": { name: "maxTokens", ...wholeLimit },
};

function textOptions({ options }: CommandLine): Partial<CreateAgentSessionOptions> {
  const patterns = options.get("skills")?.[0];
  const skills = options.get("skill") ?? [];
  const templates = options.get("prompt-template") ?? [];
  return {
    ...(options.has("no-rules") ? { rules: [] } : {}),
    ...(options.has("no-skills") ? { skills: [] } : {}),
    ...(options.has("no-prompt-templates") ? { promptTemplates: [], slashCommands: [] } : {}),
    ...(options.has("no-context-files") ? { contextFiles: [] } : {}),
    ...(patterns === undefined ? {} : { skillPatterns: listed(patterns) }),
    ...(skills.length > 0 ? { additionalSkillPaths: skills } : {}),
    ...(templates.length > 0 ? { additionalPromptTemplatePaths: templates } : {}),
  };
}

function moduleOptions(line: CommandLine): Partial<CreateAgentSessionOptions> {
  const { options } = line;
  const named = otherTools(line);
  const extensions = [...(options.get("extension") ?? []), ...(options.get("hook") ?? [])];
  const tools = options.get("tool") ?? [];
  const plugins = options.get("plugin-dir") ?? [];
  return {
    beforeModules: guardFromExtensions,
    ...(tools.length > 0 ? { additionalToolPaths: tools } : {}),
    ...(extensions.length > 0 ? { additionalExtensionPaths: extensions } : {}),
    ...(plugins.length > 0 ? { pluginDirectories: plugins } : {}),
    ...(named.length > 0 ? { namedTools: named } : {}),
    ...(options.has("no-extensions") ? { disableExtensionDiscovery: true } : {}),
    ...(options.has("trust-project") ? { trustProject: true } : {}),
  };
}

/** Whether the command line names this module, or a directory that it is in, in any spelling. */
export function isNamedModule({ options }: CommandLine, path: string, cwd: string): boolean {
  const named = ["extension", "hook", "tool", "plugin-dir"].flatMap((name) => options.get(name) ?? []);
  const places = named.map((given) => resolve(cwd, given.replace(/^~(?=[\\/]|$)/, homedir())));
  return places.some((place) => `${resolve(path)}${sep}`.startsWith(`${place}${sep}`));
}

function resumeOption(
  { options }: CommandLine,
  { lenient }: OptionSettings,
): Pick<CreateAgentSessionOptions, "resume"> {
  const fork = options.get("fork")?.[0];
  const named = options.get("resume")?.[0];
  const target = named ?? options.get("session")?.[0];
  const id = sessionId(options);
  if (fork !== undefined) return { resume: { kind: "fork", target: fork, id } };
  if (id !== undefined) return { resume: { kind: "id", id } };
  if (target === "") throw new GalleyError("usage", "--resume needs a session: an id, a part of one, or a path.");
  const ifMissing = named === undefined ? "create" : "fail";
  if (target !== undefined) return { resume: { kind: "open", target, ifMissing } };
  // A program that drives galley may always say --continue; a person is told that there is nothing to continue.
  return options.has("continue") ? { resume: { kind: "continue", ifNone: lenient ? "create" : "fail" } } : {};
}

function sessionId(options: CommandLine["options"]): string | undefined {
  const id = options.get("session-id")?.[0];
  if (id === undefined) return undefined;
  const other = ["session", "resume", "continue"].find((name) => options.has(name));
  if (other !== undefined) throw new GalleyError("usage", `--session-id and --${other} exclude each other.`);
  // It is part of the name of a file.
  if (/^(?=.{1,128}$)[a-z0-9_](?:[\w.-]*[a-z0-9_])?$/i.test(id)) return id;
  throw new GalleyError(
    "usage",
    "--session-id must be 1 to 128 letters, digits, dots, dashes or underscores, and begin and end with a letter, a digit or an underscore.",
  );
}

export function workingDirectory(given: string | undefined): string {
  const cwd = resolve(given ?? ".");
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new GalleyError("start_failed", `Working directory does not exist: ${cwd}`);
  return cwd;
}

function thinkingLevel(given: string | undefined, settings: OptionSettings): ThinkingLevel | undefined {
  if (given === "max") return "xhigh"; // each model gives the highest that it has
  if (given === undefined || thinkingLevels.includes(given)) return given as ThinkingLevel | undefined;
  passOver(`--thinking must be one of ${thinkingLevels.join(", ")}, not "${given}".`, settings);
  return undefined;
}

/** Throws where a user can correct it. */
function passOver(problem: string, { log, lenient }: OptionSettings): void {
  if (!lenient) throw new GalleyError("usage", problem);
  log.warn(`${problem} It is ignored.`);
}

export const builtInToolNames: readonly string[] =
  "read bash edit write grep find ls ast_grep ast_edit todo_write ask undo".split(" ");

function activeTools({ options }: CommandLine, settings: OptionSettings): string[] | undefined {
  if (options.has("no-tools") || options.has("no-builtin-tools")) return [];
  const given = options.get("tools")?.[0];
  if (given === undefined) return undefined;
  const names = listed(given).filter((name) => builtInToolNames.includes(name));
  if (settings.hasUI || !names.includes("ask")) return names;
  passOver("--tools: the tool ask needs a user to ask, and there is none here.", settings);
  return names.filter((name) => name !== "ask");
}

/** Of the tools the command line wants: those that are not built in, and so have to come from an extension. */
function otherTools({ options }: CommandLine): string[] {
  return listed(options.get("tools")?.[0] ?? "").filter((name) => !builtInToolNames.includes(name));
}

/** What is wrong with `--tools`, once all tools are known. */
export function unknownTools(line: CommandLine, present: readonly string[], hasUI = false): string | undefined {
  const builtIn = builtInToolNames.filter((name) => hasUI || name !== "ask");
  const known = [...new Set([...builtIn, ...present])];
  const unknown = otherTools(line).filter((name) => !known.includes(name));
  return unknown.length === 0 ? undefined : `Unknown tool ${unknown.join(", ")}. Known tools: ${known.join(", ")}.`;
}

function listed(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** A value that names an existing file is read. */
function textOrFile(value: string, { cwd, log, option }: { cwd: string; log: Log; option: string }): string {
  const path = resolve(cwd, value);
  if (value.includes("\n") || value.length > 4096 || !existsSync(path) || !statSync(path).isFile()) {
    if (/^\S+(?:\.(?:md|txt)|\/\S+)$/.test(value))
      log.warn(`--${option}: there is no file ${path}. The value is used as text.`);
    return value;
  }
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new GalleyError("start_failed", `Cannot read ${path}: ${messageOf(error)}`);
  }
}
