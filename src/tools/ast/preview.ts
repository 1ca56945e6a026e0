// How a rewrite plan is shown: the text a model reads, and the details for people and programs.

import { stripEscapes } from "../../base/sanitize.js";
import { asBuffer } from "../../plans/diff/compare-change.js";
import { cutNotice, diffFile } from "../../plans/diff/file-diff.js";
import { count, cutText, maxOutputBytes } from "../output/text.js";
import { groupByDirectory, type IssueDetails, issueBlock, issueDetails } from "./report.js";
import type { PlannedFile, Replacement, RewritePlan } from "./rewrite.js";

const maxLineLength = 120;

export interface AstEditDetails extends IssueDetails {
  totalReplacements: number;
  filesTouched: number;
  filesSearched: number;
  applied: boolean;
  limitReached: boolean;
  scopePath: string;
  files: string[];
  fileReplacements: { path: string; count: number }[];
  diff: string;
}

export interface PreviewWords {
  /** The call named one file, so nothing needs to say which. */
  isSingleFile: boolean;
  headline: string;
  /** Where the whole diff is, if not everything is shown. */
  artifactId?: string | undefined;
}

export function nothingFoundText(plan: RewritePlan): string {
  return ["No replacements made", ...issueBlock(plan.issues)].join("\n\n");
}

export function previewText(plan: RewritePlan, { isSingleFile, headline, artifactId }: PreviewWords): string {
  const lines = changeLines(plan, isSingleFile);
  const hidden = plan.totalReplacements - Math.min(plan.totalReplacements, maxShownChanges);
  if (hidden > 0)
    lines.push(`… ${hidden} more changes${artifactId === undefined ? "" : `; full diff in artifact://${artifactId}`}`);
  const blocks = [headline, lines.join("\n")];
  if (plan.limitReached) blocks.push("Limit reached; narrow path or increase limit.");
  return [...blocks, ...issueBlock(plan.issues)].join("\n\n");
}

/** Further changes are only counted. */
export const maxShownChanges = 200;

export function previewDetails(plan: RewritePlan, scopePath: string): AstEditDetails {
  const { files, issues, totalReplacements, filesSearched, limitReached } = plan;
  return {
    totalReplacements,
    filesTouched: files.length,
    filesSearched,
    applied: false,
    limitReached,
    ...issueDetails(issues),
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
  const suffix = ({ replacements }: PlannedFile) => ` (${count(replacements.length, "replacement")})`;
  for (const { file, headings } of groupByDirectory(plan.files, { isSingleFile, suffix })) {
    if (shown >= maxShownChanges) break;
    const visible = file.replacements.slice(0, maxShownChanges - shown);
    lines.push(...headings, ...visible.flatMap(changeOf));
    shown += visible.length;
  }
  return lines;
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

function boundedDiff(files: readonly PlannedFile[]): string {
  let diff = "";
  for (const file of files) {
    const next = fileDiff(file, maxOutputBytes);
    if (diff.length + next.length > maxOutputBytes) return `${diff}… diff cut at 50KB\n`;
    diff += next;
  }
  return diff;
}

/** Made while the parsers are busy with later files, so that the diff takes no extra time at the end. */
export function prepareDiff(file: PlannedFile): void {
  const diff = makeDiff(file, maxOutputBytes);
  if (!diff.endsWith(cutNotice(maxOutputBytes))) prepared.set(file, diff);
}

const prepared = new WeakMap<PlannedFile, string>();

export function fileDiff(file: PlannedFile, maxLength: number): string {
  const ready = prepared.get(file);
  return ready !== undefined && ready.length <= maxLength ? ready : makeDiff(file, maxLength);
}

/** The positions are known: nothing has to be searched for. */
function makeDiff({ target, before, after, replacements }: PlannedFile, maxLength: number): string {
  const spans = replacements.map(({ byteStart: start, byteEnd: end, after: text }) => ({
    start,
    end,
    length: Buffer.byteLength(text),
  }));
  const sides = { before: asBuffer(before), after: asBuffer(after), spans };
  return diffFile({ displayPath: target.displayPath, ...sides }, maxLength).diff;
}
