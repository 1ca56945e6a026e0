// The ast_edit tool: structural search and replace, shown before anything happens. It computes the exact plan and shows
// it; it has no way to write.

import type { XStatic } from "typebox/schema";
import type { Workspace } from "../workspace/workspace.js";
import { findFiles } from "./ast-files.js";
import { type Parsers, sharedParsers } from "./ast-parsers.js";
import { maxPatternLength } from "./ast-pattern.js";
import { previewDetails, previewText } from "./ast-preview.js";
import { planRewrite, type RewriteOp } from "./ast-rewrite.js";
import { parseTemplate } from "./ast-template.js";
import { count } from "./output-text.js";
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
  /** Default: those of this process. */
  parsers?: Parsers | undefined;
}

export function createAstEdit(
  workspace: Workspace,
  { maxFiles = 1000, parsers = sharedParsers() }: AstEditOptions = {},
): AgentTool<AstEditParams> {
  return {
    name: "ast_edit",
    label: "AST Edit",
    description:
      "Preview a structural code rewrite (ast-grep): $NAME matches one node, $$$NAME any number. Files are not modified.",
    parameters,
    approval: "write",
    prepareArguments,
    async execute(_toolCallId, params, signal, onUpdate) {
      const ops = checkOps(params.ops);
      const maxReplacements = checkLimit(params.limit);
      const paths = params.paths?.length ? params.paths : ["."];
      for (const path of paths) refuseUrl(path);
      const { glob, lang, sel } = params;
      const { files, language, ...found } = await findFiles(workspace, parsers, { paths, glob, lang, signal });
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
        onProgress: ({ filesSearched, totalReplacements }) =>
          onUpdate(
            textResult(
              `Searched ${filesSearched} of ${count(files.length, "file")}; ${count(totalReplacements, "replacement")} so far.`,
              { filesSearched, filesTotal: files.length, totalReplacements },
            ),
          ),
      });
      plan.issues.push(...found.issues);
      const result = textResult(previewText(plan, found), previewDetails(plan, paths.join(", ")));
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
