// The client against an agent that follows a script: what it starts, how every call ends, what it makes of prompts.

import { describe, expect, it } from "vitest";
import type { ClientExit, RpcError } from "../../../src/client/index.js";
import { commandLine } from "../../../src/client/spawn.js";
import {
  accepted,
  busy,
  failed,
  fakeAgent,
  fakeClient,
  idle,
  logOf,
  makeClient,
  said,
  silence,
  startFake,
} from "../../kit/client-rig.js";

const start = { type: "agent_start" };
const end = { type: "agent_end", messages: [], isTerminal: true };
const settled = { type: "agent_settled" };
const problem = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it was expected to fail"),
    (error: RpcError) => error,
  );

describe("the command line", () => {
  it("is galley with the options, a script with the host's runtime, a prefix, or what a function makes of it", () => {
    const options = { provider: "acme", model: "fable", sessionDir: "s", args: ["--no-tools"] };
    const tail = ["--mode", "rpc", "--provider", "acme", "--model", "fable", "--session-dir", "s", "--no-tools"];
    expect(commandLine(options)).toEqual(["galley", ...tail]);
    expect(commandLine({ ...options, cliPath: "cli.js" })).toEqual([process.execPath, "cli.js", ...tail]);
    expect(commandLine({ ...options, command: ["ssh", "box", "galley"] })).toEqual(["ssh", "box", "galley", ...tail]);
    expect(commandLine({ command: (args) => ["sh", "-c", args.join(" ")] })).toEqual(["sh", "-c", "--mode rpc"]);
  });
});

describe("start", () => {
  it("resolves with the ready frame and agrees on what both sides offer", async () => {
    const client = fakeClient({ ready: { features: ["prompt-result", "echo-ids", "delta-updates"] } });
    expect(await client.start()).toMatchObject({ type: "ready", version: "0.0.0-fake" });
    const features = ["prompt-result", "echo-ids"];
    expect(await logOf(client, ["negotiate_protocol"])).toMatchObject([{ protocolVersion: 2, features }]);
    await expect(client.start()).rejects.toThrow("The agent is already running");
  });

  it("asks for nothing that is not offered, and for version 2 where it is", async () => {
    const negotiations = async (ready: object) => logOf(await startFake({ ready }), ["negotiate_protocol"]);
    expect(await negotiations({})).toEqual([]);
    expect(await negotiations({ features: ["teleport"] })).toEqual([]);
    expect(await negotiations({ supportedProtocolVersions: [1, 2] })).toMatchObject([{ features: [] }]);
    expect(await negotiations({ supportedProtocolVersions: null, features: null })).toEqual([]);
  });

  it("works with an agent that knows version 2 and no features", async () => {
    const answer = { ...accepted, command: "negotiate_protocol", data: { protocolVersion: 2 } };
    const client = await startFake({
      ready: { supportedProtocolVersions: [1, 2], features: undefined },
      rules: [
        { on: "negotiate_protocol", do: [answer] },
        { on: "prompt", do: [accepted, start, said("Hi"), end, settled] },
      ],
    });
    expect(await client.promptAndWait("x")).toMatchObject({ text: "Hi" });
  });

  it.each([
    [
      "an early exit",
      { first: "" },
      ["-e", "console.error('no such model');process.exit(3)", "--"],
      /code 3: no such model/,
      3,
    ],
    ["a line that is no JSON", { first: "Welcome!\n" }, undefined, /not a frame: .*Welcome/, null],
    ["another first frame", { first: '{"type":"agent_start"}\n' }, undefined, /began with "agent_start"/, null],
    ["silence", { first: "" }, undefined, /No answer to start within 300 ms/, null],
  ])("fails on %s, leaves nothing running, and can be tried again", async (_, script, argv, text, exitCode) => {
    const client = makeClient({
      command: [process.execPath, ...(argv ?? [fakeAgent, JSON.stringify(script)])],
      startTimeoutMs: text.source.includes("300 ms") ? 300 : 15_000,
    });
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await problem(client.start());
      expect(error).toMatchObject({ name: "RpcError", kind: "start_failed", command: "start", exitCode });
      expect(error.message).toMatch(text);
      expect(client.isRunning).toBe(false);
    }
  });

  it("says what failed, and nothing of what else was on stderr", async () => {
    const warned = "process.stderr.write('galley: the file config.yml has no meaning\\ngalley: no such model\\n')";
    const dies = makeClient({ command: [process.execPath, "-e", `${warned};process.exitCode = 1`, "--"] });
    const died = await problem(dies.start());
    expect(died.message).toBe("The agent ended with code 1: galley: no such model");
    expect(dies.stderr).toContain("config.yml");
    const crash = "throw new Error('out of luck')";
    const crashes = makeClient({ command: [process.execPath, "-e", `${warned};${crash}`, "--"] });
    expect((await problem(crashes.start())).message).toBe("The agent ended with code 1: Error: out of luck");
    const silent = makeClient({
      command: [process.execPath, "-e", `${warned};setInterval(() => {}, 1000)`, "--"],
      startTimeoutMs: 1234.5678,
    });
    expect((await problem(silent.start())).message).toBe("No answer to start within 1235 ms");
  });

  it("fails when there is no such program", async () => {
    const error = await problem(makeClient({ command: ["/no/such/galley"] }).start());
    expect(error).toMatchObject({ kind: "start_failed" });
    expect(error.message).toContain("ENOENT");
  });

  it("works again after stop, with the listeners of before", async () => {
    const client = fakeClient({ rules: [{ on: "abort", do: [start, { ...accepted, command: "abort" }] }] });
    const heard: string[] = [];
    client.onEvent(({ type }) => heard.push(type));
    for (let round = 0; round < 2; round++) {
      await client.start();
      await client.abort();
      expect(await client.stop()).toBe(0);
      expect(await client.stop()).toBe(0);
    }
    expect(heard).toEqual(["agent_start", "agent_start"]);
  });
});

describe("the end of the agent", () => {
  it("rejects everything that waits, ends the loops, and is told once", async () => {
    const client = await startFake({
      rules: [silence("bash"), silence("compact"), { on: "abort", do: [{ $stderr: "out of paper\n" }, { $exit: 7 }] }],
    });
    const exits: ClientExit[] = [];
    client.onExit((exit) => exits.push(exit));
    const events = client.events();
    const calls = [client.bash("sleep 9"), client.compact(), client.promptAndWait("x"), client.waitForIdle()];
    const errors = await Promise.all([...calls, client.abort()].map(problem));
    for (const error of errors) expect(error).toMatchObject({ kind: "exited", exitCode: 7 });
    expect(errors[0]?.message).toBe("The agent ended with code 7: out of paper");
    expect(errors.map(({ command }) => command).slice(0, 2)).toEqual(["bash", "compact"]);
    expect(await events.next()).toEqual({ value: undefined, done: true });
    expect(exits).toEqual([{ code: 7, signal: null, stderr: "out of paper\n", isExpected: false }]);
    expect(await problem(client.getState())).toMatchObject({ kind: "stopped", message: "The agent is not running" });
  });

  it("by stop() rejects what the agent leaves unanswered", async () => {
    const client = await startFake({ rules: [silence("bash")] });
    const bash = problem(client.bash("sleep 9"));
    expect(await client.stop()).toBe(0);
    expect(await bash).toMatchObject({ kind: "stopped", command: "bash", message: "The agent was stopped" });
    const disposable = await startFake();
    await disposable[Symbol.asyncDispose]();
    expect(disposable.isRunning).toBe(false);
    const leaving = await startFake();
    const exit = new Promise<ClientExit>((resolve) => leaving.onExit(resolve));
    leaving[Symbol.dispose]();
    expect(await exit).toMatchObject({ code: 0, isExpected: true });
  });

  it("by SIGTERM, then SIGKILL, when it does not want to", async () => {
    const client = await startFake({ rules: [{ on: "abort", do: [{ $ignoreEnd: true }] }] });
    void client.abort().catch(() => {}); // never answered
    await client.getState();
    const exits: ClientExit[] = [];
    client.onExit((exit) => exits.push(exit));
    expect(await client.stop(50)).toBe(null);
    expect(exits).toMatchObject([{ signal: "SIGTERM", isExpected: true }]);
  });

  it("comes after its last line, also one without a line end", async () => {
    const client = await startFake({
      rules: [{ on: "abort", do: [{ $raw: '{"type":"agent_settled"}' }, { $exit: 0 }] }],
    });
    expect(await problem(client.abort())).toMatchObject({ kind: "exited", exitCode: 0 });
    expect(client.history).toEqual([{ type: "agent_settled" }]);
  });

  it("is brought about when it closes its stdout and lives on", async () => {
    const script = `process.stdout.write('{"type":"ready"}\\n');
      process.stdin.once("data", () => require("fs").closeSync(1)); setInterval(() => {}, 1000);`;
    const client = makeClient({ command: [process.execPath, "-e", script, "--"] });
    await client.start();
    expect(await problem(client.bash("x", { timeoutMs: 15_000 }))).toMatchObject({ kind: "exited" });
  });

  it("is not delayed by a grandchild that holds the pipes", async () => {
    const script = `process.stdout.write('{"type":"ready"}\\n');
      require("child_process").spawn("sleep", ["30"], { stdio: "inherit", detached: true }).unref();
      process.stdin.resume(); process.stdin.on("end", () => process.exit(0));`;
    const client = makeClient({ command: [process.execPath, "-e", script, "--"] });
    await client.start();
    const before = Date.now();
    expect(await client.stop()).toBe(0);
    expect(Date.now() - before).toBeLessThan(5000);
  });
});

describe("a request", () => {
  it("has a deadline of its own or the usual one; bash, compact and export_html have none", async () => {
    const rules = ["get_tree", "bash", "compact", "export_html"].map(silence);
    const client = await startFake({ rules }, { requestTimeoutMs: 50 });
    const endless = [client.bash("x"), client.compact(), client.exportHtml()].map(problem);
    const error = await problem(client.getTree());
    expect(error).toMatchObject({
      kind: "timeout",
      command: "get_tree",
      message: "No answer to get_tree within 50 ms",
    });
    expect(await problem(client.getTree({ timeoutMs: 10 }))).toMatchObject({ kind: "timeout" });
    expect(await problem(client.bash("x", { timeoutMs: 10 }))).toMatchObject({ kind: "timeout", command: "bash" });
    await client.stop();
    for (const settledError of await Promise.all(endless)) expect(settledError.kind).toBe("stopped");
  });

  it("is given up by a signal, before or after it was sent", async () => {
    const client = await startFake({ rules: [silence("bash")] });
    const controller = new AbortController();
    const waiting = problem(client.bash("x", { signal: controller.signal, timeoutMs: Number.POSITIVE_INFINITY }));
    await client.getTree(); // a timer beyond what timers take would have fired by now
    controller.abort(new Error("enough"));
    expect(await waiting).toMatchObject({ kind: "aborted", command: "bash", cause: new Error("enough") });
    const error = await problem(client.promptAndWait("x", { signal: controller.signal }));
    expect(error).toMatchObject({ kind: "aborted", command: "prompt" });
    expect(await logOf(client, ["prompt"])).toEqual([]);
  });

  it("fails with what the agent says, also where the failure has no id", async () => {
    const failure = { type: "response", success: false };
    const client = await startFake({
      rules: [
        {
          on: "set_model",
          do: [{ ...failure, id: "$id", command: "set_model", error: "Model not found: a/b", code: "m" }],
        },
        { on: "clone", times: 1, do: [] },
        { on: "clone", do: [{ ...failure, command: "clone", error: "Unknown command: clone", requestId: "$id" }] },
        { on: "fork", do: [{ ...failure, id: null, command: "fork", error: "Unknown command: fork" }] },
        { on: "redo", do: [{ ...failure, command: "parse", error: "Failed to parse command: oops" }] },
      ],
    });
    await client.getState();
    const byId = await problem(client.setModel("a", "b"));
    expect(byId).toMatchObject({ kind: "refused", command: "set_model", code: "m", message: "Model not found: a/b" });
    expect(byId.requestId).toMatch(/^req_\d+$/);
    const unanswered = problem(client.clone({ timeoutMs: 1000 }));
    expect(await problem(client.clone())).toMatchObject({ command: "clone", message: "Unknown command: clone" });
    expect(await unanswered).toMatchObject({ kind: "timeout", command: "clone" });
    expect(await problem(client.fork("e"))).toMatchObject({ command: "fork", message: "Unknown command: fork" });
    expect(await problem(client.redo())).toMatchObject({ command: "redo", message: "Failed to parse command: oops" });
  });

  it("is never given another one's failure", async () => {
    const failure = { type: "response", success: false, command: "fork", error: "no" };
    const client = await startFake({
      rules: [silence("bash"), { on: "abort", do: [failure] }, { on: "fork", do: [] }],
    });
    const told: RpcError[] = [];
    client.onProtocolError((error) => told.push(error));
    const forks = [client.fork("1"), client.fork("2")].map(problem);
    void client.abort({ timeoutMs: 300 }).catch(() => {});
    await client.getState();
    expect(told).toMatchObject([{ kind: "protocol", command: "fork", message: "no" }]);
    await client.stop();
    for (const fork of await Promise.all(forks)) expect(fork.kind).toBe("stopped");
  });

  it("too large for a record is refused here", async () => {
    const client = await startFake();
    const error = await problem(client.steer("x".repeat(65 * 1024 * 1024)));
    expect(error).toMatchObject({ kind: "overflow" });
    expect((await logOf(client)).length).toBe(0);
  });
});

describe("a prompt", () => {
  it("gives its id on acceptance, and its outcome now or later", async () => {
    const client = await startFake({ rules: [{ on: "prompt", do: [accepted, start, said("Hi"), end, settled] }] });
    const id = await client.prompt("hello");
    expect(id).toMatch(/^req_\d+$/);
    const outcome = { status: "completed", agentInvoked: true, text: "Hi" };
    expect(await client.waitForPrompt(id)).toEqual(outcome);
    await client.getState();
    expect(await client.waitForPrompt(id)).toEqual(outcome);
    expect(await client.promptAndWait("again")).toEqual(outcome);
    expect(await problem(client.waitForPrompt("req_none"))).toMatchObject({ kind: "refused" });
  });

  it("ends with agent_settled, not with an agent_end that a retry follows", async () => {
    const retry = [{ ...end, isTerminal: false }, { type: "auto_retry_start" }, start, said("Second"), end, settled];
    const client = await startFake({ rules: [{ on: "prompt", do: [accepted, start, said("First"), ...retry] }] });
    expect(await client.promptAndWait("x")).toMatchObject({ text: "Second" });
  });

  it("is not ended by the end of the run before it", async () => {
    const client = await startFake({
      rules: [
        { on: "prompt", times: 1, do: [accepted, start, said("One"), end] },
        { on: "prompt", do: [accepted, settled, start, said("Two"), end, settled] },
      ],
    });
    const first = client.promptAndWait("1");
    await client.getEntries();
    const second = client.promptAndWait("2");
    expect(await first).toMatchObject({ text: "One" });
    expect(await second).toMatchObject({ text: "Two" });
  });

  it("that came while a retry was awaited ends with it, also when the retry is called off", async () => {
    const client = await startFake({
      rules: [
        { on: "prompt", times: 1, do: [accepted, start, said("One"), { ...end, isTerminal: false }] },
        { on: "prompt", do: [accepted] },
        { on: "abort_retry", do: [settled, { ...accepted, command: "abort_retry" }] },
      ],
    });
    const ids = [await client.prompt("1"), await client.prompt("2", { streamingBehavior: "followUp" })];
    await client.abortRetry();
    for (const id of ids) expect(await client.waitForPrompt(id, { timeoutMs: 3000 })).toMatchObject({ text: "One" });
  });

  it("that was aborted before its run began ends with agent_settled alone", async () => {
    const client = await startFake({ rules: [{ on: "prompt", do: [accepted, settled] }] });
    expect(await client.promptAndWait("x")).toEqual({ status: "aborted", agentInvoked: false, text: "" });
  });

  it("tells how the model failed or was stopped", async () => {
    const ends = (more: object) => [accepted, start, said("Hm", more), end, settled];
    const client = await startFake({
      rules: [
        { on: "prompt", where: { message: "e" }, do: ends({ stopReason: "error", errorMessage: "503" }) },
        { on: "prompt", where: { message: "a" }, do: ends({ stopReason: "aborted" }) },
      ],
    });
    expect(await client.promptAndWait("e")).toMatchObject({ status: "error", error: { message: "503" } });
    expect(await client.promptAndWait("a")).toMatchObject({ status: "aborted", text: "Hm" });
  });

  it("fails at once, late, or late without a waiting caller", async () => {
    const late = [accepted, failed("Agent is already processing.")];
    const client = await startFake({
      rules: [
        { on: "prompt", where: { message: "bad" }, do: [failed("Invalid prompt: images must be an array")] },
        {
          on: "prompt",
          where: { message: "no id" },
          do: [{ type: "response", command: "parse", success: false, error: "Failed to parse" }],
        },
        { on: "prompt", do: late },
      ],
    });
    const told: RpcError[] = [];
    client.onProtocolError((error) => told.push(error));
    expect(await problem(client.promptAndWait("bad"))).toMatchObject({ kind: "refused", command: "prompt" });
    expect(await problem(client.prompt("bad"))).toMatchObject({ kind: "refused" });
    expect(await problem(client.prompt("no id"))).toMatchObject({ kind: "refused", message: "Failed to parse" });
    await client.waitForIdle({ timeoutMs: 3000 });
    expect(await problem(client.promptAndWait("x"))).toMatchObject({ kind: "late", command: "prompt" });
    expect(told).toEqual([]);
    const id = await client.prompt("x");
    await client.getEntries();
    expect(told).toMatchObject([{ kind: "late", requestId: id, message: "Agent is already processing." }]);
    expect(await problem(client.waitForPrompt(id))).toMatchObject({ kind: "late" });
    await client.waitForIdle({ timeoutMs: 10_000 });
  });

  it("has a deadline only if one is named, and the run goes on beyond it", async () => {
    const client = await startFake({ rules: [{ on: "prompt", do: [accepted, start] }] });
    expect(await problem(client.promptAndWait("x", { timeoutMs: 30 }))).toMatchObject({ kind: "timeout" });
    const waiting = problem(client.promptAndWait("y"));
    await client.stop();
    expect(await waiting).toMatchObject({ kind: "stopped" });
  });

  it("is followed by prompt_result where that was agreed", async () => {
    const result = { type: "prompt_result", id: "$id", agentInvoked: true, status: "error", sessionSettled: true };
    const error = { message: "503 service unavailable", httpStatus: 503, retryable: true };
    const client = await startFake({
      ready: { features: ["prompt-result"] },
      rules: [
        { on: "prompt", where: { message: "/local" }, do: [{ ...accepted, data: { agentInvoked: false } }] },
        { on: "prompt", do: [accepted, start, said("x"), end, settled, { ...result, error }] },
      ],
    });
    expect(await client.promptAndWait("x")).toEqual({ status: "error", agentInvoked: true, text: "x", error });
    expect(await client.promptAndWait("/local")).toEqual({ status: "completed", agentInvoked: false, text: "" });
    await client.waitForIdle();
  });

  it("that stays queued after an abort does not keep the agent busy", async () => {
    const abort = { ...accepted, command: "abort" };
    const client = await startFake({
      ready: { features: ["prompt-result"] },
      rules: [
        { on: "prompt", times: 1, do: [accepted, start] },
        { on: "prompt", do: [accepted] },
        { on: "abort", do: [end, settled, abort] },
        { on: "get_state", do: [idle] },
      ],
    });
    await client.prompt("1");
    await client.prompt("2", { streamingBehavior: "followUp" });
    await client.abort();
    await client.waitForIdle({ timeoutMs: 10_000 });
  });

  it("of an agent without agent_settled ends when its state says so", async () => {
    const client = await startFake({
      rules: [
        { on: "prompt", do: [accepted, start, said("Old"), { type: "agent_end", messages: [] }] },
        { on: "get_state", times: 2, do: [busy] },
        { on: "get_state", do: [idle] },
      ],
    });
    expect(await client.promptAndWait("x")).toMatchObject({ status: "completed", text: "Old" });
  });

  it("streams its events and ends with them", async () => {
    const client = await startFake({ rules: [{ on: "prompt", do: [accepted, start, said("Hi"), end, settled] }] });
    const types: string[] = [];
    for await (const { type } of client.stream("x")) types.push(type);
    expect(types).toEqual(["agent_start", "message_end", "agent_end", "agent_settled"]);
    for await (const _ of client.stream("x")) break;
    await client.waitForIdle();
    const refusing = await startFake({ rules: [{ on: "prompt", do: [accepted, failed("No model selected.")] }] });
    await expect(collect(refusing.stream("x"))).rejects.toThrow("No model selected.");
  });
});

describe("waitForIdle", () => {
  it("returns at once when nothing runs, and misses nothing that comes in the same breath", async () => {
    const client = await startFake({
      rules: [
        { on: "get_state", times: 1, do: [idle] },
        { on: "get_state", times: 1, do: [busy, settled] },
        { on: "get_state", do: [idle] },
      ],
    });
    await client.getTree();
    await client.waitForIdle({ timeoutMs: 10_000 });
    await client.waitForIdle({ timeoutMs: 10_000 });
  });

  it("waits for a run that this caller did not begin, and for a prompt that was just sent", async () => {
    const client = await startFake({
      rules: [
        { on: "get_tree", do: [start, { ...accepted, command: "get_tree" }] },
        { on: "abort", do: [end, settled, { ...accepted, command: "abort" }] },
        { on: "prompt", do: [accepted, start, end, settled] },
      ],
    });
    await client.getTree();
    let isIdle = false;
    const waiting = client.waitForIdle().then(() => {
      isIdle = true;
    });
    await client.getEntries();
    expect(isIdle).toBe(false);
    await client.abort();
    await waiting;
    void client.prompt("x");
    await client.waitForIdle();
    expect(client.history.at(-1)?.type).toBe("agent_settled");
  });
});

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}
