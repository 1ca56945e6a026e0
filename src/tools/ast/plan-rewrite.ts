// What ast_edit would change: the search, and the exact bytes of every file it touches.

import type { Target, Workspace } from "../../files/workspace.js";
import { count } from "../output/text.js";
import type { RipgrepDeps } from "../search/ripgrep.js";
import { type OnUpdate, textResult, toolFailure } from "../tool.js";
import { findFiles, withoutOtherNames } from "./files.js";
import { type Parsers, sharedParsers } from "./parsers.js";
import { maxPatternLength } from "./pattern.js";
import { type AstEditDetails, prepareDiff, previewDetails } from "./preview.js";
import { planRewrite, type RewriteOp, type RewritePlan } from "./rewrite.js";
import { parseTemplate } from "./rewrite-template.js";
import { createPrefilter, type Prefilter } from "./ripgrep-prefilter.js";

export interface AstEditOptions {
  /** Most files one plan may touch. */
  maxFiles?: number | undefined;
  /** Default: those of this process. */
  parsers?: Parsers | undefined;
  /** Lists files and says which need not be read; without it directories are walked, and every file is. */
  ripgrep?: RipgrepDeps | undefined;
}

export interface SearchDeps extends AstEditOptions {
  readonly workspace: Workspace;
}

/** As a model gives it. */
export interface AstEditRequest {
  readonly ops: readonly { readonly pat: string; readonly out: string }[];
  readonly paths?: readonly string[];
  readonly glob?: string;
  readonly lang?: string;
  readonly sel?: string;
  readonly limit?: number;
}

export interface Found {
  plan: RewritePlan;
  details: AstEditDetails;
  isSingleFile: boolean;
}

interface Progress {
  signal: AbortSignal | undefined;
  onUpdate: OnUpdate;
}

export async function planFor(deps: SearchDeps, params: AstEditRequest, progress: Progress): Promise<Found> {
  const ops = checkOps(params.ops);
  const { workspace, ripgrep, parsers = sharedParsers() } = deps;
  const search = { pats: ops.map(({ pat }) => pat), sel: params.sel, lang: params.lang, signal: progress.signal };
  const sieve = ripgrep && createPrefilter({ ...ripgrep, workspace }, search);
  try {
    return await planWith({ ...deps, parsers }, { ...params, ops, sieve }, progress);
  } finally {
    sieve?.end();
  }
}

interface PreparedParams extends Omit<AstEditRequest, "ops"> {
  readonly ops: RewriteOp[];
  readonly sieve: Prefilter | undefined;
}

async function planWith(
  { workspace, parsers, maxFiles = 1000 }: SearchDeps & { readonly parsers: Parsers },
  { ops, sieve, ...params }: PreparedParams,
  { signal, onUpdate }: Progress,
): Promise<Found> {
  const maxReplacements = checkLimit(params.limit);
  const paths = params.paths?.length ? params.paths : ["."];
  for (const path of paths) refuseUrl(path);
  const { glob, lang, sel } = params;
  const { language, ...found } = await findFiles(workspace, parsers, { paths, glob, lang, sieve, signal });
  const isNameable = ({ target }: { target: Target }) => !/\p{Cc}/u.test(target.path); // other names are never written
  const { files, otherNames } = await withoutOtherNames(workspace, found.files.filter(isNameable));
  if (files.length === 0 && !language)
    throw toolFailure("`lang` is required for ast_edit when no files match path/glob");

  const plan = await planRewrite(workspace, parsers, {
    files,
    ops,
    language,
    sel,
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

function checkOps(ops: AstEditRequest["ops"]): RewriteOp[] {
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
