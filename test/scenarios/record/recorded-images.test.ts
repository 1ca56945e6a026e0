// Images that the record only names: every request gets their bytes, however often the record was gone through anew
// since the prompt came.

import { expect, it } from "vitest";
import { createRecordInMemory } from "../../../src/record/open-record.js";
import type { EntryFields } from "../../../src/record/record-options.js";
import { type OpenSession, openSession } from "../../../src/testing/open-session.js";
import { fail, type ScriptStep, say } from "../../../src/testing/scripted-model.js";

/** More than is kept of a conversation. */
const long = "four".repeat(25_000);
const bytes = Buffer.from("an image");

async function withImages(model: ScriptStep[], before: readonly string[] = []): Promise<OpenSession> {
  const record = createRecordInMemory({ cwd: "/project" });
  const image = { type: "image" as const, data: await record.blobs.put(bytes), mimeType: "image/png" };
  for (const text of before) record.appendMessage({ role: "user", content: text, timestamp: 1 });
  record.append({ type: "custom_message", customType: "shot", content: [image], display: true });
  // As another program may write them: without a time, and a picture without its text.
  for (const message of [
    { role: "user", content: [image] },
    { role: "fileMention", files: [{ path: "a.png", image }], timestamp: 1 },
  ])
    record.append({ type: "message", message } as EntryFields);
  return openSession({ model, session: { sessionManager: record } });
}

/** For each request the images in it. */
const sent = ({ model }: OpenSession) =>
  model.requests.map(({ context }) => JSON.stringify(context.messages).match(/(?<="data":")[^"]*/g));
const whole = [1, 2, 3].map(() => bytes.toString("base64"));

it("a reply that is asked for again", async () => {
  const open = await withImages([fail("reset", { failure: { kind: "network" } }), say("ok")]);
  const running = open.session.prompt("go");
  await expect.poll(() => open.events.at(-1)?.type).toBe("auto_retry_start");
  open.clock.advance(2000);
  await running;
  expect(sent(open)).toEqual([whole, whole]);
});

it("a conversation that was too long", async () => {
  const tooLong = fail("prompt is too long", { failure: { kind: "overflow" } });
  const open = await withImages([tooLong, say("summary"), say("ok")], [long, long]);
  await open.session.prompt("go");
  expect(sent(open)).toEqual([whole, null, whole]);
  expect(open.session.messages[0]).toMatchObject({ role: "compactionSummary" });
});

it("a conversation that was compacted before its first request", async () => {
  const open = await withImages([say("summary"), say("of the rest"), say("ok")], Array(8).fill(long));
  await open.session.prompt("go");
  expect(sent(open)).toEqual([null, null, whole]);
  expect(open.session.messages[0]).toMatchObject({ role: "compactionSummary" });
});
