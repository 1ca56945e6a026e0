// The ls tool: the names in one directory, sorted, and whether there are more.

import type { XStatic } from "typebox/schema";
import { GalleyError } from "../base/errors.js";
import { printable } from "../files/paths/resolve-path.js";
import type { Workspace } from "../files/workspace.js";
import { cutText } from "./output/text.js";
import { listResult, resultLimit } from "./search/find-result.js";
import { notFound } from "./search/search-roots.js";
import { type AgentTool, toolFailure } from "./tool.js";

const defaultLimit = 500;

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Default: working directory" },
    limit: { type: "number", description: "Most entries (500)" },
  },
} as const;

type LsParams = XStatic<typeof parameters>;

export function createLs(workspace: Workspace): AgentTool<LsParams> {
  return {
    name: "ls",
    label: "List",
    description: "List a directory, hidden names included; directories end in /.",
    parameters,
    approval: "read",
    async execute(_toolCallId, { path = ".", limit }, signal) {
      const wanted = resultLimit(limit, defaultLimit);
      const target = await workspace.resolve(path, "read").catch((error: unknown) => {
        throw GalleyError.is(error, "not_found") ? notFound(path) : error;
      });
      if (target.kind !== "directory") throw toolFailure(`Not a directory: ${cutText(printable(path), 200)}`);
      const { entries, total } = await workspace.list(target, { limit: wanted, signal });
      if (entries.length === 0) return { ...listResult(["(empty directory)"]), isWarning: true };
      const lines = entries.map(({ name, kind }) => `${printable(name)}${kind === "directory" ? "/" : ""}`);
      return listResult(lines, { limitReached: total > wanted ? wanted : undefined });
    },
  };
}
