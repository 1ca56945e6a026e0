// Tells a module's own files from those of the packages it depends on. A module may itself be in a package.

import { isObject, parseObject } from "../../base/json.js";

const packagePattern = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** Both canonical. The greedy pattern finds the innermost package. */
export function isPartOf(file: string, module: string): boolean {
  return packageOf(file) === packageOf(module);
}

/** What the package is called that the file belongs to, if it is in one. */
export function packageNameAt(file: string): string | undefined {
  return packageOf(file)?.replace(/^.*\/node_modules\//, "");
}

/** `undefined` for a file outside of packages. */
export function manifestPath(file: string): string | undefined {
  const directory = packageOf(file);
  return directory === undefined ? undefined : `${directory}/package.json`;
}

/** Its folder. */
export function packageDirectory(file: string): string | undefined {
  return packageOf(file);
}

/** Everything that a manifest says its package needs. */
export function dependencyNames(manifest: string): string[] {
  const fields = parseObject(manifest);
  const kinds = ["dependencies", "peerDependencies", "optionalDependencies"].map((kind) => fields?.[kind]);
  return kinds.flatMap((kind) => (isObject(kind) ? Object.keys(kind) : []));
}

function packageOf(path: string): string | undefined {
  return packagePattern.exec(path)?.[1];
}
