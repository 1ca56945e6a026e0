// The list of ignored files that are in the view only. It is stored with the layer, because the layer of a session with
// pending actions outlives its process.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { inLayer, isInside, withoutSlash } from "./fill-layer.js";
import { entryAt, namesIn } from "./layer-entries.js";
import type { Layer } from "./layer-place.js";

const maxListed = 100_000;

/** Names below the root; a directory's ends with a slash and stands for all that is in it. Empty where none is stored. */
export function readKept({ directory }: Layer): string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, "kept.json"), "utf8"));
    return Array.isArray(value) ? value.filter(isPlainName) : [];
  } catch {
    return []; // there is none yet, or it was cut: then nothing is kept
  }
}

export function writeKept({ directory }: Layer, kept: readonly string[]): void {
  const path = join(directory, "kept.json");
  writeFileSync(`${path}.new`, JSON.stringify(kept), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function isPlainName(name: unknown): name is string {
  if (typeof name !== "string" || name === "" || name.startsWith("/")) return false;
  return withoutSlash(name)
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== "..");
}

/** Where a kept file can be read; undefined for what is none, or lies behind a link. */
export function keptFileIn(layer: Layer, kept: readonly string[], path: string): string | undefined {
  const name = relative(layer.root, path);
  const isKept = kept.some((one) => (one.endsWith("/") ? name.startsWith(one) : name === one));
  if (!isKept) return undefined;
  const place = inLayer(layer, path);
  return isInside(layer.up, name) && entryAt(place)?.kind === "file" ? place : undefined;
}

/** All kept files of a layer, as paths of the root. A long list is cut. */
export function keptPathsIn(layer: Layer, kept: readonly string[]): string[] {
  const paths: string[] = [];
  const add = (path: string) => {
    const place = inLayer(layer, path);
    const kind = entryAt(place)?.kind;
    if (kind === "file") paths.push(path);
    if (kind !== "directory") return;
    for (const name of readableNames(place)) if (paths.length < maxListed) add(join(path, name));
  };
  for (const name of kept.map(withoutSlash)) if (isInside(layer.up, name)) add(join(layer.root, name));
  return paths.sort();
}

function readableNames(place: string): readonly string[] {
  try {
    return namesIn(place).names;
  } catch {
    return []; // a directory that its owner may not read has nothing for tools either
  }
}
