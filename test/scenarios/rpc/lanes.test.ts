// What the lanes promise, one by one, with real sessions behind them.

import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.js";
import type { TypedObject } from "../../../src/base/ndjson.js";
import { createNodeProcesses } from "../../../src/processes/node-processes.js";
import type { CreateAgentSessionOptions } from "../../../src/sdk/index.js";
import { type OpenSessionOptions, openSession } from "../../../src/testing/open-session.js";
import { fail, gate, type ScriptStep, say } from "../../../src/testing/scripted-model.js";
import { type AnyFrame, dispatcherFor, rig, tick } from "../../kit/outbox-rig.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

async function connect(options: OpenSessionOptions = {}) {
  const open = await openSession(options);
  const parts = rig();
  open.session.subscribe((event) => parts.outbox.sendEvent(event));
  const dispatcher = dispatcherFor(parts, Promise.resolve(open.session), open.clock);
  const send = (...frames: TypedObject[]) => {
    for (const frame of frames) dispatcher.dispatch(frame);
  };
  return {
    ...open,
    ...parts,
    clock: open.clock,
    send,
    async ask(...frames: TypedObject[]) {
      send(...frames);
      await dispatcher.idle();
      await tick();
    },
    get story() {
      return parts.output.frames.map(headline);
    },
    get answers(): string[] {
      return this.story.filter((line) => line.includes(" "));
    },
    answerTo: (id: string) => parts.output.frames.find((frame) => frame.id === id),
  };
}

type Host = Awaited<ReturnType<typeof connect>>;

function headline({ type, id, success }: AnyFrame): string {
  return type === "response" ? `${id} ${success ? "ok" : "failed"}` : type;
}

function stalled(): { waiting: ReturnType<typeof gate>; step: ScriptStep } {
  const waiting = gate();
  return { waiting, step: [{ type: "start" }, waiting.wait, ...say("Hi").slice(1)] };
}

/** A conversation that is worth a summary, whose summary takes until the gate opens. */
async function compacting(): Promise<{ host: Host; waiting: ReturnType<typeof gate> }> {
  const { waiting, step } = stalled();
  const host = await connect({ model: [say("one"), say("two"), step, step] });
  for (const _ of [1, 2]) await host.session.prompt("four".repeat(25_000));
  await tick();
  host.output.writes.length = 0;
  host.send({ type: "compact", id: "compact" });
  await waiting.reached;
  return { host, waiting };
}

function inFolder(): CreateAgentSessionOptions {
  const folder = temporaryDirectory();
  return { persist: true, sessionDir: folder, agentDir: folder };
}

describe("the main lane", () => {
  it("is not held by the command of an extension", async () => {
    const waiting = gate();
    const extensions: CreateAgentSessionOptions["extensions"] = [
      (pi) => pi.registerCommand("wait", { description: "Waits", handler: () => waiting.wait() }),
    ];
    const host = await connect({ session: { extensions } });
    await host.ask(
      { type: "prompt", id: "a", message: "/wait" },
      { type: "abort_and_prompt", id: "b", message: "/wait" },
    );
    await host.ask({ type: "set_steering_mode", id: "c", mode: "all" }, { type: "get_state", id: "d" });
    expect(host.story).toEqual(["a ok", "b ok", "c ok", "d ok"]);
    expect(host.answerTo("d")?.data).toMatchObject({ steeringMode: "all", isStreaming: false });
    waiting.open();
  });

  it("answers in the order of the requests, so that a change shows in what comes after it", async () => {
    const host = await connect();
    await host.ask(
      { type: "get_state", id: "a" },
      { type: "set_session_name", id: "b", name: "Named" },
      { type: "get_state", id: "c" },
      { type: "set_auto_retry", id: "d", enabled: false },
      { type: "get_state", id: "e" },
    );
    expect(host.answers).toEqual(["a ok", "b ok", "c ok", "d ok", "e ok"]);
    expect(host.answerTo("a")?.data).not.toHaveProperty("sessionName");
    expect(host.answerTo("c")?.data).toMatchObject({ sessionName: "Named", autoRetryEnabled: true });
    expect(host.answerTo("e")?.data).toMatchObject({ autoRetryEnabled: false });
  });

  it("takes a prompt after a terminal agent_end, whose run starts after agent_settled", async () => {
    const host = await connect({ model: [say("one"), say("two")] });
    // In the very moment of the event, while the first work still closes.
    host.session.subscribe((event) => {
      if (event.type === "agent_end" && host.model.requests.length === 1)
        host.send({ type: "prompt", id: "b", message: "Two" });
    });
    await host.ask({ type: "prompt", id: "a", message: "One" });
    while (host.model.requests.length < 2) await tick();
    await host.session.waitForIdle();
    await tick();
    const order = host.story.filter((line) => /^agent_|ok|failed/.test(line));
    const second = ["agent_start", "agent_end", "agent_settled"];
    expect(order).toEqual(["a ok", "agent_start", "agent_end", "b ok", "agent_settled", ...second]);
  });
});

describe("the long lane", () => {
  it("compact: what only looks is answered meanwhile, what changes something waits for the end", async () => {
    const { host, waiting } = await compacting();
    host.send(
      { type: "get_state", id: "look" },
      { type: "get_messages_page", id: "page" },
      { type: "set_session_name", id: "change", name: "Named" },
      { type: "get_state", id: "behind" },
    );
    await tick();
    expect(host.answers).toEqual(["look ok", "page failed"]);
    expect(host.answerTo("look")?.data).toMatchObject({ isCompacting: true });
    expect(host.answerTo("page")).toMatchObject({ code: "session_busy" });
    waiting.open();
    await host.ask();
    expect(host.answers).toEqual(["look ok", "page failed", "compact ok", "change ok", "behind ok"]);
    expect(host.answerTo("behind")?.data).toMatchObject({ isCompacting: false, sessionName: "Named" });
  });

  it("compact: abort ends it at once, also behind a command that waits for it", async () => {
    const { host, waiting } = await compacting();
    await host.ask({ type: "set_session_name", id: "change", name: "Named" }, { type: "abort", id: "stop" });
    expect(host.answers).toEqual(["compact failed", "change ok", "stop ok"]);
    expect(host.answerTo("compact")?.error).toBe("Compaction cancelled");
    waiting.open();
  });

  it("compact: takes its turn, and closes a run with its events before its answer", async () => {
    const { waiting, step } = stalled();
    const host = await connect({ model: [say("one"), say("two"), step, say("summary"), say("summary")] });
    for (const _ of [1, 2]) await host.session.prompt("four".repeat(25_000));
    host.output.writes.length = 0;
    await host.ask({ type: "prompt", id: "a", message: "Three" });
    await waiting.reached;
    await host.ask({ type: "set_session_name", id: "b", name: "Named" }, { type: "compact", id: "c" });
    expect(host.answers).toEqual(["a ok", "b ok", "c ok"]);
    const end = ["message_end", "turn_end", "agent_end", "agent_settled", "c ok"];
    expect(host.story.slice(-5)).toEqual(end);
    waiting.open();
  });

  it("export_html: runs on beside the lane in the same way", async () => {
    const waiting = gate();
    const host = await connect({ model: [say("Hi")], session: inFolder() });
    await host.session.prompt("Hello");
    const exportToHtml = host.session.exportToHtml.bind(host.session);
    host.session.exportToHtml = async (path) => {
      await waiting.wait();
      return exportToHtml(path);
    };
    host.output.writes.length = 0;
    host.send({ type: "export_html", id: "page", outputPath: "out.html" }, { type: "get_messages", id: "look" });
    host.send({ type: "set_steering_mode", id: "change", mode: "all" });
    await waiting.reached;
    await tick();
    expect(host.answers).toEqual(["look ok"]);
    waiting.open();
    await host.ask();
    expect(host.answers.map((line) => line.split(" ")[0])).toEqual(["look", "page", "change"]);
    await host.session.dispose();
  });
});

describe("beside the lane", () => {
  it("bash blocks nothing, and abort_bash right behind it cancels it", async () => {
    const processes = createNodeProcesses({ env: process.env, log: silentLog });
    const host = await connect({ session: { ...inFolder(), cwd: tmpdir(), processes } });
    const bash = (id: string) => ({ type: "bash", id, command: "sleep 60" });
    // All in one moment: the first command has hardly begun when it is cancelled, the second not at all.
    await host.ask(bash("long"), bash("next"), { type: "abort_bash", id: "stop" }, { type: "get_state", id: "look" });
    expect([...host.answers].sort()).toEqual(["long ok", "look ok", "next ok", "stop ok"]);
    for (const id of ["long", "next"]) expect(host.answerTo(id)?.data).toMatchObject({ cancelled: true });
    await host.session.dispose();
  });

  it("abort ends the wait before a retry at once, though the lane is held", async () => {
    const waiting = gate();
    const host = await connect({ model: [fail("503 service unavailable")] });
    const getStats = host.session.getSessionStats.bind(host.session);
    await host.ask({ type: "prompt", id: "a", message: "Go" });
    while (!host.session.isRetrying) await tick();
    host.session.getSessionStats = (() => waiting.wait().then(getStats)) as unknown as typeof getStats;
    host.send({ type: "get_session_stats", id: "slow" }, { type: "abort", id: "stop" });
    await waiting.reached;
    await tick();
    expect(host.story.slice(-2)).toEqual(["auto_retry_end", "agent_settled"]);
    waiting.open();
    await host.ask();
    expect(host.answers).toEqual(["a ok", "slow ok", "stop ok"]);
  });
});

describe("the end of a run comes before the answer to", () => {
  const closing = ["message_end", "turn_end", "agent_end", "agent_settled"];

  it.each(["abort", "new_session", "clone", "branch", "switch_session"])("%s", async (type) => {
    const { waiting, step } = stalled();
    const session = inFolder();
    const sessionPath = join(session.sessionDir ?? "", "other.jsonl");
    writeFileSync(sessionPath, "");
    const host = await connect({ model: [step], session });
    await host.ask({ type: "prompt", id: "a", message: "Hello" });
    await waiting.reached;
    const [point] = host.session.getUserMessagesForBranching();
    await host.ask({ type, id: "b", entryId: point?.entryId, sessionPath });
    expect(host.story.slice(-5)).toEqual([...closing, "b ok"]);
    waiting.open();
    await host.session.dispose();
  });

  it("abort_retry, of the series", async () => {
    const host = await connect({ model: [fail("503 service unavailable")] });
    await host.ask({ type: "prompt", id: "a", message: "Go" });
    while (!host.session.isRetrying) await tick();
    await host.ask({ type: "abort_retry", id: "b" });
    expect(host.story.slice(-3)).toEqual(["auto_retry_end", "agent_settled", "b ok"]);
  });
});

it("an extension that takes its time delays events, and never reorders them", async () => {
  const heard: string[] = [];
  const slow: CreateAgentSessionOptions["extensions"] = [
    (pi) => {
      for (const name of ["message_start", "message_end", "turn_end"] as const)
        pi.on(name, async () => {
          await tick();
          heard.push(name);
        });
    },
  ];
  const host = await connect({ model: [say("abc")], session: { extensions: slow } });
  await host.ask({ type: "prompt", id: "a", message: "Hello" });
  await host.session.waitForIdle();
  await tick();
  const types = host.events.map(({ type }) => type).filter((type) => type !== "queue_update");
  expect(host.story.slice(1)).toEqual(types);
  expect(heard).toEqual(types.filter((type) => ["message_start", "message_end", "turn_end"].includes(type)));
});
