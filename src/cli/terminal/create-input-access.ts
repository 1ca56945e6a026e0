// The files behind typing, completion and lists of the terminal program: history, keys, names, images, sessions, settings.

import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { homedir, withHome } from "../../base/home.js";
import type { SessionLocation } from "../../config/session-directory.js";
import { userSettingsFile } from "../../config/settings/load-settings.js";
import { isSettingKey, settingOf } from "../../config/settings/schema.js";
import { branchIn } from "../../sdk/project/repository-branch.js";
import type { InputAccess, SettingRow, SettingsFile } from "../../tui/editor/input-access.js";
import { runConfig } from "../commands/config-command.js";
import { readImage } from "../prompts.js";
import { historyFile, openHistory } from "./history-file.js";

export interface InputAccessOptions extends SessionLocation {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  /** The root of the project, which has one history. */
  readonly root: string;
  /** Of what is kept in files. */
  readonly mask: (text: string) => string;
}

export function createInputAccess(options: InputAccessOptions): InputAccess {
  const { cwd, agentDir, sessionDir, root, version, mask } = options;
  const location = { cwd, agentDir, sessionDir };
  return {
    version,
    history: openHistory(historyFile(agentDir, root), mask),
    keyFile: () => keyFileIn(agentDir),
    fileNames: async (signal) => (await import("../../sdk/project/file-names.js")).fileNames(cwd, { agentDir, signal }),
    listDirectory: (path) => listDirectory(resolve(cwd, withHome(path))),
    readImage: async (path) => readImage(resolve(cwd, withHome(path))),
    branch: () => branchIn(root),
    sessions: {
      list: async (scope) => (await import("../../sdk/manage-sessions.js")).listSessions(location, { scope }),
      rename: async (path, name) =>
        (await import("../../sdk/project/manage-session-files.js")).renameSession(location, path, name),
      delete: async (path) => (await import("../../sdk/project/manage-session-files.js")).deleteSession(path),
      countPending: async (path) =>
        (await import("../../sdk/project/manage-session-files.js")).countPending(location, path),
    },
    settings: settingsFile(options),
  };
}

/** The user's own keys. */
export function keyFileIn(agentDir: string): { path: string; text: string | undefined } {
  const path = join(agentDir, "keybindings.json");
  return { path, text: textOf(path) };
}

function withTilde(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

async function listDirectory(path: string): Promise<{ name: string; isDirectory: boolean }[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
}

/** The same code as `galley config`, and so the same rules and sentences. */
function settingsFile({ cwd, env, agentDir }: InputAccessOptions): SettingsFile {
  const config = async (...words: string[]): Promise<string> => {
    let [stdout, stderr] = ["", ""];
    const code = await runConfig(words, {
      cwd,
      env,
      stdout: (text) => {
        stdout += text;
      },
      stderr: (text) => {
        stderr += text;
      },
    });
    if (code !== 0) throw new GalleyError("invalid_argument", stderr.trim());
    return stdout;
  };
  return {
    path: withTilde(userSettingsFile(agentDir)),
    async list() {
      const rows = JSON.parse(await config("list", "--json")) as Record<string, Listed>;
      return Object.entries(rows).map(([key, row]) => rowOf(key, row));
    },
    save: async (key, value) => void (await config("set", key, value)),
  };
}

interface Listed {
  readonly value: unknown;
  readonly source: string;
  readonly help: string;
}

function rowOf(key: string, { value, source, help }: Listed): SettingRow {
  const kind = isSettingKey(key) ? settingOf(key).kind : undefined;
  const values = kind?.type === "boolean" ? ["true", "false"] : kind?.type === "choice" ? kind.values : undefined;
  const said = typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
  return { key, value: said, source, help: help.replaceAll("`", ""), values };
}
