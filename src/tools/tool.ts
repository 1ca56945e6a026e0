// The tool contract: what the loop knows of any tool. A tool validates nothing itself (its schema does), throws to
// fail (the sentence goes to the model), and returns `details` as data for people and programs.

import { GalleyError } from "../base/errors.js";
import type { JsonSchema } from "../base/json.js";
import type { ToolResult } from "../protocol/events.js";

/**
 * How calls of one reply run: `shared` side by side, `exclusive` alone. `together`: with calls of the same tool that follow
 * each other, a few at a time, and alone for all others.
 */
export type Concurrency = "shared" | "exclusive" | "together";

export type ApprovalTier = "read" | "write" | "exec";

/** What a running call may know of where it runs. */
export interface ToolContext {
  readonly cwd: string;
}

/** Where output that is too long for a conversation is kept; a reader is told `artifact://<id>`. */
export interface ArtifactSink {
  open(toolName: string): Promise<ArtifactWriter>;
}

export interface ArtifactSource extends ArtifactSink {
  /** The beginning of it, at most `maxBytes`; undefined where there is no such artifact. */
  readBytes(id: string, maxBytes: number): Promise<{ bytes: Uint8Array; isTruncated: boolean } | undefined>;
}

/** Grows while a tool runs. What was written before a crash stays. */
export interface ArtifactWriter {
  readonly id: string;
  /** Where it lies on the disk, if it does. */
  readonly path?: string | undefined;
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export type OnUpdate = (partial: ToolResult) => void;

export interface AgentTool<Params = never> {
  readonly name: string;
  /** Other names that a model may call it by; only the first is offered. */
  readonly aliases?: readonly string[];
  readonly label: string;
  readonly description: string;
  /** What arguments are checked against. */
  readonly parameters: JsonSchema;
  /** What models are shown instead, with every request: the same without what only guards us. */
  readonly published?: JsonSchema;
  /** Not offered unless named or required. */
  readonly hidden?: boolean;
  /** Its work may end in a pending action. */
  readonly deferrable?: boolean;
  /** A line about it in the system prompt, and rules of its use there. */
  readonly promptSnippet?: string;
  readonly promptGuidelines?: readonly string[];
  /** It returns a new object each time and never changes it later: the loop need not copy it. */
  readonly givesAway?: boolean;
  /** Ask the provider for strict schema mode where supported. */
  readonly strict?: boolean;
  /** Gets no signal and runs to its end. */
  readonly nonAbortable?: boolean;
  /** On a schema failure receive the raw arguments instead of an error. */
  readonly lenientArgValidation?: boolean;
  /** Of the calls of one reply; default `shared`. A function is asked when the reply is there. */
  readonly concurrency?: Concurrency | (() => Concurrency);
  /** Default `exec`. A function sees the arguments that will really run. */
  readonly approval?: ApprovalTier | ((args: Record<string, unknown>) => ApprovalTier);
  /** Of a module that the user installed or trusted, which says nothing about what its calls may do. */
  readonly isUndeclared?: true;
  /** Its calls run through the session's sandbox, and may be staged there. */
  readonly isCommand?: true;
  /** What a person is shown of a call, line by line; undefined: the arguments. */
  approvalDetails?(args: Record<string, unknown>): readonly string[] | undefined;
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

/** Dialogs with the user. Every dialog ends: with an answer, or with `undefined` if it is cancelled, aborted or late. */
export interface Dialogs {
  select(title: string, options: readonly string[], extra?: DialogOptions): Promise<string | undefined>;
  input(title: string, placeholder?: string, extra?: DialogOptions): Promise<string | undefined>;
}

export interface DialogOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Called before the dialog ends without an answer. */
  onTimeout?(): void;
  readonly initialIndex?: number | undefined;
}

/** Any tool, whatever its parameters: the loop hands over what validation returned. */
export type AnyTool = AgentTool<never>;

/** The tier of a call with these arguments. A tool without a tier gets the highest one. */
export function tierOf(tool: AnyTool, args: Record<string, unknown>): ApprovalTier {
  const { approval = tool.deferrable ? "write" : "exec" } = tool;
  return typeof approval === "function" ? approval(args) : approval;
}

/** A failure whose sentence is meant for the model and says what to try next. */
export function toolFailure(message: string, cause?: unknown): GalleyError {
  return new GalleyError("tool_failed", message, cause === undefined ? {} : { cause });
}

export function textResult(text: string, details?: unknown): ToolResult {
  return { content: [{ type: "text", text }], details };
}
