// What galley could take over from the configuration of pi, omp or xcsh: settings, models and themes that mean the same
// here. Reads only. What the user of galley has is never touched, and everything that is left out is told with its reason.

import { join } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { parseConfig } from "../../config/parse-config.js";
import type { Assignment } from "../../config/settings/assignment.js";
import { readLayer } from "../../config/settings/layers.js";
import { userSettingsFile } from "../../config/settings/load-settings.js";
import { samePi, withDefaultModel } from "../../config/settings/pi-settings.js";
import { settingOf } from "../../config/settings/schema.js";
import { readConfigFile } from "../../files/config/config-files.js";
import { namesIn } from "../../files/paths/find-roots.js";
import { knownFields, type ModelProblem, readModelsFile } from "../../provider/models/models-file.js";

export const importSources = ["pi", "omp", "xcsh"] as const;
export type ImportSource = (typeof importSources)[number];

export interface ImportPlan {
  /** The agent directory of the other program. */
  readonly from: string;
  readonly settings: readonly Assignment[];
  readonly providers: readonly { readonly id: string; readonly value: JsonObject }[];
  /** Contents of files in `themes`. */
  readonly themes: readonly { readonly name: string; readonly text: string }[];
  readonly left: readonly LeftOut[];
}

export interface LeftOut {
  readonly what: string;
  readonly why: /** Galley has its own. */
    | "yours"
    | "unknown"
    /** It names places or programs, or decides what is allowed. */
    | "yours_to_decide"
    | "unusable";
  readonly detail?: string;
}

export interface ImportPlace {
  readonly home: string;
  readonly agentDir: string;
  /** Why a theme cannot be used; undefined where it can. */
  themeProblem(text: string): string | undefined;
  readonly builtInThemes: readonly string[];
}

const decidedHere =
  /^(?:sessionDir|extensions|customTools|skills\.customDirectories|workspace\.roots|access|sandbox|staging)$|^(?:security|secrets|approval|bash)\./;

export async function planImport(source: ImportSource, place: ImportPlace): Promise<ImportPlan> {
  const from = join(place.home, `.${source}`, "agent");
  const left: LeftOut[] = [];
  const themes = planThemes(from, place, left);
  const known = [...place.builtInThemes, ...themesIn(place.agentDir), ...themes.map(({ name }) => name)];
  const settings = await planSettings({ source, from, themes: known }, place, left);
  const providers = await planModels(from, place, left);
  if (namesIn(from).some(({ name }) => name === "auth.json"))
    left.push({ what: "auth.json", why: "yours_to_decide", detail: "store keys with  galley login" });
  return { from, settings, providers, themes, left };
}

/** The programs that have configuration which is not used here, as long as galley has neither settings nor models yet. */
export function unusedConfigs({ home, agentDir }: Pick<ImportPlace, "home" | "agentDir">): ImportSource[] {
  const has = (directory: string, names: readonly string[]) =>
    namesIn(directory).some(({ name }) => names.includes(name));
  if (has(agentDir, ["config.yml", ...modelsFiles])) return [];
  const known = [...settingsFiles, ...modelsFiles, "themes"];
  return importSources.filter((source) => has(join(home, `.${source}`, "agent"), known));
}

/** For a user who comes from that program. */
export function unusedText(source: ImportSource): string {
  return `of ~/.${source}/agent the extensions, skills, prompts and sessions are used; settings, models and themes are not`;
}

const settingsFiles = ["config.yml", "settings.json"];
const modelsFiles = ["models.yml", "models.json"];

async function planSettings(
  { source, from, themes }: { source: ImportSource; from: string; themes: readonly string[] },
  { agentDir }: ImportPlace,
  left: LeftOut[],
): Promise<Assignment[]> {
  const given = await firstOf(from, settingsFiles, left);
  if (!given) return [];
  const own = readLayer((await contentOf(userSettingsFile(agentDir))) ?? {}, "").values;
  const value = source === "pi" ? withDefaultModel(given) : given;
  const { values, problems } = readLayer(value, "");
  const chosen: Assignment[] = [];
  for (const [key, said] of values) {
    const isRecord = settingOf(key).kind.type === "record" && isObject(said);
    const parts: Assignment[] = isRecord
      ? Object.entries(said).map(([member, one]) => ({ key, member, value: one }))
      : [{ key, value: said }];
    for (const part of parts) {
      const what = part.member === undefined ? key : `${key}.${part.member}`;
      const mine = own.get(key);
      const isMine = part.member === undefined ? mine !== undefined : isObject(mine) && part.member in mine;
      if (decidedHere.test(key) || (source === "pi" && !samePi.has(key))) left.push({ what, why: "yours_to_decide" });
      else if (isMine) left.push({ what, why: "yours" });
      else if (key === "theme" && !themes.includes(String(said)))
        left.push({ what, why: "unusable", detail: `there is no theme ${String(said)}` });
      else chosen.push(part);
    }
  }
  for (const { key = "", text } of problems)
    left.push({ what: key, why: "unusable", detail: text.replace(/^: [^:]*: /, "") });
  const told = [...values.keys(), ...problems.map(({ key = "" }) => key)];
  for (const name of leafNames(value))
    if (!told.some((key) => name === key || name.startsWith(`${key}.`))) left.push({ what: name, why: "unknown" });
  return chosen;
}

function leafNames(value: JsonObject, prefix = ""): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    return isObject(member) && Object.keys(member).length > 0 ? leafNames(member, `${path}.`) : [path];
  });
}

async function planModels(from: string, { agentDir }: ImportPlace, left: LeftOut[]) {
  const given = await firstOf(from, modelsFiles, left);
  const providers = given && isObject(given.providers) ? given.providers : {};
  const { problems } = readModelsFile(given, "");
  const own = (await firstOf(agentDir, modelsFiles, [])) ?? {};
  const mine = isObject(own.providers) ? own.providers : {};
  return Object.entries(providers).flatMap(([id, entry]) => {
    const what = `provider ${id}`;
    const wrong = problems.filter(({ about }) => about.kind !== "file" && about.provider === id);
    const whole = wrong.find(({ about }) => about.kind === "provider");
    if (id in mine) left.push({ what, why: "yours" });
    else if (whole || !isObject(entry))
      left.push({ what, why: "unusable", detail: whole ? problemIn(id, whole) : "is no object" });
    else {
      const without = new Set(wrong.map(({ about }) => (about.kind === "model" ? about.id : undefined)));
      for (const problem of wrong)
        if (problem.about.kind === "model")
          left.push({
            what: `model ${id}/${problem.about.id ?? "?"}`,
            why: "unusable",
            detail: problemIn(id, problem),
          });
      const { value, unknown } = knownFields(entry, (model) => !without.has(model));
      for (const name of unknown) left.push({ what: `${what}, ${name}`, why: "unknown" });
      return [{ id, value }];
    }
    return [];
  });
}

function problemIn(id: string, { path, message }: ModelProblem): string {
  return `${path.replace(`providers.${id}.`, "")} ${message}`;
}

function planThemes(from: string, { agentDir, themeProblem, builtInThemes }: ImportPlace, left: LeftOut[]) {
  const mine = [...builtInThemes, ...themesIn(agentDir)];
  return themesIn(from).flatMap((name) => {
    const what = `theme ${name}`;
    try {
      const text = readConfigFile(join(from, "themes", `${name}.json`))?.text ?? "";
      const problem = themeProblem(text);
      if (mine.includes(name)) left.push({ what, why: "yours" });
      else if (problem !== undefined) left.push({ what, why: "unusable", detail: problem });
      else return [{ name, text }];
    } catch (error) {
      left.push({ what, why: "unusable", detail: messageOf(error) });
    }
    return [];
  });
}

function themesIn(agentDir: string): string[] {
  return namesIn(join(agentDir, "themes"))
    .map(({ name }) => name)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length));
}

async function firstOf(directory: string, names: readonly string[], left: LeftOut[]): Promise<JsonObject | undefined> {
  for (const name of names)
    try {
      const found = await contentOf(join(directory, name));
      if (found) return found;
    } catch (error) {
      if (!(error instanceof GalleyError)) throw error;
      left.push({ what: join(directory, name), why: "unusable", detail: error.message });
      return undefined;
    }
  return undefined;
}

async function contentOf(path: string): Promise<JsonObject | undefined> {
  const file = readConfigFile(path);
  const value = file && (await parseConfig(file));
  return isObject(value) ? value : undefined;
}
