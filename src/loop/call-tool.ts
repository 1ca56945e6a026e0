// One tool call: look it up, check its arguments, ask the gate, run it within bounds, and turn whatever happens
// into a result for the model.

import { AbortRace, linkAbort, whenAborted } from "../base/abort.js";
import { messageOf } from "../base/errors.js";
import { isObject, type JsonObject } from "../base/json.js";
import type { InputContent, ToolCall } from "../protocol/content.js";
import type { ToolResult } from "../protocol/events.js";
import type { AnyTool } from "../tools/tool.js";
import type { FinishedCall } from "./reply-builder.js";
import type { Run } from "./run.js";
import { abortedText, cutOffText, interruptedText, notStarted, syntheticResult } from "./synthetic-results.js";

/** How long a tool may ignore its signal before the run goes on without it. */
export const abortGraceMs = 5000;

export async function callTool(run: Run, finished: FinishedCall, batch: AbortSignal): Promise<ToolResult> {
  const { call } = finished;
  const tool = findTool(run.offeredTools, call.name);
  if (!tool) return failure(`Tool ${call.name} not found`);
  if (!finished.isComplete) return syntheticResult(cutOffText, false);

  const checked = await checkArguments(tool, finished.parsed);
  if (!checked.ok) return failure(checked.text);
  const link = linkAbort(run.parts.signal, batch);
  const execution = { run, tool, call, args: checked.args, stop: link.signal };
  let outcome: ToolResult;
  try {
    const refusal = await askHooks(execution);
    if (refusal) return refusal;
    outcome = await execute(execution);
  } catch (error) {
    outcome = failure(messageOf(error));
  } finally {
    link.release();
  }
  return afterwards(execution, outcome);
}

/** A name counts before anybody's alias. */
export function findTool(tools: readonly AnyTool[], name: string): AnyTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases?.includes(name));
}

let validation: Promise<typeof import("./validate-arguments.js")> | undefined;

type Checked = { ok: true; args: Record<string, unknown> } | { ok: false; text: string };

async function checkArguments(tool: AnyTool, parsed: unknown): Promise<Checked> {
  try {
    return await validate(tool, isObject(parsed) ? (tool.prepareArguments?.(parsed) ?? parsed) : parsed);
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
}

async function validate(tool: AnyTool, args: unknown): Promise<Checked> {
  // Loaded with the first call: the schema compiler is the heaviest thing a run needs.
  validation ??= import("./validate-arguments.js");
  const { validateArguments } = await validation;
  const result = validateArguments(tool.name, tool.parameters, args);
  return result.ok || !tool.lenientArgValidation || !isObject(args) ? result : { ok: true, args };
}

interface Execution {
  run: Run;
  tool: AnyTool;
  call: ToolCall;
  args: Record<string, unknown>;
  /** Fires when the run is aborted or the batch is interrupted. */
  stop: AbortSignal;
}

/** Undefined if the tool may run, with the arguments that the execution then has. What fails here is a refusal. */
async function askHooks(execution: Execution): Promise<ToolResult | undefined> {
  const { run, tool, call } = execution;
  const { hooks } = run.parts;
  try {
    execution.args = hooks.transformArguments?.(call, execution.args) ?? execution.args;
    const revision = await answerOf(execution, async () => hooks.reviseCall?.(tool, call, execution.args));
    if (revision === "stopped") return notStarted(run);
    if (revision && "block" in revision) return blocked(revision.block);
    if (revision) {
      const checked = await validate(tool, revision.args);
      if (!checked.ok) return failure(`The arguments were revised before the call.\n${checked.text}`);
      execution.args = checked.args;
    }
    const verdict = await answerOf(execution, async () =>
      hooks.beforeToolCall?.(tool, call, execution.args, execution.stop),
    );
    return verdict === "stopped" ? notStarted(run) : verdict && blocked(verdict.block);
  } catch (error) {
    return failure(messageOf(error));
  }
}

/** The answer may take a person's time, so a stop does not wait for it. */
async function answerOf<Answer>({ stop }: Execution, ask: () => Promise<Answer>): Promise<Answer | "stopped"> {
  const answer = await new AbortRace(stop).next(ask());
  return answer === "aborted" || stop.aborted ? "stopped" : answer;
}

function blocked(reason: string | true): ToolResult {
  return failure(reason === true ? "Tool execution was blocked" : reason);
}

/** Waits for the tool, or for the end of its grace after a signal. A late value is ignored. */
async function execute({ run, tool, call, args, stop }: Execution): Promise<ToolResult> {
  const { signal, clock, toolContext } = run.parts;
  let isSettled = false;
  const announce = (partialResult: ToolResult) => {
    const { id: toolCallId, name: toolName, arguments: shown } = call;
    if (!isSettled) run.emit({ type: "tool_execution_update", toolCallId, toolName, args: shown, partialResult });
  };
  const onUpdate = newestOnly(run, (partial) => announce(normalize(run, tool.name, partial)));
  const cutShort = () => syntheticResult(signal.aborted ? abortedText() : interruptedText, true);
  // Hands over from what validation returned to what the tool declared: the schema is the proof.
  const work = (async () =>
    tool.execute(call.id, args as never, tool.nonAbortable ? undefined : stop, onUpdate, toolContext))();
  const outcome = work.then(
    (result) => normalize(run, tool.name, result),
    (error: unknown) => {
      // A tool that stops for a message has no outcome of its own; one told by nobody has failed.
      if (stop.aborted && !signal.aborted && !tool.nonAbortable)
        return { ...cutShort(), details: { started: true, error: messageOf(error) } };
      return failure(messageOf(error));
    },
  );
  const abort = whenAborted(stop);
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
  }
}

/** While the reader of the events is behind, only the newest progress waits: a chatty tool must not fill the memory. */
function newestOnly(run: Run, announce: (partial: ToolResult) => void): (partial: ToolResult) => void {
  const { events } = run.parts;
  let waiting: ToolResult | undefined;
  return (partial) => {
    if (!events.isBusy && !waiting) return announce(partial);
    const isFirst = !waiting;
    waiting = partial;
    if (!isFirst) return;
    void events.drained().then(() => {
      const newest = waiting;
      waiting = undefined;
      if (newest) announce(newest);
    });
  };
}

async function afterwards({ run, tool, call, args }: Execution, outcome: ToolResult): Promise<ToolResult> {
  const { afterToolCall } = run.parts.hooks;
  if (!afterToolCall) return outcome;
  try {
    return normalize(run, call.name, await afterToolCall(call, outcome, { tool, args }));
  } catch (error) {
    return failure(messageOf(error));
  }
}

function failure(text: string): ToolResult {
  return { content: [{ type: "text", text }], details: {}, isError: true };
}

/** Other people's tools return all sorts of things; the loop goes on with what is usable. */
function normalize(run: Run, toolName: string, value: unknown): ToolResult {
  const { content, details, isError, isWarning, terminate }: JsonObject = isObject(value) ? value : { content: value };
  if (!Array.isArray(content) || !content.every(isInputContent))
    run.parts.log.warn(`tool ${toolName} returned content of an unknown shape; only what is usable was kept`);
  return {
    content: [content].flat().map(asBlock).filter(isInputContent),
    ...(details === undefined ? {} : { details }),
    ...(isError === true ? { isError } : {}),
    ...(isWarning === true ? { isWarning } : {}),
    ...(terminate === true ? { terminate } : {}),
  };
}

function asBlock(block: unknown): unknown {
  return typeof block === "string" ? { type: "text", text: block } : block;
}

function isInputContent(block: unknown): block is InputContent {
  if (!isObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}
