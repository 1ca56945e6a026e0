// What the tests of the outbox and of the dispatcher share: a stream whose reader the test stops and starts, an outbox
// that writes to it, and the events to send.

import { EventEmitter } from "node:events";
import type { Clock } from "../../src/base/clock.js";
import { silentLog } from "../../src/base/log.js";
import type { AgentSessionEvent } from "../../src/protocol/events.js";
import type { AssistantMessage } from "../../src/protocol/messages.js";
import { zeroUsage } from "../../src/provider/provider.js";
import { CommandListUpdates } from "../../src/rpc/command-list-updates.js";
import { ControlLane } from "../../src/rpc/control-lane.js";
import { dialects } from "../../src/rpc/dialect.js";
import { Dispatcher } from "../../src/rpc/dispatcher.js";
import type { UpdateEvent } from "../../src/rpc/encode.js";
import { type Feature, Features } from "../../src/rpc/features.js";
import { HostTools } from "../../src/rpc/host-tools.js";
import { type FrameOutput, Outbox } from "../../src/rpc/outbox.js";
import { PromptResults } from "../../src/rpc/prompt-results.js";
import { StateEvents } from "../../src/rpc/state-events.js";
import type { AgentSession } from "../../src/sdk/index.js";
import { type ManualClock, manualClock } from "../../src/testing/manual-clock.js";

/** As it came over the wire. */
export type AnyFrame = Record<string, unknown> & { type: string };

/** A stream whose reader the test stops and starts. */
export class FakeOutput extends EventEmitter implements FrameOutput {
  readonly writes: string[] = [];
  isReading = true;
  writableLength = 0;
  #onWritten: (() => void)[] = [];

  write(text: string, onWritten?: () => void): boolean {
    this.writes.push(text);
    if (this.isReading) onWritten?.();
    else {
      this.writableLength += text.length;
      if (onWritten) this.#onWritten.push(onWritten);
    }
    return this.isReading;
  }

  drain(): void {
    this.isReading = true;
    this.writableLength = 0;
    for (const heard of this.#onWritten.splice(0)) heard();
    this.emit("drain");
  }

  get frames(): AnyFrame[] {
    const lines = this.writes.join("").split("\n");
    if (lines.pop() !== "") throw new Error("The last frame has no line end");
    return lines.map((line) => JSON.parse(line) as AnyFrame);
  }

  get deltas(): unknown[] {
    return this.frames.map((frame) => (frame as unknown as UpdateEvent).assistantMessageEvent).map(deltaOf);
  }
}

export interface Rig {
  output: FakeOutput;
  outbox: Outbox;
  features: Features;
  clock: ManualClock;
}

export function rig(options: { features?: Feature[]; budgetBytes?: number } = {}): Rig {
  const output = new FakeOutput();
  const clock = manualClock();
  const features = new Features();
  if (options.features) features.negotiate(options.features);
  const { budgetBytes } = options;
  const outbox = new Outbox({ output, features, clock, ...(budgetBytes === undefined ? {} : { budgetBytes }) });
  return { output, outbox, features, clock };
}

/** A dispatcher that answers into the rig's outbox, with everything a server gives it. */
export function dispatcherFor(
  { outbox, features, clock }: Rig,
  session: Promise<AgentSession>,
  sessionClock: Clock = clock,
): Dispatcher {
  const send = (frame: object) => outbox.send(frame);
  const results = new PromptResults({ features, send });
  session.then(
    (live) => results.attach(live),
    () => {}, // the commands tell
  );
  const hostTools = new HostTools({ send, clock: sessionClock, log: silentLog });
  const control = new ControlLane(hostTools, undefined);
  const commandListUpdates = new CommandListUpdates({ features, send });
  return new Dispatcher({
    session,
    outbox,
    features,
    results,
    commandListUpdates,
    hostTools,
    control,
    stateEvents: new StateEvents({ features, send }),
    dialect: dialects.galley,
    clock: sessionClock,
  });
}

/** Frames of one tick are written in the immediate after it. Twice, because what is due may send frames itself. */
export async function tick(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

export function assistant(text = ""): AssistantMessage {
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    api: "scripted",
    provider: "test",
    model: "script",
    usage: zeroUsage,
    stopReason: "stop",
    timestamp: 1_767_600_000_000,
  };
}

export type BlockKind = "text" | "thinking" | "toolcall";

export function deltaEvent(delta: string, options: { kind?: BlockKind; contentIndex?: number; soFar?: string } = {}) {
  const { kind = "text", contentIndex = 0, soFar = delta } = options;
  const message = assistant(soFar);
  const assistantMessageEvent = { type: `${kind}_delta` as const, contentIndex, delta, partial: message };
  return { type: "message_update", message, assistantMessageEvent } satisfies UpdateEvent;
}

export function blockStart(contentIndex = 0): UpdateEvent {
  const message = assistant();
  return {
    type: "message_update",
    message,
    assistantMessageEvent: { type: "text_start", contentIndex, partial: message },
  };
}

export function blockEnd(content: string, contentIndex = 0): UpdateEvent {
  const message = assistant(content);
  return {
    type: "message_update",
    message,
    assistantMessageEvent: { type: "text_end", contentIndex, content, partial: message },
  };
}

export function progress(toolCallId: string, text: string): AgentSessionEvent {
  const partialResult = { content: [{ type: "text" as const, text }] };
  return { type: "tool_execution_update", toolCallId, toolName: "read", args: {}, partialResult };
}

export const messageStart: AgentSessionEvent = { type: "message_start", message: assistant() };

function deltaOf(inner: UpdateEvent["assistantMessageEvent"] | undefined): unknown {
  return inner && "delta" in inner ? inner.delta : undefined;
}
