// The ast_edit tool: structural search and replace, shown before anything happens. It computes the exact plan and shows
// it; it has no way to write.

import type { XStatic } from "typebox/schema";
import type { Target, Workspace } from "../workspace/workspace.js";
import { type Grammar, grammarNamed, grammarOf, grammarOfNamed } from "./ast-languages.js";
import { maxPatternLength } from "./ast-pattern.js";
import { previewDetails, previewText } from "./ast-preview.js";
import { planRewrite, type RewriteOp } from "./ast-rewrite.js";
import { parseTemplate } from "./ast-template.js";
import { count } from "./output-text.js";
import { findScope, type ScopedFile } from "./scope.js";
import { type AgentTool, textResult, toolFailure } from "./tool.js";

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
      description: "Files, directories or globs; default: working directory",
    },
    glob: { type: "string", description: "Extra filter below paths" },
    lang: { type: "string", description: "Language, if the file ending does not tell" },
    sel: { type: "string", description: "Node kind to match; pat is then its context" },
    limit: { type: "number", description: "Most replacements in total" },
  },
  required: ["ops"],
} as const;

type AstEditParams = XStatic<typeof parameters>;

export interface AstEditOptions {
  /** Most files one plan may touch. */
  maxFiles?: number | undefined;
}

export function createAstEdit(
  workspace: Workspace,
  { maxFiles = 1000 }: AstEditOptions = {},
): AgentTool<AstEditParams> {
  return {
    name: "ast_edit",
    label: "AST Edit",
    description:
      "Preview a structural code rewrite (ast-grep): $NAME matches one node, $$$NAME any number. Files are not modified.",
    parameters,
    approval: "read",
    prepareArguments,
    async execute(_toolCallId, params, signal, onUpdate) {
      const ops = checkOps(params.ops);
      const maxReplacements = checkLimit(params.limit);
      const lang = params.lang === undefined ? undefined : grammarNamed(params.lang);
      const paths = params.paths?.length ? params.paths : ["."];
      for (const path of paths) refuseUrl(path);
      const accepts = (path: string) => (lang ? grammarOf(path) === lang : grammarOf(path) !== undefined);
      const scope = await findScope(workspace, { paths, glob: params.glob, accepts, signal });
      const { known: files, unknown } = withGrammars(scope.files, lang);
      if (files.length === 0 && !lang)
        throw toolFailure("`lang` is required for ast_edit when no files match path/glob");

      const plan = await planRewrite(workspace, {
        files,
        ops,
        grammar: lang,
        sel: params.sel,
        maxReplacements,
        maxFiles,
        signal,
        onProgress: ({ filesSearched, totalReplacements }) =>
          onUpdate(
            textResult(
              `Searched ${filesSearched} of ${count(files.length, "file")}; ${count(totalReplacements, "replacement")} so far.`,
              { filesSearched, filesTotal: files.length, totalReplacements },
            ),
          ),
      });
      plan.issues = [
        ...plan.issues,
        ...unknown.map((path) => `${path}: parse error (unknown file ending; give lang)`),
        ...scope.unreadable.map((path) => `${path}: parse error (the directory cannot be read)`),
      ];
      const result = textResult(previewText(plan, scope), previewDetails(plan, paths.join(", ")));
      return plan.totalReplacements === 0 ? { ...result, isWarning: true } : result;
    },
  };
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

/** Files whose language is known, and those that were named although it is not. */
function withGrammars(files: readonly ScopedFile[], lang: Grammar | undefined) {
  const known: { target: Target; grammar: Grammar }[] = [];
  const unknown: string[] = [];
  for (const { target, isNamed } of files) {
    const grammar = lang ?? (isNamed ? grammarOfNamed(target.path) : grammarOf(target.path));
    if (grammar) known.push({ target, grammar });
    else unknown.push(target.displayPath);
  }
  return { known, unknown };
}
