// What the terminal program may do outside the terminal and the session, on this machine.

import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { messageOf } from "../base/errors.js";
import { homedir } from "../base/home.js";
import type { Log } from "../base/log.js";
import type { NamedPackages } from "../config/packages.js";
import { parseAssignment } from "../config/settings/assignment.js";
import { userSettingsFile } from "../config/settings/load-settings.js";
import { saveSetting } from "../config/settings/save-setting.js";
import type { Settings } from "../config/settings/settings.js";
import type { InputAccess } from "../tui/editor/input-access.js";
import type { GivingScreen, TerminalAccess } from "../tui/terminal-access.js";
import { clipboardImage } from "./terminal/clipboard-image.js";
import { editInEditor, editorOf, openInEditor, suspendProcess } from "./terminal/hand-over.js";
import { createTourProject } from "./terminal/tour-project.js";

export interface AccessOptions {
  readonly cwd: string;
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Settings;
  readonly log: Log;
  /** Packages that are named for this run: their themes can be chosen too. */
  readonly packages?: NamedPackages;
}

const maxThemeBytes = 256 * 1024;

export function createTerminalAccess({
  cwd,
  agentDir,
  env,
  settings,
  log,
  packages = {},
}: AccessOptions): Omit<TerminalAccess, keyof InputAccess> {
  let screen: GivingScreen = { release() {}, take() {} };
  /** Whatever the other program does, the terminal is taken back. */
  const withTerminal = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    screen.release();
    try {
      return await work();
    } finally {
      screen.take();
    }
  };
  return {
    directory: asUserWrites(cwd),
    mode: () => "workspace",
    preferences: { theme: settings.get("theme"), notifications: settings.get("notifications") },
    attach(next) {
      screen = next;
    },
    suspend: () => withTerminal(suspendProcess),
    async editText(text, name) {
      editorOf(env); // before the screen is given away
      return withTerminal(() => editInEditor(text, name, env));
    },
    async openFile(path) {
      editorOf(env);
      return withTerminal(() => openInEditor(join(cwd, path), env));
    },
    clipboardImage,
    async themeFiles(more = []) {
      const { packageThemes } = await import("../config/package-themes.js");
      const own = themesIn(join(agentDir, "themes"));
      return themeFiles(
        [
          ...own,
          ...packageThemes({ cwd, agentDir, home: homedir(), env, settings }, packages, log),
          ...more.flatMap((path) => (path.endsWith(".json") ? [path] : themesIn(path))),
        ],
        log,
      );
    },
    async saveSetting(key, value) {
      const file = userSettingsFile(agentDir);
      await saveSetting(file, parseAssignment(`${key}=${value}`));
      return asUserWrites(file);
    },
    runVerb: (verb, argument) =>
      withTerminal(async () => (await runGalley([verb, ...words(argument)], { cwd, env })) === 0),
    runTour: () =>
      withTerminal(async () => {
        const project = createTourProject();
        try {
          const plain = { ...env, GALLEY_TOUR: "1" };
          await runGalley(["--model", "planner", "--no-session"], { cwd: project.directory, env: plain });
        } finally {
          project.remove();
        }
      }),
  };
}

/** `~` for the home directory. */
export function asUserWrites(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** This program once more, with the terminal. */
function runGalley(
  args: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<number | null> {
  const terminal = openSync("/dev/tty", constants.O_RDWR);
  const program = process.argv[1] as string;
  return new Promise<number | null>((resolve, reject) => {
    const stdio = [terminal, terminal, terminal];
    const child = spawn(process.execPath, [...process.execArgv, program, ...args], { ...options, stdio });
    child.on("error", reject);
    child.on("close", resolve);
  }).finally(() => closeSync(terminal));
}

function themesIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
    return names.sort().map((name) => join(directory, name));
  } catch {
    return []; // there is none
  }
}

/** The first of a name. What cannot be read is left out and told. */
function themeFiles(paths: readonly string[], log: Log): { name: string; text: string }[] {
  const files = new Map<string, string>();
  for (const path of paths) {
    const name = basename(path, ".json");
    try {
      const status = statSync(path);
      if (!files.has(name) && status.isFile() && status.size <= maxThemeBytes)
        files.set(name, readFileSync(path, "utf8"));
    } catch (error) {
      log.warn(`${path} cannot be read: ${messageOf(error)}`);
    }
  }
  return [...files].map(([name, text]) => ({ name, text }));
}
