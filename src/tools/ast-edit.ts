// The ast_edit tool: structural search and replace. It computes the exact bytes of every file and stages them: what is
// applied later is what was shown, not another search.

import type { XStatic } from "typebox/schema";
import { GalleyError } from "../base/errors.js";
import { inLanes } from "../base/in-lanes.js";
import type { RefreshedPlan } from "../preview/pending-action-store.js";
import { type PlannedChange, stampOf } from "../preview/plan.js";
import type { ToolResult } from "../protocol/events.js";
import type { Target, Workspace, WriteTarget } from "../workspace/workspace.js";
import { maxFileBytes } from "./ast-begin.js";
import { findFiles, withoutOtherNames } from "./ast-files.js";
import { createHeadStart, type HeadStart } from "./ast-head-start.js";
import { type Parsers, sharedParsers } from "./ast-parsers.js";
import { maxPatternLength } from "./ast-pattern.js";
import {
  type AstEditDetails,
  fileDiff,
  maxShownChanges,
  nothingFoundText,
  prepareDiff,
  previewDetails,
  previewText,
} from "./ast-preview.js";
import { planRewrite, type RewriteOp, type RewritePlan } from "./ast-rewrite.js";
import { createSieve, type Sieve } from "./ast-sieve.js";
import { parseTemplate } from "./ast-template.js";
import { count } from "./output-text.js";
import type { RipgrepParts } from "./ripgrep.js";
import type { SeenFiles } from "./seen-files.js";
import { type Staging, stagedBelow } from "./staging.js";
import { type AgentTool, type ArtifactSink, type OnUpdate, textResult, toolFailure } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    ops: {
      type: "array",
      maxItems: 100,
      items: {
        type: "object",
        properties: {
          pat: { type: "string", description: "Pattern, e.g. foo($A, $$$REST)" },
          out: { type: "string", maxLength: 20_000, description: "Replacement; empty deletes" },
        },
        required: ["pat", "out"],
      },
    },
    paths: {
      type: "array",
      maxItems: 200,
      items: { type: "string" },
      description: "Files, directories or globs",
    },
    glob: { type: "string", description: "Extra filter below paths" },
    lang: { type: "string", description: "If the file ending does not tell" },
    sel: { type: "string", description: "Node kind to match; pat is then its context" },
    limit: { type: "number", description: "Most replacements" },
  },
  required: ["ops"],
} as const;

type AstEditParams = XStatic<typeof parameters>;

export interface AstEditOptions {
  /** Most files one plan may touch. */
  maxFiles?: number | undefined;
  /** Default: those of this process. */
  parsers?: Parsers | undefined;
  /** Lists files and says which need not be read; without it directories are walked, and every file is. */
  ripgrep?: RipgrepParts | undefined;
}

/** What a search needs. */
export interface SearchParts extends AstEditOptions {
  readonly workspace: Workspace;
}

export interface AstEditParts extends SearchParts {
  readonly staging: Staging;
  readonly artifacts: ArtifactSink;
  /** Told what the model rewrote; default: nobody keeps track. */
  readonly seen?: SeenFiles;
}

export function createAstEdit(parts: AstEditParts): AgentTool<AstEditParams> {
  return {
    name: "ast_edit",
    label: "AST Edit",
    description:
      "Preview a structural code rewrite (ast-grep): $NAME matches one node, $$$NAME any number. Staged, not written: see resolve.",
    parameters,
    approval: "write",
    deferrable: true,
    prepareArguments,
    async execute(toolCallId, params, signal, onUpdate) {
      const search: Search = (stop) => planFor(parts, params, { signal: stop, onUpdate });
      for (let attempt = 1; ; attempt++) {
        const found = await search(signal);
        if (found.plan.totalReplacements === 0)
          return { ...textResult(nothingFoundText(found.plan), found.details), isWarning: true };
        try {
          return await deliver(parts, found, { toolCallId, search });
        } catch (error) {
          // Another call of the same turn staged something for one of the files while this one searched.
          if (attempt === maxAttempts || !GalleyError.is(error, "file_changed")) throw error;
        }
      }
    },
  };
}

/** A turn's calls run side by side, and each of them may stage once. */
const maxAttempts = 10;

type Search = (signal: AbortSignal | undefined) => Promise<Found>;

interface Found {
  plan: RewritePlan;
  details: AstEditDetails;
  isSingleFile: boolean;
}

interface Progress {
  signal: AbortSignal | undefined;
  onUpdate: OnUpdate;
}

export async function planFor(parts: SearchParts, params: AstEditParams, progress: Progress): Promise<Found> {
  const ops = checkOps(params.ops);
  const { workspace, ripgrep, parsers = sharedParsers() } = parts;
  const search = { pats: ops.map(({ pat }) => pat), sel: params.sel, signal: progress.signal };
  const sieve = ripgrep && createSieve({ ...ripgrep, workspace }, { ...search, maxFileBytes });
  const ahead = createHeadStart(workspace, parsers, search);
  try {
    return await planWith({ ...parts, parsers }, { ...params, ops, sieve, ahead }, progress);
  } finally {
    sieve?.end();
    ahead.end();
  }
}

interface PreparedParams extends Omit<AstEditParams, "ops"> {
  readonly ops: RewriteOp[];
  readonly sieve: Sieve | undefined;
  readonly ahead: HeadStart;
}

async function planWith(
  { workspace, parsers, maxFiles = 1000 }: SearchParts & { readonly parsers: Parsers },
  { ops, sieve, ahead, ...params }: PreparedParams,
  { signal, onUpdate }: Progress,
): Promise<Found> {
  const maxReplacements = checkLimit(params.limit);
  const paths = params.paths?.length ? params.paths : ["."];
  for (const path of paths) refuseUrl(path);
  const { glob, lang, sel } = params;
  const { language, ...found } = await findFiles(workspace, parsers, { paths, glob, lang, sieve, ahead, signal });
  const isNameable = ({ target }: { target: Target }) => !/\p{Cc}/u.test(target.path); // no other is ever written
  const { files, otherNames } = await withoutOtherNames(workspace, found.files.filter(isNameable));
  if (files.length === 0 && !language)
    throw toolFailure("`lang` is required for ast_edit when no files match path/glob");

  const plan = await planRewrite(workspace, parsers, {
    files,
    ops,
    language,
    sel,
    sieve,
    ahead,
    maxReplacements,
    maxFiles,
    signal,
    onPlanned: prepareDiff,
    onProgress: ({ filesSearched, totalReplacements }) =>
      onUpdate(
        textResult(
          `Searched ${filesSearched} of ${count(files.length, "file")}; ${count(totalReplacements, "replacement")} so far.`,
          { filesSearched, filesTotal: files.length, totalReplacements },
        ),
      ),
  });
  plan.issues.push(...found.issues);
  for (const { target } of found.files.filter((file) => !isNameable(file)))
    plan.issues.push(`${target.displayPath}: left out (its name holds a control character)`);
  for (const { target } of plan.files)
    for (const { displayPath } of otherNames.get(target.path) ?? [])
      plan.issues.push(`${displayPath}: left out (a hard link to ${target.displayPath}; it keeps the old text)`);
  return { plan, details: previewDetails(plan, paths.join(", ")), isSingleFile: found.isSingleFile };
}

/** Before somebody's eyes, or, where nobody wants to look, onto the disk at once. */
async function deliver(
  parts: AstEditParts,
  found: Found,
  { toolCallId, search }: { toolCallId: string; search: Search },
): Promise<ToolResult> {
  const { staging, seen } = parts;
  const action = await actionFor(parts, found);
  const { label, sourceToolName, work } = action;
  const artifactId = await keepDiff(parts, found.plan);
  const { isSingleFile, plan, details } = found;
  const told = (headline: string, more: object) =>
    textResult(previewText(plan, { isSingleFile, headline, artifactId }), { ...details, ...more });
  const noteRewrites = () => {
    for (const { path, before, after } of work.plan.changes) seen?.noteRewrite(path, before, after);
  };
  if (staging.mode() === "off") {
    const { changeId } = await staging.applyNow(work.plan.changes, { label, sourceToolName });
    noteRewrites();
    return told(work.plan.applied.text, { applied: true, changeId });
  }
  const isForReview = staging.mode() === "all";
  let id = "";
  // Under review a search would see its own changes: whoever wants it again runs it again.
  const refresh = isForReview
    ? {}
    : { refresh: (signal: AbortSignal | undefined) => again(parts, { search, signal, id }) };
  id = await staging.stage({
    ...action,
    toolCallId,
    isForReview,
    dependsOn: stagedBelow(staging, work.plan.changes),
    work: { ...work, ...refresh, ...(isForReview ? {} : { afterApply: () => void noteRewrites() }) },
  });
  if (isForReview) noteRewrites(); // the session's tools see it from now on
  const next = isForReview ? "The user decides." : "Call resolve to apply or discard.";
  return told(`Staged as ${id} – files NOT modified. ${next}`, { pendingId: id });
}

/** The same search on the files as they are now. */
async function again(
  parts: AstEditParts,
  { search, signal, id }: { search: Search; signal: AbortSignal | undefined; id: string },
): Promise<RefreshedPlan> {
  const found = await search(signal);
  const { label, details, preview, work } = await actionFor(parts, found);
  const { isSingleFile, plan } = found;
  const text = previewText(plan, { isSingleFile, headline: "Previewed again; files NOT modified." });
  return { plan: work.plan, label, details, preview, result: textResult(text, { ...found.details, pendingId: id }) };
}

/** Refuses here what could not be written later. */
export async function actionFor({ workspace }: SearchParts, { plan, details }: Found) {
  if (plan.totalReplacements === 0) throw toolFailure("The pattern matches nothing any more.");
  const places = await workspace.resolveAll(
    plan.files.map(({ target }) => target.path),
    "write",
  );
  const changes: PlannedChange[] = [];
  await inLanes(plan.files.entries(), 8, async ([index, { target, before, after }]) => {
    const { path, displayPath } = places[index] as WriteTarget;
    const { mode } = await workspace.stat(target);
    changes[index] = { kind: "modify", path, stamp: stampOf(displayPath, { bytes: before, mode }), before, after };
  });
  const amount = `${count(plan.totalReplacements, "replacement")} in ${count(plan.files.length, "file")}`;
  const applied = { text: `Applied ${amount}.`, details: { ...details, applied: true } };
  return {
    label: `AST Edit: ${amount}`,
    sourceToolName: "ast_edit",
    details: { totalReplacements: plan.totalReplacements, filesTouched: plan.files.length },
    preview: { diff: details.diff },
    work: { kind: "plan" as const, plan: { changes, applied } },
  };
}

/** To write the diff of one file at a time would take longer than to make it. */
const minWritten = 128 * 1024;

/** The whole diff, where the text shows only its beginning. */
async function keepDiff({ artifacts }: AstEditParts, plan: RewritePlan): Promise<string | undefined> {
  if (plan.totalReplacements <= maxShownChanges) return undefined;
  const writer = await artifacts.open("ast_edit");
  let waiting = "";
  for (const file of plan.files) {
    waiting += fileDiff(file, Number.MAX_SAFE_INTEGER);
    if (waiting.length < minWritten) continue;
    await writer.write(Buffer.from(waiting));
    waiting = "";
  }
  if (waiting !== "") await writer.write(Buffer.from(waiting));
  await writer.close();
  return writer.id;
}

/** `path` for `paths`, and one text for a list. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { path, ...rest } = args;
  const paths = rest.paths ?? path;
  if (paths === undefined || paths === null) return rest;
  return { ...rest, paths: typeof paths === "string" ? [paths] : paths };
}

function checkOps(ops: readonly { readonly pat: string; readonly out: string }[]): RewriteOp[] {
  if (ops.length === 0) throw toolFailure("`ops` must include at least one op entry");
  const seen = new Set<string>();
  return ops.map(({ pat, out }, index) => {
    if (pat.trim() === "") throw toolFailure(`\`ops[${index}].pat\` must be a non-empty pattern`);
    if (pat.length > maxPatternLength)
      throw toolFailure(`\`ops[${index}].pat\` is longer than ${maxPatternLength} characters`);
    if (seen.has(pat)) throw toolFailure(`Duplicate rewrite pattern: ${pat}`);
    seen.add(pat);
    const where = `\`ops[${index}].out\``;
    return { pat, template: parseTemplate(out, { pat, where }), where };
  });
}

function checkLimit(limit: number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (!(limit >= 1)) throw toolFailure("limit must be a positive number");
  return Math.floor(limit);
}

function refuseUrl(path: string): void {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path))
    throw toolFailure(`Cannot rewrite external URL: ${path.slice(0, 200)}. Give a file, a directory or a glob.`);
}
