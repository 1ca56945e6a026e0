import { describe, expect, it } from "vitest";
import { abortGraceMs } from "../loop/call-tool.js";
import { EventStream } from "../loop/event-stream.js";
import { deferred, quiet } from "../loop/run.test-kit.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import { manualClock } from "../testing/manual-clock.js";
import { type ActivePrompt, busyText, RunDriver } from "./run-driver.js";

function setUp() {
  const clock = manualClock();
  const logged: string[] = [];
  const log = { warn: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) };
  const events = new EventStream<AgentSessionEvent>(log);
  const seen: string[] = [];
  events.subscribe(({ type }) => void seen.push(type));
  const driver = new RunDriver({ clock, log, events });
  return { clock, logged, events, seen, driver };
}

/** Work that goes on until the test ends it, or its signal does. */
function openWork({ heedsAbort = true } = {}) {
  const end = deferred();
  let active: ActivePrompt | undefined;
  const work = (given: ActivePrompt) => {
    active = given;
    if (heedsAbort) given.abort.signal.addEventListener("abort", () => end.resolve());
    return end.promise;
  };
  return {
    work,
    end: end.resolve,
    get active() {
      return active as ActivePrompt;
    },
  };
}

async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await quiet();
  return over;
}

describe("a prompt", () => {
  it("makes the session busy until agent_settled, and counts", async () => {
    const { driver, seen } = setUp();
    const { work, end } = openWork();
    const begun = driver.begin(work);
    expect([driver.isStreaming, driver.isBusy, driver.begun]).toEqual([true, true, 1]);
    end();
    await begun;
    expect(seen).toEqual(["agent_settled"]);
    expect([driver.isStreaming, driver.isBusy, driver.begun]).toEqual([false, false, 1]);
  });

  it("ends only when agent_settled was heard by a slow subscriber", async () => {
    const { driver, events } = setUp();
    const heard = deferred();
    events.subscribe(() => heard.promise);
    const begun = driver.begin(async () => {});
    expect(await isOver(begun)).toBe(false);
    heard.resolve();
    expect(await isOver(begun)).toBe(true);
  });

  it("is refused while another is worked on", async () => {
    const { driver } = setUp();
    const { work, end } = openWork();
    const begun = driver.begin(work);
    await expect(driver.begin(work)).rejects.toMatchObject({ code: "busy", message: busyText });
    expect(driver.begun).toBe(1);
    end();
    await begun;
  });

  it("may line up once the one before is closing, and knows when that has ended", async () => {
    const { driver, seen } = setUp();
    const first = openWork();
    const second = openWork();
    const begun = driver.begin(first.work);
    first.active.isClosing = true;
    expect(driver.isBusy).toBe(false);
    const next = driver.begin(second.work);
    const previous = second.active.previous as Promise<void>;
    expect(await isOver(previous)).toBe(false);
    first.end();
    expect(await isOver(previous)).toBe(true);
    expect(driver.isStreaming).toBe(true); // the end of the first is not the end of the second
    second.end();
    await Promise.all([begun, next]);
    expect(seen).toEqual(["agent_settled", "agent_settled"]);
    expect(driver.isStreaming).toBe(false);
  });

  it("whose work fails ends like any other; the outcome and the log tell", async () => {
    const { driver, seen, logged } = setUp();
    await driver.begin(() => Promise.reject(new Error("broken promise")));
    expect(seen).toEqual(["agent_settled"]);
    expect(logged).toEqual(["a prompt failed unexpectedly"]);
    expect(driver.lastOutcome).toEqual({ status: "error", error: { message: "broken promise", retryable: false } });
    expect(driver.isStreaming).toBe(false);
  });

  it("that was stopped before it began is taken in, and its signal fires at once", async () => {
    const { driver, seen } = setUp();
    const work = openWork();
    await driver.begin(work.work, { isStopped: true });
    expect(work.active.abort.signal.aborted).toBe(true);
    expect(seen).toEqual(["agent_settled"]);
  });
});

describe("stop", () => {
  it("is a success where nothing runs", async () => {
    const { driver, clock, seen } = setUp();
    await driver.stop();
    expect([seen, clock.pendingTimers]).toEqual([[], 0]);
  });

  it("fires the signal, waits for the end and leaves no timer", async () => {
    const { driver, clock, seen } = setUp();
    const { work } = openWork();
    void driver.begin(work);
    await driver.stop();
    expect([seen, driver.isStreaming, clock.pendingTimers]).toEqual([["agent_settled"], false, 0]);
  });

  it("waits no longer than the grace of a tool and a little for work that goes on", async () => {
    const { driver, clock } = setUp();
    const { work, end } = openWork({ heedsAbort: false });
    const begun = driver.begin(work);
    const stopped = driver.stop();
    clock.advance(abortGraceMs + 249);
    expect(await isOver(stopped)).toBe(false);
    clock.advance(1);
    expect(await isOver(stopped)).toBe(true);
    expect(driver.isStreaming).toBe(true);
    end();
    await begun;
  });
});

describe("the end of the session", () => {
  it("shortens the wait of a stop that is under way", async () => {
    const { driver, clock } = setUp();
    const { work, end } = openWork({ heedsAbort: false });
    const begun = driver.begin(work);
    const stopped = driver.stop();
    driver.beginShutdown();
    clock.advance(1199);
    expect(await isOver(stopped)).toBe(false);
    clock.advance(1);
    expect(await isOver(stopped)).toBe(true);
    end();
    await begun;
  });

  it("takes a prompt in that comes meanwhile, and stops it at once", async () => {
    const { driver, seen } = setUp();
    driver.beginShutdown();
    expect(driver.isEnding).toBe(true);
    const work = openWork();
    await driver.begin(work.work);
    expect(work.active.abort.signal.aborted).toBe(true);
    expect(seen).toEqual(["agent_settled"]);
  });

  it("refuses every prompt once it is closed", async () => {
    const { driver, seen } = setUp();
    driver.close();
    const refused = { code: "aborted", message: "The session was closed. Open it again to go on." };
    await expect(driver.begin(async () => {})).rejects.toMatchObject(refused);
    expect(() => driver.checkOpen()).toThrow(refused.message);
    expect(seen).toEqual([]);
  });
});
