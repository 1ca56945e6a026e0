// The rewriting engine: matches patterns in files and works out, byte for byte, what each file would become. It writes
// nothing. All patterns match the file as it is; a byte belongs to one replacement at most.

import type { SgNode } from "@ast-grep/napi";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";
import type { Target, Workspace } from "../workspace/workspace.js";
import { type Grammar, isScript } from "./ast-languages.js";
import { type CompiledPattern, compilePattern, literalsIn } from "./ast-pattern.js";
import { capturedNodes, capturedText, renderTemplate, type Template, type TemplateSource } from "./ast-template.js";
import { toolFailure } from "./tool.js";

type Parser = typeof import("@ast-grep/napi");

const maxFileBytes = 4 * 1024 * 1024;
const maxPlanBytes = 64 * 1024 * 1024;
/** Parsed at the same time; more only holds more trees. */
const batchSize = 4;
const progressStep = 200;

export interface RewriteOp {
  pat: string;
  template: Template;
  /** What to call the replacement in a sentence. */
  where: string;
}

export interface RewriteRequest {
  files: readonly { target: Target; grammar: Grammar }[];
  ops: readonly RewriteOp[];
  /** Where patterns are tried although no file says so. */
  grammar?: Grammar | undefined;
  sel?: string | undefined;
  maxReplacements: number;
  maxFiles: number;
  signal?: AbortSignal | undefined;
  onProgress: (progress: { filesSearched: number; totalReplacements: number }) => void;
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

export async function planRewrite(workspace: Workspace, request: RewriteRequest): Promise<RewritePlan> {
  const parser = await import("@ast-grep/napi");
  const { patterns, issues } = compileAll(parser, request);
  const plan: RewritePlan = {
    files: [],
    totalReplacements: 0,
    filesSearched: 0,
    limitReached: false,
    issues: [...issues],
  };
  let planBytes = 0;
  for (let start = 0; start < request.files.length && !plan.limitReached; start += batchSize) {
    throwIfAborted(request.signal);
    const batch = request.files.slice(start, start + batchSize);
    const opened = await Promise.all(batch.map((file) => openFile(workspace, parser, { file, patterns, request })));
    for (const file of opened) {
      plan.filesSearched++;
      if (plan.filesSearched % progressStep === 0) request.onProgress(plan);
      if (file === undefined) continue;
      if ("issue" in file) {
        plan.issues.push(file.issue);
        continue;
      }
      const matches = findMatches(file);
      const room = plan.files.length < request.maxFiles ? request.maxReplacements - plan.totalReplacements : 0;
      const kept = matches.slice(0, room);
      if (kept.length > 0) {
        const planned = buildPlannedFile(file, kept, maxPlanBytes - planBytes);
        plan.files.push(planned);
        plan.totalReplacements += kept.length;
        planBytes += planned.after.length;
      }
      plan.limitReached = matches.length > kept.length;
      if (plan.limitReached) break;
    }
  }
  plan.issues = [...new Set(plan.issues)];
  return plan;
}

interface PatternInUse extends RewriteOp {
  compiled: CompiledPattern;
  literals: string[];
}

/** Each op in each grammar. An op that compiles nowhere is an issue; if that is all of them, there is nothing to do. */
function compileAll(
  parser: Parser,
  { ops, files, grammar, sel }: RewriteRequest,
): { patterns: Map<Grammar, PatternInUse[]>; issues: Set<string> } {
  const grammars = new Set([...(grammar ? [grammar] : []), ...files.map((file) => file.grammar)]);
  const patterns = new Map<Grammar, PatternInUse[]>([...grammars].map((name) => [name, []]));
  const issues = new Set<string>();
  for (const op of ops) {
    const causes: string[] = [];
    for (const [name, inUse] of patterns) {
      const compiled = compilePattern(parser, name, { pat: op.pat, sel });
      if ("cause" in compiled) causes.push(`${op.pat}: Invalid pattern: ${compiled.cause}`);
      else inUse.push({ ...op, compiled, literals: literalsIn({ pat: op.pat, sel }) });
    }
    // In a mixed directory a pattern belongs to one language; that it is none in another is no news.
    if (causes.length === patterns.size) for (const cause of causes) issues.add(cause);
  }
  if (patterns.size > 0 && [...patterns.values()].every((inUse) => inUse.length === 0))
    throw toolFailure(["No pattern could be parsed", ...[...issues].map((issue) => `- ${issue}`)].join("\n"));
  return { patterns, issues };
}

interface OpenedFile {
  target: Target;
  bytes: Uint8Array;
  source: TemplateSource;
  tree: SgNode;
  patterns: readonly PatternInUse[];
}

/** Reads and parses one file; undefined when no pattern can be in it. */
async function openFile(
  workspace: Workspace,
  parser: Parser,
  {
    file,
    patterns,
    request,
  }: {
    file: RewriteRequest["files"][number];
    patterns: Map<Grammar, PatternInUse[]>;
    request: RewriteRequest;
  },
): Promise<OpenedFile | { issue: string } | undefined> {
  const { target, grammar } = file;
  const issue = (reason: string) => ({ issue: `${target.displayPath}: parse error (${reason})` });
  const read = await workspace.readFile(target, { maxBytes: maxFileBytes, signal: request.signal }).catch(unreadable);
  if (typeof read === "string") return issue(read);
  if (read.isTruncated) return issue("larger than 4MB");
  const bytes = Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.length);
  const possible = (patterns.get(grammar) ?? []).filter(({ literals }) =>
    literals.every((word) => bytes.includes(word)),
  );
  if (possible.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return issue("not valid UTF-8");
  }
  const tree = (await parser.parseAsync(grammar, text)).root();
  if (tree.find({ rule: { kind: "ERROR" } })) return issue("syntax tree contains error nodes");
  const lineEnd = /\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n";
  return { target, bytes, source: { text, lineEnd, hasTemplateStrings: isScript(grammar) }, tree, patterns: possible };
}

function unreadable(error: unknown): string {
  if (error instanceof GalleyError && error.code !== "aborted") return error.message.replace(/\.$/, "");
  throw error;
}

interface Match {
  node: SgNode;
  op: PatternInUse;
  start: number;
  end: number;
  line: number;
  column: number;
}

/** All matches in the order of their place. Throws where two of them overlap. */
function findMatches({ target, source, tree, patterns }: OpenedFile): Match[] {
  const matches: Match[] = [];
  for (const op of patterns)
    for (const node of tree.findAll(op.compiled.matcher)) {
      if (!hasEqualRepetitions(node, op.compiled, source.text)) continue;
      const { start, end } = node.range();
      // A byte order mark is no column.
      const column = start.column + (start.line === 0 && source.text.startsWith("\ufeff") ? 0 : 1);
      matches.push({ node, op, start: start.index, end: end.index, line: start.line + 1, column });
    }
  matches.sort((a, b) => a.start - b.start || a.end - b.end);
  for (const [index, match] of matches.entries()) {
    const previous = matches[index - 1];
    if (previous && match.start < previous.end) throw overlap(target, previous, match);
  }
  return matches;
}

function hasEqualRepetitions(node: SgNode, { repeated }: CompiledPattern, source: string): boolean {
  return repeated.every(({ isMultiple, names }) => {
    const texts = names.map((name) => capturedText(capturedNodes(node, { name, isMultiple }) ?? [], source));
    return texts.every((text) => text === texts[0]);
  });
}

function overlap(target: Target, ...both: [Match, Match]): GalleyError {
  const places = both.map(({ line, column }) => `${target.displayPath}:${line}:${column}`);
  return toolFailure(
    `Overlapping replacements detected; refine pattern to avoid ambiguous edits (${places.join(" and ")})`,
  );
}

/** The plan for one file: every byte outside the replaced spans is the byte that was there. */
function buildPlannedFile(
  { target, bytes, source }: OpenedFile,
  matches: readonly Match[],
  maxBytes: number,
): PlannedFile {
  const replacements: Replacement[] = [];
  const pieces: Uint8Array[] = [];
  let position = 0;
  let bytePosition = 0;
  let room = maxBytes - bytes.length;
  for (const { node, op, start, end, line, column } of matches) {
    const after = renderTemplate(op.template, node, { source, where: op.where, maxLength: room });
    if (after === undefined) throw toolFailure("The rewritten files exceed 64MB; narrow the paths or the pattern.");
    room -= after.length;
    const before = source.text.slice(start, end);
    const byteStart = bytePosition + Buffer.byteLength(source.text.slice(position, start));
    const byteEnd = byteStart + Buffer.byteLength(before);
    pieces.push(bytes.subarray(bytePosition, byteStart), Buffer.from(after));
    replacements.push({ byteStart, byteEnd, startLine: line, startColumn: column, before, after });
    position = end;
    bytePosition = byteEnd;
  }
  pieces.push(bytes.subarray(bytePosition));
  return { target, before: bytes, after: Buffer.concat(pieces), replacements };
}
