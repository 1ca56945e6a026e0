// From what a file says to the settings it may set. Pure. Inside a layer every setting stands under its whole name, so
// that `todo.reminders` and `todo.reminders.max` have nothing to do with each other.

import { isObject, type JsonObject } from "../../base/json.js";
import { printable } from "../../workspace/resolve-path.js";
import { nearestName } from "./nearest-name.js";
import { displayWords, isSettingKey, legacyKeys, type SettingKey, settingKeys, settingOf } from "./schema.js";
import { type Checked, checkMember, checkValue, isForbiddenName, maxItems, type Setting } from "./setting.js";

/** Checked values by setting; a record holds only the members that the layer gives. */
export type SettingValues = ReadonlyMap<SettingKey, unknown>;

export interface SettingProblem {
  readonly file: string;
  /** Where in the file; absent when the file as a whole is the problem. */
  readonly key?: string;
  /** A sentence that names file, place and reason, fit for a terminal and without secrets. */
  readonly text: string;
}

/** A setting, or one member of a record setting, by its dotted name. */
export interface SettingName {
  readonly key: SettingKey;
  readonly member?: string;
}

const maxProblems = 20;
const maxShownValue = 24;
const maxName = 80;
const noEffect = "has no effect in this version";

/** Every name that has settings below it: `todo`, and also `todo.reminders`. */
const groups: ReadonlySet<string> = new Set(
  [...settingKeys, ...legacyKeys.keys()].flatMap((key) => {
    const words = key.split(".");
    return words.slice(1).map((_, index) => words.slice(0, index + 1).join("."));
  }),
);

/** Reads the parsed text of one file. What cannot be used is left out and told. */
export function readLayer(value: unknown, file: string): { values: SettingValues; problems: SettingProblem[] } {
  const reader = new LayerReader(file);
  if (value === undefined || value === null) return reader.result();
  if (isObject(value)) reader.walk(value, "");
  else reader.problems.add("", "expected an object of settings");
  return reader.result();
}

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

/** One setting over the layers, lowest first: records merge, everything else is replaced. */
export function mergeValue(key: SettingKey, layers: readonly SettingValues[]): unknown {
  const { kind, default: standard } = settingOf(key);
  let merged: unknown = standard;
  for (const layer of layers) {
    const value = layer.get(key);
    if (value === undefined) continue;
    merged = kind.type === "record" ? Object.freeze({ ...(merged as object), ...(value as object) }) : value;
  }
  return merged;
}

/** `undefined` for a name that is no setting; a legacy name is none either. */
export function findSetting(name: string): SettingName | undefined {
  if (isSettingKey(name)) return { key: name };
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
    const key = name.slice(0, dot);
    const member = name.slice(dot + 1);
    if (member !== "" && isSettingKey(key) && settingOf(key).kind.type === "record") return { key, member };
  }
  return undefined;
}

/** The end of a sentence about an unknown name. */
export function didYouMean(name: string): string {
  const nearest = nearestName(name.slice(0, maxName), settingKeys);
  return nearest === undefined ? "" : `, did you mean ${nearest}?`;
}

export function shownName(name: string): string {
  return printable(name.length > maxName ? `${name.slice(0, maxName)}…` : name);
}

class LayerReader {
  readonly problems: Problems;
  readonly #values = new Map<SettingKey, unknown>();
  readonly #records = new Map<SettingKey, Map<string, unknown>>();
  readonly #legacy = new Map<SettingKey, unknown>();

  constructor(file: string) {
    this.problems = new Problems(file);
  }

  result() {
    const records = [...this.#records].map(([key, members]) => {
      if (settingOf(key).isUnused) this.problems.add(key, noEffect);
      return [key, Object.freeze(Object.fromEntries(members))] as const;
    });
    return { values: new Map([...this.#legacy, ...this.#values, ...records]), problems: this.problems.list() };
  }

  walk(object: JsonObject, prefix: string): void {
    for (const [name, value] of Object.entries(object)) {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      if (name.split(".").some(isForbiddenName)) this.problems.add(path, "this name is not allowed");
      else if (value !== null && value !== undefined) this.#take(path, value); // an empty YAML value counts as missing
    }
  }

  #take(path: string, value: unknown): void {
    const legacy = legacyKeys.get(path);
    const found = findSetting(path);
    const isGroup = groups.has(path);
    if (legacy) this.#check(path, legacy.key, { value: legacy.convert?.(value) ?? value, into: this.#legacy });
    else if (found?.member !== undefined) this.#takeMember(path, found, value);
    else if (found && !(isGroup && isObject(value))) this.#takeSetting(found.key, value);
    else if (isGroup && isObject(value)) this.walk(value, path);
    else if (isGroup) this.problems.add(path, `${shown(value)} is ignored, expected an object of settings`);
    else if (!displayWords.has(path.split(".", 1)[0] ?? ""))
      this.problems.add(path, () => `unknown setting${didYouMean(path)}`);
  }

  #takeSetting(key: SettingKey, value: unknown): void {
    const isRecord = settingOf(key).kind.type === "record" && isObject(value);
    if (!isRecord) return this.#check(key, key, { value, into: this.#values });
    for (const [member, item] of Object.entries(value)) this.#takeMember(`${key}.${member}`, { key, member }, item);
  }

  #takeMember(path: string, { key, member = "" }: SettingName, value: unknown): void {
    const { kind, isPrivate } = settingOf(key);
    if (value === null || kind.type !== "record") return;
    if (member.split(".").some(isForbiddenName)) return this.problems.add(path, "this name is not allowed");
    const checked = checkMember(kind, member, value);
    if (!checked.ok) return this.problems.add(path, mismatch(checked, value, isPrivate));
    const members = this.#records.get(key) ?? new Map<string, unknown>();
    if (members.size >= maxItems) return this.problems.add(path, `is ignored, there are more than ${maxItems} of them`);
    this.#records.set(key, members.set(member, checked.value));
  }

  #check(path: string, key: SettingKey, { value, into }: { value: unknown; into: Map<SettingKey, unknown> }): void {
    const setting = settingOf(key);
    const checked = checkValue(setting, value);
    if (!checked.ok) return this.problems.add(path, mismatch(checked, value, setting.isPrivate));
    if (checked.notice !== undefined) this.problems.add(path, checked.notice);
    if (setting.isUnused) this.problems.add(path, noEffect);
    into.set(key, checked.value);
  }
}

/** A broken file should not fill the screen, and a sentence that is not shown is not made. */
class Problems {
  readonly #file: string;
  readonly #list: SettingProblem[] = [];
  #more = 0;

  constructor(file: string) {
    this.#file = file;
  }

  add(key: string, message: string | (() => string)): void {
    if (this.#list.length >= maxProblems) this.#more++;
    else this.#list.push(settingProblem(this.#file, key, typeof message === "string" ? message : message()));
  }

  list(): SettingProblem[] {
    if (this.#more === 0) return this.#list;
    return [...this.#list, settingProblem(this.#file, "", `and ${this.#more} more problems`)];
  }
}

export function settingProblem(file: string, key: string, message: string): SettingProblem {
  const place = key === "" ? "" : ` ${shownName(key)}:`;
  return { file, ...(key === "" ? {} : { key }), text: `${printable(file)}:${place} ${message}` };
}

function mismatch({ expected }: Checked & { ok: false }, value: unknown, isPrivate?: boolean): string {
  return `${isPrivate ? "the value" : shown(value)} is ignored, expected ${expected}`;
}

/** Short words and numbers only: anything longer may be a key pasted into the wrong line. */
function shown(value: unknown): string {
  if (typeof value === "string")
    return value.length <= maxShownValue ? JSON.stringify(value) : `a text of ${value.length} characters`;
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : String(value);
}

function refusal({ projectMay, stricter }: Setting<unknown>, wanted: unknown): string {
  if (projectMay === "never") return "is ignored, only the user's own settings may say this";
  if (projectMay === "narrow") return `${shown(wanted)} is ignored, a project may only make this stricter`;
  const until = "is ignored until the project is trusted";
  return stricter === undefined ? until : `${shown(wanted)} ${until}, which may only make this stricter`;
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
