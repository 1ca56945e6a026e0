// Where in the text of a configuration file each value is, for messages about a value that does not fit. JSON is YAML, so
// one reader does for both. Only for a text that was parsed before: it is known to be sound and not too large.

import type { Node, Pair } from "yaml";
import { step } from "../provider/models/config-checks.js";
import { compose, placeOf } from "./read-yaml.js";

/** `line 3, column 5` of a path like `models[2].id`; of the nearest value around it where nothing is there. */
export type FindPlace = (path: string) => string | undefined;

export async function findPlaces(text: string): Promise<FindPlace> {
  const yaml = await import("yaml");
  const { isMap, isScalar, isSeq } = yaml;
  const offsets = new Map<string, number>();
  const visit = (node: unknown, path: string): void => {
    if (isSeq(node)) for (const [index, item] of node.items.entries()) add(item, step(path, index));
    if (!isMap(node)) return;
    for (const { key, value } of node.items as Pair[])
      if (isScalar(key)) add(value ?? key, step(path, String(key.value)), key.range?.[0]);
  };
  const add = (node: unknown, path: string, keyAt?: number): void => {
    const at = isScalar(node) ? node.range?.[0] : (keyAt ?? (node as Node | null)?.range?.[0]);
    if (at !== undefined) offsets.set(path, at);
    visit(node, path);
  };
  visit(compose(text, yaml)?.contents, "");
  return (path) => {
    for (let around = path; around !== ""; around = parentOf(around)) {
      const offset = offsets.get(around);
      if (offset !== undefined) return placeOf(text, offset);
    }
    return undefined;
  };
}

/** Of `a.b`, `a[0]` and `a["x y"]`: `a`; the empty text of a path of one step. */
function parentOf(path: string): string {
  const last = /(?:\.?[\w-]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])$/.exec(path);
  return path.slice(0, last?.index ?? 0);
}
