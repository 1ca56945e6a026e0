import { describe, expect, it } from "vitest";
import type { SettingKey } from "../config/settings/schema.js";
import { Settings } from "../config/settings/settings.js";
import type { ExtensionAPI } from "../extensions/api/extension.js";
import { type OpenSession, openSession } from "../testing/open-session.js";
import { call, fail, gate, type ScriptStep, say } from "../testing/scripted-model.js";
import { type AnyTool, textResult } from "../tools/tool.js";

const note = { customType: "note", content: "by the way", display: false };

const tool = (name: string, more: Partial<AnyTool> = {}): AnyTool => ({
  name,
  label: name,
  description: name,
  parameters: { type: "object" },
  execute: async () => textResult(`${name} done`),
  ...more,
});

/** A reply that does something before it comes. */
const whenAsked = (act: () => unknown, step: ScriptStep): ScriptStep => [() => void act(), ...step];

const roles = ({ session }: OpenSession) => session.messages.map(({ role }) => role);
const types = ({ events }: OpenSession) => events.map(({ type }) => type);

describe("a custom message", () => {
  it("without a run is put on record at once, and starts nothing", async () => {
    const open = await openSession({ model: [say("ok")] });
    await open.session.sendCustomMessage({ ...note, details: { why: 1 } });
    expect(open.session.messages).toMatchObject([
      { role: "custom", ...note, details: { why: 1 }, attribution: "agent" },
    ]);
    expect(types(open)).toEqual(["message_start", "message_end"]);
    await open.session.prompt("go");
    expect(open.model.requests[0]?.context.messages).toMatchObject([
      { role: "user", content: "by the way", synthetic: true },
      { role: "user", content: [{ text: "go" }] },
    ]);
  });

  it("may start a run of its own", async () => {
    const open = await openSession({ model: [say("ok")] });
    await open.session.sendCustomMessage(note, { triggerTurn: true });
    expect(roles(open)).toEqual(["custom", "assistant"]);
    expect(types(open).slice(0, 4)).toEqual(["agent_start", "turn_start", "message_start", "message_end"]);
    expect(open.events.at(-1)).toEqual({ type: "agent_settled" });
  });

  it("during a run waits like steering, or like a follow-up", async () => {
    const open: OpenSession = await openSession({
      model: [
        whenAsked(
          () => open.session.sendCustomMessage({ ...note, content: "later" }, { deliverAs: "followUp" }),
          [...whenAsked(() => open.session.sendCustomMessage(note, { triggerTurn: true }), call("work", {}))],
        ),
        say("done"),
        say("and later"),
      ],
      tools: [tool("work")],
    });
    await open.session.prompt("go");
    open.model.verify();
    expect(roles(open)).toEqual(["user", "assistant", "toolResult", "custom", "assistant", "custom", "assistant"]);
    expect(open.session.messages[3]).toMatchObject({ content: "by the way" });
    expect(open.session.messages[5]).toMatchObject({ content: "later" });
    // Hosts are told of the user's own messages only.
    expect(open.events.filter(({ type }) => type === "queue_update")).not.toContainEqual(
      expect.objectContaining({ steering: ["by the way"] }),
    );
  });

  it("for the next turn rides with the next prompt, behind it, busy or not", async () => {
    const open: OpenSession = await openSession({
      model: [whenAsked(() => open.session.sendCustomMessage(note, { deliverAs: "nextTurn" }), say("one")), say("two")],
    });
    await open.session.prompt("first");
    expect([roles(open), open.session.queuedMessageCount]).toEqual([["user", "assistant"], 1]);
    await open.session.sendCustomMessage(
      { ...note, content: "and this" },
      { deliverAs: "nextTurn", triggerTurn: true },
    );
    expect([open.session.isStreaming, open.session.queuedMessageCount]).toEqual([false, 2]);
    await open.session.prompt("second");
    expect(roles(open)).toEqual(["user", "assistant", "user", "custom", "custom", "assistant"]);
    expect(open.session.queuedMessageCount).toBe(0);
  });

  it("that no model could read is refused", async () => {
    const { session } = await openSession();
    for (const bad of [
      { ...note, customType: "" },
      { ...note, content: undefined as never },
    ])
      await expect(session.sendCustomMessage(bad)).rejects.toThrow("A custom message needs a customType");
    expect(session.messages).toEqual([]);
  });
});

describe("a user message of a program's", () => {
  const image = { type: "image", data: "aWk=", mimeType: "image/png" } as const;

  it("is a prompt when idle, with its texts joined and its images", async () => {
    const open = await openSession({ model: [say("ok")] });
    await open.session.sendUserMessage([{ type: "text", text: "a" }, image, { type: "text", text: "b" }]);
    expect(open.session.messages[0]).toMatchObject({ role: "user", content: [{ text: "a\nb" }, image] });
  });

  it("during a run waits where it is told to, or is refused", async () => {
    const stalled = gate();
    const open = await openSession({ model: [[stalled.wait, ...say("one")], say("two"), say("three")] });
    const running = open.session.prompt("go");
    await stalled.reached;
    await expect(open.session.sendUserMessage("now")).rejects.toThrow("already processing");
    await open.session.sendUserMessage("later", { deliverAs: "followUp" });
    await open.session.sendUserMessage("sooner", { deliverAs: "steer" });
    stalled.open();
    await running;
    const said = open.session.messages.flatMap((message) => (message.role === "user" ? [message.content] : []));
    expect(said).toMatchObject([[{ text: "go" }], [{ text: "sooner" }], [{ text: "later" }]]);
  });
});

describe("steering and follow-ups when idle", () => {
  it("wait for the next prompt, unless they may start a run", async () => {
    const open = await openSession({ model: [say("one"), say("two")] });
    await open.session.steer("waits");
    expect([open.session.isStreaming, open.session.queuedMessageCount]).toEqual([false, 1]);
    open.session.clearQueue();
    await open.session.steer("starts", undefined, { startIfIdle: true });
    await open.session.followUp("so does this", undefined, { startIfIdle: true });
    expect(roles(open)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});

const eager = new Settings({ overrides: new Map([["todo.eager", true]] as const) });

const says = (pi: ExtensionAPI) =>
  pi.on("before_agent_start", () => ({ message: { customType: "said", content: "mind this", display: false } }));

describe("a prompt", () => {
  it("may choose the tool of its first model call, also when that has to be repeated", async () => {
    const failed = fail("reset", { failure: { kind: "network" } });
    const open = await openSession({ model: [failed, call("work", {}), say("ok")], tools: [tool("work")] });
    const running = open.session.prompt("go", { toolChoice: { type: "tool", name: "work" } });
    await expect.poll(() => open.events.at(-1)?.type).toBe("auto_retry_start");
    open.clock.advance(2000);
    await running;
    const forced = { type: "tool", name: "work" };
    expect(open.model.requests.map(({ options }) => options.toolChoice)).toEqual([forced, forced, undefined]);
  });

  it("leaves no choice behind for the next one", async () => {
    const stalled = gate();
    const open = await openSession({ model: [[stalled.wait], say("ok")], tools: [tool("work")] });
    const running = open.session.prompt("go", { toolChoice: "required" });
    await stalled.reached;
    await open.session.abort();
    await running;
    await open.session.prompt("again");
    expect(open.model.requests.map(({ options }) => options.toolChoice)).toEqual(["required", undefined]);
  });

  it("keeps its own choice when the one before it closes meanwhile", async () => {
    const open = await openSession({
      model: [call("work", {}), say("ok"), call("work", {}), say("ok")],
      tools: [tool("work")],
    });
    let second: Promise<void> | undefined;
    open.session.subscribe((event) => {
      if (event.type === "agent_end") second ??= open.session.prompt("again", { toolChoice: "required" });
    });
    await open.session.prompt("go", { toolChoice: "required" });
    await second;
    const choices = open.model.requests.map(({ options }) => options.toolChoice);
    expect(choices).toEqual(["required", undefined, "required", undefined]);
  });

  it("leaves none behind when it is stopped before it comes to a model call", async () => {
    const open = await openSession({ model: [say("ok")], tools: [tool("work")] });
    const running = open.session.prompt("go", { toolChoice: "required" });
    await open.session.abort();
    await running;
    await open.session.prompt("again");
    expect(open.model.requests.map(({ options }) => options.toolChoice)).toEqual([undefined]);
  });

  it.each([
    ["the file it mentions", "look at @a.txt", {}],
    ["the plan it was to begin with", "Port the parser", { settings: eager }],
    ["what a module had to say to it", "go", { extensions: [says] }],
  ])("leaves nothing behind when it is stopped before its run: %s", async (_what, text, session) => {
    const rules = gate();
    const loadRules = () => rules.wait().then(() => []);
    const open = await openSession({
      model: [say("ok")],
      files: { "a.txt": "aaa" },
      session: { ...session, loadRules },
    });
    const running = open.session.prompt(text);
    await rules.reached;
    const aborted = open.session.abort();
    rules.open();
    await Promise.all([aborted, running]);
    expect([open.session.queuedMessageCount, roles(open)]).toEqual([0, ["user"]]);
    expect(types(open)).toEqual(["agent_settled"]);
    await open.session.prompt("never mind?", { synthetic: true });
    expect(roles(open)).toEqual(["user", "user", ...("extensions" in session ? ["custom"] : []), "assistant"]);
  });

  it("is followed by what waited for it, then by its files, then by what modules say to it", async () => {
    const open = await openSession({
      model: [say("ok")],
      files: { "a.txt": "aaa" },
      session: { extensions: [says] },
    });
    await open.session.sendCustomMessage(note, { deliverAs: "nextTurn" });
    await open.session.prompt("look at @a.txt");
    expect(roles(open)).toEqual(["user", "custom", "fileMention", "custom", "assistant"]);
    expect(open.session.messages[1]).toMatchObject(note);
    expect(open.session.messages[3]).toMatchObject({ customType: "said" });
  });

  it("may be a program's own words", async () => {
    const open = await openSession({ model: [say("ok")] });
    await open.session.prompt("go", { synthetic: true });
    expect(open.session.messages[0]).toMatchObject({ role: "user", synthetic: true, attribution: "agent" });
  });
});

describe("active tools", () => {
  it("are all but the hidden ones, until they are chosen explicitly", async () => {
    const tools = [tool("a"), tool("b"), tool("h", { hidden: true })];
    const open = await openSession({ model: [say("ok"), say("ok")], tools, session: { toolNames: [] } });
    const { session } = open;
    expect([session.getActiveToolNames(), session.getAllToolNames()]).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    await session.prompt("go");
    session.setActiveToolsByName(["nope", "h", "b"]);
    expect([session.getActiveToolNames(), session.getAllToolNames()]).toEqual([["b"], ["a", "b"]]);
    expect(() => session.setForcedToolChoice("a")).toThrow('Tool "a" is not currently active.');
    await session.prompt("go");
    expect(open.model.requests.map(({ context }) => context.tools.map(({ name }) => name))).toEqual([
      ["a", "b"],
      ["b"],
    ]);
  });

  it("count from the next model call on, in the middle of a run, too", async () => {
    const open: OpenSession = await openSession({
      model: [call("a", {}), say("ok")],
      tools: [
        tool("a", {
          execute: async () => {
            open.session.setActiveToolsByName(["b"]);
            return textResult("switched");
          },
        }),
        tool("b"),
      ],
      session: { toolNames: [] },
    });
    await open.session.prompt("go");
    expect(open.model.requests[1]?.context.tools.map(({ name }) => name)).toEqual(["b"]);
  });
});

it("the state is the agent at one moment", async () => {
  const { session } = await openSession({ model: [say("ok")] });
  await session.prompt("go");
  const { state } = session;
  expect(state).toEqual({
    systemPrompt: session.systemPrompt,
    model: session.model,
    thinkingLevel: session.thinkingLevel,
    tools: session.tools,
    messages: session.messages,
    isStreaming: false,
  });
});

describe("a plan before the work", () => {
  const forced = { type: "tool", name: "todo_write" };
  const firstChoice = async (values: [SettingKey, unknown][], more: object = {}) => {
    const settings = new Settings({ overrides: new Map(values) });
    const open = await openSession({ model: [say("ok")], session: { settings } });
    await open.session.prompt("Port the parser", more);
    return open.model.requests[0]?.options.toolChoice;
  };

  it("is forced by the settings alone", async () => {
    expect(await firstChoice([["todo.eager", true]])).toEqual(forced);
    expect(await firstChoice([])).toBeUndefined();
    expect(
      await firstChoice([
        ["todo.eager", true],
        ["todo.enabled", false],
      ]),
    ).toBeUndefined();
  });

  it("is not made for synthetic prompts, or where the first tool is chosen", async () => {
    expect(await firstChoice([["todo.eager", true]], { synthetic: true })).toBeUndefined();
    expect(await firstChoice([["todo.eager", true]], { toolChoice: "none" })).toBe("none");
  });
});

it("sends no image that the settings hold back, though the session keeps it", async () => {
  const image = { type: "image" as const, data: "aW1hZ2U=", mimeType: "image/png" };
  const settings = new Settings({ overrides: new Map([["images.blockImages", true]] as const) });
  const open = await openSession({ model: [say("ok")], session: { settings } });
  await open.session.prompt("Look", { images: [image] });
  expect(JSON.stringify(open.model.requests[0]?.context.messages)).not.toContain("aW1hZ2U=");
  expect(open.session.messages[0]).toMatchObject({ content: [{ text: "Look" }, image] });
});
