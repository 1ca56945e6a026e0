// The text of a YAML settings file with one setting changed or removed. Only the text of that setting is touched, so that
// comments, order and layout stay; and the result is read again to prove that nothing else has changed its meaning.

import { isDeepStrictEqual } from "node:util";
import type { Document, Node, Pair, YAMLMap } from "yaml";
import { GalleyError } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import type { Assignment } from "./assignment.js";
import { readLayer } from "./layers.js";
import { parseSettings } from "./load-settings.js";
import { isSettingKey, settingKeys, settingOf } from "./schema.js";
import { insertPair, type OldPair, pairText, removePair, replaceValue } from "./yaml-text.js";

type Yaml = typeof import("yaml");
type Path = readonly string[];

/** `undefined` when it cannot be done without touching another setting. The text must be a valid YAML file. */
export async function editSettings(text: string, assignment: Assignment): Promise<string | undefined> {
  const yaml = await import("yaml");
  const { value } = assignment;
  let result = text;
  // The text moves with every change, so it is parsed again for each.
  const places = placesFor(assignment, parse(text, yaml), yaml);
  for (const path of places) result = put(result, { path, value, yaml });
  return places.length > 0 && (await changesOnly(assignment, text, result)) ? result : undefined;
}

/** The same text without any of these names. `undefined` when that would touch another setting. */
export async function removeSettings(text: string, names: readonly string[]): Promise<string | undefined> {
  const yaml = await import("yaml");
  let result = text;
  for (const name of names)
    for (const path of groupings(name.split("."))) {
      const place = placeOf(result, path, yaml);
      if (place) result = removePair(result, place);
    }
  const [old, next] = [await parsed(text), await parsed(result)];
  if (next === undefined) return undefined;
  const isOther = ([path]: [string, unknown]) => !names.some((name) => path === name || path.startsWith(`${name}.`));
  const kept = leavesOf(old, "").filter((leaf) => isOther(leaf) || isSettingBelow(leaf[0], names));
  return isDeepStrictEqual(new Map(leavesOf(next, "")), new Map(kept)) ? result : undefined;
}

/** `todo.reminders.max` stands below `todo.reminders` and is another setting. */
function isSettingBelow(path: string, names: readonly string[]): boolean {
  return isSettingKey(path) && !names.includes(path);
}

/** The pair to remove: the outermost one that would be left empty, unless the user has written something into it. */
function placeOf(text: string, path: Path, yaml: Yaml): OldPair | undefined {
  const document = parse(text, yaml);
  const node = document.getIn(path, true);
  if (!document.hasIn(path) || (yaml.isMap(node) && hasSettings(path.join(".")))) return undefined;
  const chain = [[], ...parentsOf(path)].map((parent) =>
    parent.length === 0 ? document.contents : document.getIn(parent, true),
  );
  if (!chain.every(yaml.isMap)) return undefined;
  const maps = chain as YAMLMap<Node, Node | null>[];
  const placeAt = (depth: number): OldPair | undefined => {
    const map = maps[depth];
    const pair = map?.items.find(({ key }) => yaml.isScalar(key) && String(key.value) === path[depth]);
    return map && pair && { map, pair };
  };
  const hasComment = (place: OldPair | undefined) =>
    place !== undefined && /(?:^|\s)#/m.test(pairText(text, place.pair));
  let depth = path.length - 1;
  while (depth > 0 && maps[depth]?.items.length === 1 && !hasComment(placeAt(depth - 1))) depth--;
  return placeAt(depth);
}

/** A map at this name may hold other settings. */
function hasSettings(name: string): boolean {
  return settingKeys.some((key) => key.startsWith(`${name}.`));
}

/** Every position where the setting already is; else the first where it can be added. */
function placesFor({ key, member }: Assignment, document: Document, yaml: Yaml): Path[] {
  const at = (path: Path) => document.getIn(path, true);
  const isFree = (path: Path) => isEmpty(at(path), yaml);
  // A map where a plain value belongs holds the settings below it (`todo.reminders: {max: 3}`).
  const isRecord = member === undefined && settingOf(key).kind.type === "record";
  const spellings = groupings([...key.split("."), ...(member === undefined ? [] : [member])]);
  const present = spellings.filter((path) => !isFree(path) && (isRecord || !yaml.isMap(at(path))));
  if (present.length > 0) return present;
  const canHold = (path: Path) => isFree(path) || yaml.isMap(at(path));
  return spellings.filter((path) => isFree(path) && parentsOf(path).every(canHold)).slice(0, 1);
}

function put(text: string, { path, value, yaml }: { path: Path; value: unknown; yaml: Yaml }): string {
  const document = parse(text, yaml);
  const old = document.getIn(path, true) as Node | undefined;
  if (old !== undefined && !isEmpty(old, yaml)) return replaceValue(text, old, value);
  // Down through the existing maps; the remaining names are new, except for one that may exist without a value.
  const maps = parentsOf(path)
    .map((parent) => document.getIn(parent, true))
    .filter(yaml.isMap) as YAMLMap<Node, Node | null>[];
  const map = maps.at(-1) ?? (yaml.isMap(document.contents) ? (document.contents as YAMLMap<Node, Node>) : undefined);
  const names = path.slice(maps.length);
  const empty = map?.items.find(({ key }) => yaml.isScalar(key) && key.value === names[0]) as
    | Pair<Node, Node>
    | undefined;
  return insertPair(text, { map, empty, names, value });
}

function parse(text: string, yaml: Yaml): Document {
  return yaml.parseDocument(text, { prettyErrors: false });
}

function isEmpty(node: unknown, yaml: Yaml): boolean {
  return node === undefined || (yaml.isScalar(node) && node.value === null);
}

function parentsOf(path: Path): Path[] {
  return path.slice(1).map((_, index) => path.slice(0, index + 1));
}

/** `a.b.c` as [a, b, c], [a, b.c], [a.b, c], [a.b.c]: dotted and nested names mean the same. */
function groupings(words: Path): Path[] {
  if (words.length === 0) return [[]];
  return words.flatMap((_, index) => {
    const first = words.slice(0, index + 1).join(".");
    return groupings(words.slice(index + 1)).map((rest) => [first, ...rest]);
  });
}

/** Does the new text say this setting, and of everything else what the old one said? */
async function changesOnly({ key, member, value }: Assignment, before: string, after: string): Promise<boolean> {
  const [old, next] = [await parsed(before), await parsed(after)];
  if (next === undefined) return false;
  const said = readLayer(next, "").values.get(key);
  const now = member === undefined ? said : (said as Record<string, unknown> | undefined)?.[member];
  if (!isDeepStrictEqual(now, value)) return false;
  const name = member === undefined ? key : `${key}.${member}`;
  const isRecord = member === undefined && settingOf(key).kind.type === "record";
  const others = (leaves: [string, unknown][]) =>
    new Map(leaves.filter(([path]) => path !== name && !(isRecord && path.startsWith(`${name}.`))));
  return isDeepStrictEqual(others(leavesOf(old, "")), others(leavesOf(next, "")));
}

async function parsed(text: string): Promise<JsonObject | undefined> {
  try {
    return (await parseSettings({ path: "settings.yml", text, mode: 0o600 })) ?? {};
  } catch (error) {
    if (!GalleyError.is(error, "invalid_config")) throw error;
    return undefined; // an edit that broke the file must not be written
  }
}

/** Everything that is not an object, by its dotted name. Empty values do not count. */
function leavesOf(value: unknown, path: string): [string, unknown][] {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, path === "" ? name : `${path}.${name}`));
}
