// Models for modules: the message is there for whoever wants it, however the events are read.

import { expect, it } from "vitest";
import { plannerModel } from "../../provider/planner/planner-model.js";
import { manualClock } from "../../testing/manual-clock.js";
import { say, scriptedModel } from "../../testing/scripted-model.js";
import { modelFunctions } from "./model-functions.js";

function asked() {
  const { stream } = modelFunctions({
    models: {
      available: () => [],
      find: () => undefined,
      hasCredential: () => true,
      noKeyText: () => "",
      apiKeyFor: async () => undefined,
      headersFor: async () => ({}),
    },
    stream: scriptedModel([say("one", "two")]).stream,
    direct: () => expect.unreachable(),
    clock: manualClock(),
  });
  return stream(plannerModel, { messages: [] });
}

it("the result comes without reading, and after reading", async () => {
  const whole = { stopReason: "stop", content: [{ type: "text", text: "onetwo" }] };
  expect(await asked().result()).toMatchObject(whole);
  const read = asked();
  for await (const _event of read);
  expect(await read.result()).toMatchObject(whole);
});

it("the result of a stream that its reader left is what there was, as aborted", async () => {
  const left = asked();
  for await (const event of left) if (event.type === "text_delta") break;
  expect(await left.result()).toMatchObject({
    stopReason: "aborted",
    errorMessage: "Request was aborted",
    content: [{ type: "text", text: "one" }],
  });
});
