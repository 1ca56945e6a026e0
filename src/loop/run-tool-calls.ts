// The schedule of one reply's calls. Consecutive shared calls run side by side, and so do a few calls of one tool that
// allows it; an exclusive call is a barrier on both sides. Ends are announced as they happen; results become messages in the order of the calls, each as soon as
// all before it are there, so that the context does not depend on which call was faster.

import { messageOf } from "../base/errors.js";
import type { ToolResult } from "../protocol/events.js";
import type { ToolResultMessage } from "../protocol/messages.js";
import type { AnyTool } from "../tools/tool.js";
import { callTool, findTool } from "./call-tool.js";
import type { QueuedMessage } from "./message-queues.js";
import type { FinishedCall } from "./reply-builder.js";
import type { Run } from "./run.js";
import { endCall, notStarted, startCall } from "./synthetic-results.js";

export interface Batch {
  /** In call order. */
  readonly results: ToolResultMessage[];
  /** Messages that interrupted the batch: they open the next turn. */
  readonly steering: QueuedMessage[];
  /** Every call asked for the end of the run. */
  readonly terminate: boolean;
}

export async function runToolCalls(run: Run, calls: readonly FinishedCall[]): Promise<Batch> {
  const schedule = new Schedule(run, calls.length);
  const all: Promise<void>[] = [];
  /** Everything before the group that is being filled; the group's calls; which calls belong to it. */
  let before: readonly Promise<void>[] = [];
  let group: Promise<void>[] = [];
  let groupName = "";
  for (const [index, call] of calls.entries()) {
    const { name, width } = groupOf(findTool(run.offeredTools, call.call.name), index);
    if (name !== groupName) {
      before = group;
      group = [];
      groupName = name;
    }
    // In call order: the one that begins next waits for the end of the one that makes room.
    const room = group.length < width ? [] : [whenEnded(group, group.length - width + 1)];
    const done = Promise.allSettled([...before, ...room]).then(() => schedule.run(index, call));
    all.push(done);
    group.push(done);
  }
  // No call may go on, and no event may be sent, after this returns or throws.
  for (const outcome of await Promise.allSettled(all)) if (outcome.status === "rejected") throw outcome.reason;
  return schedule.finish();
}

/** At the same time, of one tool. */
const maxTogether = 32;

/** Calls that follow each other and have the same name run at the same time, `width` of them. */
function groupOf(tool: AnyTool | undefined, index: number): { name: string; width: number } {
  const concurrency = typeof tool?.concurrency === "function" ? tool.concurrency() : tool?.concurrency;
  if (concurrency === "exclusive") return { name: `call ${index}`, width: 1 };
  if (concurrency === "together") return { name: `tool ${tool?.name}`, width: maxTogether };
  return { name: "shared", width: Number.POSITIVE_INFINITY };
}

/** Resolves when so many of them have ended, in whatever order. */
function whenEnded(calls: readonly Promise<void>[], count: number): Promise<void> {
  return new Promise((resolve) => {
    let ended = 0;
    for (const call of calls)
      void call
        .catch(() => {})
        .then(() => {
          if (++ended === count) resolve();
        });
  });
}

class Schedule {
  readonly #run: Run;
  readonly #batch = new AbortController();
  readonly #waiting: (ToolResultMessage | undefined)[];
  readonly #results: ToolResultMessage[] = [];
  #steering: QueuedMessage[] = [];
  #ended = 0;
  #terminating = 0;

  constructor(run: Run, count: number) {
    this.#run = run;
    this.#waiting = new Array(count);
  }

  /** Whatever goes wrong with one call is that call's result; this rejects only if the result cannot be recorded. */
  async run(index: number, finished: FinishedCall): Promise<void> {
    const { call } = finished;
    startCall(this.#run, call);
    const isStopped = this.#run.context.signal.aborted || this.#batch.signal.aborted;
    const result = isStopped ? notStarted(this.#run) : await this.#execute(finished);
    if (result.terminate) this.#terminating++;
    this.#waiting[index] = endCall(this.#run, call, result);
    this.#deliverPrefix();
    this.#pollSteering();
  }

  finish(): Batch {
    const terminate = this.#results.length > 0 && this.#terminating === this.#results.length;
    return { results: this.#results, steering: this.#steering, terminate };
  }

  async #execute(finished: FinishedCall): Promise<ToolResult> {
    try {
      return await callTool(this.#run, finished, this.#batch.signal);
    } catch (error) {
      this.#run.context.log.error(`running the tool call ${finished.call.name} failed unexpectedly`, error);
      return { content: [{ type: "text", text: messageOf(error) }], details: {}, isError: true };
    }
  }

  #deliverPrefix(): void {
    for (let next = this.#waiting[this.#results.length]; next; next = this.#waiting[this.#results.length]) {
      this.#results.push(next);
      this.#run.deliver(next);
    }
  }

  #pollSteering(): void {
    const isLast = ++this.#ended === this.#waiting.length;
    // After the last call the ordinary poll takes over; after an interrupt it would only hurry the next message.
    if (isLast || this.#run.context.signal.aborted || this.#batch.signal.aborted) return;
    this.#steering = this.#run.context.queues.takeInterrupting();
    if (this.#steering.length > 0) this.#batch.abort();
  }
}
