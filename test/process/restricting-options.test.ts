// Options that restrict what the agent may do, as hosts of pi and omp pass them. None is ignored: each is honoured, or the
// program does not start.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost, type StartOptions } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

beforeAll(ensureBuilt, 150_000);

const opened: (RpcHost | ScriptedServer)[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await ("dispose" in thing ? thing.dispose() : thing.close());
});

async function start(script: readonly Reply[], options: StartOptions): Promise<RpcHost> {
  const server = await startScriptedServer(script);
  const host = new RpcHost({ models: modelsAt(server.url), ...options });
  opened.push(server, host);
  return host;
}

const tool = (name: string) => `export default () => ({ name: "${name}", description: "Deploys",
  parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "deployed" }] }) });\n`;

async function toolNames(host: RpcHost): Promise<string[]> {
  host.send({ id: "s", type: "get_state" });
  const { dumpTools } = (await host.waitForResponse("s")).data as { dumpTools: { name: string }[] };
  return dumpTools.map(({ name }) => name);
}

describe("--approval-mode", () => {
  const made = join(temporaryDirectory(), "made.txt");
  const calls = (names: readonly string[]) => [
    openAi.toolCalls(
      names.map((name, index) => ({
        id: `c${index}`,
        name,
        arguments: { bash: { command: `echo hi > ${made}` }, write: { path: "w.txt", content: "w" } }[name] ?? {
          path: "a.txt",
        },
      })),
    ),
    openAi.text("Done."),
  ];

  it.each([
    ["always-ask", ["read", "write", "bash", "deploy"], ["write", "bash", "deploy"]],
    ["write", ["write", "bash", "deploy"], ["bash", "deploy"]],
    ["yolo", ["write", "bash", "deploy"], []],
  ])("%s", async (mode, called, asked) => {
    const files = { "a.txt": "a", "deploy.js": tool("deploy") };
    const host = await start(calls(called), { args: ["--tool", "deploy.js", "--approval-mode", mode], files });
    host.send({ id: "p", type: "prompt", message: "Go" });
    for (const name of asked) {
      const question = await host.waitForType("extension_ui_request");
      expect(question).toMatchObject({ method: "select", options: ["Approve", "Deny"] });
      expect(String(question.title).split("\n")[0]).toBe(`Allow tool: ${name}`);
      if (name === "bash") expect(question.title).toContain("made.txt");
      host.send({ type: "extension_ui_response", id: question.id, value: name === "write" ? "Approve" : "Deny" });
    }
    await host.waitForType("agent_settled");
    const ends = host.frames.filter(({ type }) => type === "tool_execution_end");
    const refused = ends.filter(({ isError }) => isError).map(({ toolName }) => toolName);
    expect(refused.sort()).toEqual(asked.filter((name) => name !== "write").sort());
    expect(existsSync(made)).toBe(mode === "yolo");
  });

  it.each(["--yolo", "--auto-approve"])("%s asks nothing, whatever the settings say", async (flag) => {
    const host = await start(calls(["write"]), { args: ["--set", "approval.mode=ask-writes", flag] });
    host.send({ id: "p", type: "prompt", message: "Go" });
    await host.waitForType("agent_settled");
    expect(host.frames.filter(({ type }) => type === "extension_ui_request")).toEqual([]);
  });

  it("another word is no mode, and without a user nothing is allowed", async () => {
    const host = await start([], { args: ["--approval-mode", "ask"] });
    expect((await host.exit()).code).toBe(1);
    expect(host.stderr).toBe('--approval-mode must be one of always-ask, write, yolo, not "ask".\n');
    expect(host.lines).toEqual([]);
    const mute = await start(calls(["bash"]), { args: ["--approval-mode", "write", "--no-ui"] });
    mute.send({ id: "p", type: "prompt", message: "Go" });
    const end = await mute.waitForType("tool_execution_end");
    expect(end).toMatchObject({ isError: true });
    expect(JSON.stringify(end)).toContain("Refused by the user: no user can be asked here.");
  });
});

describe("the choice of tools", () => {
  it.each<[string[], string[]]>([
    [
      ["-t", "read,deploy"],
      ["read", "deploy"],
    ],
    [["--tools", "read"], ["read"]],
    [["-nt"], []],
    [["--no-tools"], []],
    [["-nbt"], ["deploy", "other"]],
    [["--no-builtin-tools", "-xt", "other"], ["deploy"]],
    [["-t", "read,bash,deploy", "--exclude-tools", "bash,deploy,no-such"], ["read"]],
  ])("%j", async (args, names) => {
    const files = { "deploy.js": tool("deploy"), "other.js": tool("other") };
    const host = await start([], { args: ["--tool", "deploy.js", "--tool", "other.js", ...args], files });
    expect(await toolNames(host)).toEqual(names);
  });

  it("leaves out what is excluded of all", async () => {
    const all = await toolNames(await start([], {}));
    expect(await toolNames(await start([], { args: ["-xt", "bash,write"] }))).toEqual(
      all.filter((name) => name !== "bash" && name !== "write"),
    );
  });
});

describe("the trust in a project", () => {
  const { home, env, remove } = emptyHome();
  afterAll(remove);
  const cwd = join(home, "project");
  mkdirSync(join(cwd, ".galley/tools"), { recursive: true });
  mkdirSync(join(cwd, ".git"));
  writeFileSync(join(cwd, ".galley/tools/deploy.js"), tool("deploy"));
  const names = async (args: string[]) => {
    const input = '{"id":1,"type":"get_state"}\n';
    const program = [galleyBin, "--mode", "rpc", ...args];
    const { stdout, stderr } = await run(process.execPath, program, { env, cwd, input });
    const frames = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const state = frames.find(({ id }) => id === 1) as { data: { dumpTools: { name: string }[] } };
    const asked = frames.some(({ type }) => type === "extension_ui_request");
    return { has: state.data.dumpTools.some(({ name }) => name === "deploy"), asked, stderr };
  };

  it("-a is a yes for this run, -na a no without a question, whatever was decided before", async () => {
    expect(await names(["-a"])).toMatchObject({ has: true, asked: false });
    expect(await names(["-na"])).toMatchObject({ has: false, asked: false });
    expect((await run(process.execPath, [galleyBin, "trust", "--yes"], { env, cwd })).code).toBe(0);
    expect(await names([])).toMatchObject({ has: true });
    expect(await names(["--no-approve"])).toMatchObject({ has: false, asked: false });
    expect((await names(["-a", "-na"]).catch(() => ({ has: undefined }))).has).toBeUndefined();
  });
});

describe("an unknown option that may restrict", () => {
  const { home, env, remove } = emptyHome();
  const cwd = join(home, "project");
  mkdirSync(cwd);
  afterAll(remove);

  it.each([
    "--no-network",
    "--deny-write",
    "--disallowedTools",
    "--read-only",
    "--sandbox=strict",
    "--permission-mode",
    "--approvals",
  ])("%s ends the program with 2 in every mode (H-1)", async (flag) => {
    const [name = ""] = flag.split("=");
    for (const mode of [["--mode", "rpc"], ["--mode=rpc-ui"], ["-p", "help"], ["--mode", "json", "help"], []]) {
      const { code, stdout, stderr } = await run(process.execPath, [galleyBin, ...mode, flag], { env, cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`Unknown option ${name}.`)]);
      expect(mode.some((word) => word.includes("rpc")) ? stdout : "").toBe("");
    }
  });

  it("is no other once an extension knows it, and is refused when extensions do not", async () => {
    mkdirSync(join(home, "flags"));
    const path = join(home, "flags/net.js");
    writeFileSync(path, `export default (pi) => pi.registerFlag("no-network", { type: "boolean" });\n`);
    const rpc = (args: string[]) => run(process.execPath, [galleyBin, "--mode", "rpc", ...args], { env, cwd });
    expect(await rpc(["-e", path, "--no-network"])).toMatchObject({ code: 0, stderr: "" });
    const refused = await rpc(["-e", path, "--no-network", "--deny-write"]);
    expect(refused).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("Unknown option --deny-write.") });
  });
});

it("options of pi that restrict nothing are accepted in silence, with their values", async () => {
  const { home, env, remove } = emptyHome();
  const silent = ["--no-themes", "--theme", "dark.json", "--use-theme", "dark", "--tui-mode", "regular", "--offline"];
  const also = ["--verbose", "-ne", "-ns", "-np", "-nc", "-na", "-n", "Renamed", "--thinking", "max"];
  for (const mode of [
    ["--mode", "rpc"],
    ["--mode", "rpc-ui"],
  ])
    expect(await run(process.execPath, [galleyBin, ...mode, ...silent, ...also], { env, cwd: home })).toMatchObject({
      code: 0,
      stderr: "",
    });
  const printed = await run(process.execPath, [galleyBin, "-p", ...silent, ...also, "help"], {
    env,
    cwd: home,
  });
  expect(printed.code).toBe(0);
  expect((await run(process.execPath, [galleyBin, "-p", ...silent, "-a", "help"], { env, cwd: home })).code).toBe(0);
  remove();
});
