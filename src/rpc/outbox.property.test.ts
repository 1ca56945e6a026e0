// The law of the outbox, for any sequence of events and any reader.

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AnyFrame,
  assistant,
  type BlockKind,
  blockEnd,
  blockStart,
  deltaEvent,
  progress,
  rig,
  tick,
} from "../../test/kit/outbox-rig.js";
import { runs } from "../../test/kit/runs.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AssistantMessage } from "../protocol/messages.js";
import type { Feature } from "./features.js";

test("the frames are the events, but for merged deltas and outdated progress", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 60 }),
      fc.subarray<Feature>(["delta-updates", "message-ids", "queue-events"]),
      fc.constantFrom(300, 3000, 100_000_000),
      async (actions, features, budgetBytes) => {
        const { output, outbox, clock } = rig({ features, budgetBytes });
        const expected = new Oracle(features);
        let written = 0;
        for (const step of actions) {
          if (step.kind === "event") {
            const event = step.make(++written);
            outbox.sendEvent(event);
            expected.event(event);
          } else if (step.kind === "response") {
            const frame = { type: "response", id: String(++written) };
            outbox.send(frame);
            expected.frames.push(frame);
          } else if (step.kind === "advance") clock.advance(step.ms);
          else if (step.kind === "tick") await tick();
          else if (step.isReading) output.drain();
          else output.isReading = false;
        }
        output.drain();
        await outbox.flushed();
        expectSameStory(output.frames, expected.frames, { mayDrop: budgetBytes < 100_000_000 });
      },
    ),
    { numRuns: runs(1000) },
  );
});
type Action =
  | { kind: "event"; make: (n: number) => AgentSessionEvent }
  | { kind: "response" }
  | { kind: "advance"; ms: number }
  | { kind: "tick" }
  | { kind: "reader"; isReading: boolean };

const event = (make: (n: number) => AgentSessionEvent): Action => ({ kind: "event", make });
const callId = fc.constantFrom("call_1", "call_2");
const kind = fc.constantFrom<BlockKind>("text", "thinking", "toolcall");

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({ kind, contentIndex: fc.nat(1), delta: fc.string({ unit: "binary" }) })
      .map(({ delta, ...block }) => event((n) => deltaEvent(delta, { ...block, soFar: `so far ${n}` }))),
  },
  { weight: 1, arbitrary: fc.nat(1).map((index) => event(() => blockStart(index))) },
  { weight: 1, arbitrary: fc.nat(1).map((index) => event((n) => blockEnd(`block ${n}`, index))) },
  {
    weight: 1,
    arbitrary: fc.constant(event((n) => ({ type: "message_start", message: { ...assistant(), timestamp: n } }))),
  },
  { weight: 1, arbitrary: fc.constant(event((n) => ({ type: "message_end", message: assistant(`end ${n}`) }))) },
  { weight: 3, arbitrary: callId.map((id) => event((n) => progress(id, `progress ${n}`))) },
  { weight: 1, arbitrary: fc.constant(event((n) => ({ type: "queue_update", steering: [String(n)], followUp: [] }))) },
  { weight: 2, arbitrary: fc.constant<Action>({ kind: "response" }) },
  { weight: 3, arbitrary: fc.nat(80).map((ms): Action => ({ kind: "advance", ms })) },
  { weight: 3, arbitrary: fc.constant<Action>({ kind: "tick" }) },
  { weight: 3, arbitrary: fc.boolean().map((isReading): Action => ({ kind: "reader", isReading })) },
);

/** The frames of a host that always reads and a server that never merges. */
class Oracle {
  readonly frames: AnyFrame[] = [];
  readonly #features: readonly Feature[];
  #messages = 0;
  #stub: AssistantMessage | undefined;

  constructor(features: readonly Feature[]) {
    this.#features = features;
  }

  event(event: AgentSessionEvent): void {
    if (event.type === "queue_update" && !this.#features.includes("queue-events")) return;
    if (event.type === "message_start") {
      this.#messages++;
      this.#stub = event.message as AssistantMessage;
    }
    let frame: AnyFrame = { ...event };
    if (event.type === "message_update" && this.#stub && this.#features.includes("delta-updates"))
      frame = {
        ...event,
        message: this.#stub,
        assistantMessageEvent: { ...event.assistantMessageEvent, partial: this.#stub },
      };
    if (event.type.startsWith("message_") && this.#features.includes("message-ids"))
      frame = { ...frame, messageId: `msg-${this.#messages}` };
    this.frames.push(frame);
  }
}

function expectSameStory(frames: AnyFrame[], events: AnyFrame[], { mayDrop }: { mayDrop: boolean }): void {
  const isProgress = (frame: AnyFrame) => frame.type === "tool_execution_update";
  const kept = new Set(frames.filter(isProgress).map((frame) => JSON.stringify(frame)));
  const newest = new Map(events.filter(isProgress).map((frame) => [frame.toolCallId, JSON.stringify(frame)]));
  for (const frame of newest.values()) expect(kept).toContain(frame);
  const due = events.filter((frame) => !mayDrop || !isProgress(frame) || kept.has(JSON.stringify(frame)));
  expect(mergeNeighbours(frames)).toEqual(mergeNeighbours(due));
}

function mergeNeighbours(frames: AnyFrame[]): AnyFrame[] {
  const merged: AnyFrame[] = [];
  for (const frame of frames) {
    const last = merged.at(-1);
    const inner = frame.assistantMessageEvent as AnyFrame | undefined;
    const before = last?.assistantMessageEvent as AnyFrame | undefined;
    const isSameBlock = before?.type === inner?.type && before?.contentIndex === inner?.contentIndex;
    if (inner && before && "delta" in inner && isSameBlock)
      merged[merged.length - 1] = {
        ...frame,
        assistantMessageEvent: { ...inner, delta: `${before.delta}${inner.delta}` },
      };
    else merged.push(frame);
  }
  return merged;
}
