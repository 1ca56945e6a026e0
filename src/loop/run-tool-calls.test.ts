// The schedule of one batch: who waits for whom, in which order results are told, and what an interrupt leaves out.

import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { manualClock } from "../testing/manual-clock.js";
import { type AnyTool, textResult } from "../tools/tool.js";
import type { RunContext } from "./run.js";
import { batchTrace, deferred, fakeRun, fakeTool, finishedCall, quiet, textOf, userMessage } from "./run.test-kit.js";
import { runToolCalls } from "./run-tool-calls.js";

/** Calls by id: `s…` shared, `x…` exclusive, `t…` together, `n…` not abortable. Each waits until the test ends it. */
function open(ids: string[], context: Partial<RunContext> = {}) {
  const clock = manualClock();
  const gates = new Map(ids.map((id) => [id, deferred<{ terminate?: boolean }>()]));
  const started: string[] = [];
  const work: AnyTool["execute"] = async (id, _params, signal) => {
    started.push(id);
    const stopped = new Promise<never>((_resolve, reject) =>
      signal?.addEventListener("abort", () => reject(new Error("stopped"))),
    );
    return { ...textResult(`${id} done`), ...(await Promise.race([gates.get(id)?.promise, stopped])) };
  };
  const tools = [
    fakeTool("s", work),
    fakeTool("x", work, { concurrency: "exclusive" }),
    fakeTool("t", work, { concurrency: () => "together" }),
    fakeTool("n", work, { nonAbortable: true }),
  ];
  const fake = fakeRun({ clock, tools: () => tools, ...context });
  fake.queues.interruptMode = "immediate";
  const batch = runToolCalls(
    fake.run,
    ids.map((id) => finishedCall(id.charAt(0), {}, id)),
  );
  const end = async (id: string, result: { terminate?: boolean } = {}) => {
    gates.get(id)?.resolve(result);
    await quiet();
  };
  return { ...fake, clock, started, batch, end };
}

const skipped = "Skipped due to queued user message.";
const interrupted = "Interrupted by queued user message.";

// The first call loads the validator, which takes longer than a quiet moment.
beforeAll(() =>
  runToolCalls(fakeRun({ clock: manualClock(), tools: () => [fakeTool("s", async () => textResult(""))] }).run, [
    finishedCall("s"),
  ]),
);

describe("runToolCalls", () => {
  it("does nothing for no calls", async () => {
    expect(await open([]).batch).toEqual({ results: [], steering: [], terminate: false });
  });

  it("runs shared calls side by side; ends come as they happen, results in call order", async () => {
    const { started, end, events, appended, batch } = open(["s1", "s2", "s3"]);
    await quiet();
    expect(started).toEqual(["s1", "s2", "s3"]);
    await end("s3");
    await end("s1");
    expect(batchTrace(events)).toBe("xs:s1 xs:s2 xs:s3 xe:s3 xe:s1 R:s1");
    await end("s2");
    expect(batchTrace(events)).toBe("xs:s1 xs:s2 xs:s3 xe:s3 xe:s1 R:s1 xe:s2 R:s2 R:s3");
    const { results } = await batch;
    expect(results.map(textOf)).toEqual(["s1 done", "s2 done", "s3 done"]);
    expect(appended).toEqual(results);
  });

  it("an exclusive call is a barrier on both sides", async () => {
    const { started, end, batch } = open(["s1", "s2", "x1", "x2", "s3", "s4"]);
    await quiet();
    expect(started).toEqual(["s1", "s2"]);
    await end("s2");
    expect(started).toEqual(["s1", "s2"]);
    await end("s1");
    expect(started).toEqual(["s1", "s2", "x1"]);
    await end("x1");
    expect(started).toEqual(["s1", "s2", "x1", "x2"]);
    await end("x2");
    expect(started).toEqual(["s1", "s2", "x1", "x2", "s3", "s4"]);
    await end("s3");
    await end("s4");
    expect((await batch).results).toHaveLength(6);
  });

  it("runs calls of one tool together, 32 at a time in call order, and apart from all others", async () => {
    const many = Array.from({ length: 34 }, (_, index) => `t${index}`);
    const { started, end, batch } = open(["s1", ...many, "s2", "x1"]);
    await quiet();
    expect(started).toEqual(["s1"]);
    await end("s1");
    expect(started).toEqual(["s1", ...many.slice(0, 32)]);
    await end("t5");
    expect(started).toEqual(["s1", ...many.slice(0, 33)]);
    await end("t0");
    expect(started).toEqual(["s1", ...many]);
    for (const id of many.slice(0, 33)) await end(id);
    expect(started).toEqual(["s1", ...many]);
    await end("t33");
    expect(started).toEqual(["s1", ...many, "s2"]);
    await end("s2");
    expect(started.at(-1)).toBe("x1");
    await end("x1");
    expect((await batch).results.map(({ toolCallId }) => toolCallId)).toEqual(["s1", ...many, "s2", "x1"]);
  });

  it("gives results the shape of a message", async () => {
    const { end, clock, events, batch } = open(["s1"]);
    await end("s1");
    const { results } = await batch;
    expect(results).toEqual([
      {
        role: "toolResult",
        toolCallId: "s1",
        toolName: "s",
        ...textResult("s1 done"),
        isError: false,
        isWarning: false,
        timestamp: clock.now(),
      },
    ]);
    expect(events.slice(0, 2)).toEqual([
      { type: "tool_execution_start", toolCallId: "s1", toolName: "s", args: {} },
      {
        type: "tool_execution_end",
        toolCallId: "s1",
        toolName: "s",
        result: textResult("s1 done"),
        isError: false,
        isWarning: false,
      },
    ]);
  });

  describe("terminate", () => {
    it.each([
      [true, true],
      [false, false],
    ])("counts only if every call asks for it (second call: %s)", async (second, terminate) => {
      const { end, batch } = open(["s1", "s2"]);
      await end("s1", { terminate: true });
      await end("s2", second ? { terminate: true } : {});
      expect((await batch).terminate).toBe(terminate);
    });
  });

  describe("a message that interrupts", () => {
    it("stops what runs, skips what has not begun, and is handed on", async () => {
      const { end, queues, events, batch, started } = open(["s1", "s2", "x1", "s3"]);
      await quiet();
      queues.steer(userMessage("stop"));
      await end("s1");
      const { results, steering } = await batch;
      expect(results.map(textOf)).toEqual(["s1 done", interrupted, skipped, skipped]);
      expect(results.map((result) => result.details)).toEqual([
        undefined,
        { started: true, error: "stopped" },
        { started: false },
        { started: false },
      ]);
      expect(steering.map((item) => item.message)).toEqual([userMessage("stop")]);
      expect(started).toEqual(["s1", "s2"]);
      expect(batchTrace(events)).toBe("xs:s1 xs:s2 xe:s1 R:s1 xe:s2! R:s2 xs:x1 xe:x1! R:x1 xs:s3 xe:s3! R:s3");
    });

    it("waits for a tool that ignores it, five seconds long", async () => {
      const deaf = fakeTool("s", () => new Promise(() => {}));
      const quick = fakeTool("x", async () => textResult("quick"));
      const clock = manualClock();
      const { run, queues } = fakeRun({ clock, tools: () => [deaf, quick] });
      queues.interruptMode = "immediate";
      queues.steer(userMessage("stop"));
      const batch = runToolCalls(run, [finishedCall("s"), finishedCall("x")]);
      await quiet();
      clock.advance(4999);
      await quiet();
      expect(clock.pendingTimers).toBe(1);
      clock.advance(1);
      expect((await batch).results.map(textOf)).toEqual([interrupted, "quick"]);
    });

    it("leaves a call that must not be cut short its real result", async () => {
      const { end, queues, batch } = open(["s1", "n1", "s2"]);
      await quiet();
      queues.steer(userMessage("stop"));
      await end("s1");
      await end("n1");
      expect((await batch).results.map(textOf)).toEqual(["s1 done", "n1 done", interrupted]);
    });

    it("is taken once: what else is queued waits for its own turn", async () => {
      const { end, queues, batch } = open(["x1", "x2", "x3", "x4"]);
      await quiet();
      queues.steer(userMessage("one"));
      queues.steer(userMessage("two"));
      await end("x1");
      const { steering } = await batch;
      expect(steering.map((item) => item.message)).toEqual([userMessage("one")]);
      expect(queues.count).toBe(1);
    });

    it("is left to the ordinary poll when the last call has ended, and in wait mode", async () => {
      const last = open(["s1"]);
      last.queues.steer(userMessage("stop"));
      await last.end("s1");
      expect((await last.batch).steering).toEqual([]);
      const waiting = open(["x1", "x2"]);
      waiting.queues.interruptMode = "wait";
      waiting.queues.steer(userMessage("stop"));
      await waiting.end("x1");
      await waiting.end("x2");
      const { results, steering } = await waiting.batch;
      expect([results.map(textOf), steering]).toEqual([["x1 done", "x2 done"], []]);
      expect([last.queues.count, waiting.queues.count]).toEqual([1, 1]);
    });

    it("must be one that may: a reminder does not", async () => {
      const { end, queues, batch } = open(["x1", "x2"]);
      queues.steer(userMessage("remember"), { interrupts: false });
      await end("x1");
      await end("x2");
      expect((await batch).results.map(textOf)).toEqual(["x1 done", "x2 done"]);
    });
  });

  it("after an abort nothing starts, nothing is taken from the queue, and every call has its result", async () => {
    const { abort, queues, batch, events } = open(["s1", "x1"]);
    await quiet();
    queues.steer(userMessage("later"));
    abort.abort();
    const { results, steering } = await batch;
    expect(results.map(textOf)).toEqual(["stopped", "Tool execution was aborted."]);
    expect([steering, queues.count]).toEqual([[], 1]);
    expect(batchTrace(events)).toBe("xs:s1 xe:s1! R:s1 xs:x1 xe:x1! R:x1");
  });

  it("when the record fails, it still waits for all calls before it gives up", async () => {
    const append = (message: { role: string; toolCallId?: string }) => {
      if (message.toolCallId === "s1") throw new Error("disk gone");
    };
    const { end, events, batch } = open(["s1", "s2", "x1"], { append });
    let isOver = false;
    const failure = batch.catch((error: unknown) => {
      isOver = true;
      return error;
    });
    await end("s1");
    expect(isOver).toBe(false);
    await end("s2");
    await end("x1");
    expect(await failure).toEqual(new Error("disk gone"));
    expect(batchTrace(events)).toBe("xs:s1 xs:s2 xe:s1 xe:s2 R:s2 xs:x1 xe:x1 R:x1");
  });

  it("holds its promises for any mix of calls, durations and interruptions", async () => {
    const kinds = fc.array(fc.constantFrom("s", "x", "t", "n"), { maxLength: 6 });
    const act = fc.oneof(
      { weight: 6, arbitrary: fc.nat({ max: 5 }) },
      { weight: 1, arbitrary: fc.constantFrom("steer" as const, "abort" as const) },
    );
    await fc.assert(fc.asyncProperty(kinds, fc.array(act, { maxLength: 8 }), randomBatch), { numRuns: runs(150) });
  });
});

async function randomBatch(kinds: readonly string[], acts: readonly (number | "steer" | "abort")[]): Promise<void> {
  const ids = kinds.map((kind, index) => `${kind}${index}`);
  const { end, abort, queues, events, batch } = open(ids);
  await quiet();
  for (const act of acts) {
    if (act === "abort") abort.abort();
    else if (act === "steer") queues.steer(userMessage("stop"));
    else if (ids[act]) await end(ids[act]);
  }
  for (const id of ids) await end(id);
  const { results, steering } = await batch;
  expect(results.map((result) => result.toolCallId)).toEqual(ids);
  expect(steering.length).toBeLessThanOrEqual(1);
  const words = batchTrace(events).split(" ").filter(Boolean);
  const running = new Set<string>();
  for (const word of words) {
    const [kind, id = ""] = word.replace("!", "").split(":");
    if (kind === "xs") {
      if (id.startsWith("x")) expect([...running]).toEqual([]);
      if (id.startsWith("t")) expect([...running].filter((other) => !other.startsWith("t"))).toEqual([]);
      else expect([...running].filter((other) => other.startsWith("t"))).toEqual([]);
      expect([...running].filter((other) => other.startsWith("x"))).toEqual([]);
      running.add(id);
    } else if (kind === "xe") expect(running.delete(id)).toBe(true);
  }
  expect(words.filter((word) => word.startsWith("R:"))).toEqual(ids.map((id) => `R:${id}`));
  expect([words.length, running.size]).toEqual([3 * ids.length, 0]);
}
