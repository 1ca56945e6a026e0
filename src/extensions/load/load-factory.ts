// From a module's export to tools: finds the factory, runs it, and checks every tool it returns. One bad tool is one
// sentence and does not affect the others.

import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { CustomTool, CustomToolAPI, CustomToolFactory } from "../api/custom-tool.js";
import { type ToolSchema, toToolSchema } from "./schema-json.js";

export interface FoundTool {
  readonly tool: CustomTool;
  readonly schema: ToolSchema;
}

export const noFactoryText = "Tool must export a default function";
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** A module's default export. What it takes and gives depends on what the module is for. */
export type ModuleFactory = (pi: never) => unknown;

/** `module.default`, the default inside it, or the module itself: bundlers and CommonJS differ. */
export function factoryOf(exports: unknown): ModuleFactory | undefined {
  const outer = (exports as { default?: unknown } | null | undefined)?.default;
  const inner = (outer as { default?: unknown } | null | undefined)?.default;
  const factory = [outer, inner, exports].find((candidate) => typeof candidate === "function");
  return factory as ModuleFactory | undefined;
}

/** What the factory made, and a sentence for each tool that cannot be used. */
export async function makeTools(
  factory: CustomToolFactory,
  api: CustomToolAPI,
): Promise<{ found: FoundTool[]; problems: string[]; isWaitedFor: boolean }> {
  const result: unknown = factory(api);
  const isWaitedFor = result instanceof Promise;
  const made = await result;
  const found: FoundTool[] = [];
  const problems: string[] = [];
  const list: unknown[] = made === null || made === undefined ? [] : Array.isArray(made) ? made : [made];
  for (const [index, tool] of list.entries()) {
    try {
      const shape = `Tool factory returned invalid tool at index ${index}`;
      found.push(checkTool(tool, shape));
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return { found, problems, isWaitedFor };
}

/** Throws a sentence; where not even the shape is right, one that begins as given. */
export function checkTool(tool: unknown, beginning: string): FoundTool {
  if (!isTool(tool))
    throw new Error(
      `${beginning}: expected object with string name, string description, parameters, and execute function`,
    );
  return { tool, schema: toolSchemaOf(tool) };
}

/** Of a tool of a module or of a host. Throws `invalid_argument` for a name or a schema that no model would take. */
export function toolSchemaOf({ name, parameters }: { name: string; parameters: unknown }): ToolSchema {
  if (namePattern.test(name)) return toToolSchema(name, parameters);
  const sentence = `Tool name ${JSON.stringify(name)} is invalid: use 1 to 64 letters, digits, "_" or "-"`;
  throw new GalleyError("invalid_argument", sentence);
}

function isTool(tool: unknown): tool is CustomTool {
  if (!isObject(tool)) return false;
  const { name, description, parameters, execute } = tool;
  const hasParameters = (typeof parameters === "object" && parameters !== null) || typeof parameters === "function";
  return typeof name === "string" && typeof description === "string" && hasParameters && typeof execute === "function";
}
