// What the texts of the ast tools have in common: files grouped by directory, and what could not be parsed.

import { stripEscapes } from "../../base/sanitize.js";
import type { Target } from "../../files/workspace.js";

const maxShownIssues = 20;

/** Files of one directory together, in the order in which directories come up, each with the lines that head it. */
export function groupByDirectory<File extends { target: Target }>(
  files: readonly File[],
  { isSingleFile, suffix }: { isSingleFile: boolean; suffix: (file: File) => string },
): { file: File; headings: string[] }[] {
  const groups = new Map<string, File[]>();
  for (const file of files) {
    const { parent } = splitPath(file.target.displayPath);
    const group = groups.get(parent);
    if (group) group.push(file);
    else groups.set(parent, [file]);
  }
  return [...groups].flatMap(([parent, members]) =>
    members.map((file, index) => {
      const heading = splitPath(file.target.displayPath).name + suffix(file);
      if (isSingleFile) return { file, headings: [] };
      if (parent === "") return { file, headings: [`# ${heading}`] };
      return { file, headings: [...(index === 0 ? [`# ${parent}`] : []), `## └─ ${heading}`] };
    }),
  );
}

function splitPath(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf("/");
  return { parent: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}

/** The paragraph about issues; none where there are none. */
export function issueBlock(issues: readonly string[]): string[] {
  if (issues.length === 0) return [];
  const total = issues.length > maxShownIssues ? ` (${maxShownIssues} / ${issues.length})` : "";
  const lines = issues.slice(0, maxShownIssues).map((issue) => `- ${stripEscapes(issue)}`);
  return [[`Parse issues${total}:`, ...lines].join("\n")];
}

export interface IssueDetails {
  parseErrors?: string[];
  parseErrorsTotal?: number;
}

export function issueDetails(issues: readonly string[]): IssueDetails {
  return issues.length > 0 ? { parseErrors: issues.slice(0, maxShownIssues), parseErrorsTotal: issues.length } : {};
}
