// A prompt that extensions still look at while the session is stopped.

import { describe, expect, it } from "vitest";
import { GalleyError } from "../base/errors.js";
import { openSession } from "../testing/open-session.js";
import { gate, type ScriptStep, say } from "../testing/scripted-model.js";

/** A session with one prompt behind it, whose module lets the next ones pass when the test says. */
async function open(...more: ScriptStep[]) {
  const look = gate();
  const opened = await openSession({
    model: [say("one"), ...more],
    session: { extensions: [(pi) => pi.on("input", ({ text }) => (text === "first" ? undefined : look.wait()))] },
  });
  await opened.session.prompt("first");
  opened.events.length = 0;
  const outcomeOf = (prompt: Promise<void>) =>
    prompt.then(
      () => opened.session.lastOutcome.status,
      (error: unknown) => (GalleyError.is(error, "aborted") ? error.message : error),
    );
  const types = () => opened.events.map(({ type }) => type);
  return { ...opened, look, outcomeOf, types };
}

const tick = () => new Promise(setImmediate);

describe("a prompt that is looked at", () => {
  it("is stopped by an abort, which waits for it", async () => {
    const { session, model, look, outcomeOf, types } = await open();
    const outcome = outcomeOf(session.prompt("second"));
    await look.reached;
    const aborted = session.abort();
    look.open();
    await aborted;
    expect(session.isStreaming).toBe(false);
    expect(await outcome).toBe("aborted");
    expect(types()).toEqual(["agent_settled"]);
    expect(model.requests).toHaveLength(1);
    await session.dispose();
  });

  it("is refused when an abort has waited for it long enough", async () => {
    const { session, model, clock, look, outcomeOf, types } = await open();
    const outcome = outcomeOf(session.prompt("second"));
    await look.reached;
    const aborted = session.abort();
    clock.advance(250);
    await aborted;
    expect(await outcome).toBe("The prompt was aborted before it was accepted.");
    look.open();
    await tick();
    expect([types(), model.requests.length]).toEqual([[], 1]);
    await session.dispose();
  });

  it("runs where it came after the abort", async () => {
    const { session, look, outcomeOf } = await open(say("two"));
    const aborted = session.abort();
    const outcome = outcomeOf(session.prompt("second"));
    await look.reached;
    look.open();
    await aborted;
    expect(await outcome).toBe("completed");
    await session.dispose();
  });

  it("does not outlive the session", async () => {
    const { session, model, look, outcomeOf, types } = await open();
    const { length } = session.messages;
    const outcome = outcomeOf(session.prompt("second"));
    await look.reached;
    const disposed = session.dispose();
    look.open();
    await disposed;
    expect(await outcome).toBe("The session was closed. Open it again to go on.");
    expect([types(), model.requests.length, session.messages.length]).toEqual([[], 1, length]);
  });

  it("is not looked at once the session has ended", async () => {
    const { session, model, outcomeOf } = await open();
    await session.dispose();
    expect(await outcomeOf(session.prompt("second"))).toBe("The session was closed. Open it again to go on.");
    expect(model.requests).toHaveLength(1);
  });
});

describe("idle", () => {
  it("also requires that no prompt is on its way", async () => {
    const looked = gate();
    const { session, model } = await openSession({
      model: [say("one"), say("two"), say("three")],
      session: {
        extensions: [
          (pi) => {
            let left = 2;
            pi.on("input", ({ text }) => (text === "first" ? undefined : looked.wait()));
            pi.on("agent_settled", () => {
              if (left-- > 0) pi.sendUserMessage("more");
            });
          },
        ],
      },
    });
    await session.prompt("first");
    const idle = session.waitForIdle();
    await looked.reached;
    expect([session.isStreaming, model.requests.length]).toEqual([false, 1]);
    looked.open();
    await idle;
    expect([session.isStreaming, model.requests.length]).toEqual([false, 3]);
    await session.dispose();
  });
});
