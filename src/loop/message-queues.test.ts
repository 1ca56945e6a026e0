// The queues against a model of plain arrays: nothing is lost, nothing comes twice, order holds, views stand still.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessageQueues, type QueuedMessage } from "./message-queues.js";
import { userMessage } from "./run.test-kit.js";

const texts = (items: readonly QueuedMessage[]) =>
  items.map(({ message }) => (message.role === "user" ? message.content : ""));

function filled(count = 3): MessageQueues {
  const queues = new MessageQueues();
  for (let index = 1; index <= count; index++) queues.steer(userMessage(`s${index}`));
  return queues;
}

describe("MessageQueues", () => {
  it("takes the oldest one per poll, or all, by the mode of the moment", () => {
    const queues = filled();
    expect(texts(queues.takeSteering())).toEqual(["s1"]);
    queues.steeringMode = "all";
    expect(texts(queues.takeSteering())).toEqual(["s2", "s3"]);
    expect(queues.takeSteering()).toEqual([]);
  });

  it("counts all three queues, but a run has work only in two", () => {
    const queues = new MessageQueues();
    queues.queueNextTurn(userMessage("n"));
    expect([queues.count, queues.hasWork]).toEqual([1, false]);
    queues.queueFollowUp(userMessage("f"));
    queues.steer(userMessage("s"));
    expect([queues.count, queues.hasWork]).toEqual([3, true]);
    expect(texts(queues.takeNextTurn())).toEqual(["n"]);
    expect(queues.count).toBe(2);
  });

  it("tells equal texts apart", () => {
    const queues = new MessageQueues();
    const ids = [
      queues.steer(userMessage("x")),
      queues.steer(userMessage("x")),
      queues.queueFollowUp(userMessage("x")),
    ];
    expect(new Set(ids).size).toBe(3);
    expect(queues.takeSteering().map((item) => item.id)).toEqual([ids[0]]);
  });

  describe("the poll between calls", () => {
    it("finds nothing in wait mode", () => {
      const queues = filled();
      expect(queues.takeInterrupting()).toEqual([]);
      expect(queues.count).toBe(3);
    });

    it("takes by the steering mode", () => {
      const queues = filled();
      queues.interruptMode = "immediate";
      expect(texts(queues.takeInterrupting())).toEqual(["s1"]);
      queues.steeringMode = "all";
      expect(texts(queues.takeInterrupting())).toEqual(["s2", "s3"]);
    });

    it("is not answered by a reminder, which rides along in its place when a message interrupts", () => {
      const queues = new MessageQueues();
      queues.interruptMode = "immediate";
      queues.steer(userMessage("reminder"), { interrupts: false });
      expect(queues.takeInterrupting()).toEqual([]);
      queues.steer(userMessage("stop"));
      queues.steer(userMessage("later"));
      expect(texts(queues.takeInterrupting())).toEqual(["reminder", "stop"]);
      expect(texts(queues.takeSteering())).toEqual(["later"]);
    });
  });

  it("puts back in front", () => {
    const queues = filled(2);
    const taken = queues.takeSteering();
    queues.steer(userMessage("s3"));
    queues.restoreSteering(taken);
    queues.steeringMode = "all";
    expect(texts(queues.takeSteering())).toEqual(["s1", "s2", "s3"]);
  });

  it("announces changes of the two visible queues, and only changes", () => {
    let changes = 0;
    const queues = new MessageQueues(() => changes++);
    queues.queueNextTurn(userMessage("n"));
    queues.takeNextTurn();
    queues.takeSteering();
    queues.takeFollowUps();
    queues.takeInterrupting();
    queues.restoreSteering([]);
    queues.clear();
    expect(changes).toBe(0);
    queues.steer(userMessage("s"));
    queues.queueFollowUp(userMessage("f"));
    queues.restoreSteering(queues.takeSteering());
    expect(changes).toBe(4);
    const cleared = queues.clear();
    expect([texts(cleared.steering), texts(cleared.followUp)]).toEqual([["s"], ["f"]]);
    expect([changes, queues.count]).toEqual([5, 0]);
  });

  it("behaves like three arrays", () => {
    const mode = fc.constantFrom("all" as const, "one-at-a-time" as const);
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant("steer" as const), interrupts: fc.boolean() }) },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constantFrom("followUp", "nextTurn", "takeSteering", "takeFollowUps", "takeInterrupting", "view"),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("takeNextTurn", "restore", "clear") }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("steeringMode", "followUpMode"), mode }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("immediate", "wait") }) },
    );
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), compareWithArrays), { numRuns: 300 });
  });
});

interface Step {
  do: string;
  interrupts?: boolean;
  mode?: "all" | "one-at-a-time";
}

function compareWithArrays(steps: readonly Step[]): void {
  const queues = new MessageQueues();
  let steering: { id: number; interrupts: boolean }[] = [];
  let followUp: number[] = [];
  let nextTurn: number[] = [];
  let lastTaken: QueuedMessage[] = [];
  const views: { view: ReturnType<MessageQueues["view"]>; steering: number[]; followUp: number[] }[] = [];
  const ids = (items: readonly { id: number }[]) => items.map((item) => item.id);
  const span = (mode: string, size: number) => (mode === "all" ? size : 1);
  for (const step of steps) {
    if (step.do === "steer") {
      const interrupts = step.interrupts ?? true;
      steering.push({ id: queues.steer(userMessage("s"), { interrupts }), interrupts });
    } else if (step.do === "followUp") followUp.push(queues.queueFollowUp(userMessage("f")));
    else if (step.do === "nextTurn") nextTurn.push(queues.queueNextTurn(userMessage("n")));
    else if (step.do === "takeSteering") {
      lastTaken = queues.takeSteering();
      expect(ids(lastTaken)).toEqual(ids(steering.splice(0, span(queues.steeringMode, steering.length))));
    } else if (step.do === "takeFollowUps")
      expect(ids(queues.takeFollowUps())).toEqual(followUp.splice(0, span(queues.followUpMode, followUp.length)));
    else if (step.do === "takeInterrupting") {
      const first = steering.findIndex((item) => item.interrupts);
      const isDue = queues.interruptMode === "immediate" && first >= 0;
      const count = queues.steeringMode === "all" ? steering.length : first + 1;
      lastTaken = queues.takeInterrupting();
      expect(ids(lastTaken)).toEqual(isDue ? ids(steering.splice(0, count)) : []);
    } else if (step.do === "takeNextTurn") {
      expect(ids(queues.takeNextTurn())).toEqual(nextTurn);
      nextTurn = [];
    } else if (step.do === "restore") {
      queues.restoreSteering(lastTaken);
      steering = [...lastTaken, ...steering];
      lastTaken = [];
    } else if (step.do === "clear") {
      const cleared = queues.clear();
      expect([ids(cleared.steering), ids(cleared.followUp)]).toEqual([ids(steering), followUp]);
      [steering, followUp, nextTurn] = [[], [], []];
    } else if (step.do === "view")
      views.push({ view: queues.view(), steering: ids(steering), followUp: [...followUp] });
    else if (step.do === "immediate" || step.do === "wait") queues.interruptMode = step.do;
    else if (step.do === "steeringMode" && step.mode) queues.steeringMode = step.mode;
    else if (step.mode) queues.followUpMode = step.mode;
    expect(queues.count).toBe(steering.length + followUp.length + nextTurn.length);
  }
  for (const { view, ...then } of views) {
    expect(ids(view.steering())).toEqual(then.steering);
    expect(ids(view.followUp())).toEqual(then.followUp);
  }
}
