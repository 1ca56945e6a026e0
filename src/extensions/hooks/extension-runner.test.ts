// The promises of the runner: one order, a limit for each, no failure that reaches the session, and nothing that happens
// twice.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openExtensions, quiet } from "../../../test/kit/extension-modules.js";
import { deferred } from "../../loop/run.test-kit.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import type { ExtensionAPI, ExtensionFactory } from "../api/extension.js";
import type { ExtensionContext } from "../api/extension-context.js";

const turnStart: AgentSessionEvent = { type: "turn_start" };
const agentEnd: AgentSessionEvent = { type: "agent_end", messages: [], isTerminal: true };

describe("order", () => {
  it("is the order of loading and registration, also with slow handlers", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 6 }), async (delays) => {
        const order: string[] = [];
        const wait = async (turns: number) => {
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        };
        const extensions = delays.map(
          ([loading, handling], index): ExtensionFactory =>
            async (pi) => {
              await wait(loading);
              for (const name of ["a", "b"])
                pi.on("turn_start", async () => {
                  await wait(handling);
                  order.push(`${index}${name}`);
                });
            },
        );
        const { runner } = await openExtensions(extensions);
        await runner.emit(turnStart);
        expect(order).toEqual(delays.flatMap((_delay, index) => [`${index}a`, `${index}b`]));
      }),
      { numRuns: 30 },
    );
  });

  it("of session events is kept, although the session does not wait", async () => {
    const order: string[] = [];
    const { runner } = await openExtensions([
      (pi) => {
        pi.on("turn_start", async () => {
          await quiet();
          order.push("turn_start");
        });
        pi.on("agent_end", () => void order.push("agent_end"));
      },
    ]);
    void runner.observe(turnStart);
    await runner.observe(agentEnd);
    expect(order).toEqual(["turn_start", "agent_end"]);
    expect(runner.observe({ type: "agent_settled" })).toBeUndefined(); // nobody listens, nobody waits
  });

  it("a handler that is added while an event is told hears the next one", async () => {
    const order: string[] = [];
    const { runner } = await openExtensions([
      (pi) => pi.on("turn_start", () => pi.on("turn_start", () => void order.push("late"))),
    ]);
    await runner.emit(turnStart);
    expect(order).toEqual([]);
    await runner.emit(turnStart);
    expect(order).toEqual(["late"]);
  });
});

describe("a handler that goes wrong", () => {
  it("is one failure with its place, and the others are still asked", async () => {
    const heard: string[] = [];
    const { runner, failures } = await openExtensions([
      (pi) =>
        pi.on("agent_end", () => {
          throw new Error("broken");
        }),
      (pi) => pi.on("agent_end", () => void heard.push("second")),
    ]);
    await runner.emit(agentEnd);
    expect(heard).toEqual(["second"]);
    expect(failures).toEqual([
      { extensionPath: "ext1", event: "agent_end", error: "broken", stack: expect.stringContaining("broken") },
    ]);
  });

  it("has thirty seconds", async () => {
    const heard: string[] = [];
    const opened = await openExtensions([
      (pi) => pi.on("turn_start", () => new Promise(() => {})),
      (pi) => pi.on("turn_start", () => void heard.push("second")),
    ]);
    const told = opened.runner.emit(turnStart);
    await quiet();
    opened.clock.advance(29_999);
    await quiet();
    expect(heard).toEqual([]);
    opened.clock.advance(1);
    await told;
    expect(heard).toEqual(["second"]);
    expect(opened.told).toEqual(["ext1 turn_start: it did not finish within 30 s"]);
    expect(opened.clock.pendingTimers).toBe(0);
  });

  it("while it asks a person, no time passes", async () => {
    const answer = deferred<string>();
    const heard: unknown[] = [];
    const opened = await openExtensions([
      (pi) =>
        pi.on("turn_start", async (_event, ctx) => {
          heard.push(await ctx.ui.select("Which?", ["a", "b"]));
          await new Promise(() => {}); // and then it hangs
        }),
    ]);
    opened.live.set({ select: () => answer.promise }, true);
    const told = opened.runner.emit(turnStart);
    await quiet();
    opened.clock.advance(10_000_000);
    await quiet();
    expect(opened.told).toEqual([]);
    answer.resolve("b");
    await quiet();
    expect(heard).toEqual(["b"]);
    opened.clock.advance(30_000);
    await told;
    expect(opened.told).toEqual(["ext1 turn_start: it did not finish within 30 s"]);
  });

  it("the time before a question counts", async () => {
    const asked = deferred();
    const opened = await openExtensions([
      (pi) =>
        pi.on("turn_start", async (_event, ctx) => {
          await asked.promise;
          await ctx.ui.confirm("Sure?", "Really?");
          await new Promise(() => {});
        }),
    ]);
    opened.live.set({ confirm: async () => true }, true);
    const told = opened.runner.emit(turnStart);
    await quiet();
    opened.clock.advance(20_000);
    asked.resolve();
    await quiet();
    opened.clock.advance(10_000);
    await told;
    expect(opened.told).toHaveLength(1);
  });

  it("cannot end the process, nor change what the session holds", async () => {
    const event = { type: "turn_end" as const, message: { content: [{ text: "true" }] }, toolResults: [] };
    const opened = await openExtensions([
      (pi) =>
        pi.on("turn_end", ({ message }) => {
          (message.content[0] as { text: string }).text = "false";
          process.exit(1);
        }),
    ]);
    await opened.runner.emit(event as never);
    expect(opened.told).toEqual(["ext1 turn_end: ext1 called process.exit(1)"]);
    expect(event.message.content).toEqual([{ text: "true" }]);
  });

  it.each<[string, unknown, string]>([
    ["endless words", new Error("x".repeat(100_000)), `${"x".repeat(4000)}…`],
    ["no error at all", { code: 7 }, '{"code":7}'],
    [
      "something that cannot be read",
      Object.defineProperty(new Error(), "message", {
        get() {
          throw new Error("again");
        },
      }),
      "it threw something that cannot be read",
    ],
  ])("may throw %s", async (_title, thrown, sentence) => {
    const { runner, failures } = await openExtensions([(pi) => pi.on("turn_start", () => Promise.reject(thrown))]);
    await runner.emit(turnStart);
    expect(failures.map(({ error }) => error)).toEqual([sentence]);
  });

  it("in a file of an extension is blamed on it", async () => {
    const { runner } = await openExtensions([]);
    const { ExtensionRegistrations } = await import("../api/extension-registrations.js");
    const origin = { path: "guard", realPath: "/x/guard/index.ts", needsTrust: false };
    runner.registry.add([new ExtensionRegistrations(origin)]);
    const error = new Error("late");
    expect(runner.registry.blame(error)).toBeUndefined();
    error.stack = "Error: late\n    at f (/x/guard/lib/b.ts:1:2)";
    expect(runner.registry.blame(error)).toBe("guard");
    expect(runner.registry.blame("no error")).toBeUndefined();
  });
});

it("a guard still answers after the end: a call may be under way", async () => {
  const { runner } = await openExtensions([(pi) => pi.on("tool_call", () => ({ block: true, reason: "no" }))]);
  runner.close();
  const event = { type: "tool_call" as const, toolName: "bash", toolCallId: "1", input: {} };
  expect(await runner.emit(event)).toMatchObject({ block: "no" });
});

describe("the end", () => {
  it("is sent once, to all extensions at the same time, within two seconds", async () => {
    const heard: string[] = [];
    const opened = await openExtensions([
      (pi) => pi.on("session_shutdown", () => new Promise(() => {})),
      (pi) => pi.on("session_shutdown", () => new Promise(() => {})),
      (pi) => pi.on("session_shutdown", () => void heard.push("third")),
    ]);
    const over = opened.runner.emit({ type: "session_shutdown" });
    await quiet();
    expect(heard).toEqual(["third"]);
    opened.clock.advance(2000);
    await over;
    await opened.runner.emit({ type: "session_shutdown" });
    expect(heard).toEqual(["third"]);
    expect(opened.told).toEqual([
      "ext1 session_shutdown: it did not finish within 2 s",
      "ext2 session_shutdown: it did not finish within 2 s",
    ]);
  });

  it("after it, what an extension kept does nothing", async () => {
    let kept: { pi?: ExtensionAPI; ctx?: ExtensionContext } = {};
    const heard: unknown[] = [];
    const { runner, asked } = await openExtensions([
      (pi) => {
        pi.events.on("x", (data) => heard.push(data));
        pi.on("turn_start", (_event, ctx) => {
          kept = { pi, ctx };
        });
      },
    ]);
    await runner.emit(turnStart);
    runner.close();
    expect(() => kept.pi?.sendUserMessage("hello")).toThrow("This extension was reloaded, or its session has ended.");
    expect(() => kept.ctx?.abort()).toThrow("This extension was reloaded, or its session has ended.");
    kept.pi?.events.emit("x", 1);
    expect(heard).toEqual([]);
    expect(asked).toEqual([]);
  });
});

it("an event is shown under the name it was asked for", async () => {
  const seen: unknown[] = [];
  const { runner } = await openExtensions([
    (pi) => {
      pi.on("session_before_fork", (event) => {
        seen.push(event);
        return { cancel: true };
      });
      pi.on("a_name_of_tomorrow", () => void seen.push("never"));
    },
  ]);
  expect(await runner.emit({ type: "session_before_branch", entryId: "e1", position: "before" })).toMatchObject({
    cancel: true,
  });
  expect(seen).toEqual([{ type: "session_before_fork", entryId: "e1", position: "before" }]);
});
