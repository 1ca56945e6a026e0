// Every command of the plain protocol once, with its request and its answer to the last byte: hosts were written against
// these lines. Where an answer holds more than a host must find in it, the rest is cut away first.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.js";
import { createNodeProcesses } from "../../../src/processes/node-processes.js";
import { say } from "../../../src/testing/scripted-model.js";
import { type InProcessHost, serveInProcess } from "../../kit/rpc-in-process.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

const models = `providers:
  acme:
    baseUrl: https://llm.example
    api: anthropic-messages
    apiKey: key
    models:
      - id: fable-2
        name: Fable 2
        reasoning: true
        input: [text]
        cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
        contextWindow: 200000
        maxTokens: 16384
        thinking: { minLevel: minimal, maxLevel: high, mode: effort }
`;

let folder: string;
let host: InProcessHost;

beforeAll(async () => {
  folder = temporaryDirectory();
  const agentDir = join(folder, "agent");
  mkdirSync(join(folder, "sessions"));
  mkdirSync(agentDir);
  writeFileSync(join(agentDir, "models.yml"), models);
  host = await serveInProcess({
    model: [say("Hello"), say("Over")],
    onDisk: true,
    session: {
      cwd: folder,
      agentDir,
      persist: true,
      sessionDir: join(folder, "sessions"),
      processes: createNodeProcesses({ env: process.env, log: silentLog }),
    },
  });
});

afterAll(async () => {
  expect(asked.size).toBe(31); // nothing was left out
  expect(await host.close()).toBe(0);
});

let requests = 0;
const asked = new Set<string>();

/** The answer as it came, as text. */
async function answer(type: string, fields: object = {}): Promise<string> {
  const id = String(++requests);
  asked.add(type);
  host.send(JSON.stringify({ id, type, ...fields }));
  for (;;) {
    const frame = (await host.receive()) as Record<string, unknown>;
    if (frame.type === "response" && frame.id === id) return JSON.stringify(frame);
  }
}

const success = (command: string, data?: unknown) =>
  JSON.stringify({ id: String(requests), type: "response", command, success: true, data });
const failure = (command: string, error: string) =>
  JSON.stringify({ id: String(requests), type: "response", command, success: false, error });

/** The same answer with these members of its data only. */
function only(line: string, keys: readonly string[]): string {
  const frame = JSON.parse(line) as { data: Record<string, unknown> };
  const data = Object.fromEntries(Object.entries(frame.data).filter(([key]) => keys.includes(key)));
  return JSON.stringify({ ...frame, data });
}

async function settled(): Promise<void> {
  await host.open.session.waitForIdle();
}

describe("the plain commands", () => {
  it("get_state, get_messages, get_last_assistant_text of a new session", async () => {
    const state = {
      isStreaming: false,
      isCompacting: false,
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      interruptMode: "wait",
      sessionId: host.open.session.sessionId,
      autoCompactionEnabled: true,
      messageCount: 0,
      queuedMessageCount: 0,
      todoPhases: [],
    };
    const line = await answer("get_state");
    expect(only(line, Object.keys(state))).toBe(success("get_state", state));
    const more = ["pendingMessageCount", "systemPrompt", "dumpTools", "sessionFile", "autoRetryEnabled", "isRetrying"];
    expect(Object.keys((JSON.parse(line) as { data: object }).data)).toEqual(expect.arrayContaining(more));
    expect(await answer("get_messages")).toBe(success("get_messages", { messages: [] }));
    expect(await answer("get_last_assistant_text")).toBe(success("get_last_assistant_text", { text: null }));
    expect(await answer("get_branch_messages")).toBe(success("get_branch_messages", { messages: [] }));
  });

  it("what is refused", async () => {
    const cases: [string, object, string][] = [
      ["compact", { customInstructions: "Keep file names" }, "Nothing to compact (session too small)"],
      ["set_session_name", { name: "  " }, "Session name cannot be empty"],
      ["set_model", { provider: "acme", modelId: "nope" }, "Model not found: acme/nope"],
      ["branch", { entryId: "e_12" }, "Invalid entry ID for branching"],
    ];
    for (const [type, fields, error] of cases) expect(await answer(type, fields)).toBe(failure(type, error));
  });

  it("what is answered without data", async () => {
    const cases: [string, object?][] = [
      ["abort"],
      ["abort_retry"],
      ["abort_bash"],
      ["set_steering_mode", { mode: "all" }],
      ["set_follow_up_mode", { mode: "one-at-a-time" }],
      ["set_interrupt_mode", { mode: "immediate" }],
      ["set_auto_compaction", { enabled: false }],
      ["set_auto_retry", { enabled: true }],
      ["set_session_name", { name: "Port" }],
    ];
    for (const [type, fields] of cases) expect(await answer(type, fields)).toBe(success(type));
  });

  it("todos and host tools", async () => {
    const phases = [
      { id: "phase-1", name: "Todos", tasks: [{ id: "task-1", content: "Map it", status: "in_progress" }] },
    ];
    expect(await answer("set_todos", { phases })).toBe(success("set_todos", { todoPhases: phases }));
    expect(await answer("set_todos", { phases: [] })).toBe(success("set_todos", { todoPhases: [] }));
    const parameters = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };
    const tools = [{ name: "echo_host", description: "Echo", parameters }];
    expect(await answer("set_host_tools", { tools })).toBe(success("set_host_tools", { toolNames: ["echo_host"] }));
  });

  it("bash: any exit code is a success", async () => {
    const counts = { totalLines: 0, totalBytes: 0, outputLines: 0, outputBytes: 0 };
    const data = { output: "", exitCode: 3, cancelled: false, truncated: false, ...counts };
    expect(await answer("bash", { command: "exit 3" })).toBe(success("bash", data));
  });

  it("prompting, and what it leaves", async () => {
    expect(await answer("steer", { message: "Use TypeScript" })).toBe(success("steer", { disposition: "queued" }));
    expect(await answer("follow_up", { message: "Then summarize" })).toBe(
      success("follow_up", { disposition: "queued" }),
    );
    host.open.session.clearQueue();
    expect(await answer("prompt", { message: "Hi" })).toBe(success("prompt", { disposition: "started" }));
    await settled();
    expect(await answer("abort_and_prompt", { message: "Start over" })).toBe(success("abort_and_prompt"));
    await settled();
    expect(await answer("get_last_assistant_text")).toBe(success("get_last_assistant_text", { text: "Over" }));
    const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const stats = {
      sessionId: host.open.session.sessionId,
      userMessages: 2,
      assistantMessages: 2,
      toolCalls: 0,
      toolResults: 0,
      totalMessages: 5,
      tokens,
      premiumRequests: 0,
      cost: 0,
    };
    expect(only(await answer("get_session_stats"), Object.keys(stats))).toBe(success("get_session_stats", stats));
  });

  it("sessions", async () => {
    const [point] = host.open.session.getUserMessagesForBranching();
    const path = join(folder, "out/session.html");
    const exported = await answer("export_html", { outputPath: "out/session.html" });
    expect(exported).toBe(success("export_html", { path }));
    const branched = await answer("branch", { entryId: point?.entryId });
    expect(branched).toBe(success("branch", { text: "Hi", cancelled: false }));
    const parentSession = "sessions/old.jsonl";
    expect(await answer("new_session", { parentSession })).toBe(success("new_session", { cancelled: false }));
    mkdirSync(join(folder, "sessions"), { recursive: true });
    writeFileSync(join(folder, "sessions/old.jsonl"), "");
    const switched = await answer("switch_session", { sessionPath: "sessions/old.jsonl" });
    expect(switched).toBe(success("switch_session", { cancelled: false }));
  });

  it("models and thinking", async () => {
    const model = {
      id: "fable-2",
      name: "Fable 2",
      api: "anthropic-messages",
      provider: "acme",
      baseUrl: "https://llm.example",
      reasoning: true,
      input: ["text"],
      cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
      contextWindow: 200_000,
      maxTokens: 16_384,
    };
    const set = await answer("set_model", { provider: "acme", modelId: "fable-2" });
    expect(only(set, Object.keys(model))).toBe(success("set_model", model));
    expect(Object.keys((JSON.parse(set) as { data: object }).data)).not.toContain("headers");
    const listed = JSON.parse(await answer("get_available_models")) as { data: { models: object[] } };
    expect(listed.data.models).toEqual([expect.objectContaining(model)]);
    expect(await answer("cycle_model")).toBe(success("cycle_model", null));
    expect(await answer("set_thinking_level", { level: "high" })).toBe(success("set_thinking_level"));
    expect(await answer("cycle_thinking_level")).toBe(success("cycle_thinking_level", { level: "off" }));
  });
});
