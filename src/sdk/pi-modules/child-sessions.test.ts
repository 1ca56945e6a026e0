// Sessions that extensions make as in pi: with the models, the budget, the guards and the access of the session around them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createModuleHome, type ModuleHome } from "../../../test/kit/module-home.js";
import { call, type ScriptStep, say } from "../../testing/scripted-model.js";
import type { CreateAgentSessionOptions } from "../create-agent-session.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

/** What an extension's command answers. */
async function inside(
  script: readonly ScriptStep[],
  body: string,
  options: CreateAgentSessionOptions = {},
  guard = "",
) {
  const out = join(home.base, "out.json");
  home.put(
    ".galley/agent/extensions/probe.ts",
    `import { createAgentSession, DefaultResourceLoader, SessionManager, SettingsManager, getAgentDir } from "@earendil-works/pi-coding-agent";
    import { writeFileSync } from "node:fs";
    export default (pi) => { ${guard}
      pi.registerCommand("probe", { async handler(args, ctx) {
        const answer = await (async () => { ${body} })();
        writeFileSync(${JSON.stringify(out)}, JSON.stringify(answer));
      } });
    };`,
  );
  const opened = await home.open(script, options, "on disk");
  await opened.session.prompt("/probe");
  await opened.session.dispose();
  expect(opened.lines).toEqual([]);
  opened.model.verify();
  return { answer: JSON.parse(readFileSync(out, "utf8")) as unknown, ...opened };
}

const loader = `const resourceLoader = { getExtensions: () => ({ extensions: [], errors: [] }), getSkills: () => ({ skills: [] }), getPrompts: () => ({ prompts: [] }),
  getThemes: () => ({ themes: [] }), getAgentsFiles: () => ({ agentsFiles: [{ path: "/x/AGENTS.md", content: "Be kind." }] }), getSystemPrompt: () => "You are small.",
  getAppendSystemPrompt: () => ["And brief."], extendResources() {}, reload: async () => {} };`;

it("asks the models of the session around it, with a prompt and messages of its own", async () => {
  const { answer, model, session } = await inside(
    [say("From the child.")],
    `${loader}
    const { session } = await createAgentSession({ sessionManager: SessionManager.inMemory(), model: ctx.model, modelRegistry: ctx.modelRegistry,
      thinkingLevel: "off", tools: ["read", "no_such_tool"], resourceLoader, settingsManager: SettingsManager.create(ctx.cwd, getAgentDir()) });
    session.agent.state.messages = [{ role: "user", content: "Before", timestamp: 1 }];
    await session.bindExtensions({ onError() {} });
    const heard = [];
    session.subscribe(({ type }) => { heard.push(type); });
    await session.prompt("Hello", { source: "extension" });
    const answer = [session.getLastAssistantText(), session.getActiveToolNames(), heard.includes("agent_end"), session.state.messages.length];
    await session.dispose();
    return answer;`,
  );
  expect(answer).toEqual(["From the child.", ["read"], true, 3]);
  const { context } = model.requests[0] ?? {};
  expect(context?.systemPrompt).toMatch(/^You are small\.\n\nAnd brief\.[\s\S]*Be kind\./);
  expect(context?.messages.map(({ content }) => content)).toMatchObject(["Before", [{ text: "Hello" }]]);
  expect(session.budget.used.turns).toBe(1);
  expect(session.messages).toEqual([]);
});

it("passes the guards and the policy of the session around it", async () => {
  const { answer } = await inside(
    [
      call("write", { path: "secret.txt", content: "x" }),
      call("write", { path: "no.txt", content: "x" }, "c2"),
      say("Done."),
    ],
    `const { session } = await createAgentSession({ sessionManager: SessionManager.inMemory(), tools: ["write"], approve: async () => undefined });
    await session.prompt("Write");
    return session.messages.flatMap((message) => message.role === "toolResult" ? [message.content[0].text] : []);`,
    { approve: async ({ args }) => (args.path === "no.txt" ? { block: "Not this." } : undefined) },
    `pi.on("tool_call", ({ input }) => input.path === "secret.txt" ? { block: true, reason: "Guarded." } : undefined);`,
  );
  expect(answer).toEqual(["Guarded.", "Not this."]);
});

it("may do no more than the session around it", async () => {
  const { answer } = await inside(
    [],
    `const { session } = await createAgentSession({ tools: ["read", "write", "bash"], access: "full" });
    const answer = [session.access, session.getActiveToolNames()];
    await session.dispose();
    return answer;`,
    { access: "read-only" },
  );
  expect(answer).toEqual(["read-only", ["read"]]);
});

it("opens, copies and lists sessions by their paths", async () => {
  const file = join(home.base, "sessions/old.jsonl");
  mkdirSync(join(home.base, "sessions"));
  const header = {
    type: "session",
    version: 3,
    id: "old",
    timestamp: "2026-01-01T00:00:00.000Z",
    cwd: join(home.base, "project"),
  };
  const message = { role: "user", content: [{ type: "text", text: "Long ago" }], timestamp: 1 };
  const entry = { type: "message", id: "a0000001", parentId: null, timestamp: "2026-01-01T00:00:00.000Z", message };
  writeFileSync(file, [header, entry].map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
  const { answer, model } = await inside(
    [say("Again."), say("Forked.")],
    `const opened = SessionManager.open(${JSON.stringify(file)});
    const read = [opened.getEntries().length, opened.getSessionFile() === ${JSON.stringify(file)}, SessionManager.inMemory("/elsewhere").getCwd()];
    const { session } = await createAgentSession({ sessionManager: opened, tools: [] });
    await session.prompt("And now");
    const path = session.sessionFile;
    await session.dispose();
    const fork = SessionManager.forkFrom(path, ctx.cwd, ${JSON.stringify(join(home.base, "forks"))});
    const { session: copy } = await createAgentSession({ sessionManager: fork, tools: [] });
    await copy.prompt("Elsewhere");
    const listed = await SessionManager.list(ctx.cwd, ${JSON.stringify(join(home.base, "forks"))});
    const answer = [...read, path === ${JSON.stringify(file)}, copy.sessionFile.startsWith(${JSON.stringify(join(home.base, "forks"))}), listed.length];
    await copy.dispose();
    return answer;`,
  );
  expect(answer).toEqual([1, true, "/elsewhere", true, true, 1]);
  expect(model.requests[1]?.context.messages).toHaveLength(4);
});

it("takes what a DefaultResourceLoader says", async () => {
  const { answer } = await inside(
    [],
    `const loader = new DefaultResourceLoader({ cwd: ctx.cwd, agentDir: getAgentDir(), noSkills: true, systemPromptOverride: () => "Mine.",
      appendSystemPrompt: ["More."], agentsFilesOverride: ({ agentsFiles }) => ({ agentsFiles: [...agentsFiles, { path: "/x", content: "Extra." }] }) });
    await loader.reload();
    const { session } = await createAgentSession({ resourceLoader: loader, tools: [] });
    const answer = [session.systemPrompt.startsWith("Mine.\\n\\nMore."), session.systemPrompt.includes("Extra."), loader.getExtensions().extensions, loader.getSkills().skills];
    await session.dispose();
    return answer;`,
  );
  expect(answer).toEqual([true, true, [], []]);
});
