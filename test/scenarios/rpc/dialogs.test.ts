// Questions to the person behind the host: whoever asks, the host's answer arrives, and whatever is no answer is a no.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import type { ExtensionAPI } from "../../../src/sdk/index.js";
import { call, calls, say } from "../../../src/testing/scripted-model.js";
import { type AnsweringHost, answeringHost } from "../../kit/answering-host.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let base: string;
let realHome: string | undefined;
beforeEach(() => {
  base = temporaryDirectory();
  realHome = process.env.HOME;
  process.env.HOME = base; // so that nothing of whoever runs the tests is found
  mkdirSync(join(base, "project"));
});
afterEach(() => {
  process.env.HOME = realHome;
});
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const place = () => ({ cwd: join(base, "project"), agentDir: join(base, ".galley/agent") });
const dialog = (host: AnsweringHost, method: string) => host.next({ type: "extension_ui_request", method });
const reply = (host: AnsweringHost, { id }: { id?: unknown }, fields: object) =>
  host.tell({ type: "extension_ui_response", id, ...fields });

function withSetting(...[key, value]: Parameters<Settings["override"]>): Settings {
  const settings = new Settings();
  settings.override(key, value);
  return settings;
}

/** A run that is over. */
async function settled(host: AnsweringHost) {
  await host.next({ type: "agent_settled" });
  host.open.model.verify();
  expect(await host.close()).toBe(0);
}

const asksFirst = (pi: ExtensionAPI) => {
  pi.on("tool_call", async ({ toolName }, ctx) => {
    if (toolName !== "ls") return undefined;
    return (await ctx.ui.confirm("List it?", "All of it")) ? undefined : { block: true, reason: "They said no." };
  });
  pi.on("session_before_switch", async (_event, ctx) => ({
    cancel: !(await ctx.ui.confirm("Leave?", "Unsaved plan")),
  }));
};

describe("modules", () => {
  it("a custom tool that kept its API object is answered, and hears when its time is up", async () => {
    put(
      ".galley/agent/tools/pick.ts",
      `export default (pi) => ({ name: "pick", description: "Picks", parameters: { type: "object", properties: {} },
        async execute() {
          const chosen = await pi.ui.select("Which?", ["a", "b"]);
          let isLate = false;
          const name = await pi.ui.input("Name", undefined, { timeout: 1000, onTimeout: () => { isLate = true; } });
          return { content: [{ type: "text", text: [pi.hasUI, chosen, name, isLate].join(" ") }] };
        } });`,
    );
    const host = await answeringHost({ hasUI: true, model: [call("pick", {}), say("Done.")], session: place() });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    reply(host, await dialog(host, "select"), { value: "b" });
    const input = await dialog(host, "input");
    host.open.clock.advance(1000);
    expect(await dialog(host, "cancel")).toMatchObject({ targetId: input.id });
    reply(host, input, { value: "too late" });
    await settled(host);
    expect(host.results()).toEqual(["true b  true"]);
  });

  it("a dialog of a tool ends with its run, although the tool did not ask for that", async () => {
    put(
      ".galley/agent/tools/pick.ts",
      `export default (pi) => ({ name: "pick", description: "Picks", parameters: { type: "object", properties: {} },
        execute: async () => ({ content: [{ type: "text", text: "" + (await pi.ui.select("Which?", ["a"])) }] }) });`,
    );
    const host = await answeringHost({ hasUI: true, model: [call("pick", {})], session: place() });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const { id } = await dialog(host, "select");
    host.tell({ id: "a", type: "abort" });
    expect(await dialog(host, "cancel")).toMatchObject({ targetId: id });
    await host.next({ type: "response", id: "a" });
    expect(host.results()).toEqual(["undefined"]);
    await host.close();
  });

  it.each([
    ["yes", { confirmed: true }, ""],
    ["no", { confirmed: false }, "They said no."],
    ["the wrong kind", { value: "yes" }, "They said no."],
  ])("a guard is answered with %s", async (_, fields, text) => {
    const host = await answeringHost({
      hasUI: true,
      model: [call("ls", {}), say("Done.")],
      session: { extensions: [asksFirst] },
    });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const asked = await dialog(host, "confirm");
    expect(asked).toMatchObject({ title: "List it?", message: "All of it" });
    reply(host, asked, fields);
    await settled(host);
    expect(host.results()[0]).toContain(text);
  });

  it("a guard's dialog is taken back when the run is aborted", async () => {
    const host = await answeringHost({ hasUI: true, model: [call("ls", {})], session: { extensions: [asksFirst] } });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const { id } = await dialog(host, "confirm");
    host.tell({ id: "a", type: "abort" });
    expect(await dialog(host, "cancel")).toMatchObject({ targetId: id });
    await host.next({ type: "response", id: "a" });
    expect(host.results()).toEqual(["Tool execution was aborted."]);
    await host.close();
  });

  it("a dialog inside a command is answered, however many commands stand before the answer", async () => {
    const host = await answeringHost({ hasUI: true, session: { extensions: [asksFirst] } });
    host.tell({ id: "n1", type: "new_session" });
    const asked = await dialog(host, "confirm");
    const many = Array.from({ length: 3000 }, (_, index) => ({ id: index, type: "get_last_assistant_text" }));
    host.tell(...many, { type: "extension_ui_response", id: asked.id, confirmed: false });
    expect(await host.next({ type: "response", id: "n1" })).toMatchObject({ data: { cancelled: true } });
    await host.next({ type: "response", id: 2999 });
    // Now the room is taken before the question comes up.
    host.tell({ id: "n2", type: "new_session" }, ...many);
    reply(host, await dialog(host, "confirm"), { confirmed: true });
    expect(await host.next({ type: "response", id: "n2" })).toMatchObject({ data: { cancelled: false } });
    await host.close();
  });

  it("a dialog at the start is answered before anything that waits for it", async () => {
    const greets = (pi: ExtensionAPI) =>
      pi.on("session_start", async (_event, ctx) => ctx.ui.notify(`Hello ${await ctx.ui.input("Who is there?")}`));
    const host = await answeringHost({ hasUI: true, session: { extensions: [greets], deferModules: true } });
    host.tell({ id: "s", type: "get_state" });
    reply(host, await dialog(host, "input"), { value: "Ada" });
    expect(await dialog(host, "notify")).toMatchObject({ message: "Hello Ada" });
    await host.next({ type: "response", id: "s" });
    await host.close();
  });

  it("a dialog before a compaction is answered, and an abort does not wait for it", async () => {
    const asksBefore = (pi: ExtensionAPI) =>
      pi.on("session_before_compact", async (_event, ctx) => ({
        cancel: !(await ctx.ui.confirm("Shorten?", "It is lost")),
      }));
    const long = "word ".repeat(40_000);
    const host = await answeringHost({
      hasUI: true,
      model: [say(long), say(long), say("A summary."), say("Of the turn.")],
      session: { extensions: [asksBefore] },
    });
    for (const id of ["p1", "p2"]) {
      host.tell({ id, type: "prompt", message: "Go on" });
      await host.next({ type: "agent_settled" });
    }
    host.tell({ id: "c1", type: "compact" });
    reply(host, await dialog(host, "confirm"), { confirmed: false });
    expect(await host.next({ type: "response", id: "c1" })).toMatchObject({ success: false });
    host.tell({ id: "c2", type: "compact" });
    const { id } = await dialog(host, "confirm");
    host.tell({ id: "a", type: "abort" });
    expect(await dialog(host, "cancel")).toMatchObject({ targetId: id });
    expect(await host.next({ type: "response", id: "c2" })).toMatchObject({ success: false });
    await host.next({ type: "response", id: "a" });
    host.tell({ id: "c3", type: "compact" });
    reply(host, await dialog(host, "confirm"), { confirmed: true });
    expect(await host.next({ type: "response", id: "c3" })).toMatchObject({ success: true });
    await host.close();
  });

  it("the end of the input is no consent", async () => {
    const host = await answeringHost({ hasUI: true, session: { extensions: [asksFirst] } });
    host.tell({ id: "n1", type: "new_session" });
    const { id } = await dialog(host, "confirm");
    expect(await host.close()).toBe(0);
    expect(host.frames).toContainEqual(expect.objectContaining({ method: "cancel", targetId: id }));
    expect(host.frames.at(-1)).toMatchObject({ type: "response", id: "n1", data: { cancelled: true } });
  });

  it("without a UI there are no frames, and every question has its default answer", async () => {
    const asks = (pi: ExtensionAPI) =>
      pi.registerCommand("ask", {
        handler: async (_args, ctx) =>
          pi.sendMessage({
            customType: "answers",
            content: JSON.stringify([
              ctx.hasUI,
              await ctx.ui.confirm("a", "b"),
              (await ctx.ui.select("a", ["b"])) ?? null,
            ]),
            display: true,
          }),
      });
    const host = await answeringHost({ session: { extensions: [asks] } });
    await host.ask({ type: "prompt", message: "/ask" });
    expect(host.open.session.messages).toMatchObject([{ content: "[false,false,null]" }]);
    expect(host.frames.some(({ type }) => type === "extension_ui_request")).toBe(false);
    await host.close();
  });
});

describe("the ask tool", () => {
  const question = {
    questions: [{ id: "q", question: "Tabs?", options: [{ label: "Yes" }, { label: "No" }], recommended: 1 }],
  };

  it("asks by select; after its time the recommendation counts", async () => {
    const host = await answeringHost({
      hasUI: true,
      model: [call("ask", question, "c1"), call("ask", question, "c2"), say("Done.")],
    });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const asked = await dialog(host, "select");
    expect(asked).toMatchObject({ title: "Tabs?", options: ["Yes", "No", "Other (type your own)"], timeout: 30_000 });
    reply(host, asked, { value: "Yes" });
    await dialog(host, "select");
    host.open.clock.advance(30_000);
    await settled(host);
    expect(host.results()).toEqual([
      "User selected: Yes",
      "User selected: No (no answer in time; this was recommended)",
    ]);
  });

  it("is absent when the user cannot be asked", async () => {
    const host = await answeringHost({});
    expect(host.open.session.getAllToolNames()).not.toContain("ask");
    await host.close();
  });
});

describe("approval", () => {
  const staged = () => ({ settings: withSetting("staging", "all") });
  const evil = { command: "echo 1\nrm -rf /\u202e\u0007 x" };

  it("of a call that goes round the review: what is shown is all of it, and visible", async () => {
    const host = await answeringHost({ hasUI: true, model: [call("bash", evil), say("Done.")], session: staged() });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const asked = await dialog(host, "confirm");
    expect(asked).toMatchObject({
      title: "Run bash?",
      message: "command:\n  | echo 1\n  | rm -rf /\\u202e\\u0007 x",
    });
    reply(host, asked, { confirmed: false });
    await settled(host);
    expect(host.results()[0]).toContain("the user did not allow this one");
  });

  it("of a host's tool, yes and no", async () => {
    const tool = { name: "deploy", description: "Deploys", parameters: { type: "object", properties: { to: {} } } };
    const host = await answeringHost({
      hasUI: true,
      model: [call("deploy", { to: "x" }, "c1"), call("deploy", { to: "y" }, "c2"), say("Done.")],
      session: staged(),
    });
    await host.ask({ type: "set_host_tools", tools: [tool] });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    reply(host, await dialog(host, "confirm"), { confirmed: true });
    const { id, arguments: args } = await host.next({ type: "host_tool_call" });
    expect(args).toEqual({ to: "x" });
    host.tell({ type: "host_tool_result", id, result: { content: [{ type: "text", text: "There." }] } });
    reply(host, await dialog(host, "confirm"), { cancelled: true });
    await settled(host);
    expect(host.results()).toEqual(["There.", expect.stringContaining("the user did not allow this one")]);
    expect(host.frames.filter(({ type }) => type === "host_tool_call")).toHaveLength(1);
  });

  it("is a no at once when the user cannot be asked", async () => {
    const host = await answeringHost({ model: [call("bash", evil), say("Done.")], session: staged() });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    await settled(host);
    expect(host.results()).toEqual([
      expect.stringMatching(
        /^Refused: commands bypass staging\. Use --allow-exec to permit them\. Staging commands is not/,
      ),
    ]);
  });

  it("is taken back when the run is aborted, also where two wait at once", async () => {
    const two = ["a", "b"].map((id) => ({ name: "bash", args: { command: id }, id }));
    const host = await answeringHost({ hasUI: true, model: [calls(...two)], session: staged() });
    host.tell({ id: "p", type: "prompt", message: "Go" });
    const open = await dialog(host, "confirm");
    host.tell({ id: "a", type: "abort" });
    expect(await dialog(host, "cancel")).toMatchObject({ targetId: open.id });
    await host.next({ type: "response", id: "a" });
    expect(host.results()).toEqual(["Tool execution was aborted.", "Tool execution was aborted."]);
    await host.close();
  });

  it("of what the model wants to apply, with the diff", async () => {
    for (const [fields, text, outcome] of [
      [{ confirmed: true }, "bar();\n", "Applied"],
      [{ confirmed: false }, "foo();\n", "User declined"],
    ] as const) {
      const host = await answeringHost({
        hasUI: true,
        files: { "a.ts": "foo();\n" },
        model: [
          call("ast_edit", { ops: [{ pat: "foo()", out: "bar()" }], path: "a.ts", lang: "ts" }, "c1"),
          call("resolve", { action: "apply", reason: "Looks right." }, "c2"),
          say("Done."),
        ],
        session: { settings: withSetting("resolve.decider", "both") },
      });
      host.tell({ id: "p", type: "prompt", message: "Go" });
      const asked = await dialog(host, "confirm");
      expect(asked.message).toContain("-foo();\n+bar();");
      reply(host, asked, fields);
      await settled(host);
      expect(host.open.workspace.files["a.ts"]).toBe(text);
      expect(host.results().join("\n")).toContain(outcome);
    }
  });

  it("of a file that only the user may hand out", async () => {
    put("project/.env", "KEY=1\n");
    for (const [fields, text] of [
      [{ confirmed: true }, "KEY=1"],
      [{ value: "yes" }, ".env"],
    ] as const) {
      const host = await answeringHost({
        hasUI: true,
        model: [call("read", { path: ".env" }), say("Done.")],
        onDisk: true,
        session: place(),
      });
      host.tell({ id: "p", type: "prompt", message: "Go" });
      const asked = await dialog(host, "confirm");
      expect(asked).toMatchObject({ title: "Let the agent read .env?", message: "It may hold secrets." });
      reply(host, asked, fields);
      await settled(host);
      expect(host.results()[0]).toContain(text);
      expect(host.results()[0]?.includes("KEY=1")).toBe(text === "KEY=1");
    }
  });
});

describe("trust", () => {
  const marker = () => join(base, "ran");
  const tool = () => `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker())}, "");
    export default () => ({ name: "ours", description: "Ours", parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [{ type: "text", text: "Ours." }] }) });`;
  const trusting = async (model = [say("Before."), call("ours", {}), say("Done.")]) => {
    put("project/.galley/tools/ours.ts", tool());
    return answeringHost({ hasUI: true, model, session: { ...place(), deferModules: true } });
  };

  it("holds nothing up; a later yes adds the tools and is remembered", async () => {
    const host = await trusting();
    const asked = await dialog(host, "confirm");
    expect(asked.title).toContain("to run its own code?");
    expect(asked.message).toContain(".galley/tools/ours.ts");
    const state = async () => JSON.stringify((await host.ask({ type: "get_state" })).data);
    expect(await state()).not.toContain('"ours"');
    host.tell({ id: "p", type: "prompt", message: "Go" });
    await host.next({ type: "agent_settled" });
    expect(existsSync(marker())).toBe(false);

    reply(host, asked, { confirmed: true });
    await host.open.session.whenReady();
    while (!(await state()).includes('"ours"')) await new Promise((resolve) => setImmediate(resolve));
    host.tell({ id: "p2", type: "prompt", message: "Go" });
    await settled(host);
    expect(host.results()).toEqual(["Ours."]);
    expect(readFileSync(join(base, ".galley/trust.json"), "utf8")).toContain('"trusted"');

    const again = await trusting([call("ours", {}), say("Done.")]);
    again.tell({ id: "p", type: "prompt", message: "Go" });
    await settled(again);
    expect(again.frames.some(({ method }) => method === "confirm")).toBe(false);
  });

  it.each([{ confirmed: false }, { cancelled: true }, { value: "true" }])("is not given by %j", async (fields) => {
    const host = await trusting([say("Done.")]);
    reply(host, await dialog(host, "confirm"), fields);
    host.tell({ id: "p", type: "prompt", message: "Go" });
    await settled(host);
    expect(existsSync(marker())).toBe(false);
    expect(existsSync(join(base, ".galley/trust.json"))).toBe(false);
  });

  it("is about what was shown: what changed meanwhile is asked about again", async () => {
    const host = await trusting([say("Done.")]);
    const asked = await dialog(host, "confirm");
    put("project/.galley/tools/ours.ts", `${tool()}\n// and more`);
    reply(host, asked, { confirmed: true });
    const second = await dialog(host, "confirm");
    expect(second.message).toContain("changed .galley/tools/ours.ts");
    expect(existsSync(marker())).toBe(false);
    host.tell({ id: "p", type: "prompt", message: "Go" });
    await settled(host);
    expect(host.frames).toContainEqual(expect.objectContaining({ method: "cancel", targetId: second.id }));
  });
});
