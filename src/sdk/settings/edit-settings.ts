// The text of a YAML settings file with one setting changed. Works on the document rather than on its values, so that
// comments and order stay, and proves on the result that nothing else has changed.

import { isDeepStrictEqual } from "node:util";
import type { Document, Node } from "yaml";
import { isObject } from "../../base/json.js";
import { parseConfig } from "../parse-config.js";
import type { Assignment } from "./assignment.js";
import { readLayer } from "./layers.js";
import { settingOf } from "./schema.js";

type Path = readonly string[];

/** `undefined` when there is no way to do it without touching another setting. The text must be a sound YAML file. */
export async function editSettings(text: string, assignment: Assignment): Promise<string | undefined> {
  const yaml = await import("yaml");
  const document = yaml.parseDocument(text, { prettyErrors: false });
  for (const path of placesFor(assignment, document, yaml)) put(document, { path, value: assignment.value, yaml });
  const result = document.toString({ lineWidth: 0, ...layoutOf(text) });
  if (!(await changesOnly(assignment, text, result))) return undefined;
  return text.includes("\r\n") ? result.replaceAll("\n", "\r\n") : result;
}

type Yaml = typeof import("yaml");

/** Every place where the setting stands already; else the first where it can be added. */
function placesFor(assignment: Assignment, document: Document, yaml: Yaml): Path[] {
  const at = (path: Path) => document.getIn(path, true);
  const isFree = (path: Path) => isEmpty(at(path), yaml);
  // A map where a plain value belongs holds the settings below it (`todo.reminders: {max: 3}`).
  const isRecord = assignment.member === undefined && settingOf(assignment.key).kind.type === "record";
  const spellings = groupings([
    ...assignment.key.split("."),
    ...(assignment.member === undefined ? [] : [assignment.member]),
  ]);
  const present = spellings.filter((path) => !isFree(path) && (isRecord || !yaml.isMap(at(path))));
  if (present.length > 0) return present;
  const canHold = (path: Path) => isFree(path) || yaml.isMap(at(path));
  return spellings.filter((path) => isFree(path) && parentsOf(path).every(canHold)).slice(0, 1);
}

function put(document: Document, { path, value, yaml }: { path: Path; value: unknown; yaml: Yaml }): void {
  const depth = parentsOf(path).filter((parent) => yaml.isMap(document.getIn(parent, true))).length;
  const target = path.slice(0, depth + 1);
  const old = document.getIn(target, true) as Node | undefined;
  if (yaml.isScalar(old) && target.length === path.length && typeof value !== "object") {
    old.value = value; // in place: keeps its quotes and the comment behind it
    return;
  }
  const nested = path.slice(depth + 1).reduceRight((inner: unknown, name) => ({ [name]: inner }), value);
  const node = document.createNode(nested) as Node;
  if (yaml.isCollection(old) && yaml.isCollection(node) && old.flow !== undefined) node.flow = old.flow;
  const comment = old?.commentBefore ?? old?.comment;
  if (comment) node.commentBefore = comment;
  document.setIn(target, node);
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

/** The writer's habits, so that lines which nobody changed stay the same. */
function layoutOf(text: string): { indent: number; indentSeq: boolean; flowCollectionPadding: boolean } {
  const indent = /^( {1,8})[^\s#-]/m.exec(text)?.[1]?.length ?? 2;
  const hasFlatLists = /^( *)[^\s#][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n\1- /m.test(text);
  return { indent, indentSeq: !hasFlatLists, flowCollectionPadding: !/[[{][^\s\]}]/.test(text) };
}

/** Does the new text say this setting, and of everything else what the old one said? */
async function changesOnly({ key, member, value }: Assignment, before: string, after: string): Promise<boolean> {
  const [old, next] = [await parsed(before), await parsed(after)];
  const said = readLayer(next, "").values.get(key);
  const name = member === undefined ? key : `${key}.${member}`;
  if (!isDeepStrictEqual(member === undefined ? said : (said as Record<string, unknown>)?.[member], value))
    return false;
  const isRecord = member === undefined && settingOf(key).kind.type === "record";
  const others = (leaves: [string, unknown][]) =>
    new Map(leaves.filter(([path]) => path !== name && !(isRecord && path.startsWith(`${name}.`))));
  return isDeepStrictEqual(others(leavesOf(old, "")), others(leavesOf(next, "")));
}

function parsed(text: string): Promise<unknown> {
  return parseConfig({ path: "settings.yml", text, mode: 0o600 });
}

/** Everything that is not an object, by its dotted name. What is empty says nothing. */
function leavesOf(value: unknown, path: string): [string, unknown][] {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, path === "" ? name : `${path}.${name}`));
}
