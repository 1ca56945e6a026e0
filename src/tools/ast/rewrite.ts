// The rewriting engine: matches patterns in files and works out, byte for byte, what each file would become. It writes
// nothing. All patterns match the file as it is; a byte belongs to one replacement at most.

import type { Target, Workspace } from "../../files/workspace.js";
import { toolFailure } from "../tool.js";
import type { FoundFile, Match } from "./begin-file.js";
import type { Parsers } from "./parsers.js";
import { renderTemplate, type Template } from "./rewrite-template.js";
import { placeOf, prepareSearch, type SearchRequest } from "./search.js";

const maxPlanBytes = 64 * 1024 * 1024;

export interface RewriteOp {
  pat: string;
  template: Template;
  /** What to call the replacement in a sentence. */
  where: string;
}

export interface RewriteRequest extends Omit<SearchRequest, "pats" | "onProgress"> {
  ops: readonly RewriteOp[];
  maxReplacements: number;
  maxFiles: number;
  onProgress: (progress: { filesSearched: number; totalReplacements: number }) => void;
  /** Each file of the plan, while others are still searched. */
  onPlanned?: (file: PlannedFile) => void;
}

/** Lines and columns are counted from 1, in the file as it is. */
export interface Replacement {
  byteStart: number;
  byteEnd: number;
  startLine: number;
  startColumn: number;
  before: string;
  after: string;
}

export interface PlannedFile {
  target: Target;
  before: Uint8Array;
  after: Uint8Array;
  /** In the order of their bytes. */
  replacements: Replacement[];
}

export interface RewritePlan {
  files: PlannedFile[];
  totalReplacements: number;
  filesSearched: number;
  /** There is more to replace than was planned. */
  limitReached: boolean;
  /** What could not be parsed, one sentence each, none twice. */
  issues: string[];
}

export async function planRewrite(
  workspace: Workspace,
  parsers: Parsers,
  { ops, maxReplacements, maxFiles, onProgress, onPlanned, ...request }: RewriteRequest,
): Promise<RewritePlan> {
  const search = await prepareSearch(workspace, parsers, {
    ...request,
    pats: ops.map(({ pat }) => pat),
    onProgress: (filesSearched) => onProgress({ filesSearched, totalReplacements: plan.totalReplacements }),
  });
  const plan: RewritePlan = {
    files: [],
    totalReplacements: 0,
    filesSearched: 0,
    limitReached: false,
    issues: [...search.issues],
  };
  let planBytes = 0;
  for await (const file of search.results()) {
    if ("issue" in file) {
      plan.issues.push(file.issue);
      continue;
    }
    const matches = inPlaceOrder(file);
    const room = plan.files.length < maxFiles ? maxReplacements - plan.totalReplacements : 0;
    const kept = matches.slice(0, room);
    if (kept.length > 0) {
      const planned = buildPlannedFile(file, { matches: kept, ops, maxBytes: maxPlanBytes - planBytes });
      plan.files.push(planned);
      plan.totalReplacements += kept.length;
      planBytes += planned.after.length;
      onPlanned?.(planned);
    }
    plan.limitReached = matches.length > kept.length;
    if (plan.limitReached) break;
  }
  plan.filesSearched = search.filesSearched();
  plan.issues = [...new Set(plan.issues)];
  return plan;
}

/** All matches in the order of their place. Throws where two of them overlap. */
function inPlaceOrder({ target, text, matches }: FoundFile): Match[] {
  const sorted = matches.toSorted((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  for (const [index, match] of sorted.entries()) {
    const previous = sorted[index - 1];
    if (!previous || match.span.start >= previous.span.end) continue;
    const places = [previous, match].map((each) => placeOf(each, text));
    const named = places.map(({ line, column }) => `${target.displayPath}:${line}:${column}`);
    throw toolFailure(
      `Overlapping replacements detected; refine pattern to avoid ambiguous edits (${named.join(" and ")})`,
    );
  }
  return sorted;
}

/** The plan for one file: every byte outside the replaced spans is the byte that was there. */
function buildPlannedFile(
  file: FoundFile,
  { matches, ops, maxBytes }: { matches: readonly Match[]; ops: readonly RewriteOp[]; maxBytes: number },
): PlannedFile {
  const { target, bytes, text } = file;
  const source = { ...file, lineEnd: /\r?\n/.exec(text)?.[0] ?? "\n" };
  const replacements: Replacement[] = [];
  const pieces: Uint8Array[] = [];
  let position = 0;
  let bytePosition = 0;
  let room = maxBytes - bytes.length;
  for (const match of matches) {
    const { template, where } = ops[match.pattern] as RewriteOp;
    const after = renderTemplate(template, match, { source, where, maxLength: room });
    if (after === undefined) throw toolFailure("The rewritten files exceed 64MB; narrow the paths or the pattern.");
    room -= after.length;
    const { start, end } = match.span;
    const { line: startLine, column: startColumn } = placeOf(match, text);
    const byteStart = bytePosition + Buffer.byteLength(text.slice(position, start));
    const byteEnd = byteStart + Buffer.byteLength(text.slice(start, end));
    const fresh = Buffer.from(after);
    pieces.push(bytes.subarray(bytePosition, byteStart), fresh);
    // Decoded anew: a slice of the text, or what was put together from slices, would keep all of it in memory.
    const texts = { before: bytes.toString("utf8", byteStart, byteEnd), after: fresh.toString() };
    replacements.push({ byteStart, byteEnd, startLine, startColumn, ...texts });
    position = end;
    bytePosition = byteEnd;
  }
  pieces.push(bytes.subarray(bytePosition));
  return { target, before: bytes, after: Buffer.concat(pieces), replacements };
}
