import { expect, it } from "vitest";
import { openSession } from "../testing/open-session.js";
import { call, say } from "../testing/scripted-model.js";
import { queueResolveHandler } from "./queue-resolve-handler.js";

it("what a program stages is decided by the model like any other preview", async () => {
  const resolve = call("resolve", { action: "apply", reason: "fine", extra: { to: "b" } });
  const { session } = await openSession({ model: [resolve, say("Done")] });
  const calls: unknown[] = [];
  const id = queueResolveHandler(session, {
    label: "Rename a",
    sourceToolName: "rename",
    apply: (reason, extra) => {
      calls.push([reason, extra]);
      return { content: [{ type: "text", text: "Renamed." }] };
    },
  });
  expect(id).toBe("pa_1");
  await session.prompt("go");
  expect(calls).toEqual([["fine", { to: "b" }]]);
  expect(session.pendingActionCount).toBe(0);
});
