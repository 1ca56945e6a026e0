// The model reads of somebody else's decision in plain words, whatever the callback had to say.

import { expect, it } from "vitest";
import type { PendingAction } from "../protocol/pending.js";
import { outcomeMessage } from "./outcome-message.js";

it("is read without escape sequences", () => {
  const decision = { action: "apply", reason: "go", by: "host" } as const;
  const action: PendingAction = {
    id: "pa_1",
    label: "Say red",
    sourceToolName: "say",
    kind: "closure",
    createdAt: 0,
    status: "applying",
    revision: 1,
    attempts: 0,
  };
  const returned = { content: [{ type: "text" as const, text: "\u001b[31mred\u001b[0m" }] };
  const outcome = { kind: "applied", id: "pa_1", action, decision, also: [], returned } as const;
  const decided = { decision, isList: false, outcomes: [outcome], remaining: [] };
  const { content } = outcomeMessage({ id: "pa_1", label: "Say red" }, decided, 1);
  expect(content).toBe("pa_1 (Say red) was applied by the host: red");
});
