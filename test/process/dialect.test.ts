// Galley in the place of pi and omp: what differs by the name that it was started under, and by GALLEY_AS. The rows hold for
// the link, for the package's own names and for the variable alike.

import { spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
const bin = join(home, "bin");
const cwd = join(home, "project");
const agents = [join(home, ".pi/agent"), join(home, ".omp/agent")];
for (const folder of [bin, cwd, ...agents]) mkdirSync(folder, { recursive: true });
for (const name of ["pi", "galley-pi", "omp", "galley-omp", "galley", "xcsh"]) symlinkSync(galleyBin, join(bin, name));
afterAll(remove);

let server: ScriptedServer | undefined;
afterEach(async () => {
  for (const folder of agents) rmSync(join(folder, "models.json"), { force: true });
  await server?.close();
  server = undefined;
});

type Frame = Record<string, unknown> & { type: string };
const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };

const started = (name: string, args: readonly string[], input = "", as?: string) =>
  run(process.execPath, [join(bin, name), ...args], { env: { ...env, ...(as && { GALLEY_AS: as }) }, cwd, input });

/** Each command is sent at once; the frames behind `ready`. Its input ends when `isEnough` says so. */
async function rpc(
  name: string,
  commands: readonly object[],
  { args = [], isEnough = () => true }: { args?: readonly string[]; isEnough?(frames: readonly Frame[]): boolean } = {},
) {
  const child = spawn(process.execPath, [join(bin, name), "--mode", "rpc", ...args], { env, cwd, stdio: "pipe" });
  const frames: Frame[] = [];
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  for (const command of commands) child.stdin.write(`${JSON.stringify(command)}\n`);
  const ended = new Promise((resolve) => child.on("close", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    frames.push(JSON.parse(line));
    if (isEnough(frames)) child.stdin.end();
  }
  expect(await ended).toBe(0);
  return { frames: frames.slice(1), stderr };
}

const settled = (times: number) => ({
  isEnough: (frames: readonly Frame[]) => frames.filter(({ type }) => type === "agent_settled").length === times,
});
const answers = (frames: readonly Frame[]) => frames.filter(({ type }) => type === "response");

async function serve(script: readonly Reply[]): Promise<void> {
  server = await startScriptedServer(script);
  const acme = { baseUrl: `${server.url}/v1`, api: "openai-completions", auth: "none", models: [{ id: "scripted" }] };
  for (const folder of agents) writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { acme } }));
}

describe("--version", () => {
  it.each([
    ["galley", undefined, version],
    ["xcsh", undefined, version],
    ["pi", undefined, `0.87.1 (galley ${version})`],
    ["galley-pi", undefined, `0.87.1 (galley ${version})`],
    ["omp", undefined, `0.87.1 (galley ${version})`],
    ["galley-omp", undefined, `0.87.1 (galley ${version})`],
    ["galley", "pi", `0.87.1 (galley ${version})`],
    ["pi", "galley", version],
  ])("%s with GALLEY_AS %s", async (name, as, told) => {
    for (const flag of ["--version", "-v"])
      expect(await started(name, [flag], "", as)).toEqual({ code: 0, stdout: `${told}\n`, stderr: "" });
  });

  it("refuses another GALLEY_AS", async () => {
    expect(await started("galley", ["-p", "help"], "", "claude")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('GALLEY_AS must be one of galley, pi, omp, not "claude".'),
    });
  });
});

describe.each(["pi", "omp"])("started as %s", (name) => {
  const agent = join(home, `.${name}/agent`);

  it("keeps sessions where that program does, and its own files below ~/.galley", async () => {
    const { frames } = await rpc(name, [{ id: 1, type: "get_state" }]);
    const { sessionFile } = (frames[0] as Frame).data as { sessionFile: string };
    const folder = join(agent, "sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`);
    expect(sessionFile.startsWith(`${folder}/`)).toBe(true);
    writeFileSync(join(cwd, "a.ts"), "old(1);\n");
    expect((await started(name, ["-p", "--yes", "replace old($A) with fresh($A)"])).code).toBe(0);
    expect(readFileSync(join(cwd, "a.ts"), "utf8")).toBe("fresh(1);\n");
    expect(readdirSync(agent).filter((entry) => /journal|undo|cache|sandbox|stage|history/.test(entry))).toEqual([]);
    expect(existsSync(join(home, ".galley/agent/undo"))).toBe(true);
    expect(readdirSync(folder)).not.toEqual([]);
    expect((await started(name, ["changes", "--json"])).stdout).toContain("a.ts");
  });

  it("a variable that names the agent directory wins", async () => {
    const other = { ...env, PI_CODING_AGENT_DIR: join(home, "elsewhere") };
    const input = `${JSON.stringify({ id: 1, type: "get_state" })}\n`;
    const { stdout } = await run(process.execPath, [join(bin, name), "--mode", "rpc"], { env: other, cwd, input });
    expect(stdout).toContain(join(home, "elsewhere/sessions/"));
  });

  it("answers an unknown command and an unknown level as hosts expect, and omits a text that is not there", async () => {
    const { frames } = await rpc(name, [
      { id: "u", type: "frobnicate" },
      { id: "t", type: "get_last_assistant_text" },
      { id: "l", type: "set_thinking_level", level: "ultra" },
    ]);
    expect(frames).toMatchObject([
      { id: "u", command: "frobnicate", success: false },
      { id: "t", data: {} },
      { id: "l", success: true },
    ]);
    expect(frames[1]?.data).toEqual({});
  });

  it("answers a prompt while busy once", async () => {
    await serve([openAi.text("One.")]);
    const { frames } = await rpc(
      name,
      [
        { id: "a", type: "prompt", message: "one" },
        { id: "b", type: "prompt", message: "two" },
      ],
      settled(1),
    );
    expect(answers(frames).filter(({ id }) => id === "b")).toMatchObject([{ command: "prompt", success: false }]);
  });

  it("tells of queues, levels, names and whether a run is retried, without negotiation", async () => {
    await serve([openAi.text("One."), openAi.text("Two.")]);
    const { frames } = await rpc(
      name,
      [
        { id: "n", type: "set_session_name", name: "Named" },
        { id: "a", type: "prompt", message: "one" },
        { id: "f", type: "follow_up", message: "two" },
      ],
      settled(1),
    );
    const told = (type: string) => frames.filter((frame) => frame.type === type);
    expect(told("session_info_changed")).toEqual([{ type: "session_info_changed", name: "Named" }]);
    expect(told("queue_update").length).toBeGreaterThan(0);
    expect(told("agent_end").length).toBeGreaterThan(0);
    for (const end of told("agent_end")) expect(end).toHaveProperty("willRetry", false);
  });

  it("shows diffs as hosts draw them, with the unified text beside", async () => {
    writeFileSync(join(cwd, "d.txt"), "one\ntwo\nthree\n");
    const edits = [{ path: "d.txt", old_text: "two", new_text: "2" }];
    await serve([openAi.toolCalls([{ id: "c", name: "edit", arguments: { edits } }]), openAi.text("Done.")]);
    const { frames } = await rpc(name, [{ id: "a", type: "prompt", message: "go" }], settled(1));
    const details = {
      diff: " 1 one\n-2 two\n+2 2\n 3 three",
      patch: "--- a/d.txt\n+++ b/d.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
    };
    const [end] = frames.filter(({ type }) => type === "tool_execution_end");
    expect(end).toMatchObject({ result: { details } });
  });

  it("-p takes each word as a prompt", async () => {
    await serve([openAi.text("One."), openAi.text("Two.")]);
    expect(await started(name, ["-p", "--quiet", "first", "second"])).toMatchObject({ code: 0 });
    expect(server?.requests.map(({ body }) => JSON.stringify(body).split('"role":"user"').length - 1)).toEqual([1, 2]);
  });

  it("says nothing on stderr in RPC mode that the user need not act on", async () => {
    writeFileSync(join(agent, name === "pi" ? "settings.json" : "config.yml"), '{"quietStartup": true, "nonsense": 1}');
    expect((await rpc(name, [], { args: ["--frob", "-q"] })).stderr).toBe("");
  });
});

it("pi's settings count in its place, and what galley was told there wins", async () => {
  const agent = join(home, ".pi/agent");
  const state = async () => (await rpc("pi", [{ id: 1, type: "get_state" }])).frames[0]?.data;
  writeFileSync(
    join(agent, "settings.json"),
    '{"steeringMode": "all", "followUpMode": "all", "sessionDir": "/nowhere"}',
  );
  expect(await state()).toMatchObject({ steeringMode: "all", followUpMode: "all" });
  writeFileSync(join(agent, "config.yml"), "followUpMode: one-at-a-time\n");
  expect(await state()).toMatchObject({ steeringMode: "all", followUpMode: "one-at-a-time" });
});

describe("galley link", () => {
  const galley = (args: string[], path = `${bin}:${process.env.PATH}`) =>
    run(process.execPath, [join(bin, "galley"), ...args], { env: { ...env, PATH: path }, cwd });

  it("makes a link by which galley answers in that place, and unlink removes it", async () => {
    const dir = join(home, "links");
    mkdirSync(dir);
    const path = join(dir, "pi");
    for (let time = 1; time <= 2; time++)
      expect(await galley(["link", "pi", "--dir", dir])).toEqual({
        code: 0,
        stdout: `${path} starts galley in the place of pi.\n`,
        stderr: "",
      });
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect((await run(path, ["--version"], { env, cwd })).stdout).toBe(`0.87.1 (galley ${version})\n`);
    const doctor = await galley(["doctor", "--json"], `${dir}:${process.env.PATH}`);
    expect(JSON.parse(doctor.stdout).findings).toContainEqual({
      name: "pi",
      isOk: true,
      text: `${path} starts galley`,
    });
    expect(await galley(["unlink", "pi", "--dir", dir])).toMatchObject({ code: 0, stdout: `Removed ${path}.\n` });
    expect(await galley(["unlink", "pi", "--dir", dir])).toMatchObject({ code: 0, stdout: `There is no ${path}.\n` });
  });

  it("never touches another program (H-3)", async () => {
    const dir = join(home, "taken");
    mkdirSync(dir);
    const path = join(dir, "pi");
    for (const put of [() => writeFileSync(path, "#!/bin/sh\n"), () => symlinkSync("/bin/sh", join(dir, "omp"))]) put();
    for (const [verb, name] of [
      ["link", "pi"],
      ["unlink", "pi"],
      ["link", "omp"],
    ] as const)
      expect(await galley([verb, name, "--dir", dir])).toEqual({
        code: 3,
        stdout: "",
        stderr: `${join(dir, name)} is another program. Choose another --dir, or remove it yourself.\n`,
      });
    expect(readFileSync(path, "utf8")).toBe("#!/bin/sh\n");
  });

  it("says where to put it when galley is not on PATH, and what it takes", async () => {
    const nowhere = await galley(["link", "pi"], "/usr/bin:/bin");
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining("galley is not on PATH.")]);
    for (const words of [
      ["link"],
      ["link", "xcsh"],
      ["link", "pi", "--dir"],
      ["link", "pi", "omp"],
      ["link", "pi", "--force"],
    ])
      expect((await galley(words)).code).toBe(2);
    expect((await galley(["link", "pi", "--dir", join(home, "none")])).code).toBe(3);
  });
});
