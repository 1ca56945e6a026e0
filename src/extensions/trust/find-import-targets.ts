// From the name in an import to the files it may mean. Every file that some loader could resolve it to counts, so that
// none of them can change unnoticed; the loader decides which one is used.

import { isBuiltin } from "node:module";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { GalleyError } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { lookAt, readModuleFile } from "../../files/module-files.js";

/** What a package says about how it is loaded. */
export interface PackageManifest {
  readonly path: string;
  /** Undefined when it is no JSON object. */
  readonly value: JsonObject | undefined;
  readonly text: string;
}

export type ReadManifest = (path: string) => PackageManifest | undefined;

/**
 * Names of existing regular files, for an import by a file in `directory`. None for Node's own modules, and for other
 * kinds of addresses.
 */
export function importTargets(specifier: string, directory: string, readManifest: ReadManifest): string[] {
  return [...new Set(targetsFrom(specifier, directory, { readManifest, seen: new Set() }))];
}

const maxManifestBytes = 1024 * 1024;

/** Reads each `package.json` once; undefined for none that can be used. */
export function manifestReader(): ReadManifest {
  const known = new Map<string, PackageManifest | undefined>();
  return (path) => {
    if (!known.has(path)) known.set(path, readManifest(path));
    return known.get(path);
  };
}

function readManifest(path: string): PackageManifest | undefined {
  if (lookAt(path).kind === "missing") return undefined; // by far the most
  try {
    const text = Buffer.from(readModuleFile(path, maxManifestBytes).bytes).toString("utf8");
    return { path, text, value: parseObject(text) };
  } catch (error) {
    if (error instanceof GalleyError) return undefined; // missing or unreadable: no loader reads it either
    throw error;
  }
}

const maxNesting = 64;

/** Undefined for what is no JSON object, or too deeply nested. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isObject(value) && isWithinDepth(value, maxNesting) ? value : undefined;
  } catch {
    return undefined; // no JSON: the caller reports it
  }
}

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithinDepth(member, depth - 1));
}

export function nearestManifest(directory: string, read: ReadManifest): PackageManifest | undefined {
  for (const place of upward(directory)) {
    const found = read(join(place, "package.json"));
    if (found) return found;
  }
  return undefined;
}

interface Step {
  readonly readManifest: ReadManifest;
  /** What was already looked up: manifests can refer to each other in circles, and without end. */
  readonly seen: Set<string>;
}

const maxSteps = 500;

function isNew(step: Step, ...what: string[]): boolean {
  const key = JSON.stringify(what);
  if (step.seen.has(key) || step.seen.size >= maxSteps) return false;
  step.seen.add(key);
  return true;
}

function targetsFrom(specifier: string, directory: string, step: Step): string[] {
  if (specifier.includes("\0") || !isNew(step, specifier, directory)) return [];
  const paths = spelled(specifier).flatMap((name) => pathOf(name, directory) ?? []);
  if (paths.length > 0) return paths.flatMap((path) => filesAt(path, step));
  if (/^[a-z][a-z\d+.-]*:/i.test(specifier) || isBuiltin(specifier)) return [];
  return specifier.startsWith("#")
    ? insideTargets(specifier, directory, step)
    : packageTargets(specifier, directory, step);
}

/** As it stands, without a query, and with its percent signs resolved, as far as these differ. */
function spelled(specifier: string): string[] {
  const plain = specifier.replace(/(?<=.)[?#].*$/s, "");
  return [...new Set([specifier, plain, decoded(specifier), decoded(plain)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that means itself
  }
}

function pathOf(specifier: string, directory: string): string | undefined {
  if (/^\.{1,2}(?:[\\/]|$)/.test(specifier)) return resolve(directory, specifier);
  if (isAbsolute(specifier)) return specifier;
  if (!/^file:/i.test(specifier)) return undefined;
  try {
    return fileURLToPath(specifier);
  } catch {
    return undefined; // an address on another machine
  }
}

const endings = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json", ".node", ".wasm"];
/** TypeScript is written with the names its output will have. */
const swapped: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

function filesAt(path: string, step: Step): string[] {
  if (!isNew(step, path)) return [];
  const ending = extname(path);
  const stem = path.slice(0, path.length - ending.length);
  const names = [
    path,
    ...(swapped[ending] ?? []).map((other) => stem + other),
    ...endings.map((other) => path + other),
    ...endings.map((other) => join(path, `index${other}`)),
  ];
  const files = names.filter((name) => lookAt(name).kind === "file");
  if (lookAt(path).kind !== "directory") return files;
  const manifest = step.readManifest(join(path, "package.json"));
  const mains = [manifest?.value?.main, manifest?.value?.module].filter((main) => typeof main === "string");
  return [...files, ...mains.flatMap((main) => filesAt(join(path, main), step))];
}

/** `#name`, which the nearest manifest explains. */
function insideTargets(specifier: string, directory: string, step: Step): string[] {
  const manifest = nearestManifest(directory, step.readManifest);
  return manifest ? mapped(manifest.value?.imports, specifier, dirname(manifest.path), step) : [];
}

/** `name`, `@scope/name`, `name/inside`: the nearest package of that name that has such a file. */
function packageTargets(specifier: string, directory: string, step: Step): string[] {
  const [, name, inside = ""] = /^((?:@[^/\\%]+\/)?[^./\\%@][^/\\%]*)(?:\/(.*))?$/s.exec(specifier) ?? [];
  if (name === undefined) return [];
  const own = nearestManifest(directory, step.readManifest);
  const places = upward(directory).map((place) => join(place, "node_modules", name));
  if (own?.value?.name === name) places.unshift(dirname(own.path));
  for (const place of places) {
    if (lookAt(place).kind !== "directory") continue;
    const manifest = step.readManifest(join(place, "package.json"));
    const key = inside === "" ? "." : `./${inside}`;
    const targets = [...mapped(manifest?.value?.exports, key, place, step), ...filesAt(join(place, inside), step)];
    if (targets.length > 0) return targets;
  }
  return [];
}

/** What a manifest's `exports` or `imports` has for a key, under every condition. */
function mapped(table: unknown, key: string, directory: string, step: Step): string[] {
  const found: string[] = [];
  for (const target of targetsIn(table, key)) {
    if (target.startsWith("./")) found.push(...filesAt(join(directory, target), step));
    else found.push(...targetsFrom(target, directory, step));
  }
  return found;
}

const maxTargets = 256;

function targetsIn(table: unknown, key: string): string[] {
  const isTable = isObject(table) && Object.keys(table).some((name) => name.startsWith(".") || name.startsWith("#"));
  if (!isTable) return key === "." ? stringsIn(table) : [];
  return Object.entries(table)
    .flatMap(([name, value]) => {
      if (name === key) return stringsIn(value);
      const [head = "", tail] = name.split("*", 2);
      if (tail === undefined || key.length < head.length + tail.length) return [];
      if (!key.startsWith(head) || !key.endsWith(tail)) return [];
      const part = key.slice(head.length, key.length - tail.length);
      return stringsIn(value).map((target) => target.replaceAll("*", () => part));
    })
    .slice(0, maxTargets);
}

/** Every string in it, however deep the conditions go. */
function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (depth > 16 || typeof value !== "object" || value === null) return [];
  return Object.values(value)
    .flatMap((member) => stringsIn(member, depth + 1))
    .slice(0, maxTargets);
}

function upward(directory: string): string[] {
  const places = [directory];
  for (let place = directory; place !== dirname(place); ) {
    place = dirname(place);
    places.push(place);
  }
  return places;
}
