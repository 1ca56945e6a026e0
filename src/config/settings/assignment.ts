// A setting given as text: `--set retry.maxRetries=5`, `galley config set modelRoles.smol acme/small`.

import { GalleyError, messageOf } from "../../base/errors.js";
import { didYouMean, findSetting, noEffectText, type SettingName, type SettingValues } from "./layers.js";
import { isWithoutEffect, legacyKeys, type SettingKey, settingOf } from "./schema.js";
import { type Checked, checkMember, checkValue, fromText, isForbiddenName, type Kind } from "./setting.js";
import { shown, shownItem, shownName } from "./setting-problems.js";

export interface Assignment extends SettingName {
  /** Checked. */
  readonly value: unknown;
}

/** `key=value`. Throws `usage`. */
export function parseAssignment(word: string): Assignment {
  const equals = word.indexOf("=");
  if (equals === -1) throw new GalleyError("usage", `--set needs KEY=VALUE, not "${shownName(word)}".`);
  return readAssignment(word.slice(0, equals).trim(), word.slice(equals + 1));
}

/** Throws `usage` for a name that is no setting and for a text that is no value of it. */
export function readAssignment(name: string, text: string): Assignment {
  const found = nameOf(name);
  const { kind, isPrivate } = settingOf(found.key);
  const checked = check(found, fromText(memberKind(kind, found.member), text));
  if (checked.ok) return { ...found, value: checked.value };
  const [wrong] = checked.wrong ?? [];
  if (wrong !== undefined)
    throw new GalleyError("usage", `${found.key}: expected ${wrong.expected}, not ${shownItem(wrong.value)}.`);
  const given = isPrivate ? "" : `, not ${shown(text)}`;
  throw new GalleyError("usage", `${shownName(name)} must be ${checked.expected}${given}.`);
}

/** Throws `usage` for a name that is no setting. */
export function nameOf(name: string): SettingName {
  const legacy = legacyKeys.get(name);
  if (legacy) throw new GalleyError("usage", `${name} is an old name, use ${legacy}.`);
  if (isWithoutEffect(name)) throw new GalleyError("usage", `${name} ${noEffectText}.`);
  const found = findSetting(name);
  if (found && !found.member?.split(".").some(isForbiddenName)) return found;
  throw new GalleyError("usage", `Unknown setting "${shownName(name)}"${didYouMean(name) || "."}`);
}

/**
 * As a layer: the last assignment of a setting wins, members of a record add up. Programs give assignments too, which are
 * not checked yet: throws `invalid_argument` for a name that is no setting and for a value that is none of it.
 */
export function layerOf(assignments: readonly Assignment[]): SettingValues {
  const values = new Map<SettingKey, unknown>();
  for (const assignment of assignments) {
    const { key, member, value } = checkedAssignment(assignment);
    values.set(key, member === undefined ? value : Object.freeze({ ...(values.get(key) as object), [member]: value }));
  }
  return values;
}

function checkedAssignment({ key, member, value }: Assignment): Assignment {
  const name = [key, member].filter((part) => part !== undefined).join(".");
  const found = invalidUnlessNamed(name);
  const checked = check(found, value);
  if (checked.ok) return { ...found, value: checked.value };
  const given = settingOf(found.key).isPrivate ? "" : `, not ${shown(value)}`;
  throw new GalleyError("invalid_argument", `${shownName(name)} must be ${checked.expected}${given}.`);
}

function invalidUnlessNamed(name: string): SettingName {
  try {
    return nameOf(name);
  } catch (error) {
    throw new GalleyError("invalid_argument", messageOf(error), { cause: error });
  }
}

function check({ key, member }: SettingName, value: unknown): Checked {
  const setting = settingOf(key);
  return member !== undefined && setting.kind.type === "record"
    ? checkMember(setting.kind, member, value)
    : checkValue(setting, value);
}

function memberKind(kind: Kind, member: string | undefined): Kind {
  return member !== undefined && kind.type === "record" ? { type: kind.of } : kind;
}
