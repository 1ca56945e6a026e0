import { expect, it } from "vitest";
import { openExtensions } from "../../../test/kit/extension-modules.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import { runUserBash, toolSessionEvent } from "./hooks-session.js";

const request = { command: "ls", excludeFromContext: true, cwd: "/project" };
const asked = new AbortController().signal;

it("a command that an extension ran has the outcome it says", async () => {
  const seen: unknown[] = [];
  const { runner } = await openExtensions([
    (pi) =>
      pi.on("user_bash", (event) => {
        seen.push(event);
        return { result: { output: "é\nb\n", exitCode: 2, truncated: true } };
      }),
  ]);
  const sizes = { totalLines: 2, totalBytes: 5, outputLines: 2, outputBytes: 5 };
  expect(await runUserBash(runner, request, asked)).toEqual({
    exitCode: 2,
    output: { text: "é\nb\n", ...sizes, truncation: {} },
  });
  expect(seen).toEqual([{ type: "user_bash", ...request }]);
});

it("a command that a handler cancelled counts as cancelled; one that no handler ran is run here", async () => {
  const cancelled = await openExtensions([
    (pi) => pi.on("user_bash", () => ({ result: { output: "", cancelled: true } })),
  ]);
  expect(await runUserBash(cancelled.runner, request, asked)).toMatchObject({
    stopped: { by: "abort" },
    output: { totalLines: 0 },
  });
  expect(await runUserBash((await openExtensions([])).runner, request, asked)).toBeUndefined();
});

it("an abort ends it although an extension still thinks about it, and asks none that has not begun", async () => {
  let count = 0;
  const { runner } = await openExtensions([
    (pi) =>
      pi.on("user_bash", () => {
        count++;
        return new Promise<undefined>(() => {});
      }),
  ]);
  const stop = new AbortController();
  const outcome = runUserBash(runner, request, stop.signal);
  await new Promise(setImmediate);
  stop.abort();
  expect(await outcome).toMatchObject({ stopped: { by: "abort" }, output: { text: "" } });
  expect(await runUserBash(runner, request, stop.signal)).toMatchObject({ stopped: { by: "abort" } });
  expect(count).toBe(1);
});

it.each<[AgentSessionEvent, unknown]>([
  [
    { type: "auto_compaction_start", reason: "threshold", action: "context-full" },
    { reason: "auto_compaction_start", trigger: "threshold", action: "context-full" },
  ],
  [
    { type: "auto_compaction_end", action: "context-full", aborted: true, willRetry: false, errorMessage: "no" },
    {
      ...{ reason: "auto_compaction_end", action: "context-full", result: undefined },
      ...{ aborted: true, willRetry: false, errorMessage: "no" },
    },
  ],
  [
    { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 5, errorMessage: "503" },
    { reason: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 5, errorMessage: "503" },
  ],
  [
    { type: "auto_retry_end", success: true, attempt: 1 },
    { reason: "auto_retry_end", success: true, attempt: 1 },
  ],
  [
    { type: "ttsr_triggered", rules: [] },
    { reason: "ttsr_triggered", rules: [] },
  ],
  [
    { type: "todo_reminder", todos: [], attempt: 1, maxAttempts: 3 },
    { reason: "todo_reminder", todos: [], attempt: 1, maxAttempts: 3 },
  ],
  [{ type: "turn_start" }, undefined],
])("custom tools are told of $type", (event, told) => {
  expect(toolSessionEvent(event)).toEqual(told);
});
