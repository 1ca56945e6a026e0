// The model reads of somebody else's decision in plain words, whatever the callback had to say.

import { expect, it } from "vitest";
import { outcomeMessage } from "./outcome-message.js";

it("is read without escape sequences", () => {
  const { content } = outcomeMessage(
    { id: "pa_1", label: "Say red", isPart: false },
    { action: "apply", reason: "go", by: "host" },
    { result: { content: [{ type: "text", text: "\u001b[31mred\u001b[0m" }] }, timestamp: 1 },
  );
  expect(content).toBe("pa_1 (Say red) was applied by the host: red");
});
