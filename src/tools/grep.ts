// The grep tool: lines that match, by file in the order of paths, so that the same search tells the same twice.

import type { XStatic } from "typebox/schema";
import { placesOf } from "./find-places.js";
import { checkQuery, prepareGrep } from "./grep-query.js";
import { grepResult } from "./grep-result.js";
import { searchFirst } from "./grep-search.js";
import type { SearchParts } from "./ripgrep.js";
import type { AgentTool } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    pattern: { type: "string" },
    path: { type: "string", description: "File, directory, glob or comma list" },
    glob: { type: "string", description: "e.g. *.ts" },
    type: { type: "string", description: "e.g. ts, py" },
    i: { type: "boolean", description: "Ignore case" },
    pre: { type: "number", description: "Lines before" },
    post: { type: "number", description: "Lines after" },
    multiline: { type: "boolean" },
    gitignore: { type: "boolean", description: "false: search ignored files too" },
    limit: { type: "number", description: "Most matches (20)" },
    offset: { type: "number", description: "Matches to skip" },
  },
  required: ["pattern"],
} as const;

type GrepParams = XStatic<typeof parameters>;

export function createGrep(parts: SearchParts): AgentTool<GrepParams> {
  return {
    name: "grep",
    label: "Grep",
    description: "Search files with a regular expression (ripgrep). Ignored and binary files are skipped.",
    parameters,
    approval: "read",
    prepareArguments: prepareGrep,
    async execute(_toolCallId, params, signal) {
      const query = checkQuery(params);
      const places = await placesOf(parts.workspace, params.path || ".");
      const found = await searchFirst(parts, query, { places, signal });
      const isSingleFile = places.length === 1 && places[0]?.target.kind === "file";
      return grepResult(found, query, { isSingleFile });
    },
  };
}
