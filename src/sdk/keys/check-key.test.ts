import { expect, it } from "vitest";
import { knownProviders } from "../../provider/provider-list.js";
import { Gate, startScriptedServer } from "../../testing/index.js";
import { checkKey } from "./check-key.js";

const openai = knownProviders.find(({ id }) => id === "openai");
if (!openai) throw new Error("openai is not known");

it("gives up after 10 seconds without an answer", async () => {
  const gate = new Gate();
  const server = await startScriptedServer([{ steps: [gate.step], mayBeLeft: true }]);
  const waits: number[] = [];
  const clock = {
    now: () => 0,
    after(delayMs: number, callback: () => void) {
      // The first wait is for the whole answer; it ends when the request has arrived.
      if (waits.push(delayMs) === 1) void gate.reached.then(callback);
      return () => {};
    },
  };
  const check = await checkKey({ known: openai, baseUrl: server.url, env: {}, clock }, "k");
  expect(check).toEqual({ kind: "unknown", text: `${server.url}: The service timed out: no answer within 10 s.` });
  expect(waits[0]).toBe(10_000);
  await server.close();
});

it("sends no key in the clear to another host", async () => {
  const check = await checkKey({ known: openai, baseUrl: "http://llm.example/v1", env: {} }, "k");
  expect(check).toMatchObject({ kind: "unknown", text: expect.stringContaining("only https is allowed") as string });
});
