// The tool-choice queue: who is forced, when a choice comes back, and that it cannot come back for ever.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import type { ToolChoice } from "../provider/provider.js";
import { textResult } from "../tools/tool.js";
import { type DirectiveOptions, type RejectReason, ToolChoiceQueue } from "./tool-choice-queue.js";

const named = (name: string): ToolChoice => ({ type: "tool", name });

/** Callbacks that write down what they hear. */
function listener(answer?: "requeue") {
  const heard: string[] = [];
  return {
    heard,
    onResolved: () => void heard.push("resolved"),
    onRejected: (reason: RejectReason) => {
      heard.push(reason);
      return answer;
    },
  };
}

describe("ToolChoiceQueue", () => {
  it("gives one choice per model call, in order, with `now` at the head", () => {
    const queue = new ToolChoiceQueue();
    queue.pushSequence([named("a"), "none"], { label: "first" });
    queue.pushOnce(named("b"), { label: "second", now: true });
    expect(queue.inspect()).toEqual(["second", "first"]);
    const given: unknown[] = [];
    for (let choice = queue.next(); choice; choice = queue.next()) {
      given.push(choice);
      queue.resolve();
    }
    expect(given).toEqual([named("b"), named("a"), "none"]);
    expect(queue.inspect()).toEqual([]);
  });

  it("forgets a sequence without choices", () => {
    const queue = new ToolChoiceQueue();
    queue.pushSequence([]);
    queue.pushOnce("none");
    expect(queue.next()).toBe("none");
  });

  it("brings a rejected choice back to the head with its callbacks, before the rest of its sequence", () => {
    const queue = new ToolChoiceQueue();
    const { heard, ...callbacks } = listener("requeue");
    queue.pushSequence([named("a"), "none"], { label: "force", ...callbacks });
    queue.next();
    queue.pushOnce("auto", { label: "later", now: true });
    queue.reject("error");
    expect(queue.inspect()).toEqual(["force-requeued", "later", "force"]);
    expect(queue.next()).toEqual(named("a"));
    queue.resolve();
    expect(heard).toEqual(["error", "resolved"]);
  });

  it("removes one of those with the same label by its id, waiting, in flight or come back", () => {
    const queue = new ToolChoiceQueue();
    const { heard, ...callbacks } = listener("requeue");
    const push = (name: string) => queue.pushOnce(named(name), { label: "prompt", now: true, ...callbacks });
    const first = push("a");
    queue.next();
    queue.reject("error");
    const second = push("b");
    queue.remove(first);
    expect(queue.inspect()).toEqual(["prompt"]);
    expect(queue.next()).toEqual(named("b"));
    queue.remove(second);
    expect(heard).toEqual(["error", "removed", "removed"]);
    expect(queue.next()).toBeUndefined();
  });

  it("drops a rejected choice unless asked to requeue it", () => {
    const queue = new ToolChoiceQueue();
    const { heard, ...callbacks } = listener();
    queue.pushOnce("any", callbacks);
    queue.next();
    queue.reject("aborted");
    queue.reject("aborted");
    expect(heard).toEqual(["aborted"]);
    expect(queue.next()).toBeUndefined();
  });

  it("drops the rest of a sequence with the choice that does not come back, at once or in the end", () => {
    const queue = new ToolChoiceQueue();
    queue.pushSequence([named("a"), "none"], { onRejected: () => undefined });
    queue.next();
    queue.reject("unavailable");
    expect(queue.inspect()).toEqual([]);

    queue.pushSequence([named("a"), "none"], { maxRequeues: 2, onRejected: () => "requeue" });
    queue.pushOnce(named("b"));
    const given: unknown[] = [];
    for (let choice = queue.next(); choice; choice = queue.next()) {
      given.push(choice);
      queue.reject("error");
    }
    expect(given).toEqual([named("a"), named("a"), named("a"), named("b")]);
  });

  it("lets a choice come back three times, and its label grows only once", () => {
    const queue = new ToolChoiceQueue();
    queue.pushOnce("any", { label: "x", onRejected: () => "requeue" });
    let given = 0;
    for (; queue.next(); given++) {
      queue.reject("error");
      for (const label of queue.inspect()) expect(label).toBe("x-requeued");
    }
    expect(given).toBe(4);
  });

  it("uses a directive with work up only if the work ran", async () => {
    const queue = new ToolChoiceQueue();
    const { heard, ...callbacks } = listener("requeue");
    queue.pushOnce(named("resolve"), { ...callbacks, onInvoked: async ({ id }) => textResult(`did ${String(id)}`) });
    queue.next();
    queue.resolve();
    expect(heard).toEqual(["not_invoked"]);
    expect(queue.next()).toEqual(named("resolve"));
    await expect(queue.peekInvoker()?.({ id: 7 })).resolves.toEqual(textResult("did 7"));
    queue.resolve();
    expect(heard).toEqual(["not_invoked", "resolved"]);
    expect(queue.next()).toBeUndefined();
  });

  it("counts work that failed as done: whether to offer it again is the worker's decision", async () => {
    const queue = new ToolChoiceQueue();
    const { heard, ...callbacks } = listener("requeue");
    queue.pushOnce("any", { ...callbacks, onInvoked: () => Promise.reject(new Error("no")) });
    queue.next();
    await expect(queue.peekInvoker()?.({})).rejects.toThrow("no");
    queue.resolve();
    expect(heard).toEqual(["resolved"]);
  });

  it("offers work only while its choice is in flight", async () => {
    const queue = new ToolChoiceQueue();
    queue.pushOnce("any", { onInvoked: async () => textResult("flight") });
    expect(queue.peekInvoker()).toBeUndefined();
    queue.next();
    expect((await queue.peekInvoker()?.({}))?.content).toEqual(textResult("flight").content);
    queue.resolve();
    expect(queue.peekInvoker()).toBeUndefined();
  });

  it("treats an unresolved choice as failed when the next one is due", () => {
    const queue = new ToolChoiceQueue();
    const { heard, ...callbacks } = listener("requeue");
    queue.pushOnce(named("a"), callbacks);
    queue.next();
    expect(queue.next()).toEqual(named("a"));
    expect(heard).toEqual(["error"]);
  });

  it("removes by label, in flight and requeued ones included, and does not take them back", () => {
    const queue = new ToolChoiceQueue();
    const mine = listener("requeue");
    const other = listener("requeue");
    const push = (label: string, { heard: _heard, ...callbacks }: ReturnType<typeof listener>) =>
      queue.pushSequence([named("a"), "none"], { label, ...callbacks });
    push("mine", mine);
    push("other", other);
    queue.next();
    queue.reject("error"); // now: mine-requeued, mine, other
    queue.next();
    queue.removeByLabel("mine");
    expect(queue.inspect()).toEqual(["other"]);
    expect(mine.heard).toEqual(["error", "removed", "removed"]);
    queue.clear();
    expect(queue.inspect()).toEqual([]);
    expect(other.heard).toEqual(["cleared"]);
    queue.resolve();
    expect(mine.heard).toHaveLength(3);
  });

  it("never forgets a choice, never has two in flight, and comes to an end", () => {
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ do: fc.constant("push"), now: fc.boolean(), hasWork: fc.boolean() }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("next", "resolve", "reject", "invoke") }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("remove", "clear") }) },
    );
    fc.assert(fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 3 }), runSteps), {
      numRuns: runs(300),
    });
  });
});

interface Record {
  name: string;
  hasWork: boolean;
  given: number;
  /** Answers heard for what was given. */
  settled: number;
  workRuns: number;
}

function runSteps(steps: readonly { do: string; now?: boolean; hasWork?: boolean }[], maxRequeues: number): void {
  const queue = new ToolChoiceQueue();
  const records = new Map<string, Record>();
  let flight: Record | undefined;
  const settle = (record: Record) => {
    record.settled++;
    if (flight === record) flight = undefined;
  };
  const push = (now: boolean, hasWork: boolean) => {
    const record: Record = { name: `t${records.size}`, hasWork, given: 0, settled: 0, workRuns: 0 };
    records.set(record.name, record);
    const options: DirectiveOptions = { now, maxRequeues, label: record.name };
    options.onResolved = () => settle(record);
    options.onRejected = (reason) => {
      if (reason !== "removed" && reason !== "cleared") settle(record);
      else if (flight === record) settle(record);
      return "requeue";
    };
    if (hasWork)
      options.onInvoked = async () => {
        record.workRuns++;
        return textResult("");
      };
    queue.pushOnce(named(record.name), options);
  };
  const next = () => {
    const choice = queue.next();
    flight = typeof choice === "object" && "name" in choice ? records.get(choice.name) : undefined;
    if (flight) flight.given++;
  };
  for (const step of steps) {
    if (step.do === "push") push(step.now === true, step.hasWork === true);
    else if (step.do === "next") next();
    else if (step.do === "resolve") queue.resolve();
    else if (step.do === "reject") queue.reject("error");
    else if (step.do === "remove") queue.removeByLabel("t0");
    else if (step.do === "clear") queue.clear();
    else if (flight?.hasWork) {
      const before = flight.workRuns;
      void queue.peekInvoker()?.({});
      expect(flight.workRuns).toBe(before + 1);
    } else expect(queue.peekInvoker()).toBeUndefined();
  }
  // Whatever is left drains, even if every attempt fails.
  const bound = (steps.length + 1) * (maxRequeues + 1);
  let rounds = 0;
  for (next(); flight; next()) {
    expect(++rounds).toBeLessThanOrEqual(bound);
    queue.reject("error");
  }
  for (const record of records.values()) {
    expect(record.settled).toBe(record.given);
    expect(record.given).toBeLessThanOrEqual(maxRequeues + 1);
  }
}
