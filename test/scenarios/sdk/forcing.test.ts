// How a model is brought to decide about a preview, as its service sees it: through the real provider modules, one per
// kind of forcing.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ProviderModel } from "../../../src/provider/provider.js";
import { createAgentSession } from "../../../src/sdk/index.js";
import { anthropic, openAi, type ScriptedCall } from "../../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../../src/testing/scripted-server.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
let server: ScriptedServer;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "project/a.ts"), "old(1);\n");
});
afterEach(async () => {
  await server.close();
});

interface Dialect {
  model(url: string, changes?: Partial<ProviderModel>): ProviderModel;
  toolCalls(calls: readonly ScriptedCall[]): Reply;
  text(...pieces: string[]): Reply;
}

const edit = {
  id: "c1",
  name: "ast_edit",
  arguments: { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["a.ts"] },
};
const decide = { id: "c2", name: "resolve", arguments: { action: "apply", reason: "agreed" } };

/** What the service was sent with the request that follows the preview. */
async function secondRequest(dialect: Dialect, changes: Partial<ProviderModel> = {}, more: object = {}) {
  server = await startScriptedServer([dialect.toolCalls([edit]), dialect.toolCalls([decide]), dialect.text("Done.")]);
  const { session } = await createAgentSession({
    cwd: join(home, "project"),
    agentDir: join(home, "agent"),
    env: { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" },
    model: dialect.model(server.url, changes),
    loadRules: async () => [],
    ...more,
  });
  await session.prompt("go");
  await session.dispose();
  expect(readFileSync(join(home, "project/a.ts"), "utf8")).toBe("fresh(1);\n");
  const body = server.requests[1]?.body as { tools: object[]; tool_choice?: unknown };
  const text = JSON.stringify(body);
  return {
    choice: body.tool_choice,
    tools: body.tools.length,
    offersResolve: JSON.stringify(body.tools).includes('"resolve"'),
    reminders: text.split("This is a preview. Call the `resolve` tool").length - 1,
    others: server.requests.map((request) => (request.body as { tool_choice?: unknown }).tool_choice),
  };
}

describe("the request after a preview", () => {
  it("names the tool to Anthropic, once, and reminds once", async () => {
    const { choice, tools, reminders, others } = await secondRequest(anthropic);
    expect(choice).toMatchObject({ type: "tool", name: "resolve" });
    expect(tools).toBeGreaterThan(1);
    expect(reminders).toBe(1);
    expect([others[0], others[2]]).toEqual([undefined, undefined]);
  });

  it("names the function to the OpenAI family", async () => {
    const { choice, tools, reminders } = await secondRequest(openAi);
    expect(choice).toEqual({ type: "function", function: { name: "resolve" } });
    expect(tools).toBeGreaterThan(1);
    expect(reminders).toBe(1);
  });

  it("carries only `resolve` where a service knows no more than `required`", async () => {
    const { choice, tools, offersResolve } = await secondRequest(openAi, {
      compat: { supportsNamedToolChoice: false },
    });
    expect([choice, tools, offersResolve]).toEqual(["required", 1, true]);
  });

  it("only reminds where a service knows no choice at all", async () => {
    const { choice, tools, offersResolve, reminders } = await secondRequest(openAi, {
      compat: { supportsToolChoice: false },
    });
    expect(choice).toBeUndefined();
    expect(tools).toBeGreaterThan(1);
    expect([offersResolve, reminders]).toEqual([true, 1]);
  });

  it("only reminds where a service takes no forced choice while the model thinks", async () => {
    const { choice, reminders } = await secondRequest(anthropic, { reasoning: true }, { thinkingLevel: "low" });
    expect(choice === undefined || (choice as { type: string }).type === "auto").toBe(true);
    expect(reminders).toBe(1);
  });
});
