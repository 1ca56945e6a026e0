import { tmpdir } from "node:os";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { FakeOutput, tick } from "../../test/kit/outbox-rig.js";
import { type Log, silentLog } from "../base/log.js";
import { createNodeProcesses } from "../processes/node-processes.js";
import type { AgentSession, AnyTool } from "../sdk/index.js";
import { manualClock } from "../testing/manual-clock.js";
import { type OpenSessionOptions, openSession } from "../testing/open-session.js";
import { call, gate, say } from "../testing/scripted-model.js";
import { serveRpc } from "./server.js";

function serve(session: Promise<AgentSession>, clock = manualClock()) {
  const input = new PassThrough();
  const output = new FakeOutput();
  const logged: string[] = [];
  const log: Log = { warn: (text) => void logged.push(text), error: (text) => void logged.push(text) };
  const server = serveRpc({ input, output, session, clock, log });
  const send = (...frames: object[]) => void input.write(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
  const types = () => output.frames.map(({ type, id }) => (type === "response" ? `${id}` : type));
  return { input, output, logged, server, send, types, clock };
}

async function serveSession(options: OpenSessionOptions = {}) {
  const open = await openSession(options);
  return { ...open, ...serve(Promise.resolve(open.session), open.clock) };
}

/** A run that stands still until the gate opens or it is aborted. */
function held() {
  const waiting = gate();
  return { waiting, model: [[{ type: "start" as const }, waiting.wait, ...say("Hi").slice(1)]] };
}

describe("the end of input", () => {
  it("answers what was read, closes the run with its events, and ends with 0", async () => {
    const { waiting, model } = held();
    const host = await serveSession({ model });
    host.send({ type: "prompt", id: "a", message: "Hello" });
    await waiting.reached;
    host.send({ type: "get_last_assistant_text", id: "b" });
    host.input.end('{"type":"get_messages","id":"c"}');
    expect(await host.server.done).toBe(0);
    expect(host.types().slice(0, 2)).toEqual(["a", "agent_start"]);
    for (const line of ["b", "c", "message_end", "turn_end", "agent_end"]) expect(host.types()).toContain(line);
    expect(host.types().at(-1)).toBe("agent_settled");
    expect(host.logged).toEqual([]);
    expect(host.clock.pendingTimers).toBe(0);
    waiting.open();
  });

  it("answers every command and closes the last run, also when the session is ready only then", async () => {
    const { waiting, model } = held();
    const { session } = await openSession({ model });
    let start: (session: AgentSession) => void = () => {};
    const host = serve(
      new Promise((resolve) => {
        start = resolve;
      }),
    );
    const ids = Array.from({ length: 1000 }, (_, id) => id);
    host.send(...ids.map((id) => ({ type: "get_state", id })), { type: "prompt", id: "p", message: "Hello" });
    host.input.end();
    await tick();
    start(session);
    expect(await host.server.done).toBe(0);
    expect(host.types().slice(0, 1001)).toEqual([...ids.map(String), "p"]);
    expect(host.types().at(-1)).toBe("agent_settled");
    waiting.open();
  });

  it("takes at most 5 seconds when the host does not read", async () => {
    const host = await serveSession();
    host.output.isReading = false;
    host.send({ type: "get_state", id: "a" });
    await tick();
    host.send({ type: "get_state", id: "b" });
    host.input.end();
    await tick();
    let code: number | undefined;
    void host.server.done.then((ended) => {
      code = ended;
    });
    host.clock.advance(1900);
    await tick();
    expect(code).toBeUndefined();
    host.clock.advance(3100);
    await tick();
    expect(code).toBe(0);
  });

  it("cancels a running command and one that has not begun, and answers both at once", async () => {
    const host = await serveSession({
      session: { cwd: tmpdir(), processes: createNodeProcesses({ env: process.env, log: silentLog }) },
    });
    host.send({ type: "bash", id: "a", command: "sleep 60" });
    host.input.end('{"type":"bash","id":"b","command":"sleep 60"}');
    expect(await host.server.done).toBe(0); // the clock stands still: no patience was waited for
    const results = host.output.frames.map(({ id, data }) => [id, (data as { cancelled: boolean }).cancelled]);
    expect(results).toEqual([
      ["a", true],
      ["b", true],
    ]);
  });

  it("is where a broken input ends, too", async () => {
    const host = await serveSession();
    host.input.destroy(new Error("EIO"));
    expect(await host.server.done).toBe(0);
    expect(host.logged).toEqual(["reading stdin failed"]);
  });
});

describe("shutdown", () => {
  it("closes the run and takes nothing more in; the first code counts", async () => {
    const { waiting, model } = held();
    const host = await serveSession({ model });
    host.send({ type: "prompt", id: "a", message: "Hello" });
    await waiting.reached;
    const ended = host.server.shutdown(143);
    host.send({ type: "prompt", id: "b", message: "Too late" });
    expect(await ended).toBe(143);
    expect(await host.server.shutdown(1)).toBe(143);
    host.input.end();
    expect(await host.server.done).toBe(143);
    await tick();
    expect(host.types()).not.toContain("b");
    expect(host.types().slice(-2)).toEqual(["agent_end", "agent_settled"]);
    waiting.open();
  });

  it("does not wait for a reader that is gone", async () => {
    const { waiting, model } = held();
    const host = await serveSession({ model });
    host.send({ type: "prompt", id: "a", message: "Hello" });
    await waiting.reached;
    host.output.isReading = false;
    host.send({ type: "get_state", id: "b" });
    await tick();
    host.output.emit("error", new Error("EPIPE"));
    expect(await host.server.shutdown(1)).toBe(1); // the clock stands still: nothing was waited for
    waiting.open();
  });

  it("leaves a tool that does not end, after 3 seconds", async () => {
    const { waiting } = held();
    const stubborn: AnyTool = {
      name: "apply",
      label: "Apply",
      description: "Applies",
      parameters: { type: "object", properties: {} },
      nonAbortable: true,
      async execute() {
        await waiting.wait();
        return { content: [] };
      },
    };
    const host = await serveSession({ model: [call("apply", {})], tools: [stubborn] });
    host.send({ type: "prompt", id: "a", message: "Apply" });
    await waiting.reached;
    const ended = host.server.shutdown(143);
    await tick();
    host.clock.advance(3000);
    expect(await ended).toBe(143);
    waiting.open();
  });

  it("stops the run also when the lane waits for a host that does not read", async () => {
    const { waiting, model } = held();
    const host = await serveSession({ model });
    host.send({ type: "prompt", id: "a", message: "x".repeat(9 * 1024 * 1024) });
    await waiting.reached;
    await tick();
    host.output.isReading = false;
    host.send({ type: "get_messages", id: "b" }, { type: "get_messages", id: "c" });
    await tick();
    const ended = host.server.shutdown(143);
    await tick();
    expect(host.model.requests[0]?.options.signal.aborted).toBe(true);
    host.clock.advance(3000);
    await tick();
    host.clock.advance(2000);
    expect(await ended).toBe(143);
    waiting.open();
  });

  it("answers a command whose processes cannot be ended in time, once", async () => {
    const stuck = gate();
    const processes = createNodeProcesses({ env: process.env, log: silentLog });
    const run = async () => {
      await stuck.wait();
      throw new Error("too late");
    };
    const host = await serveSession({ session: { cwd: tmpdir(), processes: { ...processes, run } } });
    host.send({ type: "bash", id: "a", command: "true" });
    await stuck.reached;
    const ended = host.server.shutdown(143);
    await tick();
    host.clock.advance(2500);
    expect(await ended).toBe(143);
    stuck.open();
    await tick();
    expect(host.output.frames).toEqual([
      { type: "response", id: "a", command: "bash", success: false, error: "galley ended before the command did." },
    ]);
  });

  it("survives a session that never came", async () => {
    const host = serve(Promise.reject(new Error("no session")));
    host.send({ type: "get_state", id: "a" });
    await tick();
    expect(host.output.frames).toMatchObject([{ command: "parse", error: "Failed to parse command: no session" }]);
    expect(await host.server.shutdown(1)).toBe(1);
    expect(host.logged).toEqual(["closing the session failed"]);
  });
});

describe("a surprise", () => {
  it("is logged and told, and the next command is answered", async () => {
    const host = await serveSession();
    host.server.reportUncaught("uncaughtException", new Error("boom"));
    host.send({ type: "abort", id: "a" });
    await tick();
    expect(host.logged).toEqual(["uncaught (uncaughtException)"]);
    expect(host.output.frames).toEqual([
      { type: "extension_error", extensionPath: "<unknown>", event: "uncaughtException", error: "boom" },
      { type: "response", id: "a", command: "abort", success: true },
    ]);
  });
});
