// The ast_edit tool: structural search and replace. It computes the exact bytes of every file and stages them: what is
// applied later is what was shown, not another search.

import type { XStatic } from "typebox/schema";
import { GalleyError } from "../base/errors.js";
import { type AstEditParts, deliver, type Search } from "./ast-edit-deliver.js";
import { planFor } from "./ast-edit-plan.js";
import { nothingFoundText } from "./ast-preview.js";
import { type AgentTool, textResult } from "./tool.js";

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

/** A turn's calls run side by side, and each of them may stage once. */
const maxAttempts = 10;

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

/** `path` for `paths`, and one text for a list. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { path, ...rest } = args;
  const paths = rest.paths ?? path;
  if (paths === undefined || paths === null) return rest;
  return { ...rest, paths: typeof paths === "string" ? [paths] : paths };
}
