// The two conversations in which a host answers, with the real program: its clients, its examples, and the way out.

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { HostTool } from "../../src/client/index.js";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { makeClient } from "../kit/client-rig.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
const hasPython = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
const servers: ScriptedServer[] = [];
const hosts: RpcHost[] = [];
beforeAll(ensureBuilt, 150_000);
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.dispose()));
  for (const server of servers.splice(0)) await server.close();
});
afterAll(remove);

/** Asks before a ticket is looked up, and shows what it can. */
const guard = `export default (pi) => {
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    if (toolName !== "ticket" || !ctx.hasUI) return undefined;
    const isFine = await ctx.ui.confirm("Look it up?", "ticket " + input.number);
    return isFine ? undefined : { block: true, reason: "They said no." };
  });
  pi.registerCommand("show", { handler: async (_args, ctx) => { ctx.ui.setTitle("galley"); ctx.ui.notify("Shown"); } });
  pi.registerCommand("wait", { handler: async (_args, ctx) => { await ctx.ui.editor("Plan", "1."); } });
};`;

async function modelsFor(...replies: Reply[]): Promise<string> {
  const server = await startScriptedServer(replies);
  servers.push(server);
  return modelsAt(server.url);
}
const ticketCall = openAi.toolCalls([{ id: "call_1", name: "ticket", arguments: { number: 7 } }]);
const parameters = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] };
const definition = { name: "ticket", description: "Look up a ticket", parameters };
const model = ["--model", "acme/scripted"];

async function place(...replies: Reply[]) {
  const agentDir = join(home, `agent-${servers.length}-${Math.random().toString(36).slice(2)}`);
  mkdirSync(join(agentDir, "extensions"), { recursive: true });
  writeFileSync(join(agentDir, "extensions/guard.ts"), guard);
  writeFileSync(join(agentDir, "models.yml"), await modelsFor(...replies));
  return { ...env, GALLEY_AGENT_DIR: agentDir };
}

async function start(replies: Reply[], options: { args?: string[]; env?: Record<string, string> } = {}) {
  const { args = [], env: more = {} } = options;
  const models = await modelsFor(...replies);
  const host = new RpcHost({
    models,
    files: { "guard.ts": guard },
    args: [...model, "-e", "guard.ts", ...args],
    env: more,
  });
  hosts.push(host);
  await host.waitForType("ready");
  host.send({ id: "t", type: "set_host_tools", tools: [definition] });
  await host.waitForResponse("t");
  return host;
}

describe("the TypeScript client", () => {
  it("lends a tool and answers a dialog", async () => {
    const tool: HostTool = {
      ...definition,
      execute: ({ number }, { sendUpdate }) => {
        sendUpdate("Looking it up");
        return `Ticket ${number} is about the parser.`;
      },
    };
    const placed = await place(ticketCall, openAi.text("The parser."), ticketCall, openAi.text("Never mind."));
    const client = makeClient({ cliPath: galleyBin, cwd: home, env: placed, args: model, customTools: [tool] });
    const asked: unknown[] = [];
    const answers = [true, false];
    client.setUiHandlers({
      confirm: (request) => {
        asked.push([request.title, request.message]);
        return answers[asked.length - 1];
      },
    });
    await client.start();
    const updates: unknown[] = [];
    client.on("tool_execution_update", ({ partialResult }) => updates.push(partialResult));
    expect(await client.promptAndWait("What is ticket 7?")).toMatchObject({ status: "completed", text: "The parser." });
    expect(updates).toEqual([{ content: [{ type: "text", text: "Looking it up" }] }]);
    expect(await client.promptAndWait("And again?")).toMatchObject({ status: "completed", text: "Never mind." });
    expect(asked).toEqual([
      ["Look it up?", "ticket 7"],
      ["Look it up?", "ticket 7"],
    ]);
    const { messages } = await client.getMessages();
    const results = messages.flatMap((message) => (message.role === "toolResult" ? message.content : []));
    expect(results).toEqual([
      { type: "text", text: "Ticket 7 is about the parser." },
      { type: "text", text: "They said no." },
    ]);
    expect((await client.getState()).dumpTools).toContainEqual(definition);
    await expect(client.setHostTools([{ ...tool, name: "read" }])).rejects.toThrow("conflicts with an existing tool");
    expect(await client.setHostTools([])).toEqual({ toolNames: [] });
    expect(await client.stop()).toBe(0);
  });

  it("hears that a call is taken back, and is not asked where it has no interface", async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const endings: string[] = [];
    const tool: HostTool = {
      ...definition,
      execute: (_params, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            endings.push("aborted");
            resolve("too late");
          });
          begin();
        }),
    };
    const args = [...model, "--no-ui"];
    const client = makeClient({
      cliPath: galleyBin,
      cwd: home,
      env: await place(ticketCall),
      args,
      customTools: [tool],
    });
    await client.start();
    await client.prompt("What is ticket 7?");
    await begun;
    await client.abort();
    expect((await client.getMessages()).messages.at(-1)).toMatchObject({
      role: "toolResult",
      isError: true,
      content: [{ type: "text", text: 'Host tool "ticket" was aborted' }],
    });
    expect(await client.stop()).toBe(0);
    expect(endings).toEqual(["aborted"]);
  });
});

describe("titles", () => {
  it.each([
    ["PI_RPC_EMIT_TITLE", " Yes ", ["setTitle", "notify"]],
    ["GALLEY_RPC_EMIT_TITLE", "1", ["setTitle", "notify"]],
    ["PI_RPC_EMIT_TITLE", "2", ["notify"]],
    ["PATH_OF_NOBODY", "1", ["notify"]],
  ])("with %s=%s", async (name, value, methods) => {
    const host = await start([], { env: { [name]: value } });
    host.send({ id: "s", type: "prompt", message: "/show" });
    await host.waitFor(({ method }) => method === "notify", "the notice");
    const sent = host.frames.filter(({ type }) => type === "extension_ui_request").map(({ method }) => method);
    expect(sent).toEqual(methods);
  });
});

describe("the way out", () => {
  it("the end of the input ends an open call and an open dialog, and the run closes with its events", async () => {
    const host = await start([ticketCall], { args: ["--no-ui"] });
    host.send({ id: "p", type: "prompt", message: "Go" });
    await host.waitForType("host_tool_call");
    host.end();
    expect(await host.exit()).toMatchObject({ code: 0 });
    expect(host.frames.find(({ type }) => type === "tool_execution_end")).toMatchObject({
      isError: true,
      result: {
        content: [{ type: "text", text: "RPC client disconnected before host tool execution completed" }],
      },
    });
    expect(host.frames.slice(-2).map(({ type }) => type)).toEqual(["agent_end", "agent_settled"]);
    expect(host.stderr).toBe("");

    const asked = await start([]);
    asked.send({ id: "w", type: "prompt", message: "/wait" });
    const { id } = await asked.waitForType("extension_ui_request");
    asked.end();
    expect(await asked.exit()).toMatchObject({ code: 0 });
    expect(asked.frames).toContainEqual(expect.objectContaining({ method: "cancel", targetId: id }));
    expect(asked.stderr).toBe("");
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("%s takes an open call and an open dialog back within a second", async (signal, code) => {
    const host = await start([ticketCall], { args: ["--no-ui"] });
    host.send({ id: "p", type: "prompt", message: "Go" });
    const { id } = await host.waitForType("host_tool_call");
    host.child.kill(signal);
    const exit = await host.exit();
    expect(exit).toMatchObject({ code });
    expect(host.frames).toContainEqual({ type: "host_tool_cancel", id: "host_cancel_1", targetId: id });
    expect(host.frames.slice(-2).map(({ type }) => type)).toEqual(["agent_end", "agent_settled"]);

    const asked = await start([ticketCall]);
    asked.send({ id: "p", type: "prompt", message: "Go" });
    const dialog = await asked.waitForType("extension_ui_request");
    asked.child.kill(signal);
    expect(await asked.exit()).toMatchObject({ code });
    expect(asked.frames).toContainEqual(expect.objectContaining({ method: "cancel", targetId: dialog.id }));
    expect(asked.frames.some(({ type }) => type === "host_tool_call")).toBe(false);
    expect(exit.tookMs).toBeLessThan(3000);
  });
});

describe.skipIf(!hasPython)("examples/hosts/host.py", () => {
  it.each(["y\n", "\n", ""])("lends its tool and asks the person, who answers %j", async (input) => {
    const text = "Looks like the parser.";
    const placed = await place(ticketCall, openAi.text(text));
    const bin = join(home, `bin-${Math.random().toString(36).slice(2)}`);
    mkdirSync(bin);
    symlinkSync(galleyBin, join(bin, "galley"));
    const file = join(projectRoot, "examples/hosts/host.py");
    const PYTHONPATH = join(projectRoot, "clients/python");
    const outcome = await run("python3", [file, "What is ticket 7 about?"], {
      env: { ...placed, PATH: `${bin}:${env.PATH}`, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" },
      cwd: home,
      input,
    });
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(outcome.stdout).toContain("Look it up?: ticket 7 [y/N]");
    expect(outcome.stdout).toContain(text);
    const request = servers.at(-1)?.requests[1]?.body as { messages: unknown[] } | undefined;
    expect(JSON.stringify(request?.messages.at(-1))).toContain(
      input === "y\n" ? "The parser drops the last line" : "They said no.",
    );
  });
});
