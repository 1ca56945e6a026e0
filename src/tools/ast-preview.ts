// How a rewrite plan is told: the text a model reads, and the details for people and programs.

import { stripEscapes } from "../base/sanitize.js";
import { unifiedDiff } from "./ast-diff.js";
import type { PlannedFile, Replacement, RewritePlan } from "./ast-rewrite.js";
import { count, cutText, maxOutputBytes } from "./output-text.js";

const maxShownChanges = 200;
const maxShownIssues = 20;
const maxLineLength = 120;

export interface AstEditDetails {
  totalReplacements: number;
  filesTouched: number;
  filesSearched: number;
  applied: false;
  limitReached: boolean;
  parseErrors?: string[];
  parseErrorsTotal?: number;
  scopePath: string;
  files: string[];
  fileReplacements: { path: string; count: number }[];
  diff: string;
}

/** `isSingleFile`: the call named one file, so nothing needs to say which. */
export function previewText(plan: RewritePlan, { isSingleFile }: { isSingleFile: boolean }): string {
  if (plan.totalReplacements === 0) return ["No replacements made", ...issueBlock(plan)].join("\n\n");
  const blocks = ["Preview only – files NOT modified.", changeLines(plan, isSingleFile).join("\n")];
  if (plan.limitReached) blocks.push("Limit reached; narrow path or increase limit.");
  return [...blocks, ...issueBlock(plan)].join("\n\n");
}

export function previewDetails(plan: RewritePlan, scopePath: string): AstEditDetails {
  const { files, issues, totalReplacements, filesSearched, limitReached } = plan;
  return {
    totalReplacements,
    filesTouched: files.length,
    filesSearched,
    applied: false,
    limitReached,
    ...(issues.length > 0 ? { parseErrors: issues.slice(0, maxShownIssues), parseErrorsTotal: issues.length } : {}),
    scopePath,
    files: files.map(({ target }) => target.displayPath),
    fileReplacements: files.map(({ target, replacements }) => ({
      path: target.displayPath,
      count: replacements.length,
    })),
    diff: boundedDiff(files),
  };
}

function changeLines(plan: RewritePlan, isSingleFile: boolean): string[] {
  const lines: string[] = [];
  let shown = 0;
  let directory: string | undefined;
  for (const file of byDirectory(plan.files)) {
    if (shown >= maxShownChanges) break;
    const { replacements } = file;
    if (!isSingleFile) {
      const { parent, name } = splitPath(file.target.displayPath);
      const heading = `${name} (${count(replacements.length, "replacement")})`;
      if (parent === "") lines.push(`# ${heading}`);
      else lines.push(...(parent === directory ? [] : [`# ${parent}`]), `## └─ ${heading}`);
      directory = parent;
    }
    const visible = replacements.slice(0, maxShownChanges - shown);
    lines.push(...visible.flatMap(changeOf));
    shown += visible.length;
  }
  if (plan.totalReplacements > shown) lines.push(`… ${plan.totalReplacements - shown} more changes`);
  return lines;
}

/** Files of one directory together, in the order in which directories come up. */
function byDirectory(files: readonly PlannedFile[]): PlannedFile[] {
  const groups = new Map<string, PlannedFile[]>();
  for (const file of files) {
    const { parent } = splitPath(file.target.displayPath);
    groups.set(parent, [...(groups.get(parent) ?? []), file]);
  }
  return [...groups.values()].flat();
}

function splitPath(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf("/");
  return { parent: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}

function changeOf({ startLine, startColumn, before, after }: Replacement): string[] {
  const place = `${startLine}:${startColumn}`;
  const removed = `-${place} ${firstLine(before)}`;
  // A deletion leaves nothing to show.
  return after === "" ? [removed] : [removed, `+${place} ${firstLine(after)}`];
}

function firstLine(text: string): string {
  const lines = text.split(/\r?\n/);
  const shown = cutText(stripEscapes(lines[0] ?? ""), maxLineLength);
  return lines.length > 1 ? `${shown} … (+${lines.length - 1} lines)` : shown;
}

function issueBlock({ issues }: RewritePlan): string[] {
  if (issues.length === 0) return [];
  const total = issues.length > maxShownIssues ? ` (${maxShownIssues} / ${issues.length})` : "";
  const lines = issues.slice(0, maxShownIssues).map((issue) => `- ${stripEscapes(issue)}`);
  return [[`Parse issues${total}:`, ...lines].join("\n")];
}

function boundedDiff(files: readonly PlannedFile[]): string {
  let diff = "";
  for (const file of files) {
    const next = unifiedDiff(file);
    if (diff.length + next.length > maxOutputBytes) return `${diff}… diff cut at 50KB\n`;
    diff += next;
  }
  return diff;
}
