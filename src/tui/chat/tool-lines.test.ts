// How calls that change files are told: the figures, how the proposal stands, the changed lines.

import { describe, expect, it } from "vitest";
import { plainTheme } from "../../extensions/compat/theme.js";
import { ChatLog, type ToolItem } from "./chat-log.js";
import type { ChatLook } from "./chat-look.js";
import { toolLines } from "./tool-lines.js";

const look = (areToolsUnfolded = false) =>
  ({ theme: plainTheme, now: () => 0, areToolsUnfolded }) as unknown as ChatLook;

/** With two spaces in place of more. */
const drawn = (item: ToolItem, width: number, isUnfolded = false) =>
  toolLines(item, look(isUnfolded), width).map((line) => line.replace(/ {3,}/g, "  "));

const diff = `--- a/src/cart.js
+++ b/src/cart.js
@@ -1,3 +1,3 @@
 import { add } from "./add.js";
--- total
+-- sum
 }
--- a/src/a\u202eb.js
+++ b/src/a\u202eb.js
@@ -1,5 +1,5 @@
-1
-2
-3
-4
-5
+6
+7
+8
+9
+\u001b[2J
\\ No newline at end of file
`;
const details = {
  totalReplacements: 6,
  filesTouched: 2,
  filesSearched: 1041,
  scopePath: "src",
  diff,
  pendingId: "pa_7",
};
const proposal: ToolItem = {
  kind: "tool",
  callId: "c1",
  name: "ast_edit",
  args: { paths: ["src"] },
  state: "done",
  result: { content: [{ type: "text", text: "Staged as pa_7" }], details },
  isFinal: true,
};

describe("output", () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`).join("\n");
  const call = (name: string, text: string): ToolItem => ({
    ...{ kind: "tool", callId: "c", name, args: {}, state: "done", isFinal: true },
    result: { content: [{ type: "text", text }], details: undefined },
  });

  it("is folded to its first rows, and of a command to its last", () => {
    expect(drawn(call("find", numbered(12)), 40).slice(2)).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((line) => ` │ ${line}`),
      " │ … 4 more lines (ctrl+o)",
    ]);
    for (const name of ["bash", "!", "!!"])
      expect(drawn(call(name, numbered(12)), 40).slice(2)).toEqual([
        " │ … 4 earlier lines (ctrl+o)",
        ...[5, 6, 7, 8, 9, 10, 11, 12].map((line) => ` │ ${line}`),
      ]);
    expect(drawn(call("bash", numbered(12)), 40, true)).toHaveLength(14);
  });

  it("is not folded for one row, and a long line counts as the rows that it takes", () => {
    expect(drawn(call("bash", numbered(9)), 40).at(2)).toBe(" │ 1");
    const long = drawn(call("find", "x".repeat(36 * 20)), 40).slice(2);
    expect(long).toHaveLength(9);
    expect(long.at(-1)).toBe(" │ … 12 more lines (ctrl+o)");
  });
});

describe("a call that changes files", () => {
  it("tells its figures, that it is proposed, and the changed lines of each file, folded", () => {
    const [, title = "", file = ""] = toolLines(proposal, look(), 80);
    expect([title.length, file.length]).toEqual([79, 79]);
    expect(drawn(proposal, 80)).toEqual([
      "",
      " ● ast_edit  6 replacements · 2 files · in src · searched 1,041  proposed",
      " │ src/cart.js  +1 -1",
      " │ - -- total",
      " │ + -- sum",
      " │ src/a\\u202eb.js  +5 -5",
      ...["- 1", "- 2", "- 3", "- 4", "- 5", "+ 6"].map((line) => ` │ ${line}`),
      " │ … 4 more changed lines (ctrl+o)",
    ]);
  });

  it("shows the whole diff when it is unfolded, and nothing raw of it", () => {
    const lines = toolLines(proposal, look(true), 80);
    expect(lines).toContain(" │ @@ -1,5 +1,5 @@");
    expect(lines).toContain(" │ + \\u001b[2J");
    expect(lines.join("")).not.toContain("\u001b[2J");
  });

  it("shows the first of many files, and how many more there are", () => {
    const one = (name: number) => `--- a/${name}.js\n+++ b/${name}.js\n@@ -1 +1 @@\n-a\n+b\n`;
    const many = { ...details, diff: Array.from({ length: 30 }, (_, index) => one(index)).join("") };
    const item = { ...proposal, result: { content: [], details: many } };
    expect(drawn(item, 60).at(-1)).toBe(" │ … 26 more files (ctrl+o)");
    expect(drawn(item, 60, true).filter((line) => line.includes(".js"))).toHaveLength(30);
  });

  it("shows a new file by its text", () => {
    const args = { path: "a.md", content: "# One\n\nTwo\n" };
    const result = { content: [], details: { created: true, pendingId: "pa_8" } };
    expect(drawn({ ...proposal, name: "write", args, result }, 40)).toEqual([
      "",
      " ● write  a.md  proposed",
      " │ a.md  +3",
      ...[" │ + # One", " │ + ", " │ + Two"],
    ]);
  });

  it("tells how it ended, from the events of the session", () => {
    const log = new ChatLog(() => 0);
    const { callId: toolCallId, name: toolName, args, result } = proposal;
    log.apply({ type: "tool_execution_start", toolCallId, toolName, args });
    log.apply({ type: "tool_execution_end", toolCallId, toolName, result, isError: false } as never);
    const title = () => toolLines(log.items[0] as ToolItem, look(), 80)[1];
    expect(title()).toMatch(/ proposed$/);
    log.apply({ type: "pending_action_changed", id: "pa_7", status: "stale", revision: 1 });
    expect(title()).toMatch(/ stale$/);
    log.apply({ type: "pending_action_resolved", id: "pa_7", outcome: "applied" } as never);
    expect(title()).toMatch(/ applied$/);
  });
});

it("of a resumed session tells only what still waits", () => {
  const { callId: id, name, args, result } = proposal;
  const asked = { role: "assistant", content: [{ type: "toolCall", id, name, arguments: args }], stopReason: "stop" };
  const told = { role: "toolResult", toolCallId: id, toolName: name, isError: false, ...result };
  const log = new ChatLog(() => 0);
  log.restore([asked, told] as never);
  const title = () => toolLines(log.items[0] as ToolItem, look(), 80)[1];
  expect(title()).not.toContain("proposed");
  log.markPending(["pa_7"]);
  expect(title()).toMatch(/ proposed$/);
});

describe("a call of resolve", () => {
  const resolve = (action: string, reason: string): ToolItem => ({
    ...{ kind: "tool", callId: "c2", name: "resolve", args: { action, reason }, state: "done", isFinal: true },
    result: { content: [], details: { action, reason, label: "AST Edit: 6 replacements in 2 files" } },
  });

  it("tells what became of what was proposed, and why", () => {
    expect(drawn(resolve("apply", "asked for"), 60)).toEqual([
      "",
      " ● Resolve apply  proposed -> resolved  asked for",
      "  ✓ Accept: 6 replacements in 2 files [AST Edit]  ",
      "",
      "  asked for",
    ]);
    expect(toolLines(resolve("discard", ""), look(), 60).map((line) => line.trim())).toEqual([
      "",
      "● Resolve discard  proposed -> rejected",
      "✗ Discard: 6 replacements in 2 files [AST Edit]",
      "",
      "No reason provided",
    ]);
  });
});
