import { Check } from "typebox/value";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { RpcCommand } from "./commands.js";
import { type OutboundFrame, RpcResponse, type RpcSuccessOf } from "./frames.js";
import type { Model } from "./model.js";

describe("a success response", () => {
  const success = (command: string, rest: object = {}) => ({ type: "response", command, success: true, ...rest });

  test("carries data exactly as its command says", () => {
    expect(Check(RpcResponse, success("abort"))).toBe(true);
    const disposition = "handled";
    expect(Check(RpcResponse, success("prompt"))).toBe(false);
    expect(Check(RpcResponse, success("prompt", { data: { disposition } }))).toBe(true);
    expect(Check(RpcResponse, success("prompt", { data: { disposition, agentInvoked: false } }))).toBe(true);
    expect(Check(RpcResponse, success("prompt", { data: { disposition, agentInvoked: true } }))).toBe(false);
    expect(Check(RpcResponse, success("steer", { data: { disposition: "lost" } }))).toBe(false);
    expect(Check(RpcResponse, success("cycle_model", { data: null }))).toBe(true);
    expect(Check(RpcResponse, success("get_last_assistant_text", { data: { text: null } }))).toBe(true);
    expect(Check(RpcResponse, success("get_last_assistant_text"))).toBe(false);
    expect(Check(RpcResponse, success("frobnicate"))).toBe(false);
  });

  test("may repeat a number as its id, and nothing else that is not a string", () => {
    expect(Check(RpcResponse, success("abort", { id: 7 }))).toBe(true);
    expect(Check(RpcResponse, success("abort", { id: "r1" }))).toBe(true);
    expect(Check(RpcResponse, success("abort", { id: null }))).toBe(false);
  });

  test("has the same data for the compiler", () => {
    expectTypeOf<RpcSuccessOf<"set_model">["data"]>().toEqualTypeOf<Model>();
    expectTypeOf<RpcSuccessOf<"abort">["data"]>().toEqualTypeOf<undefined>();
    expectTypeOf<RpcSuccessOf<"prompt">["data"]>().toEqualTypeOf<{
      disposition: "started" | "queued" | "handled";
      agentInvoked?: false;
    }>();
    expectTypeOf<Extract<RpcCommand, { type: "set_model" }>["modelId"]>().toEqualTypeOf<string>();
    expectTypeOf<Extract<OutboundFrame, { type: "rpc_chunk" }>["count"]>().toEqualTypeOf<number>();
  });
});

test("a failure response has a sentence and may name the request it belongs to", () => {
  const failure = { type: "response", command: "parse", success: false, error: "Failed to parse command: no" };
  expect(Check(RpcResponse, { ...failure, requestId: "r1", requestCommand: "bash", code: "busy" })).toBe(true);
  const { error: _, ...wordless } = failure;
  expect(Check(RpcResponse, wordless)).toBe(false);
});
