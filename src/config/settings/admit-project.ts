// The project's settings file is written by strangers. This decides which part of it counts.

import { dirname, resolve } from "node:path";
import { isWithin } from "../../files/paths/resolve-path.js";
import { isCovered, isHostEntry, parseHostEntry } from "../../processes/network/allow-list.js";
import type { SettingValues } from "./layers.js";
import { type SettingKey, settingOf } from "./schema.js";
import type { Setting } from "./setting.js";
import { Problems, type SettingProblem, shown, shownItem } from "./setting-problems.js";
import type { PolicySetting } from "./settings.js";

type ProjectLayer = { readonly values: SettingValues; readonly file: string };

/** These add to what the user names, as the project's own: they are found, digested and read like all of its code. */
const namesOfOwn: readonly SettingKey[] = ["customTools", "extensions", "skills.customDirectories"];

/** The part of it that needs trust. Does not depend on the user's settings, nor on whether it counts. */
export function projectPolicy({ values, file }: ProjectLayer): PolicySetting[] {
  return [...values]
    .filter(([key]) => settingOf(key).projectMay === "when-trusted")
    .map(([key, value]) => ({ file, key, value }));
}

/** What the project's file may do (see `ProjectMay`), compared with the user's file. */
export function admitProject(
  project: ProjectLayer,
  user: SettingValues,
  isTrusted: boolean,
): { values: SettingValues; problems: SettingProblem[] } {
  const values = new Map<SettingKey, unknown>();
  const problems = new Problems(project.file);
  for (const [key, wanted] of project.values) {
    const setting = settingOf(key);
    const { projectMay } = setting;
    const isFree = projectMay === "set" || (projectMay === "when-trusted" && isTrusted);
    if (isFree && namesOfOwn.includes(key)) {
      for (const path of wanted as readonly string[])
        if (pathInProject(project.file, path) === undefined)
          problems.add(key, `${shown(path)} is ignored, it leads out of the project`);
    } else if (isFree) values.set(key, wanted);
    else if (setting.stricter === "fewer") {
      const mine = (user.get(key) ?? setting.default) as readonly string[];
      const { kept, added } = removeHosts(mine, wanted as readonly string[]);
      values.set(key, kept);
      for (const host of added) problems.add(key, `${shownItem(host)} is ignored, a project may only remove hosts`);
    } else {
      const stricter = stricterValue(setting, user.get(key) ?? setting.default, wanted);
      if (stricter !== undefined) values.set(key, stricter);
      else problems.add(key, refusal(setting, wanted));
    }
  }
  return { values, problems: problems.list() };
}

/** A path that the project's file names, relative to the project; undefined where it leads out of it. */
export function pathInProject(file: string, path: string): string | undefined {
  const root = dirname(dirname(file));
  const found = resolve(root, path);
  return isWithin(found, root) ? found : undefined;
}

/** Of what the project lists, what the user allows anyway. */
function removeHosts(mine: readonly string[], wanted: readonly string[]) {
  const wide = mine.map(parseHostEntry).filter(isHostEntry);
  const isAllowed = (host: string) => {
    const entry = parseHostEntry(host);
    return isHostEntry(entry) && isCovered(entry, wide);
  };
  return { kept: Object.freeze(wanted.filter(isAllowed)), added: wanted.filter((host) => !isAllowed(host)) };
}

function refusal({ projectMay, stricter }: Setting<unknown>, wanted: unknown): string {
  if (projectMay === "never") return "is ignored, only the user's own settings may say this";
  if (projectMay === "narrow") return `${shown(wanted)} is ignored, a project may only make this stricter`;
  if (stricter === undefined) return "is ignored until the project is trusted";
  return `${shown(wanted)} is ignored, until the project is trusted it may only make this stricter`;
}

/** The value to use when `wanted` is as strict as `lower` or stricter. */
function stricterValue({ kind, stricter }: Setting<unknown>, lower: unknown, wanted: unknown): unknown {
  if (stricter === undefined) return undefined;
  if (stricter === "more") return Object.freeze([...new Set([...(lower as string[]), ...(wanted as string[])])]);
  const isFine =
    wanted === lower ||
    wanted === stricter ||
    (stricter === "lower" && (lower === undefined || (wanted as number) < (lower as number))) ||
    (stricter === "later" && kind.type === "choice" && rank(kind.values, wanted) > rank(kind.values, lower));
  return isFine ? wanted : undefined;
}

function rank(values: readonly string[], value: unknown): number {
  return values.indexOf(value as string);
}
