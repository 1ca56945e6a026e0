// The client and the real program: what a host does in a day, a crash and the way back included.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ClientExit, RpcClient, RpcClientOptions, RpcError } from "../../src/client/index.js";
import { openAi } from "../../src/testing/scripted-replies.js";
import {
  Gate,
  type Reply,
  type ScriptedServer,
  stall,
  startScriptedServer,
} from "../../src/testing/scripted-server.js";
import { makeClient } from "../kit/client-rig.js";
import { ensureBuilt, modelsAt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
const servers: ScriptedServer[] = [];
const galley = [process.execPath, galleyBin];
/** Where the program writes its process id before it starts. */
const pidFile = join(home, "pid");
beforeAll(ensureBuilt, 150_000);
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(remove);

async function start(options: RpcClientOptions = {}): Promise<RpcClient> {
  const client = makeClient({ cliPath: galleyBin, cwd: home, env, ...options });
  await client.start();
  return client;
}

/** A client whose model begins to answer and never ends. */
async function startStalled(): Promise<RpcClient> {
  return startScripted({ steps: [openAi.chunk({ content: "Hm" }), stall], mayBeLeft: true });
}

async function startScripted(...script: Reply[]): Promise<RpcClient> {
  const server = await startScriptedServer(script);
  servers.push(server);
  const agentDir = join(home, `agent-${servers.length}`);
  mkdirSync(agentDir, { recursive: true });
  writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
  const command = (args: readonly string[]) => ["sh", "-c", 'echo $$ > "$0"; exec "$@"', pidFile, ...galley, ...args];
  return start({ command, env: { ...env, GALLEY_AGENT_DIR: agentDir } });
}

describe("a day with the real program", () => {
  it("starts, tells its state, answers a prompt, and stops", async () => {
    const client = await start();
    expect(client.ready).toMatchObject({ type: "ready", protocolVersion: 1 });
    expect(await client.getState()).toMatchObject({ isStreaming: false, messageCount: 0, model: { id: "planner" } });
    const { status, agentInvoked, text } = await client.promptAndWait("help");
    expect({ status, agentInvoked }).toEqual({ status: "completed", agentInvoked: true });
    expect(text).toBe((await client.getLastAssistantText()).text);
    expect((await client.getMessages()).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await client.getSessionStats()).userMessages).toBe(1);
    await client.waitForIdle();
    expect(client.history.at(-1)?.type).toMatch(/settled|prompt_result/);
    expect(await client.stop()).toBe(0);
  });

  it("hears of the end of a prompt whatever is agreed on later, and waits for the end as long as it is told", async () => {
    const client = await start();
    for (const features of [["delta-updates"], ["prompt-result"], []]) {
      await client.negotiateProtocol(2, { features });
      expect(await client.promptAndWait("help", { timeoutMs: 20_000 })).toMatchObject({ status: "completed" });
    }
    expect(await client.stop(Number.POSITIVE_INFINITY)).toBe(0);
  });

  it("streams the events of a prompt, its tool calls too", async () => {
    const client = await start();
    const types = new Set<string>();
    for await (const event of client.stream("list .")) types.add(event.type);
    expect([...types]).toEqual(expect.arrayContaining(["agent_start", "message_update", "agent_end", "agent_settled"]));
  });

  it("agrees on version 2: large answers come in pieces, pages are small, and a copy of the record is kept up to date", async () => {
    const client = await start();
    expect(client.ready).toMatchObject({
      supportedProtocolVersions: [1, 2],
      maxFrameBytes: 1_048_576,
      maxReassembledFrameBytes: 67_108_864,
      features: ["delta-updates", "prompt-result", "message-ids", "echo-ids", "queue-events", "state-events", "person"],
    });
    const long = `help ${"€".repeat(800_000)}`;
    expect(await client.promptAndWait(long)).toMatchObject({ agentInvoked: true, disposition: "started" });
    expect(await client.getState()).toMatchObject({ isSettled: true });
    const { messages } = await client.getMessages();
    expect(JSON.stringify(messages[0]).includes(long)).toBe(true);
    const first = await client.getMessagesPage();
    const second = await client.getMessagesPage({ cursor: first.nextCursor });
    expect([...first.messages, ...second.messages]).toEqual(messages);
    await expect(client.getMessagesPage({ cursor: "x" })).rejects.toMatchObject({ kind: "refused" });
    const { entries, leafId } = await client.getEntries();
    await client.setSessionName("Named");
    expect((await client.getEntries({ since: entries.at(-1)?.id })).entries).toMatchObject([{ type: "session_info" }]);
    await expect(client.getEntries({ since: "nope" })).rejects.toMatchObject({ code: "unknown_since" });
    expect((await client.getTree()).leafId).toBe(leafId);
    const { sessionFile } = client;
    expect(await client.clone()).toEqual({ cancelled: false });
    expect(client.sessionFile).not.toBe(sessionFile);
    expect((await client.getMessages()).messages).toEqual(messages);
  });

  it("runs bash beside everything, and stops it", async () => {
    const client = await start();
    expect(await client.bash("echo hi; exit 3")).toMatchObject({ output: "hi\n", exitCode: 3, cancelled: false });
    const slow = client.bash("sleep 60");
    await client.abortBash();
    expect(await slow).toMatchObject({ cancelled: true });
  });

  it("keeps todos, names, modes and models", async () => {
    const client = await start();
    const { todoPhases } = await client.setTodos([{ name: "Port", tasks: [{ content: "Map it" }] }]);
    expect(todoPhases).toMatchObject([{ id: "phase-1", tasks: [{ id: "task-1", status: "pending" }] }]);
    expect((await client.getState()).todoPhases).toEqual(todoPhases);
    await client.setSessionName("Parser port");
    await client.setSteeringMode("all");
    await client.setInterruptMode("immediate");
    expect(await client.getState()).toMatchObject({ sessionName: "Parser port", steeringMode: "all" });
    const { models } = await client.getAvailableModels();
    expect(models.map(({ id }) => id)).toContain("planner");
    await expect(client.setModel("acme", "nope")).rejects.toMatchObject({
      kind: "refused",
      command: "set_model",
      message: "Model not found: acme/nope",
    });
    expect(await client.cycleModel()).toBeNull();
  });

  it("aborts a run, queues behind one, and fails late when it is busy", async () => {
    const client = await startStalled();
    const streaming = new Promise<void>((resolve) => client.on("message_update", () => resolve()));
    const running = client.promptAndWait("think");
    await streaming;
    const busy = await client.promptAndWait("too soon").catch((error: RpcError) => error);
    expect(busy).toMatchObject({ kind: "late", message: expect.stringContaining("already processing") });
    await client.followUp("later");
    expect((await client.getState()).queuedMessageCount).toBe(1);
    await client.abort();
    expect(await running).toMatchObject({ status: "aborted", text: "Hm" });
    await client.waitForIdle();
  });

  it("changes sessions and goes back", async () => {
    const client = await start();
    await client.promptAndWait("help");
    const first = client.sessionFile as string;
    const [point] = (await client.getBranchMessages()).messages;
    expect(await client.newSession()).toEqual({ cancelled: false });
    expect(client.sessionFile).not.toBe(first);
    await client.switchSession(first);
    expect(client.sessionFile).toBe(first);
    expect(await client.branch(point?.entryId ?? "")).toMatchObject({ text: "help", cancelled: false });
    expect(client.sessionFile).not.toBe(first);
  });

  it("gives prompts that overlap each its own reply", async () => {
    const gate = new Gate();
    const steps = [openAi.chunk({ content: "answer A" }), gate.step, ...openAi.finish("stop")];
    const client = await startScripted({ steps }, openAi.text("answer B"), openAi.text("answer C"));
    const first = client.promptAndWait("A");
    await gate.reached;
    const second = client.promptAndWait("B", { streamingBehavior: "followUp" });
    const third = client.promptAndWait("C", { streamingBehavior: "followUp" });
    await client.getState();
    gate.open();
    const texts = (await Promise.all([first, second, third])).map(({ text }) => text);
    expect(texts).toEqual(["answer A", "answer B", "answer C"]);
  });

  it("hears of a session that a command of an extension opened, and goes on in it after a crash", async () => {
    const extension = join(home, "fresh.mjs");
    const command = '{ description: "A new session", handler: async (_, ctx) => void (await ctx.newSession()) }';
    writeFileSync(extension, `export default (pi) => pi.registerCommand("fresh", ${command});`);
    const client = await start({ args: ["-e", extension] });
    await client.promptAndWait("help");
    const first = client.sessionFile;
    expect(await client.promptAndWait("/fresh")).toMatchObject({ agentInvoked: false, disposition: "handled" });
    expect(client.sessionFile).not.toBe(first);
    await client.promptAndWait("help in the second");
    client.kill();
    expect(await client.restart()).toBe(true);
    const [message] = (await client.getMessages()).messages;
    expect(message).toMatchObject({ content: [{ type: "text", text: "help in the second" }] });
  });

  it("fails to start with what the program says", async () => {
    const client = makeClient({ cliPath: galleyBin, cwd: home, env, model: "nope/nope" });
    await expect(client.start()).rejects.toMatchObject({
      kind: "start_failed",
      exitCode: 1,
      message: expect.stringContaining("Model not found: nope/nope"),
    });
  });
});

describe("a crash", () => {
  it("ends every call, and restart goes on in the same file", async () => {
    const client = await startStalled();
    const exits: ClientExit[] = [];
    client.onExit((exit) => exits.push(exit));
    const streaming = new Promise<void>((resolve) => client.on("message_update", () => resolve()));
    const calls = [client.promptAndWait("think"), client.bash("sleep 60"), client.waitForIdle()];
    const errors = Promise.all(
      calls.map((call) =>
        call.then(
          () => undefined,
          (error: RpcError) => error,
        ),
      ),
    );
    await streaming;
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    for (const error of await errors) expect(error).toMatchObject({ kind: "exited" });
    expect(exits).toMatchObject([{ signal: "SIGKILL", isExpected: false }]);
    const file = client.sessionFile as string;
    expect(readFileSync(file, "utf8")).toContain("think");

    expect(await client.restart()).toBe(true);
    expect((await client.getState()).sessionFile).toBe(file);
    const [message] = (await client.getMessages()).messages;
    expect(message).toMatchObject({ role: "user", content: [{ type: "text", text: "think" }] });
  });

  it("of a session in memory leaves nothing to go on with", async () => {
    const client = await start({ args: ["--no-session"] });
    await client.promptAndWait("help");
    client.kill();
    expect(await client.restart()).toBe(false);
    expect((await client.getState()).messageCount).toBe(0);
  });

  it("of a session in which nothing was said leaves nothing to go on with", async () => {
    const client = await start();
    client.kill();
    expect(await client.restart()).toBe(false);
    expect((await client.getState()).messageCount).toBe(0);
  });
});
