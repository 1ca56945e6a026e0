import { describe, expect, it } from "vitest";
import type { ToolUI } from "../extensions/api/custom-tool-ui.js";
import type { StoredAction } from "../plans/stored-action.js";
import { applyConfirmationBy, callApprovalBy, permitBy } from "./session-ui.js";

/** Says yes to everything, and keeps what it was shown. */
function open() {
  const shown: unknown[][] = [];
  const ui = { confirm: async (...args: unknown[]) => shown.push(args) > 0 } as Partial<ToolUI> as ToolUI;
  return { ui, shown };
}
const { signal } = new AbortController();

describe("what a person is shown", () => {
  it("of a call is every argument, and none can look like another or hide", async () => {
    const { ui, shown } = open();
    const args = { command: "ls\ncwd: /tmp", cwd: "/\u200b", n: 7, list: ["\t"], wide: `a${" ".repeat(9)}b` };
    const request = { tool: { name: "ba\nsh" }, args, signal };
    expect(await callApprovalBy(ui)(request as unknown as Parameters<ReturnType<typeof callApprovalBy>>[0])).toBe(true);
    expect(shown).toEqual([
      [
        "Run ba\\u000ash?",
        'command:\n  | ls\n  | cwd: /tmp\ncwd: /\\u200b\nn: 7\nlist: ["\\t"]\nwide: a⟨9 spaces⟩b',
        { signal },
      ],
    ]);
  });

  it("of a call whose tool has words for it are those, and nothing in them can hide", async () => {
    const { ui, shown } = open();
    const approvalDetails = () => ["Rename a\u202e", `to b${" ".repeat(9)}c`];
    const request = { tool: { name: "rename", approvalDetails }, args: { from: "a" }, signal };
    await callApprovalBy(ui)(request as unknown as Parameters<ReturnType<typeof callApprovalBy>>[0]);
    const silent = { tool: { name: "rename", approvalDetails: () => undefined }, args: { from: "a" }, signal };
    await callApprovalBy(ui)(silent as unknown as Parameters<ReturnType<typeof callApprovalBy>>[0]);
    expect(shown.map(([, message]) => message)).toEqual(["Rename a\\u202e\nto b⟨9 spaces⟩c", "from: a"]);
  });

  it("of a very long call says how much is missing", async () => {
    const { ui, shown } = open();
    const request = { tool: { name: "bash" }, args: { command: "x".repeat(70_000) }, signal };
    await callApprovalBy(ui)(request as unknown as Parameters<ReturnType<typeof callApprovalBy>>[0]);
    expect(String(shown[0]?.[1])).toMatch(/x\n⟨4473 more characters⟩$/);
  });

  it.each([
    ["read", "secret", "Let the agent read .env?", "It may hold secrets."],
    ["write", "outside_roots", "Let the agent change .env?", "It lies outside of the project."],
  ] as const)("of a file is its path and why: %s, %s", async (intent, reason, title, message) => {
    const { ui, shown } = open();
    await permitBy(ui, () => signal)({ intent, reason, path: "/p/.env", displayPath: ".env" });
    expect(shown).toEqual([[title, message, { signal }]]);
  });

  it("of a change that only its maker knows is the maker's own words", async () => {
    const { ui, shown } = open();
    const action = { label: "Two\u202e files", sourceToolName: "headers", preview: { text: "+    a\u0007" } };
    const stored = { action, work: { kind: "closure" } } as unknown as StoredAction;
    await applyConfirmationBy(ui)(stored, signal);
    const plain = { action: { label: "x", sourceToolName: "headers" }, work: { kind: "closure" } };
    await applyConfirmationBy(ui)(plain as unknown as StoredAction, undefined);
    expect(shown).toEqual([
      ["Two\\u202e files", "+    a\\u0007", { signal }],
      ["x", "Proposed by headers.", { signal: undefined }],
    ]);
  });
});
