// One tool, run for the user or a program instead of a model: found, checked, gated and bounded as any call. What it
// stages stays pending in the session.

import { GalleyError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { maskDeep, noMask } from "../base/text-mask.js";
import { callTool, findTool } from "../loop/call-tool.js";
import type { CallRun, ToolHooks } from "../loop/run.js";
import { endCall, startCall } from "../loop/synthetic-results.js";
import type { ToolCall } from "../protocol/content.js";
import type { ToolResult } from "../protocol/events.js";
import type { AnyTool } from "../tools/tool.js";
import { approveAll, createGate } from "./approval.js";
import { busyText } from "./run-driver.js";
import type { SessionInternals } from "./session-internals.js";

export interface ToolRunRequest {
  readonly name: string;
  readonly args: JsonObject;
  readonly signal?: AbortSignal;
}

export interface ToolRun {
  readonly result: ToolResult;
  /** A hook or the policy refused it. */
  readonly isDenied: boolean;
}

type ToolSession = Pick<SessionInternals, "deps" | "current" | "events" | "driver" | "tools" | "pending">;

/** Throws `not_found` for a name that no tool has, `invalid_argument` for wrong arguments, `busy` during a run. */
export async function runTool(session: ToolSession, request: ToolRunRequest): Promise<ToolRun> {
  const { deps, current, driver, tools, pending } = session;
  const { name, args, signal = new AbortController().signal } = request;
  if (driver.isStreaming) throw new GalleyError("busy", busyText);
  const tool = findTool([...tools.all, ...tools.offered([name])], name);
  if (!tool) throw new GalleyError("not_found", `Tool ${name} not found`);
  await refuseInvalid(tool, args);
  const { record } = current;
  const shown = maskDeep(args, (deps.secrets ?? noMask).mask);
  const entry = record.append({ type: "custom", customType: "tool_run", data: { tool: tool.name, arguments: shown } });
  const call: ToolCall = { type: "toolCall", id: `run_${entry.id}`, name: tool.name, arguments: shown };
  let isDenied = false;
  const run = callRun(session, { tool, signal, onDenied: () => (isDenied = true) });
  startCall(run, call);
  const result = await callTool(run, { call, parsed: args, isComplete: true }, signal);
  endCall(run, call, result);
  pending.toolResultRecorded(call.id, entry.id);
  await pending.flush();
  return { result, isDenied };
}

/** As the call does it, but told apart from a tool that fails. */
async function refuseInvalid(tool: AnyTool, args: JsonObject): Promise<void> {
  if (tool.lenientArgValidation) return;
  const { validateArguments } = await import("../loop/validate-arguments.js");
  const checked = validateArguments(tool.name, tool.parameters, tool.prepareArguments?.(args) ?? args);
  if (!checked.ok) throw new GalleyError("invalid_argument", checked.text);
}

function callRun(
  { deps, current, events, driver, pending }: ToolSession,
  { tool, signal, onDenied }: { tool: AnyTool; signal: AbortSignal; onDenied(): void },
): CallRun {
  const { clock, log, cwd, hooks = {}, secrets: mask, maskResult } = deps;
  const gate = createGate({
    hook: hooks.beforeToolCall,
    policy: deps.approve ?? approveAll,
    secure: () => {
      current.record.wantFile(); // the request for a change outlives the change
      return current.record.sync();
    },
    begins: ({ id }) => pending.toolRuns(id),
  });
  const watching =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const answer = await ask(...args);
      if (typeof answer === "object" && answer !== null && "block" in answer) onDenied();
      return answer;
    };
  const watchedHooks: ToolHooks = {
    ...hooks,
    ...(hooks.reviseCall ? { reviseCall: watching(hooks.reviseCall.bind(hooks)) } : {}),
    beforeToolCall: watching(gate),
  };
  return {
    context: {
      events,
      signal,
      clock,
      graceClock: driver.graceClock,
      log,
      mask,
      maskResult,
      hooks: watchedHooks,
      toolContext: { cwd },
    },
    offeredTools: [tool],
    emit: (event) => events.emit(event),
  };
}
