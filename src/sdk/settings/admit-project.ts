// The project's settings file is written by strangers. This decides what of it counts.

import type { SettingValues } from "./layers.js";
import { type SettingKey, settingOf } from "./schema.js";
import type { Setting } from "./setting.js";
import { Problems, type SettingProblem, shown } from "./setting-problems.js";

/** What the project's file may really do (see `ProjectMay`), against what the user's file says. */
export function admitProject(
  project: { readonly values: SettingValues; readonly file: string },
  user: SettingValues,
  isTrusted: boolean,
): { values: SettingValues; problems: SettingProblem[] } {
  const values = new Map<SettingKey, unknown>();
  const problems = new Problems(project.file);
  for (const [key, wanted] of project.values) {
    const setting = settingOf(key);
    const { projectMay } = setting;
    if (projectMay === "set" || (projectMay === "when-trusted" && isTrusted)) values.set(key, wanted);
    else {
      const stricter = stricterValue(setting, user.get(key) ?? setting.default, wanted);
      if (stricter !== undefined) values.set(key, stricter);
      else problems.add(key, refusal(setting, wanted));
    }
  }
  return { values, problems: problems.list() };
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
    (stricter === "lower" && (wanted as number) < (lower as number)) ||
    (stricter === "later" && kind.type === "choice" && rank(kind.values, wanted) > rank(kind.values, lower));
  return isFine ? wanted : undefined;
}

function rank(values: readonly string[], value: unknown): number {
  return values.indexOf(value as string);
}
