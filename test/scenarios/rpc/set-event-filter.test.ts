import { expect, it } from "vitest";
import type { HandlerContext } from "../../../src/rpc/handler.js";
import { handlers } from "../../../src/rpc/handlers.js";
import { Request } from "../../../src/rpc/read-request.js";
import { assistant, deltaEvent, rig, tick } from "../../kit/outbox-rig.js";

function connect() {
  const parts = rig({ features: ["delta-updates", "message-ids"] });
  const ask = (events: string[] | null) => {
    const request = new Request({ type: "set_event_filter", id: "f" }, parts.outbox, parts.features);
    return handlers.get("set_event_filter")?.({ ...parts, request } as unknown as HandlerContext, {
      type: "set_event_filter",
      events,
    });
  };
  return { ...parts, ask };
}

it("only the named session events come; everything that is none comes in any case", async () => {
  const { outbox, output, ask } = connect();
  ask(["agent_end", "no_such_event"]);
  outbox.sendEvent({ type: "agent_start" });
  outbox.send({ type: "prompt_result" });
  outbox.sendEvent({ type: "agent_end", messages: [], isTerminal: true });
  ask([]);
  outbox.sendEvent({ type: "agent_settled" });
  ask(null);
  outbox.sendEvent({ type: "agent_settled" });
  await tick();
  expect(output.frames.map(({ type, data }) => data ?? type)).toEqual([
    { events: ["agent_end", "no_such_event"] },
    "prompt_result",
    "agent_end",
    { events: [] },
    { events: null },
    "agent_settled",
  ]);
});

it("updates are right for a host that hears nothing of the beginning of a message", async () => {
  const { outbox, output, ask } = connect();
  outbox.sendEvent({ type: "message_start", message: { ...assistant(), model: "old" } });
  ask(["message_update"]);
  outbox.sendEvent({ type: "message_start", message: { ...assistant(), model: "new" } });
  outbox.sendEvent(deltaEvent("Hi"));
  await tick();
  expect(output.frames.at(-1)).toMatchObject({ type: "message_update", messageId: "msg-2", message: { model: "new" } });
});
