import { describe, expect, it } from "vitest";
import { retryDelayMs } from "./retry-delay.js";

const now = 1000;

describe("what is asked for outright", () => {
  it.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 9000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after-ms": "-5" }, undefined],
    [{}, undefined],
  ])("%j waits %s ms", (headers, expected) => {
    expect(retryDelayMs(429, headers, now)).toBe(expected);
    expect(retryDelayMs(503, headers, now)).toBe(expected);
  });
});

describe("resets of limits", () => {
  it("come after what is asked for, Anthropic's first, and only with a 429", () => {
    const later = { "x-ratelimit-reset-requests": "5s" };
    const middle = { ...later, "anthropic-ratelimit-tokens-reset": "1970-01-01T00:00:04Z" };
    expect(retryDelayMs(429, { ...middle, "retry-after": "2" }, now)).toBe(2000);
    expect(retryDelayMs(429, middle, now)).toBe(3000);
    expect(retryDelayMs(429, later, now)).toBe(5000);
    expect(retryDelayMs(503, middle, now)).toBeUndefined();
  });

  it("wait for the last limit that is used up, else for the first of all", () => {
    const resets = {
      "x-ratelimit-reset-requests": "6m0s",
      "x-ratelimit-reset-tokens": "2s",
      "x-ratelimit-reset-input": "120ms",
    };
    expect(retryDelayMs(429, resets, now)).toBe(120);
    const usedUp = { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-remaining-input": "0" };
    expect(retryDelayMs(429, { ...resets, "x-ratelimit-remaining-requests": "12", ...usedUp }, now)).toBe(2000);
    const anthropic = {
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "1970-01-01T00:00:31Z",
      "anthropic-ratelimit-tokens-remaining": "100",
      "anthropic-ratelimit-tokens-reset": "1970-01-01T00:00:02Z",
    };
    expect(retryDelayMs(429, anthropic, now)).toBe(30_000);
  });

  it.each([
    ["1h2m3.5s", 3_723_500],
    ["17ms", 17],
    ["2m59.56s", 179_560],
    ["1.5", 1500],
    ["0", 0],
    ["1000000001", 1_000_000_001_000 - now],
    ["1700000000000", 1_700_000_000_000 - now],
    ["never", undefined],
    ["5 parsecs", undefined],
    ["", undefined],
  ])("%s is %s ms", (text, expected) => {
    expect(retryDelayMs(429, { "x-ratelimit-reset-requests": text }, now)).toBe(expected);
  });
});
