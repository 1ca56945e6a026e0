import { describe, expect, it } from "vitest";
import { GalleyError } from "../base/errors.js";
import { classify, excerpt, problemOfErrorObject, problemOfException, problemOfResponse } from "./failures.js";

describe("classify by status", () => {
  it.each([
    [400, "invalid_request"],
    [401, "auth"],
    [402, "usage_limit"],
    [403, "auth"],
    [404, "invalid_request"],
    [408, "network"],
    [413, "overflow"],
    [422, "invalid_request"],
    [429, "rate_limit"],
    [500, "server"],
    [502, "server"],
    [503, "overloaded"],
    [504, "server"],
    [529, "overloaded"],
  ])("%i is %s", (status, kind) => {
    expect(classify({ status, text: "no" })).toEqual({ kind, status });
  });

  it.each([
    "API key not valid. Please pass a valid API key.",
    "Incorrect API key provided: xa***yz.",
    "Invalid API-key",
    "The api_key is invalid",
  ])("takes a 400 that refuses the key for what it is: %s", (text) => {
    expect(classify({ status: 400, text }).kind).toBe("auth");
    expect(classify({ status: 500, text }).kind).toBe("server");
  });

  it("keeps a plain 400 final whatever digits its text holds", () => {
    expect(classify({ status: 400, text: "max_tokens 45000 is above the maximum of 500" }).kind).toBe(
      "invalid_request",
    );
  });

  it("lets a telling code overrule the status, a general one not", () => {
    expect(classify({ status: 429, codes: ["insufficient_quota"] }).kind).toBe("usage_limit");
    expect(classify({ status: 400, codes: ["context_length_exceeded", "invalid_request_error"] }).kind).toBe(
      "overflow",
    );
    expect(classify({ status: 500, codes: ["invalid_request_error"] }).kind).toBe("server");
  });
});

describe("overflow texts", () => {
  it.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Your input exceeds the context window of this model.",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 128000 tokens.",
    "the request exceeds the limit of 128000",
    "the request exceeds the available context size",
    "tokens to keep is greater than the context length",
    "invalid params, context window exceeds limit",
    "exceeded model token limit: 262144",
    "context_length_exceeded",
    "too many tokens in the prompt",
    "token limit exceeded",
    "request_too_large",
    "Payload Too Large",
    "Request Entity Too Large",
    "model_context_window_exceeded",
  ])("%s", (text) => {
    expect(classify({ status: 400, text }).kind).toBe("overflow");
    expect(classify({ text }).kind).toBe("overflow");
  });

  it("takes a bare 400 or 413 for one", () => {
    expect(problemOfResponse({ status: 400, body: "" })).toEqual({
      message: "HTTP 400 (no body)",
      failure: { kind: "overflow", status: 400 },
    });
    expect(problemOfResponse({ status: 413, body: "" }).failure.kind).toBe("overflow");
  });

  it.each([
    "too many tokens per minute",
    "Too many tokens, please wait before trying again.",
    "ThrottlingException: Throttling, too many tokens",
  ])("never for throttling: %s", (text) => {
    for (const status of [undefined, 400, 429, 500])
      expect(classify({ text, ...(status === undefined ? {} : { status }) }).kind).toBe("rate_limit");
  });

  it("leaves a missing key a missing key", () => {
    expect(classify({ status: 401, text: "too many tokens" }).kind).toBe("auth");
  });
});

describe("texts without status", () => {
  it.each([
    ["Overloaded", "overloaded"],
    ["rate limit reached", "rate_limit"],
    ["upstream said 429", "rate_limit"],
    ["got 500 from upstream", "server"],
    ["Internal error", "server"],
    ["service unavailable", "overloaded"],
    ["connection reset by peer", "network"],
    ["socket hang up", "network"],
    ["request timed out", "network"],
    ["terminated", "network"],
    ["max_tokens 45000", "unknown"],
    ["port 5020, id req_4290", "unknown"],
    ["determinated", "unknown"],
  ])("%s is %s", (text, kind) => {
    expect(classify({ text }).kind).toBe(kind);
  });
});

describe("error bodies", () => {
  it.each([
    [
      '{"error":{"message":"slow","type":"requests","code":"rate_limit_exceeded"}}',
      "HTTP 429 rate_limit_exceeded: slow",
    ],
    ['{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}', "HTTP 429 rate_limit_error: slow"],
    ['{"error":"slow"}', "HTTP 429: slow"],
    ['{"detail":"slow"}', "HTTP 429: slow"],
    ['[{"error":{"code":429,"message":"slow"}}]', "HTTP 429: slow"],
    [
      '{"error":{"message":"Provider returned error","metadata":{"raw":"slow"}}}',
      "HTTP 429: Provider returned error slow",
    ],
    ["<html>\n slow\u0000 </html>", "HTTP 429: <html> slow </html>"],
    ['{"odd":1}', 'HTTP 429: {"odd":1}'],
  ])("%s", (body, message) => {
    expect(problemOfResponse({ status: 429, body }).message).toBe(message);
  });

  it("reads a status out of an error inside a stream", () => {
    expect(problemOfErrorObject({ error: { code: 502, message: "bad gateway" } })).toEqual({
      message: "bad gateway",
      failure: { kind: "server", status: 502 },
    });
    expect(problemOfErrorObject({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })).toEqual(
      {
        message: "overloaded_error: Overloaded",
        failure: { kind: "overloaded", code: "overloaded_error" },
      },
    );
    expect(problemOfErrorObject({ error: { code: "constructor", message: "odd" } }).failure.kind).toBe("unknown");
    expect(problemOfErrorObject(null).failure.kind).toBe("unknown");
  });

  it("bounds what it quotes", () => {
    expect(problemOfResponse({ status: 500, body: "x".repeat(100_000) }).message.length).toBeLessThan(1100);
    expect(excerpt("a\u0007b\n\tc", 10)).toBe("a b c");
  });
});

describe("Google", () => {
  const rpc = "type.googleapis.com/google.rpc";
  const quota = (quotaId: string) => ({ "@type": `${rpc}.QuotaFailure`, violations: [{ quotaMetric: "m", quotaId }] });
  const wait = (retryDelay: string) => ({ "@type": `${rpc}.RetryInfo`, retryDelay });
  const error = (code: number, status: string, details: unknown) => ({
    error: { code, message: "You exceeded your current quota, please check your plan.", status, details },
  });
  const minute = [quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), wait("34.074824224s")];
  const day = [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), wait("34s")];

  it("waits as long as it is asked to, whatever the text says of a quota", () => {
    const body = JSON.stringify(error(429, "RESOURCE_EXHAUSTED", minute));
    expect(problemOfResponse({ status: 429, body, retryAfterMs: 5 })).toEqual({
      message: "HTTP 429 RESOURCE_EXHAUSTED: You exceeded your current quota, please check your plan.",
      failure: { kind: "rate_limit", status: 429, code: "RESOURCE_EXHAUSTED", retryAfterMs: 34_075 },
    });
  });

  it("takes the quota of a minute for one that passes, with a wait or without", () => {
    const { failure } = problemOfErrorObject(error(429, "RESOURCE_EXHAUSTED", minute.slice(0, 1)));
    expect(failure).toEqual({ kind: "rate_limit", status: 429, code: "RESOURCE_EXHAUSTED" });
  });

  it("takes the quota of a day for used up, and does not wait", () => {
    const body = JSON.stringify([error(429, "RESOURCE_EXHAUSTED", day)]);
    const failure = { kind: "usage_limit", status: 429, code: "RESOURCE_EXHAUSTED" };
    expect(problemOfResponse({ status: 429, body, retryAfterMs: 5 }).failure).toEqual(failure);
    expect(problemOfErrorObject(error(429, "RESOURCE_EXHAUSTED", day)).failure).toEqual(failure);
  });

  it("reads the words of its errors where no status came", () => {
    const kind = (status: string) => problemOfErrorObject({ error: { message: "m", status } }).failure.kind;
    expect(kind("UNAVAILABLE")).toBe("overloaded");
    expect(kind("INTERNAL")).toBe("server");
    expect(kind("PERMISSION_DENIED")).toBe("auth");
    expect(kind("RESOURCE_EXHAUSTED")).toBe("rate_limit");
  });

  it("knows a wrong key behind a 400", () => {
    const details = [{ "@type": `${rpc}.ErrorInfo`, reason: "API_KEY_INVALID" }];
    const body = JSON.stringify({
      error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT", details },
    });
    expect(problemOfResponse({ status: 400, body }).failure.kind).toBe("auth");
  });

  it("is not misled by odd details", () => {
    for (const details of [null, "x", [null, 1, {}], [quota("x"), wait("soon"), wait("-1s")], [{ "@type": 7 }]]) {
      const { failure } = problemOfErrorObject(error(429, "RESOURCE_EXHAUSTED", details));
      expect(failure).toEqual({ kind: "usage_limit", status: 429, code: "RESOURCE_EXHAUSTED" });
    }
  });
});

describe("exceptions", () => {
  it("finds the system code behind wrappers", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    const expected = {
      message: "Connection failed: connect ECONNREFUSED 127.0.0.1:1 (ECONNREFUSED)",
      failure: { kind: "network", code: "ECONNREFUSED" },
    };
    expect(problemOfException(refused)).toEqual(expected);
    expect(problemOfException(new TypeError("fetch failed", { cause: refused }))).toEqual(expected);
    expect(problemOfException(new AggregateError([refused], ""))).toEqual(expected);
  });

  it("tells time limits from certificates and bad configuration", () => {
    expect(problemOfException(new GalleyError("timeout", "late")).failure.kind).toBe("network");
    expect(problemOfException(new GalleyError("invalid_config", "bad")).failure.kind).toBe("invalid_request");
    const certificate = Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(problemOfException(certificate).failure).toEqual({ kind: "unknown", code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(problemOfException("fetch failed").failure.kind).toBe("network");
    expect(problemOfException(undefined).failure.kind).toBe("unknown");
  });
});
