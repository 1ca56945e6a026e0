import { describe, expect, it } from "vitest";
import type { AnyTool } from "../../tools/tool.js";
import { allowLine, approvalModes, type CallKind, isAsked, kindOf, refusedByUser } from "./approval-policy.js";

const rows: [CallKind, isReviewed: boolean, ...asked: boolean[]][] = [
  ["read", false, false, false, false, false],
  ["write", false, false, false, false, true],
  ["write", true, false, false, false, false],
  ["confined", false, false, false, true, true],
  ["unconfined", false, false, true, true, true],
  ["unconfined", true, false, true, true, true],
  ["undeclared", false, false, false, false, true],
];

describe("the table of approvals", () => {
  it.each(rows)("asks about %s (staged: %s) in these modes: %s %s %s %s", (kind, isReviewed, ...asked) => {
    expect(approvalModes.map((mode) => isAsked({ kind, isReviewed }, mode))).toEqual(asked);
  });

  it("knows the row of a call", () => {
    const tool = (more: object) => ({ name: "t", ...more }) as AnyTool;
    expect(kindOf(tool({}), "read", false)).toBe("read");
    expect(kindOf(tool({}), "write", true)).toBe("write");
    expect(kindOf(tool({}), "exec", false)).toBe("unconfined");
    expect(kindOf(tool({}), "exec", true)).toBe("confined");
    expect(kindOf(tool({ isUndeclared: true }), "exec", false)).toBe("undeclared");
  });

  it("remembers the bytes of a call and of nothing else", () => {
    const call = { root: "/p", tool: "bash", args: { command: "npm test" } };
    expect(allowLine(call)).toBe('["/p","bash",{"command":"npm test"}]');
    for (const other of [{ root: "/q" }, { tool: "sh" }, { args: { command: "npm test " } }])
      expect(allowLine({ ...call, ...other })).not.toBe(allowLine(call));
  });

  it("tells the model what the user said", () => {
    expect(refusedByUser(" not now ")).toBe("Refused by the user: not now");
    expect(refusedByUser("")).toBe("Refused by the user: no reason given.");
  });
});
