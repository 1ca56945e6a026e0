// What can be said about tools without running them: for the list of tools, and for authors who want to know whether a
// module is usable.

import { messageOf } from "../../base/errors.js";
import { isObject, type JsonSchema } from "../../base/json.js";
import type { ApprovalTier } from "../../tools/tool.js";
import type { CustomTool } from "../api/custom-tool.js";
import type { ModuleSource } from "../discover/findings.js";
import type { LoadedCustomTool, LoadedCustomTools } from "./load.js";

export interface ToolReport {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly path: string;
  readonly source?: ModuleSource;
  readonly parameters: JsonSchema;
  readonly isHidden: boolean;
  readonly isDeferrable: boolean;
  /** `varies`: it depends on the arguments. */
  readonly approval: ApprovalTier | "varies";
  readonly hooks: readonly string[];
}

export interface ToolCheck {
  readonly tools: readonly ToolReport[];
  /** Why something cannot be used. */
  readonly problems: readonly string[];
  /** What would help a model to use it well. */
  readonly advice: readonly string[];
}

const hookNames = ["onSession", "renderCall", "renderResult", "formatApprovalDetails"] as const;

export function reportTools({ tools }: LoadedCustomTools): ToolReport[] {
  return tools.map(({ tool, resolvedPath, source, schema }) => ({
    name: tool.name,
    label: tool.label ?? tool.name,
    description: tool.description,
    path: resolvedPath,
    ...(source ? { source } : {}),
    parameters: schema.json,
    isHidden: tool.hidden === true,
    isDeferrable: tool.deferrable === true,
    approval: approvalOf(tool),
    hooks: hookNames.filter((name) => typeof tool[name] === "function"),
  }));
}

/** Of modules that were just loaded. */
export async function checkTools(loaded: LoadedCustomTools): Promise<ToolCheck> {
  const problems = loaded.errors.map(({ path, error }) => `${path}: ${error}`);
  const advice: string[] = [];
  for (const one of loaded.tools) {
    const problem = await schemaProblem(one);
    if (problem !== undefined) problems.push(problem);
    advice.push(...adviceFor(one));
  }
  return { tools: reportTools(loaded), problems, advice };
}

function approvalOf({ approval, deferrable }: CustomTool): ToolReport["approval"] {
  if (typeof approval === "function") return "varies";
  const tier = isObject(approval) ? approval.tier : (approval ?? (deferrable ? "write" : "exec"));
  return tier === "read" || tier === "write" ? tier : "exec";
}

/** The check of a call's arguments is made from the schema with the first call; here it is made in advance. */
async function schemaProblem({ tool, schema }: LoadedCustomTool): Promise<string | undefined> {
  const { Compile } = await import("typebox/compile");
  try {
    Compile(schema.json).Check({});
    return undefined;
  } catch (error) {
    return `${tool.name}: arguments cannot be checked against the parameters: ${messageOf(error)}`;
  }
}

function adviceFor({ tool, schema }: LoadedCustomTool): string[] {
  const advice: string[] = [];
  if (tool.label === undefined) advice.push(`${tool.name} has no label; people see its name`);
  if (tool.description.trim().length < 20)
    advice.push(`${tool.name} has a very short description; it is all a model knows of the tool`);
  const properties = isObject(schema.json.properties) ? schema.json.properties : {};
  const bare = Object.entries(properties).filter(([, property]) => !(isObject(property) && property.description));
  if (bare.length > 0) advice.push(`${tool.name}: no description for ${bare.map(([name]) => name).join(", ")}`);
  return advice;
}
