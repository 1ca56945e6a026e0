// Modules read anew without a restart: what changed is there, what was taken away is gone, and nothing else is different.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, say } from "../../../src/testing/scripted-model.js";
import { createModuleHome, type ModuleHome, said } from "../../kit/module-home.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const tools = ".galley/agent/tools";
const reloading = `export default (pi) => pi.registerCommand("again", { handler: (args, ctx) => ctx.reload() });`;

it("follows what lies in the directories, by a command of an extension", async () => {
  home.put(".galley/agent/extensions/again.ts", reloading);
  home.put(`${tools}/stays.ts`, said("stays", "before"));
  home.put(`${tools}/goes.ts`, said("goes", "never"));
  const { session, texts, model } = await home.open([call("stays", {}), call("comes", {}, "call_2"), say("Done.")]);
  session.setActiveToolsByName(session.getActiveToolNames().filter((name) => name !== "ls"));
  home.put(`${tools}/stays.ts`, said("stays", "after"));
  home.put(`${tools}/comes.ts`, said("comes", "new"));
  home.put(".galley/agent/extensions/more.ts", `export default (pi) => pi.registerCommand("more", { handler() {} });`);
  rmSync(join(home.base, tools, "goes.ts"));
  await session.prompt("/again");
  expect(session.getCommands().map(({ name }) => name)).toEqual(["again", "more"]);
  expect(session.getActiveToolNames()).toEqual(expect.arrayContaining(["stays", "comes", "read"]));
  for (const name of ["goes", "ls"]) expect(session.getActiveToolNames()).not.toContain(name);
  expect(session.getAllToolNames()).not.toContain("goes");
  await session.prompt("Go");
  expect(texts()).toEqual(["after", "new"]);
  expect(model.requests[0]?.context.tools.map(({ name }) => name)).toContain("comes");
  await session.dispose();
});

it("gives a built-in tool back, and keeps what was switched off", async () => {
  const extension = (name: string) =>
    `export default (pi) => pi.registerTool({ name: "${name}", description: "Mine", approval: "read",
      parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "mine" }] }) });`;
  home.put(".galley/agent/extensions/e.ts", extension("read"));
  home.put(`${tools}/off.ts`, said("off", "x"));
  const { session, texts } = await home.open(
    [call("read", { path: "a.txt" }), call("read", { path: "a.txt" }, "call_2"), say("Done."), say("Done.")],
    {},
    { "a.txt": "hello\n" },
  );
  const order = session.getAllToolNames();
  session.setActiveToolsByName(["read"]);
  await session.prompt("Go");
  home.put(".galley/agent/extensions/e.ts", extension("other"));
  await session.reloadModules();
  expect(session.getActiveToolNames()).toEqual(["read", "other"]);
  expect(session.getAllToolNames()).toEqual([...order, "other"]);
  expect(texts()).toEqual(["mine", "mine"]);
  expect(session.allTools.find(({ name }) => name === "read")?.description).not.toBe("Mine");
  await session.dispose();
});

it("ends the old ones and begins the new ones, each once", async () => {
  const heard: string[] = [];
  Object.assign(globalThis, { heardOfReload: heard });
  home.put(
    `${tools}/ears.ts`,
    `export default () => ({ name: "ears", description: "Listens", parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [] }), onSession: ({ reason }) => void globalThis.heardOfReload.push("tool " + reason) });`,
  );
  let kept: { isIdle(): boolean } | undefined;
  const { session } = await home.open([], {
    extensions: [
      (pi) => {
        pi.on("session_start", ({ reason }, ctx) => {
          heard.push(`start ${reason}`);
          kept ??= ctx;
        });
        pi.on("session_shutdown", () => void heard.push("shutdown"));
      },
    ],
  });
  await Promise.all([session.reloadModules(), session.reloadModules()]);
  expect(() => kept?.isIdle()).toThrow("This extension was reloaded, or its session has ended.");
  await session.dispose();
  const [ends, begins] = [
    ["shutdown", "tool shutdown"],
    ["start reload", "tool start"],
  ] as const;
  expect(heard).toEqual(["start startup", "tool start", ...ends, ...begins, ...ends, ...begins, ...ends]);
});

it("tells what cannot be loaded any more, and goes on without it", async () => {
  home.put(`${tools}/a.ts`, said("a", "x"));
  home.put(`${tools}/b.ts`, said("b", "x"));
  const { session, lines } = await home.open([]);
  home.put(`${tools}/a.ts`, "export default (");
  await session.reloadModules();
  expect(lines.join("")).toMatch(/a\.ts: Failed to load tool: .*a\.ts:1:\d+/);
  expect(session.getAllToolNames()).toContain("b");
  expect(session.getAllToolNames()).not.toContain("a");
  await session.dispose();
  await session.reloadModules();
});

it("trusts nothing new: a project's module that was changed is out until it is trusted again", async () => {
  home.put("project/.galley/tools/own.ts", said("own", "x"));
  const trusting = {
    extensions: [
      (pi: { on(name: string, handler: () => object): void }) =>
        pi.on("project_trust", () => ({ trusted: "yes", remember: true })),
    ],
  };
  await (await home.open([], trusting)).session.dispose();
  const { session } = await home.open([]);
  expect(session.getAllToolNames()).toContain("own");
  home.put("project/.galley/tools/own.ts", `${said("own", "x")} // changed`);
  await session.reloadModules();
  expect(session.getAllToolNames()).not.toContain("own");
  await session.dispose();
});

it("a prompt that comes meanwhile waits for it", async () => {
  home.put(`${tools}/a.ts`, said("a", "old"));
  const { session, texts } = await home.open([call("a", {}), say("Done.")]);
  home.put(`${tools}/a.ts`, said("a", "new"));
  const reloaded = session.reloadModules();
  await session.prompt("Go");
  await reloaded;
  expect(texts()).toEqual(["new"]);
  await session.dispose();
});
