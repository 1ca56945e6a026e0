import { describe, expect, it } from "vitest";
import {
  assistant,
  chain,
  compaction,
  failed,
  reply,
  result,
  said,
  testModel,
  usage,
  user,
} from "../record/entries.test-kit.js";
import { findOverflow, isOverflowError } from "./overflow.js";

describe("isOverflowError", () => {
  it.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Your input exceeds the context window of this model",
    "The input token count (1196265) exceeds the maximum number of tokens allowed",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Please reduce the length of the messages or completion",
    "This endpoint's maximum context length is 128,000 tokens. However, you requested 150000",
    "prompt token count of 90000 exceeds the limit of 64000",
    "the request exceeds the available context size",
    "tokens to keep is greater than the context length",
    "invalid params, context window exceeds limit (2013)",
    "Your request exceeded model token limit: 262144",
    "context_length_exceeded: input is too long",
    "Too many tokens in the request",
    "Token limit exceeded",
    "413 request_too_large",
    "Payload Too Large",
    "Request entity too large",
    "HTTP 400 (no body)",
    "413 status code (no body)",
    "Provider finish_reason: model_context_window_exceeded",
  ])("knows the text %j", (text) => {
    expect(isOverflowError(failed(text))).toBe(true);
    expect(isOverflowError(failed(text, { kind: "unknown" }))).toBe(true);
  });

  it.each([
    "Too many tokens per minute, please wait",
    "Rate limit reached: too many tokens",
    "ThrottlingException: Too many tokens, your request was throttled",
    "HTTP 500 (no body)",
    "overloaded",
  ])("does not take %j for one", (text) => {
    expect(isOverflowError(failed(text))).toBe(false);
  });

  it("believes the provider's data before any text", () => {
    expect(isOverflowError(failed("whatever", { kind: "overflow" }))).toBe(true);
    expect(isOverflowError(failed("prompt is too long", { kind: "rate_limit", status: 429 }))).toBe(false);
    expect(isOverflowError(assistant({ errorMessage: "prompt is too long", stopReason: "aborted" }))).toBe(false);
  });
});

describe("findOverflow", () => {
  const overflow = said(failed("prompt is too long", { kind: "overflow" }));

  it("finds the last reply, also behind the results that closed its calls", () => {
    expect(findOverflow(chain(user("a"), overflow), testModel)).toBe(1);
    expect(findOverflow(chain(user("a"), overflow, result("c1", "failed", { isError: true })), testModel)).toBe(1);
  });

  it("finds a reply whose reported prompt is above the window", () => {
    const fits = reply("fine", { usage: usage(200_000, 500) });
    const cached = reply("cut", { usage: { ...usage(100_000), cacheRead: 100_001 } });
    expect(findOverflow(chain(user("a"), fits), testModel)).toBeUndefined();
    expect(findOverflow(chain(user("a"), cached), testModel)).toBe(1);
    expect(findOverflow(chain(user("a"), cached), { ...testModel, contextWindow: 0 })).toBeUndefined();
    const stopped = reply("cut", { usage: usage(200_001), stopReason: "aborted" });
    expect(findOverflow(chain(user("a"), stopped), testModel)).toBeUndefined();
  });

  it("ignores another model, what is older than the latest compaction, and what a good reply followed", () => {
    expect(findOverflow(chain(user("a"), overflow), { ...testModel, id: "other" })).toBeUndefined();
    expect(findOverflow(chain(user("a"), overflow, compaction("e1"), user("b")), testModel)).toBeUndefined();
    expect(findOverflow(chain(user("a"), overflow, reply("fine")), testModel)).toBeUndefined();
    expect(findOverflow([], testModel)).toBeUndefined();
  });
});
