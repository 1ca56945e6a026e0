// A custom tool as the loop sees any tool. The adapter knows in which order the tool wants its arguments, gives it a
// context of its own for every call, and waits for what the call staged.

import { isObject, type JsonObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import { stripInvisible } from "../../base/sanitize.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { ToolResult } from "../../protocol/events.js";
import type { AgentTool, ApprovalTier, OnUpdate } from "../../tools/tool.js";
import { type ModuleCall, runAsHost, runGuarded } from "../load/load-guard.js";
import { type ToolSchema, toToolSchema } from "../load/schema-json.js";
import { type CustomTool, isToolDefinition } from "./custom-tool.js";
import { type CustomToolContext, createToolContext, type ToolHost } from "./custom-tool-context.js";
import { failureOf } from "./custom-tool-failure.js";
import type { LiveUI } from "./custom-tool-ui.js";
import { logFailure } from "./log-failure.js";

export interface AdaptedTool {
  readonly tool: CustomTool;
  /** The module it came from. */
  readonly resolvedPath: string;
  /** Made at load; absent for a tool that a program handed over. */
  readonly schema?: ToolSchema;
  /** `execute` takes its arguments in the order of extensions; default: as the tool is marked. */
  readonly isDefinition?: boolean;
}

export type AdapterDeps = { readonly log: Log } & (
  | {
      readonly live: LiveUI;
      /** Asked at every call: the session may not exist yet when the tools are made. */
      host(): ToolHost;
    }
  | { createContext(call: { toolCallId: string; signal: AbortSignal | undefined }): CustomToolContext }
);

type Execute = (...args: unknown[]) => Promise<ToolResult>;

/** Throws `invalid_argument` for parameters that cannot be turned into JSON Schema. */
export function adaptCustomTool(adapted: AdaptedTool, deps: AdapterDeps): AgentTool<JsonObject> {
  const { tool, resolvedPath } = adapted;
  const { name, label = name, hidden, deferrable, strict, approval } = tool;
  const { json, validate } = adapted.schema ?? toToolSchema(name, tool.parameters);
  const { isDefinition = isToolDefinition(tool) } = adapted;
  const contextFor = (call: { toolCallId: string; signal: AbortSignal | undefined }) =>
    "host" in deps ? createToolContext(deps.host(), deps.live, call) : deps.createContext(call);
  return {
    name,
    label,
    description: visibleDescription(adapted, deps.log),
    parameters: json,
    ...(hidden === true ? { hidden } : {}),
    ...(deferrable === true ? { deferrable } : {}),
    ...(strict === true ? { strict } : {}),
    ...(approval === undefined ? { isUndeclared: true } : { approval: (args: JsonObject) => tierFor(approval, args) }),
    ...(typeof tool.formatApprovalDetails === "function"
      ? { approvalDetails: (args: JsonObject) => approvalDetails(adapted, args, deps.log) }
      : {}),
    async execute(toolCallId, params, signal, onUpdateOfHost) {
      const onUpdate: OnUpdate = (partial) => runAsHost(() => onUpdateOfHost(partial));
      const call: ModuleCall = { toolCallId, unfinished: [] };
      const ctx = contextFor({ toolCallId, signal });
      return runGuarded({ path: resolvedPath, log: deps.log, call, signal }, async () => {
        const checked = validate ? await validate(params) : params;
        const args = inOrder(isDefinition, { toolCallId, checked, onUpdate, ctx, signal });
        try {
          // As a method: the tool may be an instance of a class.
          const result = await (tool.execute as Execute).apply(tool, args);
          await Promise.all(call.unfinished);
          return result;
        } catch (error) {
          if (!signal?.aborted) runAsHost(() => logThrown(adapted, { what: "tool", thrown: error, log: deps.log }));
          throw error; // the model reads the message
        }
      });
    },
  };
}

/** More than a user is shown. */
const maxDetailsLength = 128 * 1024;

/** The tool's own description of a call. It gets a copy of the arguments: what was asked about is what runs. */
function approvalDetails({ tool, resolvedPath }: AdaptedTool, args: JsonObject, log: Log): string[] | undefined {
  try {
    const copy = structuredClone(args);
    const answer: unknown = runGuarded({ path: resolvedPath, log }, () => tool.formatApprovalDetails?.(copy));
    const texts: unknown[] = Array.isArray(answer) ? answer : [answer];
    if (!texts.every((text) => typeof text === "string")) return undefined;
    const shown = texts.join("\n").slice(0, maxDetailsLength);
    return shown.trim() === "" ? undefined : shown.split("\n");
  } catch (error) {
    logThrown({ tool, resolvedPath }, { what: "formatApprovalDetails of", thrown: error, log });
    return undefined; // then the arguments are shown as they are
  }
}

export function logThrown(
  { tool, resolvedPath }: { readonly tool: { readonly name: string }; readonly resolvedPath: string },
  { what, thrown, log }: { what: string; thrown: unknown; log: Log },
): void {
  const failure = failureOf(thrown);
  logFailure(log, `${printable(resolvedPath)}: ${what} ${tool.name} failed: ${failure.error}`, failure);
}

/** It instructs a model, so it holds nothing that a user could not see. */
function visibleDescription({ tool, resolvedPath }: AdaptedTool, log: Log): string {
  const { text, findings } = stripInvisible(tool.description);
  if (findings !== "") log.warn(`${printable(resolvedPath)}: removed ${findings} from the description of ${tool.name}`);
  return text;
}

interface Arguments {
  toolCallId: string;
  checked: unknown;
  onUpdate: OnUpdate;
  ctx: CustomToolContext;
  signal: AbortSignal | undefined;
}

function inOrder(isDefinition: boolean, { toolCallId, checked, onUpdate, ctx, signal }: Arguments): unknown[] {
  return isDefinition ? [toolCallId, checked, signal, onUpdate, ctx] : [toolCallId, checked, onUpdate, ctx, signal];
}

/** What cannot be understood counts as the highest tier. */
function tierFor(approval: unknown, args: JsonObject): ApprovalTier {
  try {
    const verdict: unknown = typeof approval === "function" ? approval(args) : approval;
    const tier = isObject(verdict) ? verdict.tier : verdict;
    return tier === "read" || tier === "write" ? tier : "exec";
  } catch {
    return "exec"; // a failed answer is no permission
  }
}
