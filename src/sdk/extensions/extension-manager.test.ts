// Custom tools and extensions in a session: who is loaded, what they can do in it, and that nobody runs untrusted.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createModuleHome, type ModuleHome, said } from "../../../test/kit/module-home.js";
import { Settings } from "../../config/settings/settings.js";
import type { ExtensionAPI } from "../../extensions/api/extension.js";
import type { ExtensionReport } from "../../session/session-extensions.js";
import { call, type ScriptStep, say } from "../../testing/scripted-model.js";
import type { CreateAgentSessionOptions } from "../create-agent-session.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const put: ModuleHome["put"] = (...args) => home.put(...args);
const open: ModuleHome["open"] = (...args) => home.open(...args);

/** Stages through a callback; written with TypeBox and with zod. */
const staging = (schema: string, imports = "") => `${imports}
export default (pi) => ({
  name: "headers", label: "Headers", description: "Previews headers for source files", deferrable: true,
  parameters: ${schema},
  async execute(toolCallId, { dir }) {
    pi.pushPendingAction({
      label: "Headers in " + dir, sourceToolName: "headers", details: { dir },
      apply: async (reason) => ({ content: [{ type: "text", text: "Added headers. " + reason }] }),
      reject: async (reason) => ({ content: [{ type: "text", text: "Left as it is. " + reason }] }),
    });
    return { content: [{ type: "text", text: "Staged." }] };
  },
});`;

describe("custom tools", () => {
  it.each([
    ["TypeBox", staging("Type.Object({ dir: Type.String() })", 'import { Type } from "@sinclair/typebox";')],
    ["zod", staging("pi.zod.object({ dir: pi.zod.string() })")],
  ])("of the user are called, and what they stage is resolved: %s", async (_name, text) => {
    put(".galley/agent/tools/headers.ts", text);
    const resolve = (action: string) => call("resolve", { action, reason: "Agreed." }, "call_2");
    for (const [action, outcome] of [
      ["apply", "Added headers. Agreed."],
      ["discard", "Left as it is. Agreed."],
    ] as const) {
      const { session, model, texts } = await open([call("headers", { dir: "src" }), resolve(action), say("Done.")]);
      await session.prompt("Go");
      expect(texts()).toEqual(["Staged.", outcome]);
      expect(model.requests[1]?.options).toMatchObject({ toolChoice: { type: "tool", name: "resolve" } });
      const result = session.messages.findLast((message) => message.role === "toolResult");
      expect(result).toMatchObject({
        details: { action, reason: "Agreed.", sourceToolName: "headers", label: "Headers in src" },
      });
      model.verify();
      await session.dispose();
    }
  });

  it("stage plans that galley writes, and callbacks that go stale with their files", async () => {
    put(
      ".galley/agent/tools/plan.ts",
      `const parameters = { type: "object", properties: {} };
      export default (pi) => [
        { name: "plan", description: "Plans", parameters, deferrable: true, async execute() {
          const id = await pi.pushPendingAction({ label: "Two files", plan: [
            { path: "a.txt", after: "new\\n" }, { path: "b.txt", after: "made\\n", mode: 0o600 } ],
            apply: (reason) => ({ content: [{ type: "text", text: "Both are written. " + reason }], details: { n: 2 } }) });
          return { content: [{ type: "text", text: id }] };
        } },
        { name: "rests", description: "Rests on a file", parameters, deferrable: true, async execute() {
          const apply = () => ({ content: [{ type: "text", text: "too late" }] });
          return { content: [{ type: "text", text: pi.pushPendingAction({ label: "Rests", files: ["a.txt"], apply }) }] };
        } },
        { name: "leaves", description: "Plans elsewhere", parameters, deferrable: true, async execute() {
          await pi.pushPendingAction({ label: "Away", plan: [{ path: "gone.txt", after: null }] });
        } },
      ];`,
    );
    const script = [call("plan", {}), call("rests", {}, "call_2"), call("leaves", {}, "call_3"), say("Staged.")];
    const { session, workspace, texts } = await open(script, {}, { "a.txt": "old\n" });
    await session.prompt("Go");
    expect(texts()).toEqual(["pa_1", "pa_2", "The plan deletes gone.txt, which does not exist."]);
    expect(session.pendingActions).toMatchObject([{ id: "pa_2" }, { id: "pa_1", files: [{ path: "a.txt" }, {}] }]);
    const read = async (path: string) =>
      Buffer.from((await workspace.readFile(await workspace.resolve(path, "read"))).bytes).toString();
    const apply = (pendingId: string) =>
      session.resolvePendingAction({ action: "apply", reason: "Yes.", by: "host", pendingId });
    expect(await apply("pa_1")).toMatchObject({
      text: expect.stringMatching(/^Both are written\. Yes\.$/m),
      details: { sourceResultDetails: { n: 2, changeId: expect.stringMatching(/^ch_/) } },
    });
    expect([await read("a.txt"), await read("b.txt")]).toEqual(["new\n", "made\n"]);
    await expect(apply("pa_2")).rejects.toThrow(/changed/); // by the first
    await session.dispose();
  });

  it("are offered the word on what they may stage, whether they say so or not", async () => {
    put(".galley/agent/tools/plain.ts", said("plain", "Here."));
    const { session, model } = await open([say("Done.")], { toolNames: ["read"] });
    await session.prompt("Go");
    expect(model.requests[0]?.context.tools?.map(({ name }) => name)).toEqual(["read", "plain", "resolve"]);
    await session.dispose();
  });

  it("hear of the start and the end, and see the session", async () => {
    put(
      ".galley/agent/tools/ears.ts",
      `globalThis.heard = [];
      export default (pi) => ({
        name: "ears", description: "Listens", parameters: pi.zod.object({}),
        execute: async (id, params, onUpdate, ctx) => ({ content: [{ type: "text", text: JSON.stringify([
          ctx.isIdle(), ctx.model.id, ctx.sessionManager.getEntries().length > 0, ctx.pending.hasPending, ctx.hasUI,
          ctx.settings.get("steeringMode"), await pi.ui.confirm("Sure?", "") ]) }] }),
        onSession(event) { globalThis.heard.push(event.reason); if (event.reason === "start") throw new Error("loud"); },
      });`,
    );
    const { session, texts, lines } = await open([call("ears", {}), say("Done.")]);
    await session.prompt("Go");
    expect(JSON.parse(texts()[0] ?? "")).toEqual([false, "script", true, false, false, "one-at-a-time", false]);
    await session.newSession();
    await session.dispose();
    expect((globalThis as { heard?: string[] }).heard).toEqual(["start", "switch", "shutdown"]);
    expect(lines.join("")).toContain('Custom tool onSession error {"tool":"ears","error":"loud"}');
  });

  it("that fail, or want a name that is taken, are told, and the others load", async () => {
    put(".galley/agent/tools/a-none.ts", "export const x = 1;");
    put(".galley/agent/tools/b-throws.ts", 'throw new Error("broken");');
    put(".galley/agent/tools/c-read.ts", said("read", "mine"));
    put(".galley/agent/tools/d-exit.ts", "process.exit(0);");
    put("elsewhere/good.ts", said("good", "Good."));
    const { session, lines } = await open([], {
      additionalToolPaths: ["../elsewhere/good.ts", "../elsewhere/nope.ts"],
    });
    expect(session.getAllToolNames()).toContain("good");
    const told = lines.join("");
    for (const sentence of [
      "a-none.ts: Tool must export a default function",
      "b-throws.ts: Failed to load tool: broken",
      'c-read.ts: Tool name "read" conflicts with existing tool',
      "d-exit.ts: ",
      "nope.ts: No such file or directory",
    ])
      expect(told).toContain(sentence);
    await session.dispose();
  });
});

describe("trust", () => {
  const marker = () => join(home.base, "ran");
  const put1 = (more = "") =>
    put(
      "project/.galley/tools/own.ts",
      `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(marker())}, "");\n${more}${said("own", "x")}`,
    );

  it("is no without a word: nothing of the project runs", async () => {
    put1();
    put("project/.galley/extensions/e.ts", `require("node:fs").writeFileSync(${JSON.stringify(marker())}, "");`);
    const { session, lines } = await open([]);
    expect(session.getAllToolNames()).not.toContain("own");
    expect(existsSync(marker())).toBe(false);
    expect(lines).toEqual(["galley: 1 tool and 1 extension of this project are not trusted: galley trust\n"]);
    await session.dispose();
  });

  it("is yes for one session by its option, and leaves nothing behind", async () => {
    put1();
    const { session } = await open([], { trustProject: true });
    expect(session.getAllToolNames()).toContain("own");
    await session.dispose();
    expect(existsSync(join(home.base, ".galley/trust.json"))).toBe(false);
  });

  it("is what an extension of the user's says, kept for these very files", async () => {
    put1();
    const say = (trusted: string) => (pi: ExtensionAPI) =>
      pi.on("project_trust", () => ({ trusted, remember: true }) as never);
    await (await open([], { extensions: [say("yes")] })).session.dispose();
    const { session } = await open([]);
    expect(session.getAllToolNames()).toContain("own");
    await session.dispose();
    put1("// changed\n");
    const after = await open([]);
    expect(after.session.getAllToolNames()).not.toContain("own");
    await after.session.dispose();
  });

  it("is asked again only about the module that was edited, and about those that import it", async () => {
    put("project/.galley/lib/shared.ts", "export const word = 1;");
    put("project/.galley/tools/a.ts", `import "../lib/shared";\n${said("a", "A")}`);
    put("project/.galley/tools/b.ts", said("b", "B"));
    put("project/.galley/tools/c.ts", `import "../lib/shared";\n${said("c", "C")}`);
    put("project/.galley/extensions/e.ts", "export default () => {};");
    const yes = (pi: ExtensionAPI) => pi.on("project_trust", () => ({ trusted: "yes", remember: true }) as never);
    await (await open([], { extensions: [yes] })).session.dispose();
    const loadAgain = async () => {
      const { session, lines } = await open([]);
      const own = session.getAllToolNames().filter((name) => /^[abc]$/.test(name));
      await session.dispose();
      return { own: own.join(""), lines };
    };
    expect(await loadAgain()).toEqual({ own: "abc", lines: [] });
    put("project/.galley/tools/b.ts", said("b", "another B"));
    expect(await loadAgain()).toEqual({
      own: "ac",
      lines: ["galley: 1 tool of this project is not trusted: galley trust\n"],
    });
    put("project/.galley/tools/b.ts", said("b", "B"));
    put("project/.galley/lib/shared.ts", "export const word = 2;");
    expect(await loadAgain()).toEqual({
      own: "b",
      lines: ["galley: 2 tools of this project are not trusted: galley trust\n"],
    });
    put("project/.galley/lib/shared.ts", "export const word = 1;");
    rmSync(join(home.base, "project/.galley/tools/c.ts"));
    expect(await loadAgain()).toEqual({ own: "ab", lines: [] });
  });

  it("shows in its question only what is new", async () => {
    put("project/.galley/tools/a.ts", said("a", "A"));
    put("project/.galley/tools/b.ts", said("b", "B"));
    const questions: string[] = [];
    const ui = {
      confirm: async (title: string, message: string) => {
        questions.push(`${title}\n${message}`);
        return true;
      },
    };
    const first = await open([], { ui });
    await vi.waitFor(() => expect(first.session.getAllToolNames()).toContain("b"));
    await first.session.dispose();
    put("project/.galley/tools/b.ts", said("b", "another B"));
    const second = await open([], { ui });
    expect(second.session.getAllToolNames()).toContain("a");
    await vi.waitFor(() => expect(second.session.getAllToolNames()).toContain("b"));
    await second.session.dispose();
    expect(
      questions[1]
        ?.replace(/20\d\d-\S+Z/, "DATE")
        .split("\n")
        .slice(1),
    ).toEqual([
      "Since it was trusted on DATE:",
      "  changed .galley/tools/b.ts",
      "Tools it would load:",
      "  .galley/tools/b.ts",
      "Already trusted and unchanged: 1.",
    ]);
  });

  it("is no where the user's settings say so", async () => {
    put1();
    const settings = new Settings();
    settings.override("security.projectModules", "deny");
    const { session } = await open([], { settings });
    expect(session.getAllToolNames()).not.toContain("own");
    await session.dispose();
  });
});

describe("extensions", () => {
  const withExtension = (model: readonly ScriptStep[], ...extensions: ((pi: ExtensionAPI) => void)[]) =>
    open(model, { extensions }, { "a.txt": "hello\n" });

  it("revise, refuse and rewrite tool calls", async () => {
    const { session, texts } = await withExtension(
      [call("read", { path: "b.txt" }), call("bash", { command: "rm" }, "call_2"), say("Done.")],
      (pi) => {
        pi.on("tool_call", ({ toolName, input }) => {
          if (toolName === "bash") return { block: true, reason: "Not here." };
          return { input: { ...input, path: "a.txt" } };
        });
        pi.on("tool_result", () => ({ content: [{ type: "text", text: "rewritten" }] }));
      },
    );
    await session.prompt("Go");
    expect(texts()).toEqual(["rewritten", "Not here."]);
    await session.dispose();
  });

  it("bring tools, also later and in the place of built-in ones, and switch them", async () => {
    const tool = (name: string, text: string, more = {}) => ({
      ...{ name, description: "Says it", parameters: { type: "object", properties: {} }, ...more },
      execute: async () => ({ content: [{ type: "text" as const, text }] }),
    });
    const { session, texts, lines } = await withExtension(
      [call("read", {}), call("late", {}, "call_2"), say("Done.")],
      (pi) => {
        pi.registerTool(tool("read", "instead"));
        pi.registerTool(tool("shy", "…", { defaultInactive: true }));
        pi.on("tool_execution_end", () => pi.registerTool(tool("late", "later")));
      },
    );
    expect(session.getAllToolNames()).toContain("shy");
    expect(session.getActiveToolNames()).not.toContain("shy");
    await session.prompt("Go");
    expect(texts()).toEqual(["instead", "later"]);
    expect(lines.join("")).toContain('replaces the tool "read"');
    await session.dispose();
  });

  it("cannot have the word on previews; of what else they replace is told, also of what is hidden or comes later", async () => {
    const tool = (name: string) => ({
      ...{ name, description: "Says it", parameters: { type: "object", properties: {} } },
      execute: async () => ({ content: [{ type: "text" as const, text: `my ${name}` }] }),
    });
    const reports: unknown[] = [];
    const apply = { action: "apply", reason: "r" };
    const { session, texts, lines } = await withExtension(
      [call("resolve", apply), call("undo", {}, "call_2"), say("Done.")],
      (pi) => {
        for (const name of ["resolve", "undo"]) pi.registerTool(tool(name));
        pi.on("tool_execution_end", ({ toolName }) => toolName === "undo" && pi.registerTool(tool("grep")));
        pi.registerCommand("again", { handler: () => pi.registerTool(tool("resolve")) });
      },
    );
    session.onReport((report) => reports.push(report));
    await session.prompt("Go");
    expect(texts()).toEqual(["No pending action to resolve. Nothing to apply or discard.", "my undo"]);
    await session.prompt("/again");
    expect(session.getAllToolNames()).not.toContain("resolve");
    const conflict = 'Tool name "resolve" conflicts with existing tool';
    expect(lines.filter((line) => line.includes(conflict))).toHaveLength(2);
    expect(reports).toMatchObject([{ type: "extension_error", event: "registerTool", error: conflict }]);
    for (const name of ["undo", "grep"])
      expect(lines.filter((line) => line.includes(`replaces the tool "${name}"`))).toHaveLength(1);
    await session.dispose();
  });

  it("hear prompts first: commands, changed words, a system prompt for one run, prompts that are dealt with", async () => {
    const ran: string[] = [];
    const { session, model } = await withExtension([say("One."), say("Two.")], (pi) => {
      pi.registerCommand("greet", { description: "Greets", handler: (args) => void ran.push(args) });
      pi.on("input", ({ text }) => (text === "ping" ? { handled: true } : { text: `${text}!` }));
      pi.on("before_agent_start", ({ prompt, systemPrompt }) => {
        if (prompt !== "Go!") return undefined;
        return {
          systemPrompt: `${systemPrompt} Be kind.`,
          message: { customType: "w", content: "It rains.", display: false },
        };
      });
    });
    expect(session.getCommands()).toMatchObject([{ name: "greet", source: "extension" }]);
    let accepted = 0;
    const onAccepted = () => void accepted++;
    await session.prompt("/greet Ada", { onAccepted });
    await session.prompt("ping", { onAccepted });
    expect([ran, accepted, model.requests.length]).toEqual([["Ada"], 1, 0]);
    await session.prompt("Go", { onAccepted });
    await session.prompt("On", { onAccepted });
    expect(accepted).toBe(3);
    const [first, second] = model.requests.map(({ context }) => context);
    expect(JSON.stringify(first?.messages)).toMatch(/Go!.*It rains\./);
    expect(first?.systemPrompt).toMatch(/Be kind\.$/);
    expect(second?.systemPrompt).not.toContain("Be kind.");
    await session.dispose();
  });

  it("prevent a new session, run a command of the user's, act, and are told of the end", async () => {
    const heard: string[] = [];
    const { session } = await withExtension([say("One.")], (pi) => {
      pi.on("session_start", ({ reason }) => void heard.push(`start ${reason}`));
      pi.on("session_before_switch", ({ reason }) => ({ cancel: reason === "new" }));
      pi.on("session_before_branch", () => ({ cancel: true }));
      pi.on("user_bash", ({ command, excludeFromContext }) => ({
        result: { output: `${command} ${excludeFromContext}` },
      }));
      pi.on("agent_end", (_event, ctx) => {
        pi.appendEntry("note", { idle: ctx.isIdle(), mode: ctx.mode, trusted: ctx.isProjectTrusted() });
        pi.setSessionName("Named");
      });
      pi.on("session_shutdown", () => void heard.push("shutdown"));
    });
    const { sessionId } = session;
    await session.prompt("Go");
    expect(await session.newSession()).toBe(false);
    expect(await session.branch(session.getUserMessagesForBranching()[0]?.entryId ?? "")).toMatchObject({
      cancelled: true,
    });
    expect(session.sessionId).toBe(sessionId);
    expect(await session.executeBash("uptime", undefined, { excludeFromContext: true })).toMatchObject({
      output: "uptime true",
    });
    expect(session.sessionName).toBe("Named");
    expect(session.sessionManager.tree.entries.find((entry) => entry.type === "custom")).toMatchObject({
      data: { idle: false, mode: "print", trusted: false },
    });
    await session.dispose();
    expect(heard).toEqual(["start startup", "shutdown"]);
  });

  it("that fail are reported, and the session goes on", async () => {
    const { session, lines } = await withExtension([say("One."), say("Two.")], (pi) => {
      pi.on("agent_end", () => {
        throw new Error("no disk");
      });
      pi.on("no_such_event", () => {});
    });
    const reports: ExtensionReport[] = [];
    session.onReport((report) => void reports.push(report));
    await session.prompt("Go");
    await session.prompt("On");
    const failure = { type: "extension_error", extensionPath: "<inline:1>", event: "agent_end", error: "no disk" };
    expect(reports).toEqual([failure, failure]);
    expect(lines.join("")).toContain("<inline:1> agent_end: no disk");
    await session.dispose();
  });

  it("that lie around are left out by disableExtensionDiscovery, those that are named are not", async () => {
    const module = (name: string) => `export default (pi) => pi.registerCommand("${name}", { handler() {} });`;
    put(".galley/agent/extensions/found.ts", module("found"));
    put("elsewhere/named.ts", module("named"));
    const names = async (options: CreateAgentSessionOptions) => {
      const { session } = await open([], { additionalExtensionPaths: ["../elsewhere/named.ts"], ...options });
      const commands = session.getCommands().map(({ name }) => name);
      await session.dispose();
      return commands.sort();
    };
    expect(await names({})).toEqual(["found", "named"]);
    expect(await names({ disableExtensionDiscovery: true })).toEqual(["named"]);
  });

  it("come with a plugin that is named, and not where the settings switch them off", async () => {
    put("plugin/package.json", JSON.stringify({ name: "p", galley: { extensions: ["e.ts"], tools: "t.ts" } }));
    put("plugin/e.ts", `export default (pi) => pi.registerCommand("plugged", { handler() {} });`);
    put("plugin/t.ts", said("plugged_tool", "x"));
    put(".galley/agent/extensions/off.ts", `export default (pi) => pi.registerCommand("off", { handler() {} });`);
    const settings = new Settings();
    settings.override("disabledExtensions", ["extension-module:off"]);
    const { session } = await open([], { pluginDirectories: ["../plugin"], settings });
    expect(session.getCommands().map(({ name }) => name)).toEqual(["plugged"]);
    expect(session.getAllToolNames()).toContain("plugged_tool");
    await session.dispose();
  });

  it("read their flags from the command line before the session starts, or are not started", async () => {
    const seen: unknown[] = [];
    const extension = (pi: ExtensionAPI) => {
      pi.registerFlag("loud", { type: "boolean", default: false });
      pi.registerFlag("word", { type: "string" });
      pi.on("session_start", () => void seen.push([pi.getFlag("loud"), pi.getFlag("word"), pi.getFlag("other")]));
    };
    const asked: string[][] = [];
    const values = new Map<string, boolean | string>([["word", "hm"]]);
    const resolveFlags = (flags: ReadonlyMap<string, unknown>) => {
      asked.push([...flags.keys()]);
      return values;
    };
    const { session } = await open([], { extensions: [extension], resolveFlags });
    await session.reloadModules();
    await session.dispose();
    expect(seen).toEqual([
      [false, "hm", undefined],
      [false, "hm", undefined],
    ]);
    const refused = await open([], { extensions: [extension], resolveFlags: () => undefined });
    await refused.session.dispose();
    expect(seen).toHaveLength(2);
    await (await open([], { resolveFlags })).session.dispose(); // nobody is there who could have one
    expect(asked).toEqual([["loud", "word"], ["loud", "word"], []]);
  });

  it("say something of their tools in the system prompt, while they are active", async () => {
    const { session } = await withExtension([], (pi) =>
      pi.registerTool({
        ...{ name: "dice", description: "Rolls", parameters: { type: "object", properties: {} } },
        ...{ promptSnippet: "rolls a dice\n(six sides)", promptGuidelines: ["Use dice when it does not matter."] },
        execute: async () => ({ content: [] }),
      }),
    );
    expect(session.systemPrompt).toContain("\n- Use dice when it does not matter.\n");
    expect(session.systemPrompt).toMatch(/^Tools: .*dice\n- dice: rolls a dice \(six sides\)$/m);
    session.setActiveToolsByName(["read"]);
    expect(session.systemPrompt).not.toContain("dice");
    await session.dispose();
  });

  it("are asked before a session is copied, and told of it", async () => {
    const heard: unknown[] = [];
    let cancel = true;
    const { session } = await open([say("One.")], {
      persist: true,
      extensions: [
        (pi) => {
          pi.on("session_before_switch", ({ reason }) => {
            heard.push(reason);
            return { cancel };
          });
          pi.on("session_switch", ({ reason, previousSessionFile }) => void heard.push([reason, previousSessionFile]));
        },
      ],
    });
    await session.prompt("Go");
    const { sessionFile } = session;
    expect(await session.fork()).toBe(false);
    expect(session.sessionFile).toBe(sessionFile);
    cancel = false;
    expect(await session.fork()).toBe(true);
    expect(session.sessionFile).not.toBe(sessionFile);
    expect(heard).toEqual(["fork", "fork", ["fork", sessionFile]]);
    await session.dispose();
  });
});
