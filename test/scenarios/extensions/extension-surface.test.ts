// Everything that extensions were promised is there in a real session: the members of the API, of `ctx`, and of the `ctx`
// of commands, each of the kind it should be, and the ones that tell something tell it.

import { afterEach, beforeEach, expect, it } from "vitest";
import type { ExtensionAPI } from "../../../src/extensions/api/extension.js";
import type { ExtensionCommandContext, ExtensionContext } from "../../../src/extensions/api/extension-context.js";
import { say } from "../../../src/testing/scripted-model.js";
import { createModuleHome, type ModuleHome } from "../../kit/module-home.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const kindsOf = (object: object, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, typeof (object as Record<string, unknown>)[name]]));
const all = (names: string, kind: string) => Object.fromEntries(names.split(" ").map((name) => [name, kind]));

const apiMembers = {
  ...all("on registerTool registerCommand registerFlag getFlag registerShortcut registerMessageRenderer", "function"),
  ...all("sendMessage sendUserMessage appendEntry exec getActiveTools getAllTools setActiveTools", "function"),
  ...all("getCommands getSessionName setSessionName setLabel setModel getThinkingLevel setThinkingLevel", "function"),
  ...all("events logger typebox zod pi", "object"),
};

const contextMembers = {
  ...all("isIdle abort hasPendingMessages hasQueuedMessages shutdown getContextUsage compact", "function"),
  ...all("getSystemPrompt isProjectTrusted", "function"),
  ...all("ui sessionManager modelRegistry model signal", "object"),
  ...{ hasUI: "boolean", cwd: "string", mode: "string" },
};

const registryMembers =
  "find getAll getAvailable getApiKey getApiKeyAndHeaders getApiKeyForProvider hasConfiguredAuth isUsingOAuth refresh";

const commandMembers = all("waitForIdle newSession switchSession branch fork navigateTree reload", "function");

it("has every member", async () => {
  let pi: ExtensionAPI | undefined;
  let ctx: ExtensionContext | undefined;
  let command: ExtensionCommandContext | undefined;
  let seen: unknown;
  const { session } = await home.open([say("Done."), say("Again.")], {
    extensions: [
      (api) => {
        void (api.typebox && api.zod); // named, so that they are there
        pi = api;
        api.on("agent_start", (_event, context) => {
          ctx = context;
          seen = kindsOf(context, Object.keys(contextMembers)); // while a run is active
        });
        api.registerCommand("look", {
          handler(_args, context) {
            command = context;
          },
        });
      },
    ],
  });
  await session.prompt("Go");
  await session.prompt("/look");
  expect(kindsOf(pi ?? {}, Object.keys(apiMembers))).toEqual(apiMembers);
  expect(kindsOf(pi?.events ?? {}, ["on", "emit"])).toEqual(all("on emit", "function"));
  expect(kindsOf(pi?.logger ?? {}, ["debug", "info", "warn", "error"])).toEqual(
    all("debug info warn error", "function"),
  );
  expect(seen).toEqual(contextMembers);
  const expected = { ...contextMembers, signal: "undefined", ...commandMembers }; // no run, so no signal
  expect(kindsOf(command ?? {}, Object.keys(expected))).toEqual(expected);
  expect(kindsOf(ctx?.modelRegistry ?? {}, registryMembers.split(" "))).toEqual(all(registryMembers, "function"));
  const views =
    "getCwd getSessionDir getSessionId getSessionFile getSessionName getEntries getBranch getEntry getLeafId getLeafEntry getLabel getHeader getTree getArtifactsDir saveArtifact getUsageStatistics";
  expect(kindsOf(ctx?.sessionManager ?? {}, views.split(" "))).toEqual(all(views, "function"));
  await session.dispose();
});

it("acts on the session it is in", async () => {
  const steps: unknown[] = [];
  const { session } = await home.open([say("One."), say("Two.")], {
    extensions: [
      (pi) => {
        pi.registerFlag("loud", { type: "boolean", default: true });
        pi.registerShortcut("ctrl+x", { handler() {} });
        pi.registerMessageRenderer("note", () => undefined);
        pi.events.on("ping", (data) => void steps.push(data));
        pi.registerCommand("act", {
          async handler(_args, ctx) {
            pi.events.emit("ping", "pong");
            pi.setSessionName("Named");
            pi.setActiveTools(["read"]);
            pi.setThinkingLevel("off");
            pi.appendEntry("mine", { n: 1 });
            const entry = ctx.sessionManager.getEntries().at(-1);
            pi.setLabel(entry?.id ?? "", "here");
            pi.sendMessage({ customType: "note", content: "Mind the gap.", display: true });
            const models = [await pi.setModel({ provider: "none", id: "none" }), (ctx.model as { id: string }).id];
            steps.push([pi.getFlag("loud"), pi.getSessionName(), pi.getActiveTools(), pi.getThinkingLevel(), models]);
            steps.push([
              ctx.sessionManager.getLabel(entry?.id ?? ""),
              pi.getAllTools().some(({ name }) => name === "bash"),
            ]);
            steps.push([ctx.isIdle(), ctx.hasPendingMessages(), ctx.isProjectTrusted(), ctx.mode, ctx.hasUI]);
            steps.push([(await pi.exec("/bin/echo", ["hi"])).stdout, ctx.getSystemPrompt().length > 0]);
            await ctx.waitForIdle();
            steps.push(
              await ctx.newSession({
                setup: (record) => void steps.push(typeof record),
                withSession: (fresh) => fresh.sendUserMessage("Begin"),
              }),
            );
          },
        });
      },
    ],
  });
  await session.prompt("Go");
  const { sessionId } = session;
  await session.prompt("/act");
  await session.waitForIdle();
  expect(steps).toEqual([
    "pong",
    [true, "Named", ["read"], "off", [false, "script"]],
    ["here", true],
    [true, false, false, "print", false],
    ["hi\n", true],
    "object",
    { cancelled: false },
  ]);
  expect(session.sessionId).not.toBe(sessionId);
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  await session.dispose();
});
