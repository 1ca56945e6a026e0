// The model and the level that a session begins with are on record with its first prompt, so that whoever opens it later
// goes on with them; who only looks leaves a record as it is.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/create-agent-session.js";
import { say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let folder = "";
beforeEach(() => {
  folder = temporaryDirectory();
});

const resume = { kind: "continue" } as const;

/** Says `prompt`, if there is one, and closes the session again. Answers what it began with, and its file. */
async function run(options: CreateAgentSessionOptions, prompt?: string, names = ["one", "two", "three"]) {
  const models = names.map((id) => ({ id, reasoning: true }));
  const test = { baseUrl: "http://127.0.0.1:1", api: "openai-completions", auth: "none", models };
  writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { test } }));
  const { session } = await createAgentSession({
    cwd: folder,
    agentDir: folder,
    env: {},
    settings: new Settings(),
    contextFiles: [],
    rules: [],
    persist: true,
    streamFn: scriptedModel([say("yes")]).stream,
    ...options,
  });
  const { sessionFile = "", model, thinkingLevel } = session;
  if (prompt !== undefined) await session.prompt(prompt);
  await session.dispose();
  return { began: `${model?.id}:${thinkingLevel}`, file: sessionFile };
}

/** What a file holds, line by line. */
const lines = (path: string) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ type, model, thinkingLevel }) => [type, model, thinkingLevel].filter((part) => part).join(" "));

it("a new session, before its first message", async () => {
  const { file } = await run({ modelPattern: "two", thinkingLevel: "high" }, "hello");
  expect(lines(file)).toEqual(["session", "model_change test/two", "thinking_level_change high", "message", "message"]);
  expect((await run({ resume })).began).toBe("two:high");
});

it("a new session for which nothing was named", async () => {
  const { file, began } = await run({}, "hello");
  expect(began).toBe("one:medium");
  expect(lines(file).slice(1, 3)).toEqual(["model_change test/one", "thinking_level_change medium"]);
});

it("an earlier session that is opened with others, and only what is new", async () => {
  const { file } = await run({ modelPattern: "two" }, "hello");
  const before = lines(file);
  await run({ resume, modelPattern: "three", thinkingLevel: "low" }, "more");
  await run({ resume, modelPattern: "three", thinkingLevel: "low" }, "more");
  await run({ resume, thinkingLevel: "high" }, "more");
  expect(lines(file).slice(before.length)).toEqual([
    ...["model_change test/three", "thinking_level_change low", "message", "message"],
    ...["message", "message"],
    ...["thinking_level_change high", "message", "message"],
  ]);
  expect((await run({ resume })).began).toBe("three:high");
});

it("nothing without a prompt: no file for a new session, no byte in an earlier one", async () => {
  expect(existsSync((await run({ modelPattern: "two", thinkingLevel: "high" })).file)).toBe(false);
  const { file } = await run({ modelPattern: "two" }, "hello");
  const before = readFileSync(file, "utf8");
  expect((await run({ resume, modelPattern: "three", thinkingLevel: "low" })).began).toBe("three:low");
  expect((await run({ resume, thinkingLevel: "low" })).began).toBe("two:low");
  expect(readFileSync(file, "utf8")).toBe(before);
});

it("not who only stands in for a model that cannot be had now", async () => {
  const { file } = await run({ modelPattern: "two" }, "hello");
  expect((await run({ resume }, "more", ["one"])).began).toBe("one:medium");
  expect((await run({ resume, thinkingLevel: "high" }, "more", ["one"])).began).toBe("one:high");
  expect(lines(file).filter((line) => line.startsWith("model"))).toEqual(["model_change test/two"]);
  expect((await run({ resume })).began).toBe("two:high");
});
