// `galley config`: shows and changes the user's settings, and shows where configuration was found.

import { existsSync } from "node:fs";
import { GalleyError } from "../../base/errors.js";
import { homedir } from "../../base/home.js";
import { isObject } from "../../base/json.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { trustIn } from "../../config/discover.js";
import { nameOf, readAssignment } from "../../config/settings/assignment.js";
import { loadSettings, projectSettingsFiles, userSettingsFile } from "../../config/settings/load-settings.js";
import { isWithoutEffect, legacyKeys, type SettingKey, settingKeys, settingOf } from "../../config/settings/schema.js";
import type { Settings } from "../../config/settings/settings.js";
import { exitCodes } from "../exit-codes.js";
import { unknownSubcommand, wrongUse } from "../verb-help.js";

export interface ConfigCommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home?: string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/** `words` is what follows `galley config`. Returns the exit code. */
export async function runConfig(words: readonly string[], options: ConfigCommandOptions): Promise<number> {
  try {
    return await run(words, options);
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    options.stderr(sanitizeForTerminal(`${error.message}\n`));
    return error.code === "usage" ? exitCodes.usage : exitCodes.failed;
  }
}

async function run(given: readonly string[], options: ConfigCommandOptions): Promise<number> {
  const { stdout } = options;
  const end = given.indexOf("--");
  const isOption = (word: string, index: number) => word === "--json" && (end === -1 || index < end);
  const isJson = given.some(isOption);
  const [command, ...words] = given.filter((word, index) => !isOption(word, index) && index !== end);
  const handler = handlers.get(command ?? "");
  if (!handler) throw unknownSubcommand("config", command);
  if (words.length !== handler.words) throw wrongUse("config", `galley config ${command} takes ${handler.takes}.`);
  const { json, text } = await handler.run(words, contextOf(options));
  stdout(isJson ? `${JSON.stringify(json ?? null)}\n` : sanitizeForTerminal(text));
  return exitCodes.done;
}

interface Context extends ConfigCommandOptions {
  readonly home: string;
  readonly agentDir: string;
}

interface Answer {
  readonly json: unknown;
  readonly text: string;
}

interface Handler {
  readonly words: number;
  /** The same for a sentence. */
  readonly takes: string;
  readonly run: (words: readonly string[], context: Context) => Promise<Answer>;
}

const handlers: ReadonlyMap<string, Handler> = new Map([
  ["get", { words: 1, takes: "one setting", run: ([name = ""], context) => get(name, context) }],
  [
    "set",
    { words: 2, takes: "a setting and its value", run: ([name = "", text = ""], context) => set(name, text, context) },
  ],
  ["unset", { words: 1, takes: "one setting", run: ([name = ""], context) => unset(name, context) }],
  ["list", { words: 0, takes: "no names", run: (_, context) => list(context) }],
  [
    "paths",
    {
      words: 0,
      takes: "no names",
      run: async (_, context) => (await import("./config-paths.js")).configPaths(context),
    },
  ],
] satisfies [string, Handler][]);

function contextOf(options: ConfigCommandOptions): Context {
  const home = options.home ?? homedir();
  return { ...options, home, agentDir: agentDirectory(options.env, home) };
}

async function get(name: string, context: Context): Promise<Answer> {
  const { key, member } = nameOf(name);
  const value: unknown = (await load(context)).get(key);
  const json = member === undefined ? value : (value as Record<string, unknown>)[member];
  return { json, text: `${json === undefined ? "" : typeof json === "string" ? json : JSON.stringify(json)}\n` };
}

async function set(name: string, text: string, context: Context): Promise<Answer> {
  const assignment = readAssignment(name, text);
  const file = userSettingsFile(context.agentDir);
  const { saveSetting } = await import("../../config/settings/save-setting.js");
  await saveSetting(file, assignment);
  const source = (await load(context)).sourceOf(assignment.key);
  if (source === "project") context.stderr("The project's settings file also sets it, and wins here.\n");
  const value = hidden(assignment.key, assignment.value);
  return { json: { key: name, value, file }, text: `${name} = ${JSON.stringify(value)} in ${file}\n` };
}

async function unset(name: string, context: Context): Promise<Answer> {
  // One without effect can be removed too: galley warns about it as long as it is there.
  const found = isWithoutEffect(name) ? undefined : nameOf(name);
  const old = found?.member === undefined ? [...legacyKeys].filter(([, key]) => key === found?.key) : [];
  const file = userSettingsFile(context.agentDir);
  const { unsetSetting } = await import("../../config/settings/save-setting.js");
  const wasSet = await unsetSetting(file, [name, ...old.map(([legacy]) => legacy)]);
  const what = wasSet ? `Removed ${name} from ${file}` : `${name} is not set in ${file}`;
  if (!found) return { json: { key: name, wasSet, file }, text: `${what}\n` };
  const settings = await load(context);
  const value = hidden(found.key, settings.get(found.key));
  const source = settings.sourceOf(found.key);
  const now = value === undefined ? "not set" : JSON.stringify(value);
  return {
    json: { key: name, wasSet, file, value: value ?? null, source },
    text: `${what}\n${found.key} is now ${now} (${source})\n`,
  };
}

async function list(context: Context): Promise<Answer> {
  const settings = await load(context);
  const { describeSetting } = await import("../../config/settings/describe-settings.js");
  const rows = settingKeys.map((key) => ({
    key,
    value: hidden(key, settings.get(key)),
    source: settings.sourceOf(key),
    help: describeSetting(key),
  }));
  const text = rows.map(({ key, value, source, help }) => {
    const said = value === undefined ? "" : ` ${JSON.stringify(value)}`;
    return `${key}:${said}  # ${source}. ${help.replaceAll("`", "")}\n`;
  });
  const project = projectSettingsFiles(context).find((file) => existsSync(file));
  const files = [
    `# user: ${userSettingsFile(context.agentDir)}\n`,
    ...(project === undefined ? [] : [`# project: ${project}\n`]),
  ];
  return {
    json: Object.fromEntries(rows.map(({ key, value = null, source, help }) => [key, { value, source, help }])),
    text: [...files, ...text].join(""),
  };
}

/** This output is often shown to others: for a value that may be a secret it only says that it is set. */
function hidden(key: SettingKey, value: unknown): unknown {
  if (!settingOf(key).isPrivate || value === undefined) return value;
  return isObject(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, "***"])) : "***";
}

async function load({ stderr, ...location }: Context): Promise<Settings> {
  const settings = await loadSettings({ ...location, isProjectTrusted: trustIn(location) });
  for (const { text } of settings.problems) stderr(sanitizeForTerminal(`galley: ${text}\n`));
  return settings;
}
