// Tells a module's own files from those of the packages it depends on. A module may itself be in a package.

const packagePattern = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** Both canonical. The greedy pattern finds the innermost package. */
export function isPartOf(file: string, module: string): boolean {
  return packageOf(file) === packageOf(module);
}

function packageOf(path: string): string | undefined {
  return packagePattern.exec(path)?.[1];
}
