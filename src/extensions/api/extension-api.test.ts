// What `pi` and `ctx` give an extension, and when.

import { describe, expect, it } from "vitest";
import { type Extensions, openExtensions, quiet } from "../../../test/kit/extension-modules.js";
import { GalleyError } from "../../base/errors.js";
import type { LiveUI } from "./custom-tool-ui.js";
import type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "./extension.js";
import type { ExtensionCommandContext, ExtensionContext } from "./extension-context.js";

const sessionStart = { type: "session_start" as const, reason: "startup" as const };

/** Does something as an extension would, once there is a session. */
async function acting(
  action: (pi: ExtensionAPI, ctx: ExtensionContext, live: LiveUI) => unknown,
  more: Parameters<typeof openExtensions>[1] = {},
) {
  let outcome: unknown;
  const factory: ExtensionFactory = (pi) =>
    pi.on("session_start", async (_event, ctx) => {
      outcome = await action(pi, ctx, opened.live);
    });
  const opened: Extensions = await openExtensions([factory], more);
  await opened.runner.emit(sessionStart);
  await quiet();
  return { ...opened, told: opened.told, outcome };
}

describe("actions", () => {
  it.each<[string, (pi: ExtensionAPI) => unknown]>([
    ["sendMessage", (pi) => pi.sendMessage({ customType: "x", content: "y", display: true })],
    ["sendUserMessage", (pi) => pi.sendUserMessage("hello")],
    ["appendEntry", (pi) => pi.appendEntry("x")],
    ["getActiveTools", (pi) => pi.getActiveTools()],
    ["setLabel of an entry", (pi) => pi.setLabel("e1", "here")],
    ["setModel", (pi) => pi.setModel({ provider: "acme", id: "m" })],
  ])("are refused while extensions load: %s", async (_name, action) => {
    let name: unknown;
    const { errors } = await openExtensions([
      async (pi) => {
        try {
          await action(pi);
        } catch (error) {
          name = (error as Error).name;
          throw error;
        }
      },
    ]);
    expect(name).toBe("ExtensionRuntimeNotInitializedError");
    expect(errors).toEqual([
      {
        path: "ext1",
        error:
          "Failed to load extension: Extension runtime not initialized. Action methods cannot be called during extension loading.",
        isGuard: true,
      },
    ]);
  });

  it("reach the session", async () => {
    const { asked, told, outcome } = await acting(async (pi) => {
      pi.sendMessage({ customType: "n", content: "c", display: false }, { triggerTurn: true, deliverAs: "followUp" });
      pi.sendUserMessage("go", { deliverAs: "steer" });
      pi.setActiveTools(["read"]);
      pi.setSessionName("mine");
      pi.setLabel("e1", "here");
      pi.setThinkingLevel("high");
      return [
        pi.getActiveTools(),
        pi.getAllTools().map(({ name }) => name),
        pi.getSessionName(),
        pi.getThinkingLevel(),
        await pi.setModel({ provider: "acme", id: "m" }),
      ];
    });
    expect(told).toEqual([]);
    expect(asked).toEqual([
      'sendMessage({"customType":"n","content":"c","display":false}, {"triggerTurn":true,"deliverAs":"followUp"})',
      'sendUserMessage("go", {"deliverAs":"steer"})',
      'setActiveTools(["read"])',
      'setSessionName("mine")',
      'setLabel("e1", "here")',
      'setThinkingLevel("high")',
      'setModel("acme", "m")',
    ]);
    expect(outcome).toEqual([["read"], ["read"], "a session", "low", true]);
  });

  it("a refused message is reported and affects nothing else", async () => {
    const { sendFailures, told } = await acting(
      (pi) => {
        pi.sendMessage({ customType: "", content: "c", display: false });
        pi.sendUserMessage("go");
      },
      {
        host: {
          sendMessage: () => {
            throw new Error("no type");
          },
          sendUserMessage: () => Promise.reject(new Error("busy")),
        },
      },
    );
    expect(sendFailures).toEqual([
      { command: "extension_send", error: "no type" },
      { command: "extension_send_user", error: "busy" },
    ]);
    expect(told).toEqual([]);
  });

  it("an entry is kept as it was, whatever becomes of the object", async () => {
    const data: Record<string, unknown> = { n: 1, at: new Date(0), no: () => {} };
    const entries: unknown[] = [];
    await acting((pi) => pi.appendEntry("state", data), {
      host: { appendEntry: (...args) => void entries.push(args) },
    });
    data.n = 2;
    expect(entries).toEqual([["state", { n: 1, at: "1970-01-01T00:00:00.000Z" }]]);
  });

  it.each(["model_not_found", "no_credential"] as const)("setModel answers %s with false", async (code) => {
    const setModel = () => {
      throw new GalleyError(code, "no");
    };
    expect((await acting((pi) => pi.setModel({ provider: "a", id: "b" }), { host: { setModel } })).outcome).toBe(false);
  });

  it("setLabel with one argument names the extension", async () => {
    const { runner, asked } = await openExtensions([(pi) => pi.setLabel("My guard")], { isUnbound: true });
    expect(runner.registry.extensions.map(({ label }) => label)).toEqual(["My guard"]);
    expect(asked).toEqual([]);
  });
});

describe("ctx", () => {
  it("asks the session at the moment of use", async () => {
    let mode = "rpc";
    let kept: ExtensionContext | undefined;
    const { runner, host } = await openExtensions([
      (pi) =>
        pi.on("session_start", (_event, ctx) => {
          kept = ctx;
        }),
    ]);
    runner.initialize(Object.defineProperty({ ...host, isProjectTrusted: () => true }, "mode", { get: () => mode }));
    await runner.emit(sessionStart);
    expect([kept?.mode, kept?.isProjectTrusted(), kept?.getSystemPrompt(), kept?.isIdle()]).toEqual([
      "rpc",
      true,
      "be brief",
      true,
    ]);
    mode = "print";
    expect(kept?.mode).toBe("print");
    expect(kept?.sessionManager.getBranch()).toEqual([]);
    expect(kept?.cwd).toBe("/project");
  });

  it("returns the current UI; an unknown method is not there", async () => {
    const notes: unknown[] = [];
    const { told, outcome } = await acting(async (_pi, ctx, live) => {
      (ctx.ui as { sparkle?(): void }).sparkle?.();
      ctx.ui.notify("before");
      live.set({ notify: (text) => void notes.push(text) }, true);
      ctx.ui.notify("after");
      return [ctx.hasUI, await ctx.ui.custom(() => {}), ctx.ui.setTheme("dark")];
    });
    expect(told).toEqual([]);
    expect(notes).toEqual(["after"]);
    expect(outcome).toEqual([true, undefined, { success: false, error: "UI not available" }]);
  });

  it("compact calls back at its end, or can be awaited", async () => {
    const heard: unknown[] = [];
    const compact = async (instructions?: string) => {
      if (instructions === "fail") throw new Error("too small");
      return { summary: instructions };
    };
    const { told } = await acting(
      async (_pi, ctx) => {
        const onComplete = (result: unknown) => void heard.push(result);
        const onError = (error: Error) => void heard.push(error.message);
        await ctx.compact({ customInstructions: "short", onComplete, onError });
        await ctx.compact({ customInstructions: "fail", onComplete, onError });
        void ctx.compact("fail"); // nobody waits, nobody is surprised
        await ctx.compact("fail").catch((error: Error) => heard.push(`waited: ${error.message}`));
      },
      { host: { compact } },
    );
    expect(heard).toEqual([{ summary: "short" }, "too small", "waited: too small"]);
    expect(told).toEqual([]);
  });
});

it("ends listening with the function that `on` returned, and nothing else with it", async () => {
  const heard: string[] = [];
  const { runner } = await openExtensions([
    (pi) => {
      const end = pi.on("agent_start", () => void heard.push("one"));
      pi.on("agent_start", () => {
        heard.push("two");
        end();
      });
    },
  ]);
  for (let times = 0; times < 2; times++) await runner.emit({ type: "agent_start" });
  expect(heard).toEqual(["one", "two", "two"]);
});

describe("commands", () => {
  it("run with what follows their name, and can do what events cannot", async () => {
    const seen: unknown[] = [];
    const { runner, asked } = await openExtensions([
      (pi) =>
        pi.registerCommand("deploy", {
          description: "Deploys",
          async handler(args: string, ctx: ExtensionCommandContext) {
            seen.push(args, ctx.hasUI, ctx.mode);
            await ctx.waitForIdle();
            seen.push(await ctx.newSession());
            await ctx.switchSession("/s.jsonl");
            await ctx.fork("e1");
            await ctx.branch("e2");
            await ctx.navigateTree("e3", { summarize: true });
            await ctx.reload();
          },
        }),
    ]);
    expect(await runner.runCommand("/deploy to  staging\nnow")).toBe(true);
    expect(seen).toEqual(["to  staging\nnow", false, "rpc", { cancelled: false }]);
    expect(asked).toEqual([
      "waitForIdle()",
      "newSession({})",
      'switchSession("/s.jsonl")',
      'branch("e1")',
      'branch("e2")',
      'navigateTree("e3", {"summarize":true})',
      "reload()",
    ]);
    expect(runner.commands()).toEqual([
      {
        name: "deploy",
        description: "Deploys",
        source: "extension",
        sourceInfo: { path: "ext1", source: "inline", scope: "temporary", origin: "top-level" },
      },
    ]);
    expect([runner.commandIn("/deploy"), runner.commandIn("/deplo"), runner.commandIn("deploy")]).toEqual([
      "deploy",
      undefined,
      undefined,
    ]);
    expect(await runner.runCommand("/unknown")).toBe(false);
  });

  it("the last registration wins, those of galley stay", async () => {
    const ran: string[] = [];
    const registers =
      (name: string, word: string): ExtensionFactory =>
      (pi) =>
        pi.registerCommand(name, { handler: () => void ran.push(word) });
    const opened = await openExtensions([registers("x", "one"), registers("x", "two"), registers("model", "three")]);
    await opened.runner.runCommand("/x");
    expect(await opened.runner.runCommand("/model")).toBe(false);
    expect(ran).toEqual(["two"]);
    expect(opened.warnings).toEqual([
      "Extension command 'model' from ext3 conflicts with built-in commands. Skipping.",
      'ext1: the command "x" of ext2 replaces this one',
    ]);
  });

  it("one that throws is reported as a command's failure", async () => {
    const { runner, failures } = await openExtensions([
      (pi) => pi.registerCommand("x", { handler: () => Promise.reject(new Error("no")) }),
    ]);
    expect(await runner.runCommand("/x")).toBe(true);
    expect(failures).toMatchObject([{ extensionPath: "command:x", event: "command", error: "no" }]);
  });
});

describe("flags, shortcuts, renderers", () => {
  it("a flag has its default until the command line says something", async () => {
    let read = (): unknown => undefined;
    const { runner } = await openExtensions([
      (pi) => {
        pi.registerFlag("plan", { type: "boolean", default: false, description: "Plan only" });
        read = () => [pi.getFlag("plan"), pi.getFlag("other")];
      },
      (pi) => pi.registerFlag("other", { type: "string" }),
    ]);
    expect(read()).toEqual([false, undefined]);
    runner.flagValues.set("plan", true).set("other", "x");
    expect(read()).toEqual([true, undefined]);
    expect([...runner.flags()].map(([name, { type }]) => `${name} ${type}`)).toEqual(["plan boolean", "other string"]);
  });

  it("a shortcut runs; one that belongs to the terminal is left to it", async () => {
    const ran: string[] = [];
    const opened = await openExtensions([
      (pi) => {
        pi.registerShortcut("Ctrl+X", { handler: () => void ran.push("x") });
        pi.registerShortcut("ctrl+c", { handler: () => void ran.push("c") });
        pi.registerShortcut("ctrl+y", { handler: () => Promise.reject(new Error("no")) });
      },
    ]);
    expect(["ctrl+x", "ctrl+c", "ctrl+y"].map((key) => opened.runner.runShortcut(key))).toEqual([true, false, true]);
    await quiet();
    expect(ran).toEqual(["x"]);
    expect(opened.told).toEqual(["ext1 shortcut: no"]);
    expect(opened.warnings).toEqual(["Extension shortcut 'ctrl+c' from ext1 is reserved. Skipping."]);
  });

  it("a renderer of messages is found by their type", async () => {
    const renderer = () => undefined;
    const { runner } = await openExtensions([(pi) => pi.registerMessageRenderer("notes", renderer)]);
    expect(runner.registry.messageRenderer("notes")).toBe(renderer);
    expect(runner.registry.messageRenderer("others")).toBeUndefined();
  });

  it.each<[string, (pi: ExtensionAPI) => unknown, string]>([
    ["a handler", (pi) => pi.on("turn_start", 7 as never), 'The handler of "turn_start" is not a function'],
    ["a flag", (pi) => pi.registerFlag("a", { type: "number" as never }), 'Flag "a" needs a name and a type'],
    [
      "a default",
      (pi) => pi.registerFlag("a", { type: "string", default: true }),
      'The default of flag "a" is not a string',
    ],
    [
      "a tool",
      (pi) => pi.registerTool({ name: "a" } as never),
      "registerTool was given an invalid tool: expected object with string name, string description, parameters, and execute function",
    ],
  ])("what cannot be used is refused at once: %s", async (_title, register, sentence) => {
    const { errors } = await openExtensions([(pi) => void register(pi)]);
    expect(errors).toEqual([{ path: "ext1", error: `Failed to load extension: ${sentence}`, isGuard: true }]);
  });
});

describe("what is probably a mistake is a warning", () => {
  const tool = {
    name: "t",
    description: "Does it",
    parameters: { type: "object" },
    execute: async () => ({}) as never,
  };

  it.each<[string, (pi: ExtensionAPI) => unknown, string[]]>([
    [
      "a misspelt event",
      (pi) => pi.on("tool_cal", () => {}),
      ['ext1: there is no event "tool_cal", so its handler is never called; did you mean "tool_call"?'],
    ],
    [
      "an event of another program",
      (pi) => pi.on("cache_warming_decision", () => {}),
      ['ext1: there is no event "cache_warming_decision", so its handler is never called'],
    ],
    ["other names of events are known", (pi) => pi.on("session_before_fork", () => {}), []],
    [
      "a misspelt member of a tool",
      (pi) => pi.registerTool({ ...tool, aproval: "read" } as never),
      ['ext1: tool "t" has an unknown member "aproval"; did you mean "approval"?'],
    ],
    ["a member that no tool has", (pi) => pi.registerTool({ ...tool, colour: "red" } as never), []],
    [
      "what an instance of a class holds",
      (pi) => pi.registerTool(Object.assign(new (class {})(), tool, { colour: 1 })),
      [],
    ],
    [
      "the same tool and the same command twice",
      (pi) => {
        for (let times = 0; times < 2; times++) {
          pi.registerTool({ ...tool });
          pi.registerCommand("c", { handler() {} });
        }
      },
      [
        'ext1 registers the tool "t" twice; the last one counts',
        'ext1 registers the command "c" twice; the last one counts',
      ],
    ],
  ])("%s", async (_title, register, sentences) => {
    const { warnings, errors } = await openExtensions([(pi) => void register(pi)]);
    expect([errors, warnings]).toEqual([[], sentences]);
  });

  it("but not what an extension replaces on purpose, while it runs", async () => {
    const { warnings } = await acting((pi) => {
      pi.registerTool({ ...tool });
      pi.registerTool({ ...tool });
    });
    expect(warnings).toEqual([]);
  });
});

describe("the event bus", () => {
  it("reaches the others at once, in order, and also while loading", async () => {
    const heard: string[] = [];
    let leave = () => {};
    let emit = (_data: unknown): void => {};
    await openExtensions([
      (pi) => {
        leave = pi.events.on("greet", (data) => void heard.push(`one ${data}`));
        emit = (data) => pi.events.emit("greet", data);
      },
      (pi) => {
        pi.events.on("greet", (data) => void heard.push(`two ${data}`));
        pi.events.emit("greet", "early");
        pi.events.emit("nobody listens");
      },
    ]);
    expect(heard).toEqual(["one early", "two early"]);
    leave();
    emit("again");
    expect(heard).toEqual(["one early", "two early", "two again"]);
  });

  it("a listener that fails is reported as its extension's failure", async () => {
    const opened = await openExtensions([
      (pi) => {
        pi.events.on("x", () => {
          throw new Error("deaf");
        });
        pi.events.on("x", () => Promise.reject(new Error("mute")) as never);
      },
      (pi) => pi.events.emit("x"),
    ]);
    await quiet();
    expect(opened.told).toEqual(["ext1 events:x: deaf", "ext1 events:x: mute"]);
  });
});

describe("tools", () => {
  const definition = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
    name,
    description: "Says what it was given",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    execute: async (toolCallId, params, signal, onUpdate, ctx) => {
      onUpdate?.({ content: [{ type: "text", text: "half" }] });
      const words = [toolCallId, params.text, signal?.aborted, ctx.toolCallId, ctx.mode, ctx.signal === signal];
      return { content: [{ type: "text", text: words.join(" ") }] };
    },
    ...more,
  });

  it("are called in the order of extensions, with a context of theirs", async () => {
    const { runner } = await openExtensions([(pi) => pi.registerTool(definition("say"))]);
    const [say] = runner.tools();
    const updates: unknown[] = [];
    const { signal } = new AbortController();
    const onUpdate = (partial: unknown) => void updates.push(partial);
    const result = await say?.tool.execute("call_1", { text: "hi" } as never, signal, onUpdate, { cwd: "/project" });
    expect(result).toEqual({ content: [{ type: "text", text: "call_1 hi false call_1 rpc true" }] });
    expect(updates).toHaveLength(1);
    expect(runner.tools()[0]?.tool).toBe(say?.tool);
  });

  it("may be registered later, and registered anew", async () => {
    const { runner, asked } = await openExtensions([
      (pi) => {
        pi.registerTool(definition("say", { description: "old" }));
        pi.on("turn_start", () => {
          pi.registerTool(definition("say", { description: "new" }));
          pi.registerTool(definition("more", { defaultInactive: true }));
        });
      },
    ]);
    const list = () => runner.tools().map(({ tool, startsActive }) => [tool.name, tool.description, startsActive]);
    expect(list()).toEqual([["say", "old", true]]);
    await runner.emit({ type: "turn_start" });
    expect(asked).toEqual(["toolsChanged()", "toolsChanged()"]);
    expect(list()).toEqual([
      ["say", "new", true],
      ["more", "Says what it was given", false],
    ]);
  });

  it("of two with one name the first stays, and the other is reported once", async () => {
    const registers =
      (description: string): ExtensionFactory =>
      (pi) =>
        pi.registerTool(definition("say", { description }));
    const opened = await openExtensions([registers("first"), registers("second")]);
    opened.runner.tools();
    expect(opened.runner.tools().map(({ definition }) => definition.description)).toEqual(["first"]);
    expect(opened.told).toEqual(['ext2 registerTool: Tool name "say" conflicts with existing tool']);
  });

  it("map other spellings of their arguments", async () => {
    const opened = await openExtensions([
      (pi) => pi.registerTool(definition("read", { prepareArguments: ({ file }) => ({ text: file }) })),
    ]);
    const [{ tool } = { tool: undefined }] = opened.runner.tools();
    expect(tool?.prepareArguments?.({ file: "x" })).toEqual({ text: "x" });
  });
});
