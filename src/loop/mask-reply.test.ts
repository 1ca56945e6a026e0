import { describe, expect, it } from "vitest";
import { createMask } from "../base/secret-mask.js";
import { noMask, type TextMask } from "../base/text-mask.js";
import type { AssistantMessage } from "../protocol/messages.js";
import type { StreamEvent } from "../provider/provider.js";
import { zeroUsage } from "../provider/provider.js";
import { manualClock } from "../testing/manual-clock.js";
import { fakeRun, streamOf } from "./run.test-kit.js";
import { streamReply } from "./stream-reply.js";

const secret = "hunter2-hunter2-hunter2";
const mask = createMask([{ value: secret, name: "PASSWORD" }]);
const done: StreamEvent = { type: "done", reason: "stop", usage: zeroUsage };

function block(kind: "text" | "thinking" | "toolcall", text: string, signature?: string): StreamEvent[] {
  const deltas = text.match(/[\s\S]{1,3}/g) ?? [];
  const start = kind === "toolcall" ? { type: "toolcall_start", id: "c", name: "t" } : { type: `${kind}_start` };
  const end = signature === undefined ? {} : { [`${kind}Signature`]: signature };
  const events = [start, ...deltas.map((delta) => ({ type: `${kind}_delta`, delta })), { type: `${kind}_end`, ...end }];
  return events.map((event) => ({ ...event, contentIndex: 0 }) as StreamEvent);
}

async function reply(events: readonly StreamEvent[], more: { mask?: TextMask } = { mask }) {
  const fake = fakeRun({ clock: manualClock(), stream: () => streamOf(events), ...more });
  const { message, calls } = await streamReply(fake.run);
  const updates = fake.events.flatMap((event) =>
    event.type === "message_update" ? [event.assistantMessageEvent] : [],
  );
  const deltas = updates.map((event) => ("delta" in event ? event.delta : "")).join("");
  return { message, calls, updates, deltas, all: JSON.stringify(fake.events) };
}

describe("what a model says", () => {
  it.each(["text", "thinking"] as const)("is masked in %s, in every event and in the message", async (kind) => {
    const { message, deltas, all } = await reply([...block(kind, `It is ${secret}.`), done]);
    expect(deltas).toBe("It is [secret:PASSWORD].");
    expect(message.content).toEqual([expect.objectContaining({ type: kind, [kind]: "It is [secret:PASSWORD]." })]);
    for (let length = 4; length <= secret.length; length++)
      expect(all).not.toContain(`It is ${secret.slice(0, length)}`);
  });

  it("loses its signature when it was changed, and only then", async () => {
    const changed = await reply([...block("thinking", secret, "sig"), done]);
    expect(changed.message.content[0]).not.toHaveProperty("thinkingSignature");
    const same = await reply([...block("thinking", "nothing", "sig"), done]);
    expect(same.message.content[0]).toHaveProperty("thinkingSignature", "sig");
  });

  it("releases at the end of a block what was held back", async () => {
    const { deltas } = await reply([...block("text", "a hunter2"), done]);
    expect(deltas).toBe("a hunter2");
  });

  it("keeps back the better part of a secret where the reply is cut", async () => {
    const cut = await reply([...block("text", `a ${secret.slice(0, -2)}`), { ...done, reason: "length" }]);
    expect(cut.deltas).toBe("a [secret:PASSWORD]");
    const broken = await reply(block("text", `a ${secret.slice(0, -2)}`).slice(0, -1));
    expect((broken.message as AssistantMessage).content).toEqual([{ type: "text", text: "a " }]);
    expect(broken.message.stopReason).toBe("error");
  });

  it("is masked in the arguments that are shown, and exact in those that run", async () => {
    const args = { content: `p=${secret}\n`, list: [secret] };
    const { message, calls, deltas, all } = await reply([...block("toolcall", JSON.stringify(args)), done]);
    const shown = { content: "p=[secret:PASSWORD]\n", list: ["[secret:PASSWORD]"] };
    expect(calls[0]?.parsed).toEqual(args);
    expect(message.content).toEqual([expect.objectContaining({ arguments: shown })]);
    expect(JSON.parse(deltas)).toEqual(shown);
    for (let length = 4; length <= secret.length; length++) expect(all).not.toContain(`p=${secret.slice(0, length)}`);
  });

  it("is masked in the error that ends it, also where the excerpt cuts it off", async () => {
    const error: StreamEvent = { type: "error", reason: "error", errorMessage: `Wrong key: ${secret.slice(0, 6)}…` };
    expect((await reply([error])).message.errorMessage).toBe("Wrong key: [secret:PASSWORD]…");
  });

  it("knows a key that was learned for this very request", async () => {
    let live: TextMask = noMask;
    const learning: TextMask = {
      get isActive() {
        return live.isActive;
      },
      mask: (text) => live.mask(text),
      excerpt: (text, minLength) => live.excerpt(text, minLength),
      line: (json) => live.line(json),
      stream: () => live.stream(),
    };
    const fake = fakeRun({
      clock: manualClock(),
      mask: learning,
      stream: () => streamOf([...block("text", secret), done]),
      streamOptions: async () => {
        live = mask;
        return {};
      },
    });
    await streamReply(fake.run);
    expect(JSON.stringify(fake.events)).not.toContain("hunter2");
  });

  it("passes as it is without secrets", async () => {
    const { deltas, updates } = await reply([...block("text", "abcdef"), done], {});
    expect([deltas, updates.length]).toEqual(["abcdef", 4]);
  });
});
