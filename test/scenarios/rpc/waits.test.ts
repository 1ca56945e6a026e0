// What nobody may be made to wait for: a summary that is no longer wanted, the closing of the work before, and modules of
// others that take their time. The clock stands still unless the test moves it.

import { describe, expect, it } from "vitest";
import type { TypedObject } from "../../../src/base/ndjson.js";
import { Settings } from "../../../src/config/settings/settings.js";
import type { ExtensionAPI } from "../../../src/extensions/api/extension.js";
import { type OpenSessionOptions, openSession } from "../../../src/testing/open-session.js";
import { call, gate, say } from "../../../src/testing/scripted-model.js";
import { type AnyFrame, dispatcherFor, rig, tick } from "../../kit/outbox-rig.js";

async function connect({ extensions = [], ...options }: OpenSessionOptions & Extended = {}) {
  const session = { extensions, deferModules: true, ...options.session };
  const open = await openSession({ ...options, session });
  const parts = rig({ features: ["prompt-result"] });
  open.session.subscribe((event) => parts.outbox.sendEvent(event));
  const dispatcher = dispatcherFor(parts, Promise.resolve(open.session), open.clock);
  return {
    ...open,
    send(...frames: TypedObject[]) {
      for (const frame of frames) dispatcher.dispatch(frame);
    },
    /** What came of the frames without any time passing. */
    async ask(...frames: TypedObject[]) {
      this.send(...frames);
      for (let turn = 0; turn < 20; turn++) await tick();
    },
    get story() {
      return parts.output.frames.map(headline);
    },
    forget: () => void parts.output.writes.splice(0),
    answerTo: (id: string) => parts.output.frames.find((frame) => frame.id === id),
    frames: () => parts.output.frames,
  };
}

interface Extended {
  extensions?: ((pi: ExtensionAPI) => void)[];
}

function headline({ type, id, success, status }: AnyFrame): string {
  if (type === "response") return `${id} ${success ? "ok" : "failed"}`;
  return type === "prompt_result" ? `result ${id} ${status}` : type;
}

const prompt = (id: string, message = "Go") => ({ type: "prompt", id, message });
const abort = { type: "abort", id: "stop" };
const look = { type: "get_state", id: "look" };
const forEver = () => new Promise<never>(() => {});

/** A conversation that is worth a summary. */
async function long(summary: ReturnType<typeof gate>) {
  const step = [{ type: "start" as const }, summary.wait, ...say("Hi").slice(1)];
  const host = await connect({ model: [say("one"), say("two"), step, step] });
  for (const _ of [1, 2]) await host.session.prompt("four".repeat(25_000));
  await tick();
  host.forget();
  return host;
}

describe("a summary", () => {
  const failed = ["compaction_start", "compaction_end", "compact failed"];

  it("is cancelled by the abort right behind its request", async () => {
    const host = await long(gate());
    await host.ask({ type: "compact", id: "compact" }, { type: "set_session_name", id: "name", name: "N" }, abort);
    expect(host.story).toEqual([...failed, "name ok", "stop ok"]);
    expect(host.answerTo("compact")?.error).toBe("Compaction cancelled");
    expect(host.session.isCompacting).toBe(false);
  });

  it("is not begun before modules are loaded that may object to it", async () => {
    const loading = gate();
    const host = await connect({ extensions: [() => loading.wait()] });
    host.send({ type: "compact", id: "compact" }, { type: "get_messages", id: "look" });
    await loading.reached;
    await host.ask();
    expect(host.story).toEqual(["look ok"]);
    loading.open();
    await expect.poll(() => host.story).toEqual(["look ok", ...failed]); // there is nothing to be summarized
  });

  it("is not cancelled by an abort that came before it", async () => {
    const summary = gate();
    const host = await long(summary);
    await host.ask(abort, { type: "compact", id: "compact" });
    expect([host.story, host.session.isCompacting]).toEqual([["stop ok"], true]);
    summary.open();
    await host.ask();
    expect(host.answerTo("compact")).toMatchObject({ success: true });
  });

  it("is cancelled by abort_and_prompt, unless that is refused", async () => {
    const summary = gate();
    const host = await long(summary);
    await host.ask({ type: "compact", id: "compact" });
    await host.ask({ type: "abort_and_prompt", id: "bad" });
    expect([host.story, host.session.isCompacting]).toEqual([[], true]);
    await host.ask({ type: "abort_and_prompt", id: "again", message: "/none" });
    expect(host.story.slice(0, 5)).toEqual([...failed, "bad failed", "again ok"]);
    expect(host.answerTo("compact")?.error).toBe("Compaction cancelled");
    summary.open();
  });
});

describe("a prompt after the last agent_end", () => {
  it("is accepted while a module still listens to the work before, and runs after it", async () => {
    const heard = gate();
    const extensions = [(pi: ExtensionAPI) => pi.on("agent_end", () => heard.wait())];
    const host = await connect({ model: [say("one"), say("two")], extensions });
    host.send(prompt("a"));
    await heard.reached;
    await host.ask(prompt("b", "And then"), look);
    const order = () => host.story.filter((line) => /agent_|ok|result|settled/.test(line));
    const first = ["a ok", "agent_start", "agent_end", "b ok", "look ok"];
    expect(order()).toEqual(first);
    expect(host.answerTo("look")?.data).toMatchObject({ isStreaming: true, isSettled: false, messageCount: 3 });
    heard.open();
    await host.ask();
    await host.session.waitForIdle();
    await host.ask();
    const second = ["agent_start", "agent_end", "agent_settled", "result b completed", "session_settled"];
    expect(order()).toEqual([...first, "agent_settled", "result a completed", ...second]);
    expect(host.session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("is accepted while the conversation before is still being summarised, and is part of what is left of it", async () => {
    const summary = gate();
    const summed = [{ type: "start" as const }, summary.wait, ...say("Short.").slice(1)];
    const settings = new Settings({ overrides: new Map([["compaction.autoContinue", false]] as const) });
    const replies = ["one", "four".repeat(60_000), "four".repeat(70_000)].map((text) => say(text));
    const host = await connect({ model: [...replies, summed, summed, say("seven")], session: { settings } });
    await host.session.prompt("four".repeat(60_000));
    await host.session.prompt("five");
    host.send(prompt("a"));
    await summary.reached;
    await host.ask(prompt("b", "And then"), look);
    expect(host.story.slice(-3)).toEqual(["auto_compaction_start", "b ok", "look ok"]);
    summary.open();
    await host.ask();
    await host.session.waitForIdle();
    const texts = host.session.messages.map((message) => JSON.stringify(message));
    expect(texts.at(-2)).toContain("And then");
    expect(texts.at(-1)).toContain("seven");
    expect(texts.filter((text) => text.includes("And then"))).toHaveLength(1);
    expect(JSON.stringify(host.model.requests.at(-1)?.context.messages)).toMatch(/Short\..*And then/);
    host.model.verify();
  });

  it("that is aborted meanwhile ends with its own agent_settled, and the work before keeps its outcome", async () => {
    const heard = gate();
    const extensions = [(pi: ExtensionAPI) => pi.on("agent_end", () => heard.wait())];
    const host = await connect({ model: [say("one")], extensions });
    host.send(prompt("a"));
    await heard.reached;
    await host.ask(prompt("b"), abort);
    heard.open();
    await host.ask();
    const order = host.story.filter((line) => /agent_|ok|result|settled/.test(line));
    expect(order).toEqual([
      ...["a ok", "agent_start", "agent_end", "b ok", "agent_settled", "result a completed"],
      ...["agent_settled", "result b aborted", "session_settled", "stop ok"],
    ]);
  });
});

describe("a module that takes its time", () => {
  it("at the start holds up prompts, and nothing else", async () => {
    const started = gate();
    const extensions = [(pi: ExtensionAPI) => pi.on("session_start", () => started.wait())];
    const host = await connect({ model: [say("one")], extensions });
    await host.ask(look, abort, { type: "get_messages", id: "messages" }, { type: "get_commands", id: "commands" });
    expect(host.story).toEqual(["look ok", "stop ok", "messages ok", "commands ok"]);
    await host.ask(prompt("a"));
    expect(host.model.requests).toEqual([]);
    started.open();
    await host.ask();
    expect(host.story).toContain("agent_settled");
  });

  it("at the start holds up no prompt that is aborted, which is then not taken in", async () => {
    const host = await connect({ extensions: [(pi) => pi.on("session_start", forEver)] });
    await host.ask(prompt("a"), abort, look);
    host.clock.advance(1000);
    await host.ask();
    expect(host.story.filter((line) => !line.startsWith("ext"))).toEqual([
      ...["a ok", "a failed", "result a aborted", "session_settled", "stop ok", "look ok"],
    ]);
    expect(host.answerTo("look")?.data).toMatchObject({ isStreaming: false, messageCount: 0 });
  });

  it("at the start runs no command of a prompt that was aborted, however late it is ready", async () => {
    const started = gate();
    let runs = 0;
    const extensions = [
      (pi: ExtensionAPI) => {
        pi.on("session_start", () => started.wait());
        pi.on("input", () => void runs++);
        pi.registerCommand("x", { description: "Counts", handler: async () => void runs++ });
      },
    ];
    const host = await connect({ extensions });
    await host.ask(prompt("a", "/x"), prompt("b", "Hello"), abort);
    host.clock.advance(1000);
    await host.ask();
    host.clock.advance(1000);
    await host.ask();
    started.open();
    await host.ask();
    expect([runs, host.story.filter((line) => line.endsWith("failed"))]).toEqual([0, ["a failed", "b failed"]]);
  });

  it.each([
    ["before", [prompt("a"), abort, look], []],
    ["after", [prompt("a")], [abort, look]],
  ])(
    "with what is said: an abort that comes %s it began ends the wait, and nothing is taken in",
    async (_, one, two) => {
      const host = await connect({ extensions: [(pi) => pi.on("input", forEver)] });
      await host.ask(...one);
      await host.ask(...two);
      expect(host.story).toEqual([]);
      host.clock.advance(1000);
      await host.ask();
      expect(host.story).toEqual(["a ok", "a failed", "result a aborted", "session_settled", "stop ok", "look ok"]);
      expect(host.frames()[1]?.error).toBe("The prompt was aborted before it was accepted.");
      expect(host.answerTo("look")?.data).toMatchObject({ isStreaming: false, messageCount: 0 });
      expect(host.clock.pendingTimers).toBe(1); // the handler's own, which nobody waits for
    },
  );

  it("with what is said, but only for a moment, has its say although an abort stands behind", async () => {
    const extensions = [
      (pi: ExtensionAPI) =>
        pi.on("input", async () => {
          await tick();
          return { text: "Changed" };
        }),
    ];
    const host = await connect({ model: [say("one")], extensions });
    await host.ask(prompt("a"), abort);
    expect(host.story[0]).toBe("a ok");
    expect(host.story.slice(-2)).toEqual(["session_settled", "stop ok"]);
    expect(host.story).toContain("result a aborted");
    expect(host.session.messages[0]).toMatchObject({ content: [{ text: "Changed" }] });
    expect(host.clock.pendingTimers).toBe(0);
  });

  it("before a run: the prompt is accepted, and an abort ends it with agent_settled alone", async () => {
    const host = await connect({ extensions: [(pi) => pi.on("before_agent_start", forEver)] });
    await host.ask(prompt("a"), look);
    expect(host.story).toEqual(["a ok", "look ok"]);
    expect(host.answerTo("look")?.data).toMatchObject({ isStreaming: true, messageCount: 1 });
    await host.ask(abort);
    expect(host.story.slice(2)).toEqual(["agent_settled", "result a aborted", "session_settled", "stop ok"]);
  });

  it("with a result: an abort closes the run, and the result is not shown", async () => {
    const asked = gate();
    const extensions = [(pi: ExtensionAPI) => pi.on("tool_result", () => asked.wait())];
    const host = await connect({ model: [call("ls", { path: "." })], files: { "a.txt": "a" }, extensions });
    host.send(prompt("a"));
    await asked.reached;
    await host.ask(abort);
    host.clock.advance(1000);
    await host.ask();
    expect(host.story.slice(-9)).toEqual([
      ...["tool_execution_end", "message_start", "message_end", "turn_end", "agent_end", "agent_settled"],
      ...["result a aborted", "session_settled", "stop ok"],
    ]);
    expect(JSON.stringify(host.session.messages)).not.toContain("a.txt");
  });
});
