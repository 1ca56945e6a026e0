// The life of an extension in the built program: each conversation has an extension of its own, begun and ended in the
// order that published packages rely on, and its module is evaluated once.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 150_000);

let server: ScriptedServer;
let log: string;
beforeEach(() => {
  log = join(temporaryDirectory(), "heard.txt");
});
afterEach(() => server.close());

const heard = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);

/** Writes what it is told, with the number of the instance. A second evaluation of its module would count anew. */
const listener = (more = "") => `import { appendFileSync } from "node:fs";
import { basename } from "node:path";
let made = 0;
const say = (text) => appendFileSync(${JSON.stringify(log)}, text + "\\n");
const short = (path) => path === undefined ? "" : " " + (basename(path).endsWith(".jsonl") ? "file" : path);
export default (pi) => {
  const me = ++made;
  let kept;
  say(me + " made");
  pi.on("session_start", ({ reason, previousSessionFile }, ctx) => { kept ??= ctx; say(me + " start " + reason + short(previousSessionFile)); });
  pi.on("session_shutdown", ({ reason, targetSessionFile }) => say(me + " shutdown " + reason + short(targetSessionFile)));
  pi.on("session_before_switch", ({ reason, targetSessionFile }) => say(me + " before_switch " + reason + short(targetSessionFile)));
  pi.on("session_before_fork", ({ position }) => say(me + " before_fork " + position));
  pi.on("session_switch", ({ reason }) => say(me + " switch " + reason));
  pi.registerCommand("kept", { handler: async (args, ctx) => {
    const old = globalThis.keptFromBefore;
    globalThis.keptFromBefore = { pi, ctx };
    if (!old) return;
    for (const use of [() => old.ctx.isIdle(), () => old.pi.getActiveTools()])
      try { use(); say("works"); } catch (error) { say(error.message); }
  } });
  ${more}
};
`;

const hostWith = (source: string) =>
  new RpcHost({
    models: modelsAt(server.url, undefined, "      - id: other\n"),
    files: { "life.ts": source },
    args: ["-e", "life.ts"],
  });

describe("an extension", () => {
  it("is made anew for each conversation, and told in the order of pi", async () => {
    server = await startScriptedServer([openAi.text("Hello.")]);
    const host = hostWith(listener());
    try {
      host.send({ id: "k0", type: "prompt", message: "/kept" }, { id: "p", type: "prompt", message: "Hello" });
      await host.waitForType("agent_settled");
      host.send({ id: "s", type: "get_state" });
      const { sessionFile } = (await host.waitForResponse("s")).data as { sessionFile: string };
      host.send({ id: "n", type: "new_session" });
      expect(await host.waitForResponse("n")).toMatchObject({ success: true });
      host.send({ id: "k1", type: "prompt", message: "/kept" });
      await host.waitForResponse("k1");
      host.send({ id: "w", type: "switch_session", sessionPath: sessionFile });
      expect(await host.waitForResponse("w")).toMatchObject({ success: true });
      host.send({ id: "m", type: "get_branch_messages" });
      const { messages } = (await host.waitForResponse("m")).data as { messages: { entryId: string }[] };
      host.send({ id: "b", type: "branch", entryId: messages[0]?.entryId });
      expect(await host.waitForResponse("b")).toMatchObject({ success: true });
      host.child.stdin?.end();
      expect(await host.exited).toMatchObject({ code: 0 });
    } finally {
      await host.dispose();
    }
    const over = "This extension belongs to a conversation that has ended.";
    expect(heard()).toEqual([
      "1 made",
      "1 start startup",
      "1 before_switch new",
      "1 shutdown new",
      "2 made",
      "2 start new file",
      "2 switch new",
      over,
      over,
      "2 before_switch resume file",
      "2 shutdown resume file",
      "3 made",
      "3 start resume file",
      "3 switch resume",
      "3 before_fork before",
      "3 shutdown fork",
      "4 made",
      "4 start fork file",
      "4 shutdown quit",
    ]);
  }, 60_000);

  it("goes on in the new conversation with the function it passed", async () => {
    server = await startScriptedServer([]);
    const host = hostWith(
      listener(`pi.registerCommand("fresh", { handler: async (_args, ctx) => {
        await ctx.newSession({ withSession: async (fresh) => {
          say("in " + fresh.sessionManager.getSessionFile?.().includes("jsonl") + " " + fresh.isIdle());
          try { ctx.isIdle(); } catch { say("the old one is over"); }
        } });
      } });`),
    );
    try {
      host.send({ id: "f", type: "prompt", message: "/fresh" });
      await host.waitForResponse("f");
      await expect.poll(heard, { timeout: 20_000 }).toContain("the old one is over");
    } finally {
      await host.dispose();
    }
    expect(heard()).toEqual(expect.arrayContaining(["1 shutdown new", "2 start new file", "in true true"]));
  }, 60_000);

  it("hears which model and level were chosen, and a bad command of its own is one warning", async () => {
    server = await startScriptedServer([]);
    const host = hostWith(
      listener(`pi.registerCommand("two words", { handler() {} });
      pi.on("model_select", ({ model, previousModel, source }) => say(previousModel?.id + " to " + model.id + " by " + source));
      pi.on("thinking_level_select", ({ level, previousLevel }) => say(previousLevel + " to " + level));`),
    );
    try {
      host.send({ id: "m", type: "get_available_models" });
      const { models } = (await host.waitForResponse("m")).data as { models: { provider: string; id: string }[] };
      const [one, two] = models;
      host.send({ id: "s", type: "get_state" });
      const { model } = (await host.waitForResponse("s")).data as { model: { id: string } };
      const other = model.id === one?.id ? two : one;
      host.send({ id: "x", type: "set_model", provider: other?.provider, modelId: other?.id });
      expect(await host.waitForResponse("x")).toMatchObject({ success: true });
      await expect.poll(heard, { timeout: 20_000 }).toContain(`${model.id} to ${other?.id} by set`);
      expect(host.stderr).toMatch(/life\.ts: Command name "two words" is invalid: use one word/);
    } finally {
      await host.dispose();
    }
  }, 60_000);

  it("that guards calls and cannot be made anew closes the new conversation to writing", async () => {
    server = await startScriptedServer([
      openAi.toolCalls([{ id: "c1", name: "write", arguments: { path: "a.txt", content: "x" } }]),
      openAi.text("Done."),
    ]);
    const guard = `let made = 0;
      export default (pi) => {
        if (++made > 1) throw new Error("only once");
        pi.on("tool_call", () => {});
      };`;
    const host = hostWith(guard);
    try {
      host.send({ id: "n", type: "new_session" }, { id: "p", type: "prompt", message: "Write" });
      await host.waitForType("agent_settled");
      const [end] = host.frames.filter(({ type }) => type === "tool_execution_end");
      expect(end).toMatchObject({ isError: true, result: { content: [{ text: expect.stringContaining("life.ts") }] } });
      host.send({ id: "b", type: "bash", command: "ls" });
      expect((await host.waitForResponse("b")).data).not.toMatchObject({ output: expect.stringContaining("a.txt") });
    } finally {
      await host.dispose();
    }
  }, 60_000);

  it("that guards calls and does not load is told to the host, with what to do", async () => {
    server = await startScriptedServer([]);
    const guard = 'export default (pi) => { pi.on("tool_call", () => {}); pi.registerComand("x", {}); };';
    const host = hostWith(guard);
    try {
      host.send({ id: "s", type: "get_state" });
      await host.waitForResponse("s");
      const errors = () => host.frames.filter(({ type }) => type === "extension_error").map(({ error }) => error);
      await expect.poll(errors, { timeout: 20_000 }).toHaveLength(2);
      expect(errors()).toEqual([
        'Failed to load extension: pi.registerComand is not a function; did you mean "registerCommand"?',
        expect.stringMatching(
          /^Nothing is written or executed without the guard of .*life\.ts\. To go on: mend it, or leave out/,
        ),
      ]);
      expect(host.stderr).toContain("To go on: mend it");
    } finally {
      await host.dispose();
    }
  }, 60_000);
});
