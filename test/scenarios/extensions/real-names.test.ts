// Names of pi's modules that galley must have: none of them is a stand-in, under any scope and by any path.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, type ScriptStep, say } from "../../../src/testing/scripted-model.js";
import { drawPng } from "../../../src/tools/images/png.test-kit.js";
import { createModuleHome, type ModuleHome } from "../../kit/module-home.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const real = {
  "pi-coding-agent": `SettingsManager SessionManager DefaultResourceLoader createAgentSession truncateTail truncateHead truncateLine
    buildSessionContext createCodingTools createReadOnlyTools createBashTool createReadTool createWriteTool createEditTool createFindTool
    createGrepTool createLsTool createBashToolDefinition isToolCallEventType isBashToolResult isEditToolResult isFindToolResult
    isGrepToolResult isLsToolResult isReadToolResult isWriteToolResult getShellConfig getLatestCompactionEntry
    createLocalBashOperations stripFrontmatter highlightCode getLanguageFromPath renderDiff truncateToVisualLines resizeImage keyText
    rawKeyHint estimateTokens VERSION calculateContextTokens getLastAssistantUsage findCutPoint findTurnStartIndex shouldCompact
    sessionEntryToContextMessages getPackageDir createEventBus createExtensionRuntime`,
  "pi-ai": `StringEnum Type complete completeSimple stream streamSimple createAssistantMessageEventStream AssistantMessageEventStream
    EventStream calculateCost clampThinkingLevel getSupportedThinkingLevels streamAnthropic streamSimpleAnthropic streamGoogle
    streamSimpleGoogle streamOpenAICompletions streamSimpleOpenAICompletions streamOpenAIResponses streamSimpleOpenAIResponses
    anthropicMessagesApi googleGenerativeAIApi openAICompletionsApi openAIResponsesApi createProvider getModel getModels getProviders
    getCurrentSystemPrompt getCurrentTools uuidv7 validateToolArguments validateToolCall`,
  "pi-agent-core": `Agent estimateTokens convertToLlm serializeConversation truncateHead truncateTail DEFAULT_COMPACTION_SETTINGS uuidv7`,
};
const names = (module: keyof typeof real) => real[module].split(/\s+/);

async function inside(body: string, imports = "", script: readonly ScriptStep[] = []): Promise<unknown> {
  const out = join(home.base, "out.json");
  home.put(
    ".galley/agent/extensions/probe.ts",
    `${imports}
    import { writeFileSync } from "node:fs";
    export default (pi) => pi.registerCommand("probe", { async handler(args, ctx) {
      writeFileSync(${JSON.stringify(out)}, JSON.stringify(await (async () => { ${body} })()));
    } });`,
  );
  const { session, lines, model } = await home.open(script);
  await session.prompt("/probe");
  await session.dispose();
  expect(lines).toEqual([]);
  model.verify();
  return JSON.parse(readFileSync(out, "utf8"));
}

/** A stand-in of a name is a function without a body of its own. */
const standIns = `(module, list) => list.filter((name) => module[name] === undefined || (typeof module[name] === "function" && /native code|function missing/.test(Function.prototype.toString.call(module[name]))))`;

describe.each([
  ["mariozechner", ""],
  ["earendil-works", ""],
  ["oh-my-pi", ""],
])("@%s", (scope) => {
  it("has all of them", async () => {
    const modules = Object.keys(real) as (keyof typeof real)[];
    const imports = modules.map((name, index) => `import * as m${index} from "@${scope}/${name}";`).join("\n");
    const asked = modules.map((name, index) => `...standIns(m${index}, ${JSON.stringify(names(name))})`).join(", ");
    expect(await inside(`const standIns = ${standIns}; return [${asked}];`, imports)).toEqual([]);
  });
});

it("the other paths are the same modules", async () => {
  const imports = `import * as ai from "@earendil-works/pi-ai"; import * as compat from "@earendil-works/pi-ai/compat";
    import * as oauth from "@earendil-works/pi-ai/oauth"; import * as all from "@earendil-works/pi-ai/providers/all";
    import { Compile } from "typebox/compile"; import { Type } from "typebox"; import { TypeCompiler } from "@sinclair/typebox/compile";`;
  const body = `return [compat, oauth, all].map((module) => module.complete === ai.complete).concat(Compile(Type.String()).Check("x"), typeof TypeCompiler.Compile);`;
  expect(await inside(body, imports)).toEqual([true, true, true, true, "function"]);
});

it("levels, prices and streams are what pi makes of them", async () => {
  const imports = `import { calculateCost, clampThinkingLevel, getSupportedThinkingLevels, createAssistantMessageEventStream, normalizeContext, getCurrentSystemPrompt, getCurrentTools } from "@earendil-works/pi-ai";`;
  const body = `const model = { reasoning: true, cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, thinkingLevelMap: { off: null, minimal: null, max: "max" } };
    const usage = { input: 1e6, output: 1e6, cacheRead: 0, cacheWrite: 0, cost: {} };
    const stream = createAssistantMessageEventStream();
    stream.push({ type: "start" }); stream.push({ type: "done", message: "whole" }); stream.push({ type: "late" });
    const heard = []; for await (const { type } of stream) heard.push(type);
    const { messages } = normalizeContext({ systemPrompt: "Be brief.", tools: [{ name: "t" }], messages: [] });
    return [calculateCost(model, usage).total, usage.cost.output, getSupportedThinkingLevels(model), clampThinkingLevel(model, "off"), clampThinkingLevel(model, "xhigh"),
      heard, await stream.result(), getCurrentSystemPrompt(messages), getCurrentTools(messages).length, getCurrentSystemPrompt([{ role: "system", content: "Theirs" }])];`;
  expect(await inside(body, imports)).toEqual([
    ...[3, 2, ["low", "medium", "high", "max"], "low", "max"],
    ...[["start", "done"], "whole", "Be brief.", 1, "Theirs"],
  ]);
});

it("Agent runs a model with tools, and tells of it as pi does", async () => {
  const imports = `import { Agent } from "@earendil-works/pi-agent-core"; import { Type } from "@earendil-works/pi-ai";`;
  const body = `const tool = { name: "double", label: "Double", description: "Doubles", parameters: Type.Object({ n: Type.Number() }),
      execute: async (id, { n }) => ({ content: [{ type: "text", text: String(2 * n) }], details: { n } }) };
    const agent = new Agent({ initialState: { systemPrompt: "Count.", model: ctx.model, tools: [tool] } });
    const heard = []; agent.subscribe(({ type }) => { if (!type.endsWith("update")) heard.push(type); });
    agent.followUp({ role: "user", content: "And then", timestamp: 1 });
    await agent.prompt("Double 4 and the moon");
    return [heard.join(" "), agent.state.messages.map(({ role, content, isError }) => [role, typeof content === "string" ? content : content[0].text, isError]), agent.state.isStreaming];`;
  const script = [call("double", { n: 4 }), call("double", { n: "moon" }, "c2"), say("Eight."), say("Done.")];
  const [heard, messages, isStreaming] = (await inside(body, imports, script)) as [string, unknown[][], boolean];
  const reply = "message_start message_end";
  const called = `turn_start ${reply} tool_execution_start tool_execution_end ${reply} turn_end`;
  expect(heard).toBe(
    `agent_start turn_start ${reply} ${called.replace("turn_start ", "")} ${called} turn_start ${reply} turn_end turn_start ${reply} ${reply} turn_end agent_end`,
  );
  const texts = messages.filter(([role, text]) => role !== "assistant" || text !== null);
  expect(texts).toEqual([
    ["user", "Double 4 and the moon", null],
    ["toolResult", "8", false],
    ["toolResult", expect.stringContaining("n: must be number"), true],
    ["assistant", "Eight.", null],
    ["user", "And then", null],
    ["assistant", "Done.", null],
  ]);
  expect(isStreaming).toBe(false);
});

it("resizeImage makes a PNG smaller, and leaves alone what it cannot read", async () => {
  const png = drawPng({ width: 40, height: 20, colourType: 2, at: () => [9, 9, 9] }).toString("base64");
  const body = `const bytes = Buffer.from(${JSON.stringify(png)}, "base64");
    const small = await resizeImage(bytes, "image/png", { maxWidth: 10 });
    const same = await resizeImage(bytes, "image/png");
    return [small.width, small.height, small.originalWidth, small.wasResized, same.wasResized, await resizeImage(Buffer.from("?"), "image/png")];`;
  const imports = `import { resizeImage } from "@earendil-works/pi-coding-agent";`;
  expect(await inside(body, imports)).toEqual([10, 5, 40, true, false, null]);
});

it("entries are measured and cut as pi does", async () => {
  const imports = `import { calculateContextTokens, getLastAssistantUsage, findCutPoint, getPackageDir, sessionEntryToContextMessages, shouldCompact } from "@earendil-works/pi-coding-agent";
    import { existsSync } from "node:fs"; import { validateToolCall, Type } from "@earendil-works/pi-ai";`;
  const body = `const text = (words) => [{ type: "text", text: "word".repeat(words) }];
    const usage = { input: 7, output: 2, cacheRead: 1, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
    const reply = (words, stopReason = "stop") => ({ role: "assistant", content: text(words), usage, stopReason, api: "a", provider: "p", model: "m", timestamp: 1 });
    const messages = [{ role: "user", content: text(10), timestamp: 1 }, reply(10), { role: "user", content: text(10), timestamp: 1 }, reply(10), reply(10, "aborted")];
    const entries = messages.map((message, index) => ({ type: "message", id: "e" + index, parentId: index ? "e" + (index - 1) : null, timestamp: "2026-01-01T00:00:00.000Z", message }));
    const tools = [{ name: "t", description: "", parameters: Type.Object({ n: Type.Number() }) }];
    let said; try { validateToolCall(tools, { name: "t", arguments: { n: "x" } }); } catch (error) { said = error.message; }
    return [calculateContextTokens(getLastAssistantUsage(entries)), findCutPoint(entries, 0, 5, 15), findCutPoint(entries, 0, 5, 25), sessionEntryToContextMessages(entries[0]).length,
      shouldCompact(90, 100, { enabled: true, reserveTokens: 20 }), existsSync(getPackageDir() + "/package.json"), said.includes("must be number"), validateToolCall(tools, { name: "t", arguments: { n: "4" } }).n];`;
  expect(await inside(body, imports)).toEqual([
    10,
    { firstKeptEntryIndex: 3, turnStartIndex: 2, isSplitTurn: true },
    { firstKeptEntryIndex: 2, turnStartIndex: -1, isSplitTurn: false },
    ...[1, true, true, true, 4],
  ]);
});
