// Reads the modules of a project and every file they import, and keeps what a digest needs of each: the mode and the
// SHA-256 of the bytes. Bounded; a file that cannot be checked is kept with the reason, and so can never be loaded.

import { dirname } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { GalleyError } from "../../base/errors.js";
import { lookAt, readModuleFile } from "../../files/module-files.js";
import { importTargets, manifestReader, nearestManifest, type PackageManifest } from "./find-import-targets.js";
import { findImports } from "./find-imports.js";

export interface DigestedFile {
  readonly realPath: string;
  /** Of its mode and its bytes; of the reason, where they could not be read. */
  readonly hash: string;
  /** Of its bytes; not for a file that has a problem. */
  readonly sha256?: string;
  /** Why it cannot be checked, as the end of a sentence. */
  readonly problem?: string;
  /** Where it loads files under a name that is put together at run time. */
  readonly computedLines: readonly number[];
}

export interface DigestedFiles {
  /** By canonical path. */
  readonly files: ReadonlyMap<string, DigestedFile>;
  /** What the `package.json` files beside and above them say about loading, by path. */
  readonly manifests: ReadonlyMap<string, string>;
  /** What each file asks for, by canonical path. */
  readonly loads: ReadonlyMap<string, FileLoads>;
  /** There were more than are followed; the others are in no digest, and may not be loaded. */
  readonly problem?: string;
}

/** What one file makes a loader load, by canonical paths. */
export interface FileLoads {
  readonly files: ReadonlySet<string>;
  readonly manifests: ReadonlySet<string>;
}

export interface FileLimits {
  /** What the host serves itself, whatever the project has under that name. */
  readonly isHostModule?: (specifier: string) => boolean;
  readonly maxFiles?: number;
  readonly maxFileBytes?: number;
  readonly maxImports?: number;
}

const mebibyte = 1024 * 1024;

/** `scripts` are read and not searched for imports; `texts` are no programs at all. */
export async function digestFiles(
  paths: {
    readonly modules: readonly string[];
    readonly scripts?: readonly string[];
    readonly texts?: readonly string[];
  },
  options: FileLimits,
): Promise<DigestedFiles> {
  const { isHostModule = () => false, maxFiles = 2000, maxFileBytes = 4 * mebibyte, maxImports = 20_000 } = options;
  let leftBytes = 64 * mebibyte;
  let sinceBreakBytes = 0;
  const files = new Map<string, DigestedFile & { specifiers: readonly string[] }>();
  const manifests = new Map<string, string>();
  const requests = new Map<string, { targets: Set<string>; manifests: Set<string> }>();
  const realPaths = new Map<string, string>();
  const visited = new Set<string>();
  const readManifest = manifestReader();

  const read = (realPath: string, isScript: boolean) => {
    const known = files.get(realPath);
    if (known) return known;
    const { bytes, ...file } = digestFile(realPath, { isScript, maxBytes: Math.min(maxFileBytes, leftBytes) });
    leftBytes -= bytes;
    sinceBreakBytes += bytes;
    files.set(realPath, file);
    return file;
  };

  /** Known once every path was looked at. */
  const loads = () => {
    const filesOf = (targets: Set<string>) => new Set([...targets].flatMap((path) => realPaths.get(path) ?? []));
    return new Map(
      [...requests].map(([path, { targets, manifests }]) => [path, { files: filesOf(targets), manifests }]),
    );
  };

  const targets = new Map<string, string[]>();
  const find = (specifier: string, directory: string) => {
    const key = JSON.stringify([directory, specifier]);
    const known = targets.get(key) ?? importTargets(specifier, directory, readManifest);
    targets.set(key, known);
    return known;
  };

  const isText = new Set(paths.texts);
  const isScript = new Set([...(paths.scripts ?? []), ...isText]);
  const queue = new Set([...isScript, ...paths.modules]); // grows while it is gone through
  for (const path of queue) {
    if (sinceBreakBytes > mebibyte) {
      sinceBreakBytes = 0;
      await new Promise(setImmediate); // let other work in this process run
    }
    const looked = lookAt(path);
    if (looked.kind !== "file") continue; // nothing to load there now; a file that appears changes the digest
    if (files.size >= maxFiles && !files.has(looked.realPath))
      return { files, manifests, loads: loads(), problem: `more than ${maxFiles} files would be loaded` };
    const { specifiers } = read(looked.realPath, isScript.has(path));
    realPaths.set(path, looked.realPath);
    const own = requests.get(looked.realPath) ?? { targets: new Set(), manifests: new Set() };
    requests.set(looked.realPath, own);
    if (isText.has(path)) continue; // no manifest says how it is loaded
    // A loader may resolve from the link or from its target.
    for (const directory of new Set([dirname(path), dirname(looked.realPath)])) {
      const visit = JSON.stringify([looked.realPath, directory]);
      if (visited.has(visit)) continue;
      visited.add(visit);
      const manifest = nearestManifest(directory, readManifest);
      if (manifest) {
        manifests.set(manifest.path, sha256Of(loadingText(manifest)));
        own.manifests.add(manifest.path);
      }
      for (const specifier of specifiers) {
        if (isHostModule(specifier)) continue;
        if (targets.size > maxImports)
          return { files, manifests, loads: loads(), problem: `there are more than ${maxImports} imports` };
        for (const target of find(specifier, directory)) {
          queue.add(target);
          own.targets.add(target);
        }
      }
    }
  }
  return { files, manifests, loads: loads() };
}

/** Where a path leads, or the path itself where nothing is there. */
export function realPathOf(path: string): string {
  const looked = lookAt(path);
  return "realPath" in looked ? looked.realPath : path;
}

/** Everything that loading one file may load: itself, and what its imports lead to. */
export function reachableFrom(realPath: string, loads: DigestedFiles["loads"]): FileLoads {
  const files = new Set([realPath]); // grows while it is gone through
  const manifests = new Set<string>();
  for (const file of files) {
    const own = loads.get(file);
    for (const next of own?.files ?? []) files.add(next);
    for (const manifest of own?.manifests ?? []) manifests.add(manifest);
  }
  return { files, manifests };
}

function digestFile(realPath: string, { isScript, maxBytes }: { isScript: boolean; maxBytes: number }) {
  let file = { realPath, hash: "", specifiers: [] as string[], computedLines: [] as readonly number[], bytes: 0 };
  try {
    const { bytes, mode } = readModuleFile(realPath, maxBytes);
    const content = sha256Of(bytes);
    file = { ...file, hash: sha256Of(`${mode} ${content}`), bytes: bytes.length };
    if (isScript || /\.(?:json|node|wasm)$/.test(realPath)) return { ...file, sha256: content };
    const { specifiers, paths, computedLines } = findImports(Buffer.from(bytes).toString("utf8"));
    return { ...file, sha256: content, specifiers: [...new Set([...specifiers, ...paths])], computedLines };
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    return { ...file, hash: file.hash || sha256Of(error.message), problem: error.message };
  }
}

const loadingFields = ["name", "type", "main", "module", "exports", "imports", "galley", "xcsh", "omp", "pi"];

/**
 * Only what decides which file is loaded and how: a new version or another script of the project changes nothing. As it
 * is written, because the order of conditions counts.
 */
function loadingText({ value, text }: PackageManifest): string {
  if (!value) return text;
  return JSON.stringify(Object.fromEntries(loadingFields.map((field) => [field, value[field]])));
}
