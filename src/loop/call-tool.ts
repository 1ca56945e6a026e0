// One tool call: look it up, check its arguments, ask the gate, run it within bounds, and turn whatever happens
// into a result for the model.

import { linkAbort, whenAborted } from "../base/abort.js";
import { messageOf } from "../base/errors.js";
import { isObject } from "../base/json.js";
import type { InputContent, ToolCall } from "../protocol/content.js";
import type { ToolResult } from "../protocol/events.js";
import type { AnyTool } from "../tools/tool.js";
import type { FinishedCall } from "./reply-builder.js";
import type { Run } from "./run.js";
import { abortedText, cutOffText, interruptedText, syntheticResult } from "./synthetic-results.js";

/** How long a tool may ignore its signal before the run goes on without it. */
export const abortGraceMs = 5000;

export async function callTool(run: Run, finished: FinishedCall, batch: AbortSignal): Promise<ToolResult> {
  const { call } = finished;
  const tool = run.parts.tools().find((candidate) => candidate.name === call.name);
  if (!tool) return failure(`Tool ${call.name} not found`);
  if (!finished.isComplete) return syntheticResult(cutOffText, false);

  const checked = await checkArguments(tool, finished.parsed);
  if (!checked.ok) return failure(checked.text);
  let outcome: ToolResult;
  try {
    const { beforeToolCall, transformArguments } = run.parts.hooks;
    const args = transformArguments?.(call, checked.args) ?? checked.args;
    const verdict = await beforeToolCall?.(tool, call, args);
    if (verdict) return failure(verdict.block === true ? "Tool execution was blocked" : verdict.block);
    outcome = await execute({ run, tool, call, args, batch });
  } catch (error) {
    outcome = failure(messageOf(error));
  }
  return afterwards(run, call, outcome);
}

let validation: Promise<typeof import("./validate-arguments.js")> | undefined;

type Checked = { ok: true; args: Record<string, unknown> } | { ok: false; text: string };

async function checkArguments(tool: AnyTool, parsed: unknown): Promise<Checked> {
  // Loaded with the first call: the schema compiler is the heaviest thing a run needs.
  validation ??= import("./validate-arguments.js");
  const { validateArguments } = await validation;
  let prepared = parsed;
  try {
    if (isObject(parsed)) prepared = tool.prepareArguments?.(parsed) ?? parsed;
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
  const result = validateArguments(tool.name, tool.parameters, prepared);
  if (result.ok || !tool.lenientArgValidation || !isObject(prepared)) return result;
  return { ok: true, args: prepared };
}

interface Execution {
  run: Run;
  tool: AnyTool;
  call: ToolCall;
  args: Record<string, unknown>;
  batch: AbortSignal;
}

/** Waits for the tool, or for the end of its grace after a signal. A late value is ignored. */
async function execute({ run, tool, call, args, batch }: Execution): Promise<ToolResult> {
  const { signal, clock, toolContext } = run.parts;
  const link = linkAbort(signal, batch);
  let isSettled = false;
  const onUpdate = (partial: ToolResult) => {
    if (isSettled) return;
    const { id: toolCallId, name: toolName, arguments: shown } = call;
    run.emit({
      type: "tool_execution_update",
      toolCallId,
      toolName,
      args: shown,
      partialResult: normalize(run, tool.name, partial),
    });
  };
  const cutShort = () => syntheticResult(signal.aborted ? abortedText() : interruptedText, true);
  // Hands over from what validation returned to what the tool declared: the schema is the proof.
  const work = (async () =>
    tool.execute(call.id, args as never, tool.nonAbortable ? undefined : link.signal, onUpdate, toolContext))();
  const outcome = work.then(
    (result) => normalize(run, tool.name, result),
    (error: unknown) => {
      // A tool that stops because it was told to has no outcome of its own; one told by nobody has failed.
      if (batch.aborted && !signal.aborted)
        return { ...cutShort(), details: { started: true, error: messageOf(error) } };
      return failure(messageOf(error));
    },
  );
  const abort = whenAborted(link.signal);
  let cancelGrace = () => {};
  const grace = abort.promise.then(
    () =>
      new Promise<ToolResult>((resolve) => {
        if (!isSettled) cancelGrace = clock.after(abortGraceMs, () => resolve(cutShort()));
      }),
  );
  try {
    return await (tool.nonAbortable ? outcome : Promise.race([outcome, grace]));
  } finally {
    isSettled = true;
    cancelGrace();
    abort.release();
    link.release();
  }
}

async function afterwards(run: Run, call: ToolCall, outcome: ToolResult): Promise<ToolResult> {
  const { afterToolCall } = run.parts.hooks;
  if (!afterToolCall) return outcome;
  try {
    return normalize(run, call.name, await afterToolCall(call, outcome));
  } catch (error) {
    return failure(messageOf(error));
  }
}

function failure(text: string): ToolResult {
  return { content: [{ type: "text", text }], details: {}, isError: true };
}

/** Other people's tools return all sorts of things; the loop goes on with what is usable. */
function normalize(run: Run, toolName: string, value: unknown): ToolResult {
  if (isObject(value) && Array.isArray(value.content)) {
    const content = value.content.filter(isInputContent);
    if (content.length !== value.content.length)
      run.parts.log.warn(`tool ${toolName} returned content blocks of an unknown shape; they were left out`);
    return {
      content,
      ...(value.details === undefined ? {} : { details: value.details }),
      ...(value.isError === true ? { isError: true } : {}),
      ...(value.isWarning === true ? { isWarning: true } : {}),
      ...(value.terminate === true ? { terminate: true } : {}),
    };
  }
  run.parts.log.warn(`tool ${toolName} returned no content array`);
  const text =
    typeof value === "string"
      ? value
      : isObject(value) && typeof value.content === "string"
        ? value.content
        : undefined;
  return { content: text === undefined ? [] : [{ type: "text", text }] };
}

function isInputContent(block: unknown): block is InputContent {
  if (!isObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}
