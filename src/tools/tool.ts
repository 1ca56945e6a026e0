// The tool contract: what the loop knows of any tool. A tool validates nothing itself (its schema does), throws to
// fail (the sentence goes to the model), and returns `details` as data for people and programs.

import { GalleyError } from "../base/errors.js";
import type { JsonSchema } from "../base/json.js";
import type { ToolResult } from "../protocol/events.js";

export type ApprovalTier = "read" | "write" | "exec";

/** What a running call may know of where it runs. */
export interface ToolContext {
  readonly cwd: string;
}

export type OnUpdate = (partial: ToolResult) => void;

export interface AgentTool<Params = never> {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** Not offered unless named or required. */
  readonly hidden?: boolean;
  /** Its work may end in a pending action. */
  readonly deferrable?: boolean;
  /** Ask the provider for strict schema mode where supported. */
  readonly strict?: boolean;
  /** Gets no signal and runs to its end. */
  readonly nonAbortable?: boolean;
  /** On a schema failure receive the raw arguments instead of an error. */
  readonly lenientArgValidation?: boolean;
  /** `exclusive` runs alone; default `shared`. */
  readonly concurrency?: "shared" | "exclusive";
  /** Default `exec`. */
  readonly approval?: ApprovalTier;
  /** Maps other spellings of the arguments to the published ones, before validation. */
  prepareArguments?(args: Record<string, unknown>): Record<string, unknown>;
  /** `signal` is absent for `nonAbortable` tools. Updates after the promise settled are ignored. */
  execute(
    toolCallId: string,
    params: Params,
    signal: AbortSignal | undefined,
    onUpdate: OnUpdate,
    context: ToolContext,
  ): Promise<ToolResult>;
}

/** Any tool, whatever its parameters: the loop hands over what validation returned. */
export type AnyTool = AgentTool<never>;

/** A failure whose sentence is meant for the model and says what to try next. */
export function toolFailure(message: string, cause?: unknown): GalleyError {
  return new GalleyError("tool_failed", message, cause === undefined ? {} : { cause });
}

export function textResult(text: string, details?: unknown): ToolResult {
  return { content: [{ type: "text", text }], ...(details === undefined ? {} : { details }) };
}
