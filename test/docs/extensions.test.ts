// What docs/extensions.md shows is what happens: each module on the page is loaded, and each line of the block below it
// is carried out and compared. The example in examples/extensions is run the same way.

import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { silentLog } from "../../src/base/log.js";
import type { Component } from "../../src/extensions/api/component.js";
import type { ExtensionAPI } from "../../src/extensions/api/extension.js";
import type { ExtensionCommandContext } from "../../src/extensions/api/extension-context.js";
import { builtInSource } from "../../src/extensions/api/source-info.js";
import { plainTheme } from "../../src/extensions/compat/theme.js";
import { hookProgram } from "../../src/extensions/hooks/hook-programs.js";
import type { HookName } from "../../src/extensions/hooks/hooks.js";
import { extensionToolHooks } from "../../src/extensions/hooks/hooks-tools.js";
import { callTool } from "../../src/loop/call-tool.js";
import { fakeRun, fakeTool, finishedCall } from "../../src/loop/run.test-kit.js";
import { createNodeProcesses } from "../../src/processes/node-processes.js";
import type { Processes } from "../../src/processes/processes.js";
import { textResult } from "../../src/tools/tool.js";
import { type Extensions, openExtensions, quiet } from "../kit/extension-modules.js";
import { projectRoot } from "../kit/run-galley.js";
import { type ToolModules, toolModules } from "../kit/tool-modules.js";

const page = readFileSync(join(projectRoot, "docs/extensions.md"), "utf8");
const examples = page.split(/^## /m).flatMap((section) =>
  [...section.matchAll(/```(ts|sh)\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, kind, module = "", script = ""]) => ({
    title: section.split("\n")[0],
    isProgram: kind === "sh",
    module,
    script,
  })),
);

/** Complete by its type: a new hook without an example does not compile or does not pass. */
const hooks: Record<HookName, true> = {
  session_start: true,
  session_shutdown: true,
  model_select: true,
  thinking_level_select: true,
  session_before_switch: true,
  session_switch: true,
  session_before_branch: true,
  session_branch: true,
  session_before_tree: true,
  session_tree: true,
  session_before_compact: true,
  "session.compacting": true,
  session_compact: true,
  input: true,
  before_agent_start: true,
  context: true,
  tool_call: true,
  tool_result: true,
  user_bash: true,
  project_trust: true,
  before_provider_request: true,
  after_provider_response: true,
  resources_discover: true,
  session_info_changed: true,
  session_compact_failed: true,
};

const apiMembers: Record<keyof ExtensionAPI, true> = {
  ...{ cwd: true, exec: true, logger: true, typebox: true, zod: true, pi: true, on: true, events: true },
  ...{ registerTool: true, registerCommand: true, registerFlag: true, getFlag: true, registerShortcut: true },
  ...{
    registerMessageRenderer: true,
    registerEntryRenderer: true,
    registerMarkdownTransformer: true,
    registerAssistantThinkingRenderer: true,
    sendMessage: true,
    sendUserMessage: true,
    appendEntry: true,
  },
  ...{ getActiveTools: true, getAllTools: true, setActiveTools: true, getSessionName: true, setSessionName: true },
  ...{ registerProvider: true, unregisterProvider: true },
  ...{ getCommands: true, setLabel: true, setModel: true, getThinkingLevel: true, setThinkingLevel: true },
};

const contextMembers: Record<keyof ExtensionCommandContext, true> = {
  ...{ ui: true, hasUI: true, cwd: true, mode: true, signal: true, toolCallId: true, settings: true, pending: true },
  ...{ sessionManager: true, modelRegistry: true, model: true, isIdle: true, hasQueuedMessages: true, abort: true },
  ...{ hasPendingMessages: true, shutdown: true, getContextUsage: true, compact: true, getSystemPrompt: true },
  ...{ isProjectTrusted: true, waitForIdle: true, newSession: true, switchSession: true, branch: true, fork: true },
  ...{ navigateTree: true, reload: true, thinkingLevel: true, scopedModels: true },
};

const shown = examples.map(({ module }) => module).join("\n");

describe("docs/extensions.md", () => {
  it("has nothing but examples that are run, and one for every hook", () => {
    expect(page.match(/```(ts|sh|text)$/gm)).toHaveLength(2 * examples.length);
    expect(Object.keys(hooks).filter((name) => !shown.includes(`pi.on("${name}"`))).toEqual([]);
  });

  it("has an example of every member of the API and of ctx", () => {
    const lacks = (name: string, owner: string) =>
      !new RegExp(`\\b${owner}\\.${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\} = ${owner};`).test(shown);
    expect(Object.keys(apiMembers).filter((name) => lacks(name, "pi"))).toEqual([]);
    expect(Object.keys(contextMembers).filter((name) => lacks(name, "ctx"))).toEqual([]);
  });

  it.each(examples)("$title", async ({ module, script, isProgram }) => {
    expect(await play(module, script, isProgram)).toBe(script);
  });
});

describe("examples/extensions/guard.ts", () => {
  const module = readFileSync(join(projectRoot, "examples/extensions/guard.ts"), "utf8");

  it("asks about what is risky, and without a yes it does not happen", async () => {
    const call = '> call bash {"command": "rm -rf build"}\n';
    const question = '? confirm "Run this command?" "rm -rf build"\n';
    const refusal = "! Not allowed: rm -rf build. Ask the user what to do instead.\n";
    const script = `> call bash {"command": "ls"}\nran ls\n${call}${question}${refusal}> answer confirm true\n${call}${question}ran rm -rf build\n> /guard\n? notify "The guard asked 2 times" "info"\n`;
    expect(await play(module, script)).toBe(script);
  });
});

/** The examples' working directory, /project, need not be there: their programs are started in another. */
function startedIn(directory: string, processes: Processes): Processes {
  const run: Processes["run"] = (request) => processes.run({ ...request, cwd: directory });
  return { run, shutdown: () => processes.shutdown() };
}

/** The script again, with what really came out. */
async function play(module: string, script: string, isProgram = false): Promise<string> {
  const modules = toolModules();
  modules.write({ "extension.ts": module });
  const nodeProcesses = createNodeProcesses({ env: process.env, clock: systemClock, log: silentLog });
  const processes = startedIn(modules.directory, nodeProcesses);
  const extension = isProgram ? program(module, modules, processes) : modules.candidate("extension.ts");
  const opened = await openExtensions([extension], {
    cwd: modules.directory, // programs start there; the page calls it /project
    processes,
    host: {
      getAllTools: () =>
        ["read", "bash"].map((name) => ({ name, description: name, parameters: {}, sourceInfo: builtInSource(name) })),
    },
  });
  const shown = showUi(opened);
  try {
    let played = "";
    for (const [, line = ""] of script.matchAll(/^> (.*)$/gm)) {
      const out = await perform(line, opened, shown.answers);
      await quiet();
      const asked = opened.asked.splice(0).map((text) => `= ${text}`);
      const told = [...opened.told].map((text) => `x ${text}`);
      opened.failures.length = 0;
      for (const text of [`> ${line}`, ...shown.lines.splice(0), ...asked, ...out, ...told]) played += `${text}\n`;
    }
    if (!script.startsWith("> load")) expect(opened.errors).toEqual([]);
    return played.replaceAll(modules.directory, "/project");
  } finally {
    await processes.shutdown();
    modules.remove();
  }
}

/** Its second line says where it lies. */
function program(text: string, modules: ToolModules, processes: Processes) {
  const [, path = ""] = /^# (\S+)$/m.exec(text) ?? [];
  modules.write({ [path]: text });
  const realPath = join(modules.directory, path);
  chmodSync(realPath, 0o755);
  const source = { provider: "native", providerName: "galley", level: "user" } as const;
  const found = {
    kind: "hook" as const,
    path,
    realPath,
    name: path,
    source,
    needsTrust: false,
    isScript: true as const,
  };
  return hookProgram(found, { cwd: modules.directory, processes, coverage: undefined });
}

function showUi({ live }: Extensions) {
  const lines: string[] = [];
  const answers = new Map<string, unknown>([["confirm", false]]);
  const show =
    (name: string) =>
    (...args: unknown[]) => {
      const words = args.filter((one) => typeof one === "string").map((one) => JSON.stringify(one));
      lines.push(`? ${[name, ...words].join(" ")}`);
      return answers.get(name);
    };
  const names = ["notify", "setStatus", "confirm"];
  live.set(Object.fromEntries(names.map((name) => [name, show(name)])), true);
  return { lines, answers };
}

async function perform(line: string, opened: Extensions, answers: Map<string, unknown>): Promise<string[]> {
  const { runner } = opened;
  const [verb = "", name = "", ...words] = line.split(" ");
  const rest = words.join(" ");
  if (verb.startsWith("/")) {
    expect(await runner.runCommand(line)).toBe(true);
    return [];
  }
  switch (verb) {
    case "load":
      return opened.errors.map(({ error }) => error);
    case "answer":
      answers.set(name, JSON.parse(rest));
      return [];
    case "flag":
      runner.flagValues.set(name, true);
      return [];
    case "key":
      expect(runner.runShortcut(name)).toBe(true);
      return [];
    case "draw": {
      const renderer = runner.registry.messageRenderer(name) as (...args: unknown[]) => Component;
      const lines = renderer({ customType: name, ...JSON.parse(rest) }, { expanded: false }, plainTheme).render(40);
      return lines.map((text) => text.trimEnd());
    }
    case "event": {
      const { signal } = new AbortController();
      const outcome: unknown = await runner.emit({ type: name, signal, ...JSON.parse(rest) });
      return outcome === undefined ? [] : [JSON.stringify(outcome)];
    }
    case "call":
      return call(opened, name, JSON.parse(rest));
    default:
      throw new Error(`what does "${line}" mean?`);
  }
}

/** Through the loop, as a model's call would go. */
async function call({ runner, clock }: Extensions, name: string, args: Record<string, unknown>): Promise<string[]> {
  const parameters = { type: "object", properties: { command: { type: "string" } } };
  const bash = fakeTool(
    "bash",
    async (_id, params: { command: string }) => {
      if (params.command === "fail") throw new Error("Command failed");
      return textResult(`ran ${params.command}`);
    },
    { parameters },
  );
  const tools = [bash, ...runner.tools().map(({ tool }) => tool)];
  const { run } = fakeRun({ clock, tools: () => tools, hooks: extensionToolHooks(runner) });
  const { content, isError } = await callTool(run, finishedCall(name, args), new AbortController().signal);
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return text.split("\n").map((line) => (isError ? `! ${line}`.trimEnd() : line));
}
