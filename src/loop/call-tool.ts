// One tool call: look it up, check its arguments, ask the gate, run it within bounds, and turn whatever happens
// into a result for the model.

import { AbortRace, linkAbort, whenAborted } from "../base/abort.js";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { isObject, type JsonObject } from "../base/json.js";
import { stripEscapes } from "../base/sanitize.js";
import { maskDeep, minBeginning, noMask } from "../base/text-mask.js";
import { TimeSlices } from "../base/time-slices.js";
import type { InputContent, ToolCall } from "../protocol/content.js";
import type { ToolResult } from "../protocol/events.js";
import type { AnyTool } from "../tools/tool.js";
import type { FinishedCall } from "./reply-builder.js";
import type { CallRun } from "./run.js";
import { isCostlySchema } from "./schema-cost.js";
import { abortedText, cutOffText, interruptedText, notStarted, syntheticResult } from "./synthetic-results.js";

/** How long a tool may ignore its signal before the run goes on without it. */
export const abortGraceMs = 5000;
/** Less than what an abort waits beyond the tool's own grace. */
const hookGraceMs = 200;
const unreleasedText = "The run was aborted before its result was released, so the result is not shown.";

export async function callTool(run: CallRun, finished: FinishedCall, batch: AbortSignal): Promise<ToolResult> {
  return masked(run, await outcomeOf(run, finished, batch));
}

async function outcomeOf(run: CallRun, finished: FinishedCall, batch: AbortSignal): Promise<ToolResult> {
  const { call } = finished;
  const tool = findTool(run.offeredTools, call.name);
  if (!tool) return failure(`Tool ${call.name} not found`);
  if (!finished.isComplete) return syntheticResult(cutOffText, false);

  const link = linkAbort(run.context.signal, batch);
  const execution: Execution = { run, tool, call, args: {}, stop: link.signal, isCutShort: false };
  let outcome: ToolResult;
  try {
    const refusal = (await checkArguments(execution, finished.parsed)) ?? (await askHooks(execution));
    if (refusal) return refusal;
    outcome = await execute(execution);
  } catch (error) {
    outcome = failure(messageOf(error));
  } finally {
    link.release();
  }
  return afterwards(execution, outcome);
}

/** Neither the model nor a hook, an event or the record sees a secret that a tool came across. */
function masked({ context: { maskResult } }: CallRun, result: ToolResult): ToolResult {
  if (!maskResult) return result;
  const content = result.content.map((block) => (block.type === "text" ? maskDeep(block, maskResult) : block));
  return { ...result, content, ...("details" in result ? { details: maskDeep(result.details, maskResult) } : {}) };
}

/** Names win over aliases. */
export function findTool(tools: readonly AnyTool[], name: string): AnyTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases?.includes(name));
}

let validation: Promise<typeof import("./validate-arguments.js")> | undefined;

/** Between two checks that may take long an abort must be noticed, however many calls a reply has. */
const slices = new TimeSlices({ sliceMs: 50 });

type Checked = { ok: true; args: Record<string, unknown> } | { ok: false; text: string };

/** Undefined if the arguments are valid; then they are stored in the execution. Otherwise the refusal. */
async function checkArguments(execution: Execution, parsed: unknown): Promise<ToolResult | undefined> {
  const { run, tool } = execution;
  try {
    const args = isObject(parsed) ? (tool.prepareArguments?.(parsed) ?? parsed) : parsed;
    const checked = await validate(execution, args);
    if (checked === "stopped") return notStarted(run);
    if (!checked.ok) return failure(checked.text);
    execution.args = checked.args;
    return undefined;
  } catch (error) {
    return failure(messageOf(error));
  }
}

async function validate({ tool, stop }: Execution, args: unknown): Promise<Checked | "stopped"> {
  // Loaded with the first call: the schema compiler is the heaviest thing a run needs.
  validation ??= import("./validate-arguments.js");
  const { validateArguments } = await validation;
  if (isCostlySchema(tool.parameters)) {
    // Checked again after each wait: all waiting calls wake at once, and the first may have used up the slice.
    for (let turn = slices.turn(); turn; turn = slices.turn()) await turn;
    if (stop.aborted) return "stopped";
  }
  const result = validateArguments(tool.name, tool.parameters, args);
  return result.ok || !tool.lenientArgValidation || !isObject(args) ? result : { ok: true, args };
}

interface Execution {
  run: CallRun;
  tool: AnyTool;
  call: ToolCall;
  args: Record<string, unknown>;
  /** Fires when the run is aborted or the batch is interrupted. */
  stop: AbortSignal;
  /** The run did not wait for its end: the outcome is not the tool's own. */
  isCutShort: boolean;
}

/** Undefined if the tool may run, with the arguments that are then stored in the execution. Otherwise the refusal. */
async function askHooks(execution: Execution): Promise<ToolResult | undefined> {
  const { run, tool, call } = execution;
  const { hooks } = run.context;
  try {
    execution.args = hooks.transformArguments?.(call, execution.args) ?? execution.args;
    const revision = await answerOf(execution, async () => hooks.reviseCall?.(tool, call, execution.args));
    if (revision === "stopped") return notStarted(run);
    if (revision && "block" in revision) return blocked(revision.block);
    if (revision) {
      const checked = await validate(execution, revision.args);
      if (checked === "stopped") return notStarted(run);
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
async function execute(execution: Execution): Promise<ToolResult> {
  const { run, tool, call, args, stop } = execution;
  const { signal, clock, graceClock = clock, toolContext } = run.context;
  let hasEnded = false;
  // It is only shown, and may end within a secret.
  const { mask = noMask } = run.context;
  const excerpt = (text: string) => mask.excerpt(text, minBeginning);
  const progress = (partial: ToolResult) => (mask.isActive ? maskDeep(partial, excerpt) : partial);
  const announce = (partialResult: ToolResult) => {
    const { id: toolCallId, name: toolName, arguments: shown } = call;
    const update = { toolCallId, toolName, args: shown, partialResult: progress(partialResult) };
    if (!hasEnded) run.emit({ type: "tool_execution_update", ...update });
  };
  const onUpdate = newestOnly(run, (partial) => announce(normalize(run, tool.name, partial, tool.givesAway)));
  const cutShort = () => {
    execution.isCutShort = true;
    return syntheticResult(signal.aborted ? abortedText() : interruptedText, true);
  };
  // From the validated value to the type that the tool declared: the schema proves that it fits.
  const work = (async () =>
    tool.execute(call.id, args as never, tool.nonAbortable ? undefined : stop, onUpdate, toolContext))();
  const outcome = work.then(
    (result) => {
      const fault = faultOf(result);
      return fault === undefined
        ? normalize(run, tool.name, result, tool.givesAway)
        : failure(`Tool "${tool.name}" returned ${fault}. ${resultShape}`);
    },
    (error: unknown) => {
      // A tool that stops for a queued message has no outcome of its own; one that stops without a reason has failed.
      if (stop.aborted && !signal.aborted && !tool.nonAbortable)
        return { ...cutShort(), details: { started: true, error: messageOf(error) } };
      return failure(messageOf(error));
    },
  );
  try {
    if (tool.nonAbortable) return await outcome;
    return await withGrace(outcome, { stop, clock: graceClock, graceMs: abortGraceMs, instead: cutShort });
  } finally {
    hasEnded = true;
  }
}

interface Grace<Result> {
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly graceMs: number;
  instead(): Result;
}

/** The result of the work, or `instead()` when the grace period after the signal has passed. */
async function withGrace<Result>(
  work: Promise<Result>,
  { stop, clock, graceMs, instead }: Grace<Result>,
): Promise<Result> {
  const abort = whenAborted(stop);
  let hasEnded = false;
  let cancel = () => {};
  const late = abort.promise.then(
    () =>
      new Promise<Result>((resolve) => {
        if (!hasEnded) cancel = clock.after(graceMs, () => resolve(instead()), { isAwaited: true });
      }),
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    hasEnded = true;
    cancel();
    abort.release();
  }
}

/** While the reader of the events is behind, only the newest progress waits: a chatty tool must not fill the memory. */
function newestOnly(run: CallRun, announce: (partial: ToolResult) => void): (partial: ToolResult) => void {
  const { events } = run.context;
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

/** A hook that delays the result, perhaps to edit it, must not keep an aborted run open. */
async function afterwards(execution: Execution, outcome: ToolResult): Promise<ToolResult> {
  const { run, tool, call, args } = execution;
  const { signal: stop, clock, hooks, mask = noMask } = run.context;
  if (!hooks.afterToolCall) return outcome;
  const seen = masked(run, outcome);
  try {
    const instead = () => unreleased(execution, seen);
    // Before the call a hook may change the arguments and sees them as they are; now they are only told.
    const told = mask.isActive ? maskDeep(args, mask.mask) : args;
    const released = hooks.afterToolCall(call, seen, { tool, args: told });
    return normalize(run, call.name, await withGrace(released, { stop, clock, graceMs: hookGraceMs, instead }));
  } catch (error) {
    return failure(messageOf(error));
  }
}

/** The tool has done its work. A model that believes otherwise would do it again. */
function unreleased({ isCutShort }: Execution, { content, isError = false }: ToolResult): ToolResult {
  if (isCutShort) return { content, details: { started: true }, isError: true };
  const text = `The tool ${isError ? "failed" : "finished"}. ${unreleasedText}`;
  return { content: [{ type: "text", text }], details: { started: true }, ...(isError ? { isError } : {}) };
}

function failure(text: string): ToolResult {
  return { content: [{ type: "text", text: stripEscapes(text) }], details: {}, isError: true };
}

const resultShape =
  'It may have done its work. A result is an object with "content", a list of blocks {type: "text", text} or ' +
  '{type: "image", data, mimeType}.';

/** What a model must not take for an empty answer. A text alone is one, and so is a list with one usable block. */
function faultOf(result: unknown): string | undefined {
  if (typeof result === "string") return undefined;
  if (!isObject(result)) return Array.isArray(result) ? "a list" : String(JSON.stringify(result));
  const { content } = result;
  if (content === undefined && ("details" in result || "isError" in result)) return undefined;
  if (typeof content === "string" || isInputContent(content)) return undefined;
  if (!Array.isArray(content)) {
    const names = Object.keys(result).slice(0, 8).join(", ");
    return `an object without a list "content"${names && ` (it has: ${names})`}`;
  }
  if (content.length === 0 || content.some((block) => isInputContent(asBlock(block)))) return undefined;
  return `no block that can be used (the first: ${(JSON.stringify(content[0]) ?? "undefined").slice(0, 100)})`;
}

/** Of a list of blocks, what is valid. */
function normalize(run: CallRun, toolName: string, value: unknown, isOurs = false): ToolResult {
  const { content, details, isError, isWarning, terminate }: JsonObject = isObject(value) ? value : { content: value };
  if (!Array.isArray(content) || !content.every(isInputContent))
    run.context.log.warn(`tool ${toolName} returned content of an unknown shape; only what is usable was kept`);
  const taken = isOurs ? { content, details } : { content: copyOf(content), details: copyOf(details) };
  return {
    content: [taken.content].flat().map(asBlock).filter(isInputContent).map(withoutEscapes),
    details: taken.details,
    ...(isError === true ? { isError } : {}),
    ...(isWarning === true ? { isWarning } : {}),
    ...(terminate === true ? { terminate } : {}),
  };
}

/** A copy: events and messages must not change when the tool changes its objects later. */
function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  try {
    return structuredClone(value);
  } catch {
    return asInFile(value); // it holds a function, or something else that cannot be cloned
  }
}

function asInFile(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return value; // no file will hold it either
  }
}

function asBlock(block: unknown): unknown {
  return typeof block === "string" ? { type: "text", text: block } : block;
}

/** Removes terminal sequences: for a model they are noise, or text that the user does not see. */
function withoutEscapes(block: InputContent): InputContent {
  if (block.type !== "text") return block;
  const text = stripEscapes(block.text);
  return text === block.text ? block : { ...block, text };
}

function isInputContent(block: unknown): block is InputContent {
  if (!isObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}
