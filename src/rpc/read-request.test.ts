import { describe, expect, it } from "vitest";
import { type AnyFrame, rig, tick } from "../../test/kit/outbox-rig.js";
import { GalleyError } from "../base/errors.js";
import type { Feature } from "./features.js";
import { Request } from "./read-request.js";

interface Asked {
  id?: unknown;
  features?: Feature[];
}

/** What the host reads after one request with this id went this way. */
async function answers(ask: (request: Request) => void, { id = "req_1", features = [] }: Asked = {}) {
  const { output, outbox, features: agreed } = rig({ features });
  ask(new Request({ type: "set_model", id }, outbox, agreed));
  await tick();
  return output.frames;
}

const response = (rest: object): AnyFrame => ({ type: "response", command: "set_model", ...rest });

describe("a success", () => {
  it("repeats the id; data is there when there is any, null included", async () => {
    expect(await answers((request) => request.succeed())).toEqual([response({ id: "req_1", success: true })]);
    expect(await answers((request) => request.succeed({ text: null }))).toEqual([
      response({ id: "req_1", success: true, data: { text: null } }),
    ]);
    expect(await answers((request) => request.succeed(null))).toEqual([
      response({ id: "req_1", success: true, data: null }),
    ]);
  });

  it("is told once", async () => {
    const told = await answers((request) => {
      request.succeed("early");
      request.succeed("late");
    });
    expect(told).toEqual([response({ id: "req_1", success: true, data: "early" })]);
  });
});

describe("a failure", () => {
  it("A: a refusal names the command and repeats the id", async () => {
    const refused = response({ id: "req_1", success: false, error: "Model not found: a/b" });
    const thrown = new GalleyError("model_not_found", "Model not found: a/b");
    expect(await answers((request) => request.refuse("Model not found: a/b"))).toEqual([refused]);
    expect(await answers((request) => request.fail(thrown))).toEqual([refused]);
    expect(await answers((request) => request.fail(thrown), { features: ["echo-ids"] })).toEqual([refused]);
  });

  it("B: an internal error is reported as parse without id, with hints", async () => {
    const told = {
      type: "response",
      command: "parse",
      success: false,
      error: "Failed to parse command: boom",
      requestId: "req_1",
      requestCommand: "set_model",
    };
    expect(await answers((request) => request.fail(new TypeError("boom")))).toEqual([told]);
    expect(await answers((request) => request.fail("boom"))).toEqual([told]);
    expect(await answers((request) => request.fail(new Error("boom")), { features: ["echo-ids"] })).toEqual([
      { ...told, id: "req_1", command: "set_model" },
    ]);
  });

  it("D: an unknown command is told under its own name without id, with hints", async () => {
    const told = response({
      success: false,
      error: "Unknown command: set_model",
      requestId: "req_1",
      requestCommand: "set_model",
    });
    expect(await answers((request) => request.refuseUnknown())).toEqual([told]);
    expect(await answers((request) => request.refuseUnknown(), { features: ["echo-ids"] })).toEqual([
      { ...told, id: "req_1" },
    ]);
  });

  it("E: what fails after the success is a second response with the id, a surprise too", async () => {
    for (const thrown of [new GalleyError("busy", "Busy."), new Error("Busy.")])
      expect(
        await answers((request) => {
          request.succeed();
          request.fail(thrown);
        }),
      ).toEqual([response({ id: "req_1", success: true }), response({ id: "req_1", success: false, error: "Busy." })]);
  });
});

describe("an id", () => {
  const echoed = async (id: unknown) => {
    const [plain] = await answers((request) => request.succeed(), { id });
    const [unknown] = await answers((request) => request.refuseUnknown(), { id });
    expect(unknown?.requestId).toEqual(plain?.id);
    expect("id" in (plain ?? {})).toBe(plain?.id !== undefined);
    return plain?.id;
  };

  const kept: unknown[] = ["", "a", "7", "x".repeat(512), "é".repeat(256), 0, -1, 7, Number.MAX_SAFE_INTEGER];
  const dropped: unknown[] = ["x".repeat(513), "é".repeat(257), 1.5, 2 ** 53, 1e300, null, true, [], ["a"], {}];

  it("is repeated as it is when it is a short string or an integer", async () => {
    for (const id of kept) expect(await echoed(id)).toBe(id);
  });

  it("counts as absent otherwise", async () => {
    for (const id of dropped) expect(await echoed(id), JSON.stringify(id)).toBeUndefined();
  });
});
