import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import { levelNamed, type ProviderModel } from "../../provider/provider.js";
import { openRecord } from "../../record/open-record.js";
import { openSession, scriptedProviderModel } from "../../testing/open-session.js";
import { call, say } from "../../testing/scripted-model.js";
import { availableLevels, clampLevel, nextLevel, thinkingOf } from "./thinking.js";

type Facts = Pick<ProviderModel, "api" | "reasoning" | "thinking">;

const plain: Facts = { api: "openai-completions", reasoning: false };
const lowToHigh: Facts = {
  api: "openai-completions",
  reasoning: true,
  thinking: { minLevel: "low", maxLevel: "high", mode: "effort" },
};

describe("thinkingOf", () => {
  it("takes the model's word, and assumes what every service of the API takes where there is none", () => {
    expect(thinkingOf(lowToHigh)).toBe(lowToHigh.thinking);
    expect(thinkingOf({ api: "openai-completions", reasoning: true })).toEqual({
      minLevel: "minimal",
      maxLevel: "high",
      mode: "effort",
    });
    expect(thinkingOf({ api: "anthropic-messages", reasoning: true })).toEqual({
      minLevel: "minimal",
      maxLevel: "xhigh",
      mode: "budget",
    });
    expect(thinkingOf({ ...lowToHigh, reasoning: false })).toBeUndefined();
  });
});

describe("clampLevel", () => {
  it.each<[ThinkingLevel | undefined, ThinkingLevel | undefined]>([
    ["off", "off"],
    ["minimal", "low"],
    ["low", "low"],
    ["medium", "medium"],
    ["high", "high"],
    ["xhigh", "high"],
    [undefined, undefined],
  ])("%s becomes %s on a model from low to high", (wish, level) => {
    expect(clampLevel(lowToHigh, wish)).toBe(level);
  });

  it("has no levels that the model says it has not, off among them", () => {
    const levels = { off: null, low: null, high: "most" };
    const model: Facts = { ...lowToHigh, thinking: { minLevel: "minimal", maxLevel: "high", mode: "effort", levels } };
    expect(availableLevels(model)).toEqual(["minimal", "medium", "high"]);
    expect(clampLevel(model, "low")).toBe("minimal");
    expect(clampLevel(model, "xhigh")).toBe("high");
    expect(clampLevel(model, "off")).toBe("minimal");
    expect(clampLevel(model, undefined)).toBeUndefined();
    expect(nextLevel(model, "high")).toBe("minimal");
    expect(clampLevel({ ...model, reasoning: false }, "off")).toBe("off");
  });

  it("stores nothing for a model that cannot think, but keeps off", () => {
    expect(clampLevel(plain, "high")).toBeUndefined();
    expect(clampLevel(plain, "off")).toBe("off");
  });
});

describe("nextLevel", () => {
  it("goes from off through the supported levels and wraps", () => {
    const levels: (ThinkingLevel | null)[] = [];
    let level: ThinkingLevel | null | undefined;
    for (let step = 0; step < 6; step++) {
      level = nextLevel(lowToHigh, level ?? undefined);
      levels.push(level);
    }
    expect(levels).toEqual(["off", "low", "medium", "high", "off", "low"]);
    expect(availableLevels(lowToHigh)).toEqual(["off", "low", "medium", "high"]);
  });

  it("counts a level of another model as the one it stands for here", () => {
    expect(nextLevel(lowToHigh, "xhigh")).toBe("off");
    expect(nextLevel(lowToHigh, "minimal")).toBe("medium");
  });

  it("has nothing to offer for a model that cannot think", () => {
    expect(nextLevel(plain, "off")).toBeNull();
    expect(availableLevels(plain)).toEqual(["off"]);
  });
});

it("a level is known by its name, and no other word is one", () => {
  expect(["off", "xhigh", "bogus", "", "toString", null, undefined].map(levelNamed)).toEqual([
    "off",
    "xhigh",
    ...Array(5).fill(undefined),
  ]);
});

it("a session that says nothing of its level has the usual one, and a branch keeps the one it was made with", async () => {
  const model = { ...scriptedProviderModel, reasoning: true };
  const folder = temporaryDirectory();
  const place = { agentDir: folder, sessionDir: folder, persist: true, model, thinkingLevel: "low" as const };
  const { session } = await openSession({ model: [say("1"), say("2"), say("3")], session: place });
  await session.prompt("one");
  const first = session.sessionFile as string;
  await session.newSession();
  session.setThinkingLevel("high");
  await session.prompt("two");
  const [point] = session.getUserMessagesForBranching();
  await session.branch(point?.entryId as string);
  expect(session.thinkingLevel).toBe("high");
  await session.prompt("two, again");
  const branch = session.sessionFile as string;
  await session.switchSession(first);
  expect(session.thinkingLevel).toBe("low");
  await session.dispose();
  const reader = await openRecord(branch, { cwd: folder, agentDir: folder });
  expect(reader.context.thinkingLevel).toBe("high");
  await reader.close();
});

it("a run thinks as it began; a change counts from the next one on", async () => {
  const model = { ...scriptedProviderModel, reasoning: true };
  const { session, model: asked } = await openSession({
    model: [[() => session.setThinkingLevel("high"), ...call("ls", {})], say("done"), say("next")],
    session: { model, thinkingLevel: "low" },
  });
  await session.prompt("go");
  await session.prompt("again");
  expect(asked.requests.map(({ options }) => options.reasoning)).toEqual(["low", "low", "high"]);
});
