// A one-shot run that is interrupted: it stops the model, keeps what was said, and ends with the code of the signal.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Gate, openAi, type ScriptedServer, stall, startScriptedServer } from "../../src/testing/index.js";
import { ensureBuilt, modelsAt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
const sessions = join(home, "sessions");
let server: ScriptedServer | undefined;
let child: ChildProcessWithoutNullStreams | undefined;

beforeAll(ensureBuilt, 150_000);
afterEach(async () => {
  child?.kill("SIGKILL");
  await server?.close();
});
afterAll(remove);

/** The program in the middle of its model's reply. */
async function startRun(...args: string[]) {
  const gate = new Gate();
  const more = openAi.chunk({ content: " answer" });
  server = await startScriptedServer([
    { steps: [openAi.chunk({ content: "Half of an" }), gate.step, more, stall], mayBeLeft: true },
  ]);
  mkdirSync(join(home, ".galley/agent"), { recursive: true });
  writeFileSync(join(home, ".galley/agent/models.yml"), modelsAt(server.url));
  const run = spawn(process.execPath, [galleyBin, "--session-dir", sessions, "--model", "scripted", ...args], {
    cwd: home,
    env,
    stdio: "pipe",
  });
  child = run;
  run.stdin.end();
  let [stdout, stderr] = ["", ""];
  run.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  run.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = new Promise<number | null>((resolve) => run.on("close", resolve));
  await gate.reached;
  const end = async (...signals: NodeJS.Signals[]) => {
    const connection = server?.requests[0]?.closed;
    for (const signal of signals) run.kill(signal);
    const code = await ended;
    await connection; // the model's service was told to stop
    return { code, stdout, stderr };
  };
  const leave = async () => {
    const connection = server?.requests[0]?.closed;
    run.stdout.destroy();
    gate.open(); // what comes now has nowhere to go
    const code = await ended;
    await connection;
    return code;
  };
  return { end, leave };
}

const recorded = () =>
  readdirSync(sessions)
    .sort()
    .flatMap((name) => readFileSync(join(sessions, name), "utf8").trimEnd().split("\n"))
    .map((line) => JSON.parse(line) as { type: string; message?: { role: string; stopReason?: string } });

describe("a signal", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends a one-shot run with %i, without a word", async (signal, code) => {
    const { end } = await startRun("-p", "hi");
    expect(await end(signal)).toEqual({ code, stdout: "", stderr: "" });
    const messages = recorded().flatMap(({ message }) => (message ? [[message.role, message.stopReason]] : []));
    expect(messages.slice(-2)).toEqual([
      ["user", undefined],
      ["assistant", "aborted"],
    ]);
  });

  it("starts none of the prompts that were to follow", async () => {
    const { end } = await startRun("-p", "one", "--then", "two", "--then", "three");
    expect((await end("SIGINT")).code).toBe(130);
    expect(server?.requests).toHaveLength(1);
  });

  it("leaves alone what --yes has not come to", async () => {
    const module = join(home, ".galley/agent/commands/stage");
    mkdirSync(module, { recursive: true });
    const stager = `import { appendFileSync } from "node:fs";
      async function apply() {
        appendFileSync("applied", "once ");
        const heard = new Promise((resolve) => process.once("SIGTERM", resolve));
        process.kill(process.pid, "SIGTERM");
        await heard;
        return "Done.";
      }
      export default (api) => ({
        name: "stage",
        description: "Stages two actions",
        execute() {
          for (const label of ["First", "Second"]) api.pushPendingAction({ label, apply });
        },
      });`;
    writeFileSync(join(module, "index.mjs"), stager);
    const cwd = join(home, "project");
    mkdirSync(cwd);
    const outcome = await run(process.execPath, [galleyBin, "--yes", "-p", "/stage"], { env, cwd });
    expect([outcome.code, outcome.stdout]).toEqual([143, ""]);
    expect(outcome.stderr).toMatch(/^Changed by commands or custom tools \(.*\):\n {2}applied {2}new\n/);
    expect(outcome.stderr).toMatch(/outlive the run:\n {2}pa_\d+ {2}(?:First|Second)\nRun it again/);
    expect(readFileSync(join(cwd, "applied"), "utf8")).toBe("once ");
  });

  it("twice ends at once with the same code", async () => {
    const { end } = await startRun("-p", "hi");
    expect((await end("SIGINT", "SIGINT")).code).toBe(130);
  });

  it("closes the events of JSON mode, and the last line tells", async () => {
    const { end } = await startRun("--mode", "json", "hi");
    const { code, stdout } = await end("SIGINT");
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(code).toBe(130);
    expect(lines.slice(-3).map(({ type }) => type)).toEqual(["agent_end", "agent_settled", "exit"]);
    expect(lines.at(-1)).toEqual({
      type: "exit",
      code: 130,
      reason: "failed",
      message: "Stopped by SIGINT",
      pending: [],
    });
  });
});

describe("a reader that goes away", () => {
  const said = join(home, "said-goodbye");
  const extension = join(home, "goodbye.js");
  beforeAll(() =>
    writeFileSync(
      extension,
      `import { writeFileSync } from "node:fs";
      export default (pi) => pi.on("session_shutdown", () => writeFileSync(${JSON.stringify(said)}, "yes"));`,
    ),
  );

  it("ends the run in order: the model is stopped, the record closed, extensions are told", async () => {
    const { leave } = await startRun("--mode", "json", "-e", extension, "hi", "and then this");
    expect(await leave()).toBe(0);
    expect(readFileSync(said, "utf8")).toBe("yes");
    expect(recorded().at(-1)?.message).toMatchObject({ role: "assistant", stopReason: "aborted" });
    expect(server?.requests).toHaveLength(1);
  });
});
