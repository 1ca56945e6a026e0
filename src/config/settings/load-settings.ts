// Reads the user's and the project's settings files. This is on the path to the program's first answer: where there are
// none it costs a few failed opens, and no parser is loaded.

import { join } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { type ConfigFile, readConfigFile } from "../../files/config/config-files.js";
import { findProject, type Project } from "../../files/paths/find-roots.js";
import { isPiDirectory } from "../agent-directory.js";
import { parseConfig } from "../parse-config.js";
import { admitProject, projectPolicy } from "./admit-project.js";
import { type Assignment, layerOf } from "./assignment.js";
import { readLayer, type SettingValues } from "./layers.js";
import { type SettingProblem, settingProblem } from "./setting-problems.js";
import { Settings } from "./settings.js";

export interface LoadSettingsOptions {
  readonly agentDir: string;
  readonly cwd: string;
  readonly home: string;
  /** Around `cwd`; default: found. */
  readonly project?: Project;
  /** What the command line says, in order. */
  readonly assignments?: readonly Assignment[];
  /**
   * Asked only where the project's file names programs, servers or the like, with the settings as they are without
   * that. Default: no.
   */
  readonly isProjectTrusted?: (settings: Settings) => Promise<boolean>;
}

/** Never throws for the content of a file: that is in `problems`, and the defaults hold. */
export async function loadSettings(options: LoadSettingsOptions): Promise<Settings> {
  const { agentDir, assignments = [], isProjectTrusted } = options;
  const user = await loadUser(agentDir);
  const project = await loadNearest(projectSettingsFiles(options));
  const policy = projectPolicy(project);
  const admit = (isTrusted: boolean) => admitProject(project, user.values, isTrusted);
  const make = (admitted: ReturnType<typeof admit>) =>
    new Settings({
      user: user.values,
      project: admitted.values,
      projectPolicy: policy,
      overrides: layerOf(assignments),
      problems: [...user.problems, ...project.problems, ...admitted.problems],
      brokenFiles: [user, project].filter(({ isBroken }) => isBroken).map(({ file }) => file),
    });
  const admitted = admit(false);
  const settings = make(admitted);
  const isWithheld = policy.some(({ key, value }) => admitted.values.get(key) !== value);
  // Made again from what was read once: what was trusted is what counts.
  return isWithheld && (await isProjectTrusted?.(settings)) ? make(admit(true)) : settings;
}

export function userSettingsFile(agentDir: string): string {
  return join(agentDir, "config.yml");
}

/** Where the project's file may be, nearest first; only the first that exists counts. */
export function projectSettingsFiles(place: { cwd: string; home: string; project?: Project }): string[] {
  const { directories } = place.project ?? findProject(place);
  return directories.map((directory) => join(directory, ".galley", "settings.json"));
}

/** The parsed file, an object or nothing. Throws `invalid_config` without the file's name. */
export async function parseSettings(file: ConfigFile): Promise<JsonObject | undefined> {
  const value = await parseConfig(file);
  if (value === undefined || value === null || isObject(value)) return value ?? undefined;
  throw new GalleyError("invalid_config", "is not an object of settings");
}

/** In pi's own agent directory also its settings; what galley was told there wins. */
async function loadUser(agentDir: string): Promise<Loaded> {
  const own = await load(userSettingsFile(agentDir));
  if (!isPiDirectory(agentDir)) return own;
  const { readPiSettings } = await import("./pi-settings.js");
  return { ...own, values: new Map([...(await readPiSettings(agentDir)), ...own.values]) };
}

interface Loaded {
  readonly file: string;
  readonly values: SettingValues;
  readonly problems: readonly SettingProblem[];
  readonly isBroken?: boolean;
  readonly isThere: boolean;
}

async function loadNearest(files: readonly string[]): Promise<Loaded> {
  for (const file of files) {
    const loaded = await load(file);
    if (loaded.isThere) return loaded;
  }
  return { file: "", values: new Map(), problems: [], isThere: false };
}

async function load(file: string): Promise<Loaded> {
  try {
    const found = readConfigFile(file);
    if (found === undefined) return { file, values: new Map(), problems: [], isThere: false };
    return { file, ...readLayer((await parseSettings(found)) ?? {}, file), isThere: true };
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    const problem = settingProblem(file, "", `${error.message}; none of its settings are used`);
    return { file, values: new Map(), problems: [problem], isBroken: true, isThere: true };
  }
}
