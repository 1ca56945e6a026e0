// What extensions are told and may change besides tool calls, in the built program: requests to the model, turns, names, failed
// summaries, texts of their own, and commands of the user that they run elsewhere.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost, type StartOptions } from "../kit/rpc-host.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 150_000);

let server: ScriptedServer;
let log: string;
let host: RpcHost | undefined;
beforeEach(() => {
  log = join(temporaryDirectory(), "heard.txt");
});
afterEach(async () => {
  await host?.dispose();
  host = undefined;
  await server.close();
});

const heard = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);

async function start(script: readonly Reply[], body: string, options: StartOptions = {}) {
  server = await startScriptedServer(script);
  const source = `import { appendFileSync } from "node:fs";
    const say = (...parts) => appendFileSync(${JSON.stringify(log)}, parts.join(" ") + "\\n");
    export default (pi) => { ${body} };`;
  const { files, ...rest } = options;
  const opened = new RpcHost({
    models: modelsAt(server.url),
    files: { "e.ts": source, ...files },
    args: ["-e", "e.ts"],
    ...rest,
  });
  host = opened;
  let sent = 0;
  const ask = async (command: object) => {
    const id = `c${++sent}`;
    opened.send({ id, ...command });
    return (await opened.waitForResponse(id)) as unknown as { success: boolean; error?: string; data: never };
  };
  const prompt = async (message: string) => {
    const settled = () => opened.frames.filter(({ type }) => type === "agent_settled").length;
    const before = settled();
    await ask({ type: "prompt", message });
    await expect.poll(settled, { timeout: 20_000 }).toBe(before + 1);
  };
  return { ask, prompt, host: opened };
}

it("replaces the body of a request, and reads the head of the answer", async () => {
  const { prompt } = await start(
    [openAi.text("One."), openAi.text("Two.")],
    `let count = 0;
    pi.on("before_provider_request", ({ payload }) => {
      say("request", payload.model, payload.messages.length > 1);
      if (++count === 1) return { ...payload, user: "replaced" };
      payload.user = "changed in place";
    });
    pi.on("before_provider_request", ({ payload }) => say("then", payload.user));
    pi.on("after_provider_response", ({ status, headers }) => say("answer", status, headers["content-type"].startsWith("text/event-stream")));`,
  );
  await prompt("Hello");
  await prompt("Again");
  expect(server.requests.map(({ body }) => (body as { user?: string }).user)).toEqual(["replaced", "changed in place"]);
  const round = (name: string) => ["request scripted true", `then ${name}`, "answer 200 true"];
  expect(heard()).toEqual([...round("replaced"), ...round("changed in place")]);
}, 60_000);

it("a handler that fails changes nothing, and one that hangs ends with the run", async () => {
  const { ask, prompt, host } = await start(
    [openAi.text("One.")],
    `let count = 0;
    pi.on("before_provider_request", () => { if (++count === 1) throw new Error("no opinion"); say("asked"); return new Promise(() => {}); });`,
  );
  await prompt("Hello");
  expect(server.requests).toHaveLength(1);
  await ask({ type: "prompt", message: "Again" });
  await expect.poll(heard, { timeout: 20_000 }).toEqual(["asked"]);
  await ask({ type: "abort" });
  await expect
    .poll(() => host.frames.filter(({ type }) => type === "agent_settled").length, { timeout: 20_000 })
    .toBe(2);
  expect(server.requests).toHaveLength(1);
}, 60_000);

it("counts turns, and tells of names and of summaries that failed", async () => {
  const { ask, prompt } = await start(
    [openAi.toolCalls([{ id: "c1", name: "ls", arguments: {} }]), openAi.text("Done."), openAi.text("More.")],
    `pi.on("turn_start", ({ turnIndex, timestamp }) => say("start", turnIndex, typeof timestamp));
    pi.on("turn_end", ({ turnIndex, toolResults }) => say("end", turnIndex, toolResults.length));
    pi.on("session_info_changed", ({ name }) => say("named", name));
    pi.on("session_compact_failed", ({ reason, aborted, errorMessage }) => say("compact", reason, aborted, errorMessage.length > 0));`,
  );
  await prompt("Hello");
  await prompt("Again");
  await ask({ type: "set_session_name", name: "Mine" });
  await expect.poll(heard, { timeout: 20_000 }).toContain("named Mine");
  expect(await ask({ type: "compact" })).toMatchObject({ success: false });
  await expect
    .poll(heard, { timeout: 20_000 })
    .toEqual([
      ...["start 0 number", "end 0 1", "start 1 number", "end 1 0"],
      ...["start 0 number", "end 0 0", "named Mine", "compact manual false true"],
    ]);
}, 60_000);

it("names skills and prompts of its own", async () => {
  const { ask, prompt } = await start(
    [openAi.text("Done.")],
    `pi.on("resources_discover", ({ cwd, reason }) => { say(reason, cwd === process.cwd()); return { skillPaths: ["more/skills"], promptPaths: ["more/fix.md"] }; });`,
    {
      files: {
        "more/skills/weather/SKILL.md": "---\nname: weather\ndescription: Tells the weather\n---\nLook up.\n",
        "more/fix.md": "---\ndescription: Fixes it\n---\nFix $1 now.\n",
      },
    },
  );
  const { commands } = (await ask({ type: "get_commands" })).data as { commands: { name: string }[] };
  expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(["skill:weather", "fix"]));
  await prompt("/fix that");
  expect(heard()).toEqual(["startup true"]);
  const messages = (server.requests[0]?.body as { messages?: unknown[] } | undefined)?.messages ?? [];
  expect(JSON.stringify(messages[0])).toContain("Tells the weather");
  expect(JSON.stringify(messages.at(-1))).toContain("Fix that now.");
}, 60_000);

it("says where tools come from, always has a level, draws with colours, and has the methods that exist", async () => {
  const { ask, host } = await start(
    [],
    `pi.registerTool({ name: "mine", description: "Mine", parameters: { type: "object" }, promptGuidelines: ["Rarely"], executionMode: "parallel", constrainedSampling: false, flavour: "odd", execute: async () => ({ content: [] }) });
    pi.registerCommand("probe", { handler: async (args, ctx) => {
      for (const name of ["read", "mine"]) { const { sourceInfo, promptGuidelines } = pi.getAllTools().find((tool) => tool.name === name); say(JSON.stringify(sourceInfo), promptGuidelines?.length > 0); }
      say(pi.getThinkingLevel(), ctx.thinkingLevel, ctx.scopedModels.length);
      say((await pi.exec("no-such-program", [])).code);
      say(ctx.ui.theme.name, JSON.stringify(ctx.ui.theme.fg("accent", "x")).includes("u001b["));
      say("shake" in ctx.ui, typeof ctx.ui.shake, typeof ctx.ui.setWorkingVisible, "notify" in ctx.ui);
      say(ctx.model.cost.input, JSON.stringify(ctx.model.headers), JSON.stringify(ctx.model.thinkingLevelMap), typeof ctx.model.compat);
      say(ctx.modelRegistry.getAll().some(({ provider }) => provider === "anthropic"), ctx.modelRegistry.getAvailable().some(({ provider }) => provider === "anthropic"));
      say(JSON.stringify(await ctx.modelRegistry.getApiKeyAndHeaders(ctx.modelRegistry.getAll().find(({ provider }) => provider === "openai"))));
    } });`,
  );
  await ask({ type: "prompt", message: "/probe" });
  await expect.poll(heard, { timeout: 20_000 }).toHaveLength(9);
  const [builtIn = "", mine = "", ...others] = heard();
  expect(builtIn).toBe('{"path":"<builtin:read>","source":"builtin","scope":"temporary","origin":"top-level"} false');
  expect(mine).toMatch(/^\{"path":".*e\.ts",.*"origin":"top-level","baseDir":.*\} true$/);
  expect(others).toEqual([
    "off off 0",
    "1",
    "dark true",
    "false undefined function true",
    "0 {} {} object",
    "true false",
    expect.stringMatching(/^\{"ok":false,"error":"No API key found for openai\./),
  ]);
  expect(host.stderr).toBe("");
}, 60_000);

const elsewhere = `pi.on("user_bash", ({ command }) => command.startsWith("local") ? undefined : { operations: {
  async exec(command, cwd, { onData, signal, timeout }) {
    onData(Buffer.from("there: " + command + " " + (cwd === process.cwd()) + " " + (signal instanceof AbortSignal)));
    return { exitCode: 3 };
  } } });`;

it("runs commands of the user elsewhere", async () => {
  const { ask } = await start([], elsewhere);
  await ask({ type: "get_state" });
  expect((await ask({ type: "bash", command: "uptime" })).data).toMatchObject({
    output: "there: uptime true true",
    exitCode: 3,
  });
}, 60_000);

it("does not where what it does there would have to be held back", async () => {
  const { ask } = await start([], elsewhere, { args: ["-e", "e.ts", "--access", "read-only"] });
  await ask({ type: "get_state" });
  expect(await ask({ type: "bash", command: "uptime" })).toMatchObject({
    success: false,
    error: expect.stringContaining("where galley can hold nothing back"),
  });
}, 60_000);
