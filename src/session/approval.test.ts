import { describe, expect, it, vi } from "vitest";
import type { AnyTool } from "../tools/tool.js";
import { type ApprovalPolicy, approveAll, createGate } from "./approval.js";

const tool = (approval?: AnyTool["approval"], deferrable = false): AnyTool =>
  ({ name: "t", deferrable, ...(approval ? { approval } : {}) }) as AnyTool;
const { signal } = new AbortController();
const call = { type: "toolCall", id: "1", name: "t", arguments: {} } as const;

describe("the gate", () => {
  it.each([
    ["read", tool("read"), {}, "read"],
    ["undeclared", tool(), {}, "exec"],
    ["undeclared and deferrable", tool(undefined, true), {}, "write"],
    ["by its arguments", tool((args) => (args.dry ? "read" : "write")), { dry: true }, "read"],
    ["by its arguments", tool((args) => (args.dry ? "read" : "write")), {}, "write"],
  ])("shows policy the tier of a tool that is %s", async (_, subject, args, tier) => {
    const policy = vi.fn(approveAll);
    const secure = vi.fn(async () => {});
    const gate = createGate({ hook: undefined, policy, secure });
    expect(await gate(subject, call, args, signal)).toBeUndefined();
    expect(policy).toHaveBeenCalledWith({ tool: subject, call, args, tier, signal });
    expect(secure).toHaveBeenCalledTimes(tier === "read" ? 0 : 1);
  });

  it("asks the hook first and secures nothing for a call that will not run", async () => {
    const policy = vi.fn<ApprovalPolicy>(async () => ({ block: "Not here." }));
    const secure = vi.fn(async () => {});
    const blocked = createGate({ hook: async () => ({ block: "Hook says no." }), policy, secure });
    expect(await blocked(tool("exec"), call, {}, signal)).toEqual({ block: "Hook says no." });
    expect(policy).not.toHaveBeenCalled();
    const refused = createGate({ hook: async () => undefined, policy, secure });
    expect(await refused(tool("exec"), call, {}, signal)).toEqual({ block: "Not here." });
    expect(secure).not.toHaveBeenCalled();
  });

  it("does not open when policy or a tier breaks", async () => {
    const secure = async () => {};
    const broken: ApprovalPolicy = async () => {
      throw new Error("policy lost");
    };
    await expect(
      createGate({ hook: undefined, policy: broken, secure })(tool("exec"), call, {}, signal),
    ).rejects.toThrow("policy lost");
    const moody = tool(() => {
      throw new Error("no tier");
    });
    await expect(createGate({ hook: undefined, policy: approveAll, secure })(moody, call, {}, signal)).rejects.toThrow(
      "no tier",
    );
  });
});
