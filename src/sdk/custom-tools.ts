// The tools that a program passes in: in the form of the loop, which are used as they are, or as custom tools, which
// get their context and the session's events like those that are found.

import { GalleyError } from "../base/errors.js";
import { isObject } from "../base/json.js";
import { type CustomTool, isAgentTool } from "../extensions/api/custom-tool.js";
import type { ToolDefinition } from "../extensions/api/extension.js";
import type { FoundTool } from "../extensions/load/load-factory.js";
import type { AnyTool } from "../tools/tool.js";

/** `defineAgentTool` and `defineTool` say what a tool is; one without a mark is a custom tool. */
export type GivenTool = CustomTool | ToolDefinition | AnyTool;

export interface GivenTools {
  readonly agent: readonly AnyTool[];
  readonly custom: readonly FoundTool[];
}

/** Throws `invalid_argument` for one that cannot be used. */
export async function sortGivenTools(given: readonly GivenTool[]): Promise<GivenTools> {
  const isAgent = (tool: GivenTool) => isObject(tool) && isAgentTool(tool); // JavaScript callers have no compiler
  const agent = given.filter(isAgent) as readonly AnyTool[];
  if (agent.length === given.length) return { agent, custom: [] };
  const { checkTool } = await import("../extensions/load/load-factory.js");
  const custom = given
    .filter((tool) => !isAgent(tool))
    .map((tool, index) => {
      try {
        return checkTool(tool, `customTools has an invalid tool at index ${index}`);
      } catch (error) {
        throw new GalleyError("invalid_argument", (error as Error).message);
      }
    });
  return { agent, custom };
}

/** Returns the remaining built-in tools. Throws `invalid_argument` where a name is taken, or is `reserved`. */
export function withoutReplaced(
  builtIn: readonly AnyTool[],
  { agent, custom }: GivenTools,
  options: { overrideBuiltins?: boolean | undefined; known: readonly AnyTool[]; reserved: string },
): readonly AnyTool[] {
  const { overrideBuiltins = false, known, reserved } = options;
  const names = [...agent, ...custom.map(({ tool }) => tool)].map(({ name }) => name);
  const taken = names.find(
    (name, index) =>
      names.indexOf(name) !== index ||
      name === reserved ||
      (!overrideBuiltins && known.some((tool) => tool.name === name)),
  );
  if (taken !== undefined)
    throw new GalleyError("invalid_argument", `Tool name ${JSON.stringify(taken)} conflicts with existing tool`);
  return builtIn.filter(({ name }) => !names.includes(name));
}
