// A model that says what the test wrote down. It records every request, and fails the test when it is asked more
// often than the script allows or when steps are left over.

import { GalleyError } from "../base/errors.js";
import type { ProviderFailure, Usage } from "../protocol/messages.js";
import { type StreamEvent, type StreamFunction, type StreamRequest, zeroUsage } from "../provider/provider.js";

/** One reply: the events to send, in order; a function step runs in between and may wait. */
export type ScriptStep = (StreamEvent | ((request: StreamRequest) => void | Promise<void>))[];

export interface ScriptedModel {
  readonly stream: StreamFunction;
  /** Every request, as it was when it came. */
  readonly requests: StreamRequest[];
  /** Throws unless every step was used. */
  verify(): void;
}

export function scriptedModel(steps: readonly ScriptStep[]): ScriptedModel {
  const requests: StreamRequest[] = [];
  const surplus: string[] = [];
  return {
    requests,
    stream(request) {
      requests.push({ ...request, context: { ...request.context, messages: [...request.context.messages] } });
      const step = steps[requests.length - 1];
      if (step) return replay(step, request);
      const problem = `The script has ${steps.length} replies, but the model was asked ${requests.length} times`;
      surplus.push(problem);
      return replay([{ type: "error", reason: "error", errorMessage: problem }], request);
    },
    verify() {
      const unused = steps.length - requests.length;
      if (surplus[0]) throw new GalleyError("script_mismatch", surplus[0]);
      if (unused > 0)
        throw new GalleyError("script_mismatch", `${unused} of ${steps.length} scripted replies were not used`);
    },
  };
}

async function* replay(step: ScriptStep, request: StreamRequest): AsyncGenerator<StreamEvent> {
  for (const item of step) {
    if (typeof item === "function") await item(request);
    else yield item;
  }
}

/** A text answer, in one delta or in the given pieces. */
export function say(...pieces: string[]): ScriptStep {
  return [{ type: "start" }, ...textBlock(0, pieces), { type: "done", reason: "stop", usage: zeroUsage }];
}

/** One or more tool calls: `call("read", {path: "a"})`, or `calls(call…)` for several in one reply. */
export function call(name: string, args: unknown, id = "call_1"): ScriptStep {
  return calls({ name, args, id });
}

export function calls(...list: { name: string; args: unknown; id: string }[]): ScriptStep {
  return [
    { type: "start" },
    ...list.flatMap(({ name, args, id }, contentIndex): StreamEvent[] => [
      { type: "toolcall_start", contentIndex, id, name },
      { type: "toolcall_delta", contentIndex, delta: typeof args === "string" ? args : JSON.stringify(args) },
      { type: "toolcall_end", contentIndex },
    ]),
    { type: "done", reason: "toolUse", usage: zeroUsage },
  ];
}

/** A reply that fails, with text before the failure if any is given. */
export function fail(errorMessage: string, options: { failure?: ProviderFailure; after?: string[] } = {}): ScriptStep {
  const { failure, after } = options;
  return [
    ...(after ? [{ type: "start" } as const, ...textBlock(0, after)] : []),
    { type: "error", reason: "error", errorMessage, ...(failure ? { failure } : {}) },
  ];
}

export function textBlock(contentIndex: number, pieces: readonly string[]): StreamEvent[] {
  return [
    { type: "text_start", contentIndex },
    ...pieces.map((delta): StreamEvent => ({ type: "text_delta", contentIndex, delta })),
    { type: "text_end", contentIndex },
  ];
}

export function usageOf(input: number, output: number): Usage {
  return { ...zeroUsage, input, output, totalTokens: input + output };
}

/** A gate that a script step waits at until the test opens it. */
export function gate(): { wait: () => Promise<void>; open: () => void; reached: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let arrive = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return {
    wait() {
      arrive();
      return opened;
    },
    open,
    reached,
  };
}
