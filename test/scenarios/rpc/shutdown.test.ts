// The end of the process against tools and modules that do not care: what was read has its answer, the run its closing
// events, modules their last word, and none of it takes long.

import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.js";
import type { ExtensionAPI } from "../../../src/extensions/api/extension.js";
import { serveRpc } from "../../../src/rpc/server.js";
import { type OpenSessionOptions, openSession } from "../../../src/testing/open-session.js";
import { call, gate, say } from "../../../src/testing/scripted-model.js";
import type { AnyTool } from "../../../src/tools/tool.js";
import { FakeOutput, tick } from "../../kit/outbox-rig.js";

type Extension = (pi: ExtensionAPI) => unknown;

async function serve({ extension, ...options }: OpenSessionOptions & { extension?: Extension } = {}) {
  const told: string[] = [];
  const loading = gate();
  const ears = async (pi: ExtensionAPI) => {
    pi.on("session_shutdown", ({ reason }) => void told.push(`shutdown ${reason}`));
    await loading.wait();
  };
  const session = { extensions: [ears, ...(extension ? [extension as never] : [])], deferModules: true };
  const open = await openSession({ ...options, session: { ...session, ...options.session } });
  const input = new PassThrough();
  const output = new FakeOutput();
  const server = serveRpc({ input, output, session: Promise.resolve(open.session), clock: open.clock, log: silentLog });
  // From here on nothing takes time but what the clock measures.
  await loading.reached;
  loading.open();
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await tick();
  };
  return {
    ...open,
    told,
    output,
    settle,
    send: (...frames: object[]) => void input.write(frames.map((frame) => `${JSON.stringify(frame)}\n`).join("")),
    story: () => output.frames.map(({ type, id, success }) => (type === "response" ? `${id} ${success}` : type)),
    /** Ends it so, and tells after how many milliseconds of the clock it was over. */
    async end(how: "EOF" | "signal"): Promise<number> {
      let isOver = false;
      if (how === "EOF") input.end();
      const done = how === "EOF" ? server.done : server.shutdown(143);
      void done.then(() => {
        isOver = true;
      });
      const since = open.clock.now();
      for (await settle(); !isOver; await settle()) open.clock.advance(50);
      return open.clock.now() - since;
    },
  };
}

const forEver = () => new Promise<never>(() => {});

function deaf(begun: () => unknown, more: Partial<AnyTool> = {}): AnyTool {
  const execute = () => {
    begun();
    return forEver();
  };
  return { name: "deaf", label: "Deaf", description: "Deaf", parameters: { type: "object" }, execute, ...more };
}

describe.each(["EOF", "signal"] as const)("%s", (how) => {
  it("a tool that ignores its signal: the run is closed, modules are told, within a second", async () => {
    const begun = gate();
    const host = await serve({ model: [call("deaf", {})], tools: [deaf(() => void begun.wait())] });
    host.send({ type: "prompt", id: "a", message: "Go" });
    await begun.reached;
    expect(await host.end(how)).toBeLessThan(1000);
    const closing = ["tool_execution_end", "message_start", "message_end", "turn_end", "agent_end", "agent_settled"];
    expect(host.story().slice(-6)).toEqual(closing);
    expect(host.session.messages.at(-1)).toMatchObject({ role: "toolResult", isError: true });
    expect(host.told).toEqual(["shutdown quit"]);
  });

  it("a tool that must not be cut short is waited for longer, and modules are told all the same", async () => {
    const begun = gate();
    const tools = [deaf(() => void begun.wait(), { nonAbortable: true })];
    const host = await serve({ model: [call("deaf", {})], tools });
    host.send({ type: "prompt", id: "a", message: "Go" });
    await begun.reached;
    const tookMs = await host.end(how);
    expect(tookMs).toBeGreaterThan(2000);
    expect(tookMs).toBeLessThan(3000);
    expect(host.told).toEqual(["shutdown quit"]);
  });

  it("a prompt that is still in the lane is taken in, and nothing of it runs", async () => {
    const extension: Extension = (pi) => pi.on("session_before_switch", forEver);
    const host = await serve({ extension, model: [call("deaf", {})], tools: [deaf(() => host.told.push("tool"))] });
    host.send(
      { type: "new_session", id: "a" },
      { type: "prompt", id: "b", message: "Go" },
      { type: "get_state", id: "c" },
    );
    await host.settle();
    await host.end(how);
    const story = host.story().filter((line) => line !== "extension_error");
    expect(story).toEqual(["a true", "b true", "agent_settled", "c true"]);
    expect([host.told, host.model.requests.length]).toEqual([["shutdown new", "shutdown quit"], 0]);
  });

  it("a command that never ends does not keep extensions from session_shutdown", async () => {
    const host = await serve();
    host.session.getSessionStats = forEver as never;
    host.send({ type: "get_session_stats", id: "a" });
    await host.settle();
    expect(await host.end(how)).toBeLessThan(how === "EOF" ? 3000 : 1000);
    expect(host.told).toEqual(["shutdown quit"]);
  });

  it.each<[string, Extension, object[], string[]]>([
    ["the load", forEver, [{ type: "get_state" }, { type: "get_messages" }], ["0 true", "1 true"]],
    [
      "session_start",
      (pi) => pi.on("session_start", forEver),
      [{ type: "get_state" }, { type: "prompt", message: "Go" }, { type: "get_messages" }],
      ["0 true", "1 true", "1 false", "2 true"],
    ],
    [
      "input",
      (pi) => pi.on("input", forEver),
      [{ type: "prompt", message: "Go" }, { type: "abort" }],
      ["0 true", "0 false", "1 true"],
    ],
    [
      "before_agent_start",
      (pi) => pi.on("before_agent_start", forEver),
      [{ type: "prompt", message: "Go" }, { type: "get_messages" }],
      ["0 true", "1 true", "agent_settled"],
    ],
    ["a question to it", (pi) => pi.on("session_before_switch", forEver), [{ type: "new_session" }], ["0 true"]],
    ["session_shutdown", (pi) => pi.on("session_shutdown", forEver), [{ type: "get_messages" }], ["0 true"]],
  ])(
    "a module that hangs in %s: every command has its answer, and the others are told",
    async (what, extension, frames, story) => {
      const host = await serve({ extension });
      host.send(...frames.map((frame, id) => ({ id, ...frame })));
      await host.settle();
      expect(await host.end(how)).toBeLessThan(how === "EOF" ? 3000 : 1000);
      expect(host.story().filter((line) => line !== "extension_error")).toEqual(story);
      if (what === "the load") return;
      // A session that begins in the meantime has extensions of its own.
      const ends = what === "a question to it" ? ["shutdown new", "shutdown quit"] : ["shutdown quit"];
      expect(host.told).toEqual(ends);
    },
  );
});

it("a signal does not wait for every prompt in the lane in turn", async () => {
  const host = await serve({ extension: (pi) => pi.on("input", forEver) });
  const ids = Array.from({ length: 12 }, (_, id) => id);
  host.send(...ids.map((id) => ({ type: "prompt", id, message: "Go" })));
  await host.settle();
  expect(await host.end("signal")).toBeLessThan(1000);
  for (const id of ids) expect(host.story()).toContain(`${id} false`);
});

it("a signal does not wait for a host that has stopped reading", async () => {
  const host = await serve();
  host.output.isReading = false;
  host.session.getSessionStats = forEver as never; // as if the room for answers were used up
  host.send({ type: "get_state", id: 0 }, { type: "get_session_stats", id: 1 });
  await host.settle();
  expect(await host.end("signal")).toBeLessThanOrEqual(1000);
  expect(host.told).toEqual(["shutdown quit"]);
});

it("a signal does not wait for a host that left more of a reply unread than is kept", async () => {
  const host = await serve({ model: [say(...Array.from({ length: 10 }, () => "x".repeat(1024 * 1024)), "end")] });
  host.output.isReading = false;
  host.send({ type: "prompt", id: "a", message: "Talk" });
  await host.settle();
  expect(host.session.isStreaming).toBe(true); // it waits for the reader
  expect(await host.end("signal")).toBeLessThanOrEqual(1000);
  expect(host.told).toEqual(["shutdown quit"]);
  host.output.drain(); // nothing was dropped for it
  expect(host.story().slice(-4)).toEqual(["message_end", "turn_end", "agent_end", "agent_settled"]);
});

it("the end of input waits for modules that load, so that the answers are whole", async () => {
  const loaded = gate();
  const tool = { name: "late", description: "Late", parameters: { type: "object", properties: {} }, execute: forEver };
  const extension: Extension = async (pi) => {
    await loaded.wait();
    pi.registerTool({ label: "Late", ...tool } as never);
  };
  const host = await serve({ extension });
  host.send({ type: "get_state", id: 0 });
  await loaded.reached;
  const ended = host.end("EOF");
  loaded.open();
  await ended;
  expect(host.story()).toEqual(["0 true"]);
  expect(host.session.tools.map(({ name }) => name)).toContain("late");
  expect(host.told).toEqual(["shutdown quit"]);
});
