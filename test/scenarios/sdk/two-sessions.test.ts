// Two sessions in one process, made and run at the same time, with nothing in common: settings, models, keys, queues,
// records, tools, context files and environment of one are never seen by the other.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { logTo } from "../../../src/base/log.js";
import { createAgentSession } from "../../../src/sdk/create-agent-session.js";
import { openAi } from "../../../src/testing/scripted-replies.js";
import {
  Gate,
  type RecordedRequest,
  type Reply,
  type ScriptedServer,
  type Step,
  startScriptedServer,
} from "../../../src/testing/scripted-server.js";
import type { AgentTool } from "../../../src/tools/tool.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

type Name = "alpha" | "beta";
const names = ["alpha", "beta"] as const;

interface Side {
  session: Awaited<ReturnType<typeof createAgentSession>>["session"];
  requests: readonly RecordedRequest[];
  events: string[];
  lines: string[];
  /** The first reply waits here. */
  gate: Gate;
}

let root: string;
const servers: ScriptedServer[] = [];
const sides = {} as Record<Name, Side>;
const processBefore = { env: { ...process.env }, cwd: process.cwd() };

beforeAll(async () => {
  root = temporaryDirectory();
  const made = await Promise.all(names.map((name) => open(name)));
  for (const [index, name] of names.entries()) sides[name] = made[index] as Side;
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

async function open(name: Name): Promise<Side> {
  const isAlpha = name === "alpha";
  const gate = new Gate();
  const read = { id: `call_${name}`, name: "read", arguments: { path: "note.txt" } };
  const server = await startScriptedServer([
    { steps: [gate.step, ...stepsOf(openAi.toolCalls([read]))] },
    openAi.text(`${name} first`),
    openAi.text(`${name} second`),
  ]);
  servers.push(server);
  put(`${name}/work/note.txt`, `note of ${name}\n`);
  put(`${name}/work/AGENTS.md`, `rules of ${name}`);
  put(`${name}/work/.galley/settings.json`, JSON.stringify({ followUpMode: isAlpha ? "all" : "one-at-a-time" }));
  put(`${name}/agent/config.yml`, `temperature: ${isAlpha ? 0.1 : 0.9}\nretry:\n  enabled: ${isAlpha}\n`);
  const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "$SHARED_NAME" };
  const models = [{ id: `${name}-model` }, { id: `${name}-other` }];
  put(`${name}/agent/models.json`, JSON.stringify({ providers: { acme: { ...provider, models } } }));
  const lines: string[] = [];
  const { session } = await createAgentSession({
    cwd: join(root, name, "work"),
    agentDir: join(root, name, "agent"),
    env: { SHARED_NAME: `key-of-${name}` },
    persist: true,
    customTools: [toolOf(name)],
    rules: [],
    log: logTo((line) => lines.push(line)),
  });
  const events: string[] = [];
  session.subscribe((event) => void events.push(JSON.stringify(event)));
  return { session, requests: server.requests, events, lines, gate };
}

function stepsOf(reply: Reply): Step[] {
  return "steps" in reply ? reply.steps : [];
}

function toolOf(name: Name): AgentTool {
  return {
    name: `only_${name}`,
    label: name,
    description: `Tool of ${name}`,
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: name }] }),
  };
}

const otherOf = (name: Name): Name => (name === "alpha" ? "beta" : "alpha");

it("run side by side, and what is queued for one stays with it", async () => {
  const { alpha, beta } = sides;
  const running = names.map((name) => sides[name].session.prompt(`prompt for ${name}`));
  await Promise.all(names.map((name) => sides[name].gate.reached));
  alpha.session.followUp("more for alpha");
  alpha.session.steeringMode = "all";
  expect([alpha.session.queuedMessageCount, beta.session.queuedMessageCount]).toEqual([1, 0]);
  expect([alpha.session.steeringMode, beta.session.steeringMode]).toEqual(["all", "one-at-a-time"]);
  beta.session.followUp("more for beta");
  // The one that began later ends first.
  beta.gate.open();
  await running[1];
  expect([alpha.session.isStreaming, beta.session.isStreaming]).toEqual([true, false]);
  alpha.gate.open();
  await running[0];
  for (const name of names) {
    expect(sides[name].session.getLastAssistantText()).toBe(`${name} second`);
    expect(sides[name].lines).toEqual([]);
  }
});

it.each(names)("%s asked its own server, with its own key, settings, tools and context files", (name) => {
  const { requests } = sides[name];
  expect(requests).toHaveLength(3);
  for (const { headers, body } of requests) {
    expect(headers.authorization).toBe(`Bearer key-of-${name}`);
    expect(body).toMatchObject({ model: `${name}-model`, temperature: name === "alpha" ? 0.1 : 0.9 });
    const text = JSON.stringify(body);
    expect(text).toContain(`rules of ${name}`);
    expect(text).toContain(`only_${name}`);
    expect(text).not.toContain(otherOf(name));
  }
  expect(JSON.stringify(requests[1]?.body)).toContain(`note of ${name}`);
});

it.each(names)("%s has its own models, settings and events", (name) => {
  const { session, events } = sides[name];
  const isAlpha = name === "alpha";
  expect(session.getAvailableModels().map(({ id }) => id)).toEqual([`${name}-model`, `${name}-other`]);
  expect(session.autoRetryEnabled).toBe(isAlpha);
  expect(session.followUpMode).toBe(isAlpha ? "all" : "one-at-a-time");
  expect(session.tools.map((tool) => tool.name)).toContain(`only_${name}`);
  expect(session.tools.map((tool) => tool.name)).not.toContain(`only_${otherOf(name)}`);
  expect(events.length).toBeGreaterThan(10);
  expect(events.join("\n")).not.toContain(otherOf(name));
});

it.each(names)("a change to %s does not reach the other", (name) => {
  const { session } = sides[name];
  const other = sides[otherOf(name)].session;
  const before = [other.model, other.autoCompactionEnabled, other.getTodoPhases(), other.sessionName];
  session.setModel("acme", `${name}-other`);
  session.setAutoCompactionEnabled(false);
  session.setTodoPhases([{ name: "Plan", tasks: [{ content: name, status: "pending" }] }]);
  session.setSessionName(name);
  expect([other.model, other.autoCompactionEnabled, other.getTodoPhases(), other.sessionName]).toEqual(before);
  other.setAutoCompactionEnabled(true);
});

it.each(names)("%s is recorded below its own agent directory, and only there", async (name) => {
  const { session } = sides[name];
  await session.dispose();
  const file = session.sessionFile ?? "";
  expect(file.startsWith(join(root, name, "agent"))).toBe(true);
  const text = readFileSync(file, "utf8");
  expect(text).toContain(`prompt for ${name}`);
  expect(text).not.toContain(otherOf(name));
  expect(readdirSync(join(root, name)).sort()).toEqual(["agent", "work"]);
});

it("left the process as it was", () => {
  expect({ ...process.env }).toEqual(processBefore.env);
  expect(process.cwd()).toBe(processBefore.cwd);
  expect(existsSync(join(root, "agent"))).toBe(false);
});
