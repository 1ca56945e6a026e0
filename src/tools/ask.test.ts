import { describe, expect, it } from "vitest";
import { createAsk } from "./ask.js";
import type { DialogOptions, Dialogs } from "./tool.js";

type Reply = string | undefined | "late";

/** Answers in order, and remembers what was shown. */
function person(...replies: Reply[]) {
  const shown: (string | readonly string[])[][] = [];
  const next = (extra: DialogOptions = {}) => {
    const reply = replies.shift();
    if (reply !== "late") return reply;
    extra.onTimeout?.();
    return undefined;
  };
  const dialogs: Dialogs = {
    async select(title, options, extra) {
      shown.push([title, options]);
      return next(extra);
    },
    async input(title, _placeholder, extra) {
      shown.push([title]);
      return next(extra);
    },
  };
  return { dialogs, shown };
}

const colour = {
  id: "colour",
  question: "Which colour?",
  options: [{ label: "Red" }, { label: "Blue", description: "like the sea" }],
};

async function askWith(replies: Reply[], question: object = colour, signal?: AbortSignal) {
  const { dialogs, shown } = person(...replies);
  const tool = createAsk({ dialogs, timeoutMs: 30_000 });
  const questions = [question] as Parameters<typeof tool.execute>[1]["questions"];
  const result = await tool.execute("1", { questions }, signal, () => {}, { cwd: "/" });
  return { text: result.content.map((block) => (block.type === "text" ? block.text : "")).join(), result, shown };
}

describe("ask", () => {
  it("offers the options and one's own words", async () => {
    const { text, shown, result } = await askWith(["Blue: like the sea"]);
    expect(shown).toEqual([["Which colour?", ["Red", "Blue: like the sea", "Other (type your own)"]]]);
    expect(text).toBe("User selected: Blue");
    expect(result.details).toEqual({ answers: [{ id: "colour", question: "Which colour?", selected: ["Blue"] }] });
    expect((await askWith(["Other (type your own)", "Green"])).text).toBe("User selected: Green");
  });

  it("lets several be chosen and taken back", async () => {
    const { text, shown } = await askWith(
      ["[ ] Red", "[ ] Other (type your own)", "[x] Red", "[ ] Blue: like the sea", "Done", "Green"],
      { ...colour, multi: true },
    );
    expect(text).toBe("User selected: Green, Blue");
    expect(shown[1]?.[1]).toEqual(["[x] Red", "[ ] Blue: like the sea", "[ ] Other (type your own)", "Done"]);
    expect((await askWith(["Done"], { ...colour, multi: true })).text).toBe("User selected: (none)");
  });

  it("is cancelled by no answer and by one that was not offered", async () => {
    await expect(askWith([undefined])).rejects.toThrow("Ask tool was cancelled by the user");
    await expect(askWith(["Other (type your own)", undefined])).rejects.toThrow("Ask tool was cancelled by the user");
    await expect(askWith(["Purple"], { ...colour, multi: true })).rejects.toThrow("Ask tool was cancelled by the user");
  });

  it("takes the recommendation when the user does not answer, and never invents one", async () => {
    expect((await askWith(["late"], { ...colour, recommended: 1 })).text).toBe(
      "User selected: Blue (no answer in time; this was recommended)",
    );
    for (const question of [colour, { ...colour, recommended: 7 }])
      await expect(askWith(["late"], question)).rejects.toThrow("The user did not answer within 30 seconds.");
  });

  it("names each question when there are several", async () => {
    const { dialogs } = person("Red", "Red");
    const tool = createAsk({ dialogs, timeoutMs: 0 });
    const questions = [colour, { ...colour, id: "again" }];
    const result = await tool.execute("1", { questions }, undefined, () => {}, { cwd: "/" });
    expect(result.content).toEqual([{ type: "text", text: "colour: User selected: Red\nagain: User selected: Red" }]);
  });

  it("stops between questions", async () => {
    await expect(askWith(["Red"], colour, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
  });
});
