// Globs become regular expressions, and some of those take longer than anybody waits. Such a glob is not used.

const maxLength = 256;
const maxWildcards = 4;
const maxAlternatives = 3;

export function isCostlyGlob(glob: string): boolean {
  if (glob.length > maxLength || glob.split("{").length - 1 > maxAlternatives) return true;
  const components = glob.split("/");
  if (components.filter((component) => component.includes("**")).length > maxWildcards) return true;
  return components.some((component) => component.split(/\*+/).length - 1 > maxWildcards);
}
