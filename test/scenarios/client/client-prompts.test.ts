// Prompts beside prompts, deadlines that hold for the whole of a call, and the session file that a command moved away.

import { describe, expect, it } from "vitest";
import type { RpcClient, RpcError } from "../../../src/client/index.js";
import { accepted, idle, logOf, said, silence, startFake } from "../../kit/client-rig.js";

const start = { type: "agent_start" };
const end = { type: "agent_end", messages: [], isTerminal: true };
const settled = { type: "agent_settled" };
const asked = (text: string) => ({ type: "message_end", message: { role: "user", content: [{ type: "text", text }] } });
const kindOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "fine",
    ({ kind }: RpcError) => kind,
  );

interface Meanwhile {
  /** How B is sent. */
  second?: "steer" | "followUp";
  /** What the host does before it sends C. */
  meanwhile?(client: RpcClient): Promise<unknown>;
}

describe("prompts that overlap", () => {
  /** The first prompt runs; the others are queued and written as these frames when the last one has come. */
  const overlapping = async (first: object[], last: object[], more: Meanwhile = {}) => {
    const { second = "followUp", meanwhile } = more;
    const client = await startFake({
      rules: [
        { on: "prompt", where: { message: "A" }, do: [accepted, start, ...first] as never },
        { on: "prompt", where: { message: "B" }, do: [accepted] },
        { on: "prompt", do: [accepted, ...last, end, settled] as never },
      ],
    });
    const ids = [];
    for (const message of ["A", "B", "C"]) {
      if (message === "C") await meanwhile?.(client);
      ids.push(await client.prompt(message, { streamingBehavior: message === "B" ? second : "followUp" }));
    }
    const outcomes = await Promise.all(ids.map((id) => client.waitForPrompt(id)));
    return outcomes.map(({ text }) => text);
  };

  const first = [asked("A"), said("a")];
  const looking = said("Looking", { stopReason: "toolUse" });
  const others = [asked("B"), said("b"), asked("C"), said("c")];

  it("get each its own reply, in whatever order they are taken", async () => {
    expect(await overlapping(first, others)).toEqual(["a", "b", "c"]);
    expect(await overlapping([], [...first, ...others])).toEqual(["a", "b", "c"]);
    const turned = [asked("C"), said("c"), asked("B"), said("b")];
    expect(await overlapping(first, turned)).toEqual(["a", "b", "c"]);
    const expanded = [asked("B, at length"), said("b"), asked("C, at length"), said("c")];
    expect(await overlapping([asked("A, at length"), said("a")], expanded)).toEqual(["a", "b", "c"]);
  });

  it("share a reply to several of them, and one that the next prompt cut into", async () => {
    expect(await overlapping(first, [asked("B"), asked("C"), said("both")])).toEqual(["a", "both", "both"]);
    expect(await overlapping([asked("A"), looking], others)).toEqual(["b", "b", "c"]);
    const expanded = [asked("B, at length"), said("both"), asked("C"), said("c")];
    expect(await overlapping([asked("A"), looking], expanded, { second: "steer" })).toEqual(["both", "both", "c"]);
  });

  it("are not told apart by what steers them", async () => {
    expect((await overlapping([...first, asked("Mind the tests")], [said("more"), ...others]))[0]).toBe("more");
    // By whomever: what comes before the answer is no prompt that waits for its turn.
    for (const before of [[asked("A")], [asked("A"), looking]])
      expect(await overlapping(before, [asked("Hurry"), said("a"), ...others])).toEqual(["a", "b", "c"]);
  });

  it.each([
    ["steers", (client: RpcClient) => client.steer("Hurry")],
    ["is to follow", (client: RpcClient) => client.followUp("Hurry")],
  ])("do not begin with what %s behind the answer", async (_, meanwhile) => {
    const last = [asked("Hurry"), said("a, hurried"), ...others];
    expect(await overlapping(first, last, { meanwhile })).toEqual(["a, hurried", "b", "c"]);
  });
});

describe("the deadline of a call", () => {
  it("is not passed by what the client asks on its own account, and what was answered is not lost", async () => {
    const client = await startFake({
      rules: [{ on: "prompt", do: [accepted, { ...accepted, data: {} }] }, silence("get_state")],
    });
    const before = performance.now();
    expect(await client.prompt("x", { timeoutMs: 20_000 })).toMatch(/^req_/);
    const controller = new AbortController();
    const opening = client.newSession({ signal: controller.signal });
    setTimeout(() => controller.abort(), 1000); // long enough for the answer itself, also on a busy machine
    expect(await opening).toMatchObject({ type: "new_session" });
    expect(await client.newSession({ timeoutMs: 1000 })).toMatchObject({ type: "new_session" });
    expect(await kindOf(client.promptAndWait("x", { timeoutMs: 50 }))).toBe("timeout");
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it("of a whole run is that of its acceptance, too", async () => {
    const client = await startFake({ rules: [silence("prompt")] }, { requestTimeoutMs: 20 });
    const before = performance.now();
    expect(await kindOf(client.promptAndWait("x", { timeoutMs: 400 }))).toBe("timeout");
    expect(performance.now() - before).toBeGreaterThan(350);
    expect(await kindOf(client.promptAndWait("x"))).toBe("timeout");
  });
});

describe("the session file", () => {
  const told = (sessionFile: string) => ({ ...idle, data: { isStreaming: false, sessionFile } });
  const run = [start, said("Hi"), end, settled];

  it.each([
    ["answered without the model", [{ ...accepted, data: { agentInvoked: false } }]],
    [
      "dealt with behind its acceptance",
      [accepted, { type: "prompt_result", id: "$id", agentInvoked: false, status: "completed", sessionSettled: true }],
    ],
    ["that runs the model", [accepted, ...run]],
  ])("is asked for again after a command %s, and restart opens the new one", async (_, steps) => {
    const client = await startFake({
      rules: [
        { on: "get_state", times: 2, do: [told("first.jsonl")] },
        { on: "get_state", do: [told("second.jsonl")] },
        { on: "prompt", where: { message: "/fresh" }, do: steps },
        { on: "prompt", do: [accepted, ...run] },
      ],
    });
    await client.promptAndWait("x");
    await client.getEntries();
    expect(client.sessionFile).toBe("first.jsonl");
    const { agentInvoked } = await client.promptAndWait("/fresh");
    if (agentInvoked) await client.getEntries();
    expect(client.sessionFile).toBe("second.jsonl");
    client.kill();
    expect(await client.restart()).toBe(true);
    expect(await logOf(client, ["switch_session"])).toMatchObject([{ sessionPath: "second.jsonl" }]);
  });

  it("is not asked for by the prompts between", async () => {
    const client = await startFake({ rules: [{ on: "prompt", do: [accepted, ...run] }] });
    for (let round = 0; round < 3; round++) await client.promptAndWait("x");
    expect(await logOf(client, ["get_state"])).toHaveLength(2);
  });
});
