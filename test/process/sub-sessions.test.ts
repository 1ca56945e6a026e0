// Sessions that an extension begins by itself, as packages of pi do it, in the built program.

import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);

let server: ScriptedServer;
afterEach(() => server.close());

/** Begins a session with what pi's interface takes, and shows what came of it. */
const beginner = (more: string) => `
import { createAgentSession, createExtensionRuntime, SessionManager, SettingsManager } from "@earendil-works/pi-coding-agent";
const runtime = createExtensionRuntime();
const loader = {
  getExtensions: () => ({ extensions: [], errors: [], runtime }),
  getSkills: () => ({ skills: [] }), getPrompts: () => ({ prompts: [] }), getThemes: () => ({ themes: [] }),
  getAgentsFiles: () => ({ agentsFiles: [{ path: "/rules.md", content: "Never shout." }] }),
  getSystemPrompt: () => "You help on the side.", getAppendSystemPrompt: () => ["Be short."],
  extendResources: () => {}, reload: async () => {},
};
export default (pi) => pi.registerCommand("side", { async handler(text, ctx) {
  const asked = {
    sessionManager: SessionManager.inMemory(), settingsManager: SettingsManager.inMemory({}), resourceLoader: loader,
    model: ctx.model, modelRegistry: ctx.modelRegistry, thinkingLevel: ctx.thinkingLevel, tools: ["read", "bash", "missing"],
  };
  ${more}
} });
`;

const asking = beginner(`
  const { session } = await createAgentSession(asked);
  session.agent.state.messages = [{ role: "user", content: [{ type: "text", text: "Before." }], timestamp: 1 }];
  await session.bindExtensions({});
  const heard = [];
  const stop = session.subscribe(({ type, toolName, isError }) => { if (type === "tool_execution_end") heard.push(toolName + (isError ? " failed" : "")); });
  await session.prompt(text);
  stop();
  ctx.ui.notify(session.getLastAssistantText() + " " + heard.join());
  session.dispose();
`);

const hostWith = (source: string, args: string[] = []) =>
  new RpcHost({
    models: modelsAt(server.url),
    files: { "side.ts": source, "a.txt": "hello\n" },
    args: ["-e", "side.ts", ...args],
  });

interface Request {
  messages: { role: string; content: string }[];
  tools: { function: { name: string } }[];
}

describe("a session of an extension", () => {
  it("asks the model of the session, with the prompt, the tools and the messages that it names", async () => {
    server = await startScriptedServer([
      openAi.toolCalls([{ id: "c1", name: "read", arguments: { path: "a.txt" } }]),
      openAi.text("It says hello."),
    ]);
    const host = hostWith(asking);
    try {
      host.send({ id: "p", type: "prompt", message: "/side What is in a.txt?" });
      const { message } = await host.waitFor(({ method }) => method === "notify", "what came of it");
      expect(message).toBe("It says hello. read");
      const { messages, tools } = server.requests[0]!.body as Request;
      expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
      expect(JSON.stringify(messages[1]?.content)).toMatch(/Before\.[\s\S]*What is in a\.txt\?/);
      expect(messages[0]?.content).toMatch(/^You help on the side\.\n\nBe short\.[\s\S]*Never shout\./);
      expect(tools.map((tool) => tool.function.name)).toEqual(["read", "bash"]);
      host.send({ id: "s", type: "get_state" });
      expect((await host.waitForResponse("s")).data).toMatchObject({ messageCount: 0 });
    } finally {
      await host.dispose();
    }
  });

  it("may do no more than the session that loaded the extension", async () => {
    server = await startScriptedServer([
      openAi.toolCalls([{ id: "c1", name: "bash", arguments: { command: "echo ran" } }]),
      openAi.text("Refused."),
    ]);
    const host = hostWith(asking, ["--approval-mode", "always-ask"]);
    try {
      host.send({ id: "p", type: "prompt", message: "/side Run it." });
      const { id, title } = await host.waitFor(({ method }) => method === "select", "the question");
      expect(title).toMatch(/^Allow tool: bash/);
      host.send({ type: "extension_ui_response", id, value: "Deny" });
      const { message } = await host.waitFor(({ method }) => method === "notify", "what came of it");
      expect(message).toBe("Refused. bash failed");
    } finally {
      await host.dispose();
    }
  });

  it("has only those tools that the start allows", async () => {
    server = await startScriptedServer([openAi.text("Done.")]);
    const host = hostWith(asking, ["--tools", "read"]);
    try {
      host.send({ id: "p", type: "prompt", message: "/side Run it." });
      await host.waitFor(({ method }) => method === "notify", "what came of it");
      expect((server.requests[0]!.body as Request).tools.map((tool) => tool.function.name)).toEqual(["read"]);
    } finally {
      await host.dispose();
    }
  });

  it("is kept and found where it says so", async () => {
    server = await startScriptedServer([openAi.text("Kept."), openAi.text("Again.")]);
    const host = hostWith(
      beginner(`
        const kept = SessionManager.create(ctx.cwd, ctx.cwd + "/kept");
        const { session } = await createAgentSession({ ...asked, sessionManager: kept });
        await session.prompt("First.");
        await session.dispose();
        const listed = await SessionManager.list(ctx.cwd, ctx.cwd + "/kept");
        const { session: again } = await createAgentSession({ ...asked, sessionManager: SessionManager.open(listed[0].path) });
        const before = again.messages.length;
        await again.prompt("Second.");
        await again.dispose();
        const copy = await SessionManager.forkFrom(listed[0].path, ctx.cwd, ctx.cwd + "/copies");
        ctx.ui.notify([listed.length, before, again.messages.length, copy.getEntries().length > 3].join());
      `),
    );
    try {
      host.send({ id: "p", type: "prompt", message: "/side" });
      const { message } = await host.waitFor(({ method }) => method === "notify", "what came of it");
      expect(message).toBe("1,2,4,true");
    } finally {
      await host.dispose();
    }
  });
});
