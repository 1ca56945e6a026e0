// The engine behind `ast_edit` for programs: the same search and the same bytes, as data. It stages nothing: a caller
// with `dryRun: false` has decided.

import { GalleyError } from "../../base/errors.js";
import type { Workspace } from "../../files/workspace.js";
import type { PlannedChange } from "../../plans/plan.js";
import { actionFor } from "../ast-edit.js";
import type { RipgrepDeps } from "../search/ripgrep.js";
import { toolFailure } from "../tool.js";
import type { Parsers } from "./parsers.js";
import { planFor } from "./plan-rewrite.js";
import { issueBlock } from "./report.js";
import type { PlannedFile, Replacement } from "./rewrite.js";

export interface AstEditRequest {
  /** Tried in this order; all match the files as they are. */
  readonly ops?: readonly { readonly pat: string; readonly out: string }[];
  /** The same by pattern, instead of `ops`. */
  readonly rewrites?: Readonly<Record<string, string>>;
  /** A file, a directory, a glob, or several; default: the working directory. */
  readonly path?: string | readonly string[];
  readonly glob?: string;
  readonly lang?: string;
  /** The kind of node to replace; patterns are then its context. */
  readonly selector?: string;
  /** Default: true, and nothing is written. */
  readonly dryRun?: boolean;
  readonly maxReplacements?: number;
  readonly maxFiles?: number;
  /** Throw where something could not be parsed, before anything is written. */
  readonly failOnParseError?: boolean;
  readonly signal?: AbortSignal;
}

/** Lines and columns are counted from 1, in the file as it was; the end is behind the last character. */
export interface AstChange extends Readonly<Replacement> {
  readonly path: string;
  readonly deletedLength: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export interface AstEditOutcome {
  readonly changes: readonly AstChange[];
  readonly fileChanges: readonly { readonly path: string; readonly count: number }[];
  readonly totalReplacements: number;
  readonly filesTouched: number;
  readonly filesSearched: number;
  /** Files were written. */
  readonly applied: boolean;
  readonly limitReached: boolean;
  readonly parseErrors?: readonly string[];
}

export interface AstEngineDeps {
  readonly workspace: Workspace;
  readonly ripgrep?: RipgrepDeps | undefined;
  readonly parsers?: Parsers | undefined;
  /** Where the request names none. */
  readonly maxFiles?: number | undefined;
  /** All or nothing. */
  apply(changes: readonly PlannedChange[], what: { label: string; sourceToolName: string }): Promise<unknown>;
}

/** Throws what `ast_edit` would fail with. */
export async function runAstEdit(deps: AstEngineDeps, request: AstEditRequest): Promise<AstEditOutcome> {
  const { path, glob, lang, selector: sel, dryRun = true, maxReplacements: limit, failOnParseError, signal } = request;
  const maxFiles = limitOf(request.maxFiles) ?? deps.maxFiles;
  const params = { ops: opsOf(request), paths: typeof path === "string" ? [path] : path, glob, lang, sel, limit };
  const found = await planFor({ ...deps, maxFiles }, params, { signal, onUpdate: () => {} });
  const { files, totalReplacements, filesSearched, limitReached, issues } = found.plan;
  if (failOnParseError && issues.length > 0) throw toolFailure(issueBlock(issues).join("\n"));
  const applied = !dryRun && totalReplacements > 0;
  if (applied) {
    const { label, sourceToolName, work } = await actionFor(deps, found);
    await deps.apply(work.plan.changes, { label, sourceToolName });
  }
  return {
    changes: files.flatMap(changesIn),
    fileChanges: files.map(({ target, replacements }) => ({ path: target.displayPath, count: replacements.length })),
    totalReplacements,
    filesTouched: files.length,
    filesSearched,
    applied,
    limitReached,
    ...(issues.length > 0 ? { parseErrors: issues } : {}),
  };
}

function opsOf({ ops, rewrites }: AstEditRequest): { pat: string; out: string }[] {
  if ((ops === undefined) === (rewrites === undefined))
    throw new GalleyError("invalid_argument", "astEdit takes either ops or rewrites.");
  const pairs = ops ?? Object.entries(rewrites ?? {}).map(([pat, out]) => ({ pat, out }));
  return pairs.map(({ pat, out }) => {
    if (typeof pat !== "string" || typeof out !== "string")
      throw new GalleyError("invalid_argument", "A pattern and its replacement must be strings.");
    return { pat, out };
  });
}

function limitOf(maxFiles: number | undefined): number | undefined {
  if (maxFiles !== undefined && !(maxFiles >= 1)) throw toolFailure("maxFiles must be a positive number");
  return maxFiles;
}

function changesIn({ target, replacements }: PlannedFile): AstChange[] {
  return replacements.map(({ before, after, byteStart, byteEnd, startLine, startColumn }) => {
    const lines = before.split("\n");
    const lastLength = (lines.at(-1) as string).length;
    return {
      path: target.displayPath,
      before,
      after,
      byteStart,
      byteEnd,
      deletedLength: byteEnd - byteStart,
      startLine,
      startColumn,
      endLine: startLine + lines.length - 1,
      endColumn: lines.length === 1 ? startColumn + lastLength : lastLength + 1,
    };
  });
}
