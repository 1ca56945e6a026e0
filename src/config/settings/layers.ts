// From the content of a file to the settings it may set. Pure. Inside a layer every setting has its full name, so that
// `todo.reminders` and `todo.reminders.max` are independent.

import { isObject, type JsonObject } from "../../base/json.js";
import { nearestName } from "../../base/nearest-name.js";
import {
  displayWords,
  isSettingKey,
  isWithoutEffect,
  knownNames,
  legacyKeys,
  type SettingKey,
  settingKeys,
  settingOf,
} from "./schema.js";
import { type Checked, checkMember, checkValue, isForbiddenName, maxItems } from "./setting.js";
import { Problems, type SettingProblem, shown, shownItem } from "./setting-problems.js";

/** Checked values by setting; a record holds only the members that the layer gives. */
export type SettingValues = ReadonlyMap<SettingKey, unknown>;

/** A setting, or one member of a record setting, by its dotted name. */
export interface SettingName {
  readonly key: SettingKey;
  readonly member?: string;
}

export const noEffectText = "has no effect in this version";

/** Reads the parsed text of one file. What cannot be used is left out and reported. */
export function readLayer(value: JsonObject, file: string): { values: SettingValues; problems: SettingProblem[] } {
  const reader = new LayerReader(file);
  reader.walk(value, "");
  return reader.result();
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
  const nearest = nearestName(name.slice(0, 80), settingKeys);
  return nearest === undefined ? "" : `, did you mean ${nearest}?`;
}

class LayerReader {
  readonly problems: Problems;
  readonly #groups = groupNames();
  readonly #values = new Map<SettingKey, unknown>();
  readonly #records = new Map<SettingKey, Map<string, unknown>>();
  readonly #legacy = new Map<SettingKey, unknown>();

  constructor(file: string) {
    this.problems = new Problems(file);
  }

  result() {
    const records = [...this.#records].map(
      ([key, members]) => [key, Object.freeze(Object.fromEntries(members))] as const,
    );
    return { values: new Map([...this.#legacy, ...this.#values, ...records]), problems: this.problems.list() };
  }

  walk(object: JsonObject, prefix: string): void {
    for (const [name, value] of Object.entries(object)) {
      if (this.problems.isFull) return;
      const path = prefix === "" ? name : `${prefix}.${name}`;
      if (name.split(".").some(isForbiddenName)) this.problems.add(path, "this name is not allowed");
      else if (value !== null && value !== undefined) this.#take(path, value); // an empty YAML value counts as missing
    }
  }

  #take(path: string, value: unknown): void {
    const legacy = legacyKeys.get(path);
    const found = findSetting(path);
    const isGroup = this.#groups.has(path);
    if (legacy) this.#check(path, legacy, { value, into: this.#legacy });
    else if (isWithoutEffect(path)) this.problems.add(path, noEffectText);
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
    for (const [member, item] of Object.entries(value)) {
      if (this.problems.isFull) return;
      this.#takeMember(`${key}.${member}`, { key, member }, item);
    }
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
    if (!checked.ok) {
      for (const item of checked.wrong ?? [])
        this.problems.add(path, `${shownItem(item.value)} is ignored, expected ${item.expected}`);
      if (checked.wrong !== undefined) return void into.set(key, checked.rest);
      return this.problems.add(path, mismatch(checked, value, setting.isPrivate));
    }
    if (checked.notice !== undefined) this.problems.add(path, checked.notice);
    into.set(key, checked.value);
  }
}

/** Every name that has settings below it: `todo`, and also `todo.reminders`. */
function groupNames(): ReadonlySet<string> {
  const groups = new Set<string>();
  for (const key of knownNames())
    for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", dot + 1)) groups.add(key.slice(0, dot));
  return groups;
}

function mismatch({ expected }: Checked & { ok: false }, value: unknown, isPrivate?: boolean): string {
  return `${isPrivate ? "the value" : shown(value)} is ignored, expected ${expected}`;
}
