// The custom tool contract: what a custom tool module exports, and what it is given. The names and the order of
// arguments are those that published tools were written for.

import type { ToolResult } from "../../protocol/events.js";
import type { ApprovalTier } from "../../tools/tool.js";
import type { CustomToolContext } from "./custom-tool-context.js";
import type { ToolUI } from "./custom-tool-ui.js";
import type { RenderHooks } from "./render.js";
import type { ExecOptions, ExecResult } from "./tool-api-exec.js";
import type { CustomToolPendingAction } from "./tool-api-pending.js";

/** A module's default export. Nothing (`null`, `undefined`, `[]`) means: no tool on this machine. */
export type CustomToolFactory = (pi: CustomToolAPI) => FactoryResult | Promise<FactoryResult>;
// biome-ignore lint/suspicious/noExplicitAny: a list of tools whose parameters differ has no other type
type FactoryResult = CustomTool<any, any> | readonly CustomTool<any, any>[] | null | undefined;

export type CustomToolResult<Details = unknown> = Omit<ToolResult, "details"> & { details?: Details };

export interface ApprovalVerdict {
  readonly tier: ApprovalTier;
  readonly reason?: string;
}

export type CustomToolApproval<Params> =
  | ApprovalTier
  | ApprovalVerdict
  | ((args: Params) => ApprovalTier | ApprovalVerdict);

/** `Parameters` is any kind of schema: TypeBox of either line, zod, arktype or plain JSON Schema. */
// biome-ignore lint/suspicious/noExplicitAny: what a schema of another library describes is known only there
export interface CustomTool<Params = any, Details = any> extends RenderHooks {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  /** Default: the name. */
  label?: string;
  description: string;
  parameters: unknown;
  /** Only active when named explicitly. */
  hidden?: boolean;
  /** May stage pending actions. */
  deferrable?: boolean;
  strict?: boolean;
  /** Default `exec`, or `write` for a deferrable tool. */
  approval?: CustomToolApproval<Params>;
  formatApprovalDetails?(args: Params): string | string[];
  loadMode?: "essential" | "discoverable";
  mcpServerName?: string;
  mcpToolName?: string;
  /** Throws to fail; the sentence goes to the model. */
  execute(
    toolCallId: string,
    params: Params,
    onUpdate: ((partial: CustomToolResult<Details>) => void) | undefined,
    ctx: CustomToolContext,
    signal?: AbortSignal,
  ): Promise<CustomToolResult<Details>>;
  onSession?(event: CustomToolSessionEvent, ctx: CustomToolContext): void | Promise<void>;
}

/** What happens to the session around the tool. Fields beside `reason` are those of the session's own event. */
export type CustomToolSessionEvent =
  | { readonly reason: "start" | "shutdown" | "tree"; readonly previousSessionFile: undefined }
  | { readonly reason: "switch" | "branch"; readonly previousSessionFile: string | undefined }
  | {
      readonly reason: "auto_compaction_start";
      readonly trigger: "threshold" | "overflow" | "idle" | "incomplete";
      readonly action: string;
    }
  | {
      readonly reason: "auto_compaction_end";
      readonly action: string;
      readonly result: unknown;
      readonly aborted: boolean;
      readonly willRetry: boolean;
      readonly errorMessage?: string;
    }
  | {
      readonly reason: "auto_retry_start";
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly delayMs: number;
      readonly errorMessage: string;
    }
  | {
      readonly reason: "auto_retry_end";
      readonly success: boolean;
      readonly attempt: number;
      readonly finalError?: string;
    }
  | { readonly reason: "ttsr_triggered"; readonly rules: readonly unknown[] }
  | {
      readonly reason: "todo_reminder";
      readonly todos: readonly unknown[];
      readonly attempt: number;
      readonly maxAttempts: number;
    };

/** One object for all tools of a session. */
export interface CustomToolAPI {
  readonly cwd: string;
  /** Runs a program without a shell. Never rejects because of how it ended. */
  exec(command: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Always the same object; the front end behind it may change. */
  readonly ui: ToolUI;
  readonly hasUI: boolean;
  readonly logger: ToolLogger;
  /** `@sinclair/typebox` 0.34. */
  readonly typebox: typeof import("@sinclair/typebox");
  /** zod 4; `record` also takes a value schema alone. */
  readonly zod: typeof import("zod");
  /** What `import * as galley from "galley"` gives. */
  readonly pi: Readonly<Record<string, unknown>>;
  /** Returns the id of the action, or with `plan` a promise of it. */
  pushPendingAction(action: CustomToolPendingAction): string | Promise<string>;
}

export interface ToolLogger {
  debug(message: string, fields?: unknown): void;
  info(message: string, fields?: unknown): void;
  warn(message: string, fields?: unknown): void;
  error(message: string, fields?: unknown): void;
}

const definition = Symbol.for("galley.toolDefinition");

/** Says that `execute` takes `(toolCallId, params, onUpdate, ctx, signal)`. A tool without a mark does so too. */
export function defineCustomTool<Params, Details>(tool: CustomTool<Params, Details>): CustomTool<Params, Details> {
  return tool;
}

/** Says that `execute` takes `(toolCallId, params, signal, onUpdate, ctx)`, as tools of extensions do. */
export function defineTool<Tool extends object>(tool: Tool): Tool {
  Object.defineProperty(tool, definition, { value: true });
  return tool;
}

export function isToolDefinition(tool: object): boolean {
  return definition in tool;
}

const agentTool = Symbol.for("galley.agentTool");

/** Says that a tool already has the loop's form, and is used as it is. */
export function defineAgentTool<Tool extends object>(tool: Tool): Tool {
  Object.defineProperty(tool, agentTool, { value: true });
  return tool;
}

export function isAgentTool(tool: object): boolean {
  return agentTool in tool;
}
