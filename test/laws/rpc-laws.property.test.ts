// The order of the wire, for any traffic: random commands in random pieces, an agent whose model, tools, extension and
// host all take their time, and aborts at any moment. Every command is answered, answers keep their order, every event
// has its place, and what was promised to be over before an answer is over.

import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.js";
import type { StreamEvent } from "../../src/provider/provider.js";
import { zeroUsage } from "../../src/provider/provider.js";
import type { ExtensionFactory } from "../../src/sdk/index.js";
import { type AnyTool, textResult } from "../../src/tools/tool.js";
import { EventLaws } from "../kit/event-laws.mjs";
import { type InProcessHost, serveInProcess } from "../kit/rpc-in-process.js";
import { runs } from "../kit/runs.js";

/** Enough of them run in seconds; the fault run asks for more. */
const numRuns = Number(process.env.GALLEY_LAW_RUNS ?? runs(150));

const commands: readonly JsonObject[] = [
  { type: "prompt", message: "go" },
  { type: "prompt", message: "go" },
  { type: "prompt", message: "aside", streamingBehavior: "steer" },
  { type: "prompt", message: "then", streamingBehavior: "followUp" },
  { type: "abort_and_prompt", message: "rather" },
  { type: "steer", message: "left" },
  { type: "follow_up", message: "later" },
  { type: "abort" },
  { type: "abort" },
  { type: "abort_retry" },
  { type: "get_state" },
  { type: "get_messages" },
  { type: "get_last_assistant_text" },
  { type: "set_steering_mode", mode: "all" },
  { type: "set_interrupt_mode", mode: "immediate" },
  { type: "set_interrupt_mode", mode: "wait" },
  { type: "set_session_name", name: "a name" },
  { type: "new_session" },
  { type: "compact" },
  { type: "set_steering_mode", mode: "none" },
  { type: "frobnicate" },
];
const features = ["delta-updates", "message-ids", "prompt-result", "queue-events"];

interface Traffic {
  commands: readonly JsonObject[];
  /** Where the bytes are cut. */
  cuts: readonly number[];
  replies: readonly { calls: readonly string[]; ending: string; text: string }[];
  features: readonly string[] | undefined;
  pauses: fc.Stream<number>;
}

const traffic = fc.record<Traffic>({
  commands: fc.array(fc.constantFrom(...commands), { minLength: 3, maxLength: 25 }),
  cuts: fc.array(fc.nat(2000), { maxLength: 12 }),
  replies: fc.array(
    fc.record({
      calls: fc.array(fc.constantFrom("shared", "alone", "lent", "unknown"), { maxLength: 3 }),
      ending: fc.constantFrom("good", "good", "good", "good", "error", "retry"),
      text: fc.constantFrom("", "hm", "well then"),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  features: fc.option(fc.subarray(features), { nil: undefined }),
  pauses: fc.infiniteStream(fc.integer({ min: 0, max: 6 })),
});

it("any traffic: every command is answered in order, and every event has its place", async () => {
  await fc.assert(fc.asyncProperty(traffic, scenario), { numRuns, includeErrorInReport: true });
}, 3_600_000); // as long as the fault run takes

async function scenario(plan: Traffic): Promise<void> {
  const pause = async () => {
    const length = plan.pauses.next().value as number;
    if (length === 6) await new Promise((resolve) => setImmediate(resolve));
    else for (let turn = 0; turn < length; turn++) await Promise.resolve();
  };
  const session = { streamFn: modelOf(plan, pause), extensions: [slowExtension(pause)] };
  const host = await serveInProcess({ tools: [tool("shared", pause), tool("alone", pause)], session, hasUI: true });
  const answering = answerCalls(host, pause);
  const opening: JsonObject[] = [
    ...(plan.features ? [{ type: "negotiate_protocol", protocolVersion: 2, features: plan.features }] : []),
    { type: "set_host_tools", tools: [{ name: "lent", description: "Lent", parameters: { type: "object" } }] },
  ];
  const sent = [...opening, ...plan.commands, { type: "abort" }].map((command, id) => ({ ...command, id: String(id) }));
  const bytes = Buffer.from(sent.map((command) => `${JSON.stringify(command)}\n`).join(""));
  // Every other cut is the end of a line: there the host's answers find their way in.
  const lineEnd = (place: number) => bytes.indexOf("\n", place) + 1;
  const cuts = plan.cuts.map((cut, index) => (index % 2 ? lineEnd(cut % bytes.length) : cut % bytes.length));
  const places = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
  for (const [index, place] of places.entries()) {
    if (index > 0) {
      host.sendBytes(bytes.subarray(places[index - 1], place));
      answering.isWithinLine = place > 0 && bytes[place - 1] !== 0x0a;
    }
    await pause();
    // Never five seconds in all: after those an abort is answered whatever still runs.
    if (index % 3 === 0) host.advance((plan.pauses.next().value as number) * 150);
  }
  await untilAnswered(host, String(sent.length - 1));
  answering.stop();
  expect(await host.close()).toBe(0);
  checkAnswers(sent, host.frames);
  checkEvents(host.frames);
  if (plan.features?.includes("prompt-result")) checkResults(sent, host.frames);
}

/** Time stands still meanwhile: after an abort nothing may need it. */
async function untilAnswered(host: InProcessHost, last: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!host.frames.some(({ type, id }) => type === "response" && id === last)) {
    if (Date.now() > deadline)
      throw new Error(`no answer to the last command: ${JSON.stringify(host.frames.slice(-3))}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function modelOf({ replies }: Traffic, pause: () => Promise<void>) {
  let asked = 0;
  let callIds = 0;
  return async function* stream(): AsyncGenerator<StreamEvent> {
    // After a while the model only talks, so that every run comes to an end.
    const plan = asked < 12 ? replies[asked % replies.length] : undefined;
    asked++;
    await pause();
    yield { type: "start" };
    let contentIndex = 0;
    if (plan?.text) {
      yield { type: "text_start", contentIndex };
      for (const delta of plan.text) {
        await pause();
        yield { type: "text_delta", contentIndex, delta };
      }
      yield { type: "text_end", contentIndex: contentIndex++ };
    }
    for (const name of plan?.calls ?? []) {
      yield { type: "toolcall_start", contentIndex, id: `c${++callIds}`, name };
      await pause();
      yield { type: "toolcall_delta", contentIndex, delta: "{}" };
      yield { type: "toolcall_end", contentIndex: contentIndex++ };
    }
    await pause();
    if (plan?.ending === "error") yield { type: "error", reason: "error", errorMessage: "boom" };
    else if (plan?.ending === "retry")
      yield { type: "error", reason: "error", errorMessage: "503 service unavailable" };
    else yield { type: "done", reason: plan?.calls.length ? "toolUse" : "stop", usage: zeroUsage };
  };
}

function tool(name: string, pause: () => Promise<void>): AnyTool {
  return {
    name,
    label: name,
    description: name,
    parameters: { type: "object" },
    concurrency: name === "alone" ? "exclusive" : "shared",
    async execute(_id, _params, signal, onUpdate) {
      await pause();
      onUpdate(textResult("half"));
      await pause();
      if (signal?.aborted) throw new Error("stopped");
      return textResult("ok");
    },
  };
}

/** Takes its time wherever it is asked, and asks the host now and then. */
function slowExtension(pause: () => Promise<void>): ExtensionFactory {
  return (pi) => {
    pi.on("input", pause);
    pi.on("context", pause);
    pi.on("tool_call", async (_event, ctx) => {
      await pause();
      await ctx.ui.confirm("Go on?", "It is only a question", { timeout: 1000 });
    });
    pi.on("message_update", pause);
    pi.on("message_end", pause);
    pi.on("agent_end", pause);
    pi.on("session_before_switch", pause);
  };
}

/** A host that answers late and twice, but never in the middle of a line. */
function answerCalls(host: InProcessHost, pause: () => Promise<void>): { stop(): void; isWithinLine: boolean } {
  let seen = 0;
  let isStopped = false;
  const held: string[] = [];
  const send = (frame: object) => void held.push(JSON.stringify(frame));
  const answer = async (frame: Record<string, unknown>) => {
    await pause();
    const { id } = frame;
    if (frame.type === "extension_ui_request" && frame.method === "confirm") {
      send({ type: "extension_ui_response", id, confirmed: true });
      send({ type: "extension_ui_response", id, confirmed: false });
    } else if (frame.type === "host_tool_call") {
      send({ type: "host_tool_update", id, partialResult: { content: [] } });
      await pause();
      send({ type: "host_tool_result", id, result: { content: [{ type: "text", text: "lent" }] } });
      send({ type: "host_tool_result", id: "nobody", result: { content: [] } });
    }
  };
  const look = () => {
    if (isStopped) return;
    for (; seen < host.frames.length; seen++) void answer(host.frames[seen] as Record<string, unknown>);
    if (!answering.isWithinLine) for (const line of held.splice(0)) host.send(line);
    setImmediate(look);
  };
  const answering = {
    isWithinLine: false,
    stop() {
      isStopped = true;
    },
  };
  look();
  return answering;
}

/** One answer each, in the order of the lane; a prompt may fail late, once, after it succeeded. */
function checkAnswers(sent: readonly JsonObject[], frames: InProcessHost["frames"]): void {
  const long = new Set(["compact", "export_html"]);
  const first: string[] = [];
  for (const { id, type } of sent) {
    const name = `${type} ${id}`;
    const answers = frames.filter((frame) => frame.type === "response" && (frame.id ?? frame.requestId) === id);
    const isPrompt = type === "prompt" || type === "abort_and_prompt";
    expect(answers.length, name).toBeGreaterThan(0);
    expect(answers.length, name).toBeLessThanOrEqual(isPrompt ? 2 : 1);
    if (answers.length === 2)
      expect(
        answers.map(({ success }) => success),
        name,
      ).toEqual([true, false]);
    if (!long.has(type as string)) first.push(id as string);
  }
  const seen = new Set<unknown>();
  const order = frames
    .filter((frame) => frame.type === "response")
    .map((frame) => frame.id ?? frame.requestId)
    .filter((id) => first.includes(id as string) && !seen.has(id) && seen.add(id));
  expect(order).toEqual(first);
}

/** Also: before these commands are answered, the run that they end has told its end. One that an abort called off ends none. */
function checkEvents(frames: InProcessHost["frames"]): void {
  const laws = new EventLaws();
  const enders = new Set(["abort", "new_session"]);
  for (const frame of frames) {
    if (frame.type === "response" && frame.success === true && enders.has(frame.command as string))
      expect(laws.isIdle, `at the answer to ${frame.command} ${frame.id}`).toBe(true);
    laws.read(frame as { type: string });
  }
  expect(laws.end().problems).toEqual([]);
}

/** One outcome for each prompt that was accepted, after its response. */
function checkResults(sent: readonly JsonObject[], frames: InProcessHost["frames"]): void {
  for (const { id, type } of sent) {
    if (type !== "prompt" && type !== "abort_and_prompt") continue;
    const accepted = frames.findIndex((frame) => frame.id === id && frame.success === true);
    const results = frames.flatMap((frame, index) =>
      frame.type === "prompt_result" && frame.id === id ? [index] : [],
    );
    expect(results, `prompt ${id}`).toHaveLength(1);
    expect(results[0]).toBeGreaterThan(accepted);
  }
}
