import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, it } from "vitest";
import { type AgentSession, plainTheme } from "../sdk/index.js";
import { headerText, pendingLine, queuedLines, todoLines } from "./status-lines.js";

const session = (given: object) => given as AgentSession;

describe("the lines around the conversation", () => {
  it("say once what was started, where, and with what", () => {
    const text = (tools: number, extensions: number) =>
      headerText(session({ extensionSummary: { tools, extensions } }), { version: "0.2.0", directory: "~/shop" });
    expect(text(2, 1)).toBe("galley 0.2.0 · ~/shop · 2 tools, 1 extension · ? for keys");
    expect(text(0, 0)).toBe("galley 0.2.0 · ~/shop · ? for keys");
  });

  it("show the todo that is next, and none when all are done", () => {
    const lines = (...states: string[]) => {
      const tasks = states.map((status, index) => ({ id: `${index}`, content: `task ${index}\u001b[2J`, status }));
      return todoLines(session({ getTodoPhases: () => [{ id: "p", name: "x", tasks }] }), plainTheme, 80);
    };
    expect(lines("completed", "pending", "in_progress", "abandoned")).toEqual([" ☐ 1/3 todos: task 2"]);
    expect(lines("completed", "abandoned")).toEqual([]);
  });

  it("name what is pending and how to decide, within the width", () => {
    const actions = [
      { id: "pa_9", label: "Batch rename: 2 files", status: "stale" },
      { id: "pa_7", label: "AST Edit: 3 replacements in 2 files\u001b[2J" },
    ];
    const line = (width: number) => pendingLine(actions, plainTheme, width).join("\n");
    expect(line(140).replace(/ {3,}/, "   ")).toBe(
      " ◌ 2 pending: pa_9 Batch rename: 2 files stale · pa_7 AST Edit: 3 replacements in 2 files\\u001b[2J   ctrl+r review · /apply · /discard",
    );
    expect(line(80).replaceAll("\u001b[0m", "")).toMatch(
      /^ ◌ 2 pending: pa_9 Batch rename: 2 files stale · pa_7 AS.*… {3}ctrl\+r review$/,
    );
    for (const width of [20, 40, 60, 80, 140]) expect(visibleWidth(line(width))).toBeLessThanOrEqual(width);
    expect(line(40)).toContain("ctrl+r review");
    expect(pendingLine([], plainTheme, 80)).toEqual([]);
  });

  it("show what is queued, in its order, within the width", () => {
    const queuedMessages = ["also fix the tests", "b\nc", "third", "fourth"].map((content) => ({
      role: "user",
      content,
    }));
    const lines = queuedLines(session({ queuedMessages }), "alt+up", plainTheme, 60);
    expect(lines.slice(1).map((line) => line.trimEnd())).toEqual([
      " ⏵ queued: b c",
      " ⏵ queued: third",
      "   … 1 more queued",
    ]);
    expect(lines[0]).toMatch(/^ ⏵ queued: also fix the tests +alt\+up takes it back$/);
    expect(lines.every((line) => visibleWidth(line) <= 60)).toBe(true);
  });
});
