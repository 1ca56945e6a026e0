import { describe, expect, it } from "vitest";
import type { AgentSessionEvent } from "../sdk/index.js";
import { Doing } from "./working-line.js";

describe("what a run is doing", () => {
  let now = 0;
  const doing = new Doing(() => now);
  const tell = (event: object) => doing.apply(event as AgentSessionEvent);

  it("is thinking, answering, a call with its seconds, a wait before a retry", () => {
    expect(doing.text).toBe("Working");
    tell({ type: "message_update", assistantMessageEvent: { type: "thinking_delta" } });
    expect(doing.text).toBe("Thinking");
    tell({ type: "message_update", assistantMessageEvent: { type: "text_delta" } });
    expect(doing.text).toBe("Answering");
    tell({ type: "tool_execution_start", toolCallId: "1", toolName: "bash", args: { command: "npm test" } });
    now += 12_300;
    expect(doing.text).toBe("bash npm test 12s");
    tell({ type: "tool_execution_start", toolCallId: "2", toolName: "read", args: { path: "a\u001b[31m" } });
    expect(doing.text).toBe("bash npm test 12s and 1 more");
    tell({ type: "tool_execution_end", toolCallId: "1" });
    expect(doing.text).toBe("read a");
    tell({ type: "tool_execution_end", toolCallId: "2" });
    tell({ type: "auto_retry_start", attempt: 2, maxAttempts: 3, delayMs: 4000, errorMessage: "busy" });
    expect(doing.text).toBe("Retry 2/3 in 4 s");
    now += 5000;
    expect(doing.text).toBe("Retry 2/3");
    tell({ type: "agent_settled" });
    expect(doing.text).toBe("Working");
  });
});
