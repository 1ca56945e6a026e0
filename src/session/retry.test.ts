import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.js";
import type { ProviderFailure } from "../protocol/messages.js";
import { assistant, failed, plannerTestModel, retrySettings } from "../record/entries.test-kit.js";
import { manualClock } from "../testing/manual-clock.js";
import { failureText, RetryController, type RetryEvent, type RetrySettings, retryDecision } from "./retry.js";

const middle = () => 0.5;

function decide(text: string, error?: ProviderFailure, options: { attempt?: number; settings?: RetrySettings } = {}) {
  const { attempt = 1, settings = retrySettings } = options;
  return retryDecision(failed(text, error), { attempt, settings, random: middle });
}

describe("retryDecision", () => {
  it.each<[ProviderFailure, boolean]>([
    [{ kind: "rate_limit", status: 429 }, true],
    [{ kind: "overloaded", status: 529 }, true],
    [{ kind: "server", status: 500 }, true],
    [{ kind: "network" }, true],
    [{ kind: "limit" }, false],
    [{ kind: "usage_limit", status: 402 }, false],
    [{ kind: "usage_limit", retryAfterMs: 5000 }, true],
    [{ kind: "auth", status: 401 }, false],
    [{ kind: "invalid_request", status: 400 }, false],
    [{ kind: "refusal" }, false],
    [{ kind: "content_filter" }, false],
    [{ kind: "overflow", status: 413 }, false],
    [{ kind: "unknown", status: 503 }, true],
    [{ kind: "unknown", status: 418 }, false],
  ])("goes by the data first: %j", (error, isRetried) => {
    // The words say the opposite of the data.
    const text = isRetried ? "invalid request" : "503 overloaded, timeout";
    expect(decide(text, error).kind).toBe(isRetried ? "retry" : "stop");
  });

  it.each([
    "overloaded",
    "Rate limit exceeded",
    "rate_limit_error",
    "Too Many Requests",
    "too many tokens per minute",
    "error 429",
    "503 service unavailable",
    "Server error",
    "internal error, try again",
    "network error",
    "connection error.",
    "Connection refused",
    "connection reset by peer",
    "connection lost",
    "fetch failed",
    "socket hang up",
    "other side closed",
    "request timed out",
    "time out",
    "timeout",
    "terminated",
  ])("reads %j as passing when there is nothing but the text", (text) => {
    expect(decide(text).kind).toBe("retry");
    expect(decide(text, { kind: "unknown" }).kind).toBe("retry");
  });

  it.each([
    "max_tokens is 45000 tokens too many",
    "listening on port 15003",
    "request req_500abc was refused",
    "model not found",
    "prompt is too long: 503 tokens over",
    "This model's maximum context length is 500 tokens",
  ])("never retries %j", (text) => {
    expect(decide(text)).toEqual({ kind: "stop", reason: "permanent", finalError: text });
  });

  it("retries neither an abort, nor a good reply, nor the planner", () => {
    const options = { attempt: 1, settings: retrySettings, random: middle };
    const stop = { kind: "stop", reason: "permanent" };
    expect(retryDecision(assistant({ stopReason: "aborted", errorMessage: "timeout" }), options)).toMatchObject(stop);
    expect(retryDecision(assistant(), options)).toMatchObject(stop);
    expect(retryDecision({ ...failed("timeout"), api: plannerTestModel.api }, options)).toMatchObject(stop);
  });

  it("doubles the delay, up to its maximum", () => {
    const delays = [1, 2, 3, 6].map((attempt) => {
      const decision = decide("timeout", undefined, { attempt, settings: { ...retrySettings, maxRetries: 9 } });
      return decision.kind === "retry" && decision.delayMs;
    });
    expect(delays).toEqual([2000, 4000, 8000, 60_000]);
  });

  it("waits 7 s for a 429 with retry-after 7, and never less than asked for", () => {
    const limit: ProviderFailure = { kind: "rate_limit", status: 429, retryAfterMs: 7000 };
    expect(decide("slow down", limit)).toEqual({ kind: "retry", attempt: 1, delayMs: 7000 });
    expect(decide("slow down", { ...limit, retryAfterMs: 500 })).toMatchObject({ delayMs: 2000 });
  });

  it("ignores the service's wait when another model is asked: the plain delay, for every attempt", () => {
    const error: ProviderFailure = { kind: "rate_limit", status: 429, retryAfterMs: 900_000 };
    const options = { settings: retrySettings, random: middle, isElsewhere: true };
    expect([1, 2, 3, 4].map((attempt) => retryDecision(failed("slow down", error), { ...options, attempt }))).toEqual([
      ...[1, 2, 3].map((attempt) => ({ kind: "retry", attempt, delayMs: 2000 })),
      { kind: "stop", reason: "exhausted", finalError: "slow down" },
    ]);
  });

  it("varies its own part of the delay by a fifth either way", () => {
    const delayAt = (random: number) =>
      retryDecision(failed("timeout"), { attempt: 1, settings: retrySettings, random: () => random });
    expect(delayAt(0)).toMatchObject({ delayMs: 1600 });
    expect(delayAt(0.999999)).toMatchObject({ delayMs: 2400 });
  });

  it("does not retry a demand above the maximum, and says so", () => {
    const limit: ProviderFailure = { kind: "rate_limit", status: 429, retryAfterMs: 90_000 };
    expect(decide("HTTP 429: slow down", limit)).toEqual({
      kind: "stop",
      reason: "wait_too_long",
      finalError: "HTTP 429: slow down. Not retried: the service asks to wait 90 s, and retry.maxDelayMs allows 60 s.",
    });
    expect(decide("slow down", { ...limit, retryAfterMs: 60_000 }).kind).toBe("retry");
  });

  it("stops when the attempts are used up or retrying is off", () => {
    expect(decide("timeout", undefined, { attempt: 3 }).kind).toBe("retry");
    expect(decide("timeout", undefined, { attempt: 4 })).toMatchObject({ kind: "stop", reason: "exhausted" });
    const off = { ...retrySettings, enabled: false };
    expect(decide("timeout", undefined, { settings: off })).toMatchObject({ kind: "stop", reason: "disabled" });
  });
});

describe("failureText", () => {
  const limit: ProviderFailure = { kind: "rate_limit", status: 429, retryAfterMs: 90_000 };
  const textOf = (errorMessage: string, failure: ProviderFailure, settings = retrySettings) =>
    failureText({ type: "error", reason: "error", errorMessage, failure }, settings);

  it("says that a demanded wait is too long, once", () => {
    const text = "slow down. Not retried: the service asks to wait 90 s, and retry.maxDelayMs allows 60 s.";
    expect(textOf("slow down", limit)).toBe(text);
    expect(textOf(text, limit)).toBe(text);
    expect(decide(text, limit)).toMatchObject({ finalError: text });
  });

  it("leaves every other sentence as it is", () => {
    expect(textOf("slow down", { ...limit, retryAfterMs: 7000 })).toBe("slow down");
    expect(textOf("no", { kind: "auth", retryAfterMs: 90_000 })).toBe("no");
    expect(textOf("slow down", limit, { ...retrySettings, enabled: false })).toBe("slow down");
  });
});

describe("RetryController", () => {
  function open(settings = retrySettings) {
    const clock = manualClock();
    const events: RetryEvent[] = [];
    const live = { ...settings };
    const controller = new RetryController({
      clock,
      random: middle,
      settings: () => live,
      emit: (event) => events.push(event),
    });
    return { clock, events, controller, live, signal: new AbortController() };
  }
  const overloaded = failed("503 service unavailable", { kind: "overloaded", status: 503 });
  const start = (attempt: number, delayMs: number) => ({
    type: "auto_retry_start",
    attempt,
    maxAttempts: 3,
    delayMs,
    errorMessage: "503 service unavailable",
  });

  async function retryOnce({ controller, clock, signal }: ReturnType<typeof open>, waitMs: number) {
    expect(controller.onFailure(overloaded).kind).toBe("retry");
    const waiting = controller.wait(signal.signal);
    clock.advance(waitMs);
    expect(await waiting).toBe("due");
  }

  it("a failure, then success: nothing is told before the wait, the end comes with the good reply", async () => {
    const it = open();
    const { controller, events, clock, signal } = it;
    expect(controller.isRetrying).toBe(false);
    expect(controller.onFailure(overloaded)).toEqual({ kind: "retry", attempt: 1, delayMs: 2000 });
    expect([events, controller.isRetrying, controller.attempt]).toEqual([[], true, 1]);
    const waiting = controller.wait(signal.signal);
    expect(events).toEqual([start(1, 2000)]);
    clock.advance(1999);
    await Promise.resolve();
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    expect(await waiting).toBe("due");
    expect(getEventListeners(signal.signal, "abort")).toEqual([]);
    controller.onSuccess();
    expect(events).toEqual([start(1, 2000), { type: "auto_retry_end", success: true, attempt: 1 }]);
    expect([controller.isRetrying, controller.attempt]).toEqual([false, 0]);
    controller.onSuccess();
    controller.close();
    expect(events.length).toBe(2);
  });

  it("exhausted: three attempts, then the end after the last agent_end, and a new series begins at 1", async () => {
    const it = open();
    for (const waitMs of [2000, 4000, 8000]) await retryOnce(it, waitMs);
    expect(it.controller.onFailure(overloaded)).toMatchObject({ kind: "stop", reason: "exhausted" });
    const starts = [start(1, 2000), start(2, 4000), start(3, 8000)];
    expect(it.events).toEqual(starts);
    it.controller.close();
    const end = { type: "auto_retry_end", success: false, attempt: 3, finalError: "503 service unavailable" };
    expect(it.events).toEqual([...starts, end]);
    expect(it.controller.isRetrying).toBe(false);
    expect(it.controller.onFailure(overloaded)).toMatchObject({ attempt: 1 });
  });

  it("a permanent failure within a series closes it with that failure", async () => {
    const it = open();
    await retryOnce(it, 2000);
    it.controller.onFailure(failed("no such model", { kind: "invalid_request" }));
    it.controller.close();
    expect(it.events.at(-1)).toEqual({
      type: "auto_retry_end",
      success: false,
      attempt: 1,
      finalError: "no such model",
    });
  });

  it("without a series a final failure tells nothing", () => {
    const { controller, events } = open({ ...retrySettings, maxRetries: 0 });
    expect(controller.onFailure(overloaded)).toMatchObject({ kind: "stop", reason: "exhausted" });
    controller.close();
    expect([events, controller.isRetrying]).toEqual([[], false]);
  });

  it("switched off: no events, no retry; switched off while waiting: the wait goes on", async () => {
    const off = open({ ...retrySettings, enabled: false });
    expect(off.controller.onFailure(overloaded)).toMatchObject({ kind: "stop", reason: "disabled" });
    off.controller.close();
    expect(off.events).toEqual([]);
    const { controller, live, clock, signal } = open();
    controller.onFailure(overloaded);
    const waiting = controller.wait(signal.signal);
    Object.assign(live, { enabled: false });
    clock.advance(2000);
    expect(await waiting).toBe("due");
  });

  const cancelled = { type: "auto_retry_end", success: false, attempt: 1, finalError: "Retry cancelled" };

  it("abort_retry ends the wait at once, and leaves no timer", async () => {
    const { controller, events, clock, signal } = open();
    controller.onFailure(overloaded);
    const waiting = controller.wait(signal.signal);
    expect(controller.cancel("abort_retry")).toBe(true);
    expect(events).toEqual([start(1, 2000), cancelled]);
    expect(await waiting).toBe("abort_retry");
    expect([clock.pendingTimers, controller.isRetrying, controller.cancel("abort_retry")]).toEqual([0, false, false]);
  });

  it("a wait keeps the process alive, and no longer than it lasts", async () => {
    const held = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
    const { signal } = new AbortController();
    const settings = () => retrySettings;
    const controller = new RetryController({ clock: systemClock, random: middle, settings, emit() {} });
    controller.onFailure(overloaded);
    const before = held();
    const waiting = controller.wait(signal);
    expect(held()).toBe(before + 1);
    controller.cancel("abort_retry");
    expect(held()).toBe(before);
    await waiting;
  });

  it("the run's signal ends the wait as abort does", async () => {
    const { controller, events, clock, signal } = open();
    controller.onFailure(overloaded);
    const waiting = controller.wait(signal.signal);
    signal.abort();
    expect(await waiting).toBe("abort");
    expect([events, clock.pendingTimers]).toEqual([[start(1, 2000), cancelled], 0]);
  });

  it("a cancel between the decision and the wait is not lost, and the pair still closes", async () => {
    const { controller, events, clock, signal } = open();
    controller.onFailure(overloaded);
    expect(controller.cancel("abort_retry")).toBe(true);
    signal.abort();
    expect(await controller.wait(signal.signal)).toBe("abort_retry");
    expect([events, clock.pendingTimers]).toEqual([[start(1, 2000), cancelled], 0]);
  });

  it("an abort of the repeated call closes the series as cancelled", async () => {
    const it = open();
    await retryOnce(it, 2000);
    expect(it.controller.cancel("abort")).toBe(false);
    it.controller.onFailure(assistant({ stopReason: "aborted", errorMessage: "Request was aborted" }));
    it.controller.close();
    expect(it.events).toEqual([start(1, 2000), cancelled]);
  });

  it("a run that ends without a reply closes the series too", async () => {
    const it = open();
    await retryOnce(it, 2000);
    it.controller.close();
    expect(it.events).toEqual([start(1, 2000), cancelled]);
  });

  it("refuses to wait for a retry without a decision", () => {
    const { controller, signal } = open();
    expect(() => controller.wait(signal.signal)).toThrow("No retry is due");
  });
});
