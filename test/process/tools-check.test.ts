// `galley tools check` in the built program: what a module is, what it registers, what is wrong with it.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
beforeEach(() => {
  place = emptyHome();
});
afterEach(() => place.remove());

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(place.home, path)), { recursive: true });
  writeFileSync(join(place.home, path), text);
};
const check = async (path: string, ...options: string[]) => {
  const args = [galleyBin, "tools", "check", path, ...options];
  const { code, stdout, stderr } = await run(process.execPath, args, { env: place.env, cwd: place.home });
  return { code, stdout: stdout.replaceAll(place.home, "~"), stderr: stderr.replaceAll(place.home, "~") };
};

const tool = `export default (pi) => ({
  name: "greet", label: "Greet", description: "Greets a person by name",
  parameters: pi.zod.object({ name: pi.zod.string().describe("Who") }),
  execute: async () => ({ content: [] }),
});
`;

const extension = `export default (pi) => {
  pi.on("tool_call", () => undefined);
  pi.on("session_fork", () => undefined);
  pi.registerCommand("hello", { description: "Says hello", handler: () => {} });
  pi.registerFlag("loud", { type: "boolean" });
  pi.registerShortcut("ctrl+x", { handler: () => {} });
  pi.registerMessageRenderer("note", () => undefined);
  pi.registerTool({
    name: "wave", label: "Wave", description: "Waves at a person", parameters: pi.typebox.Type.Object({}),
    execute: async () => ({ content: [] }),
  });
};
`;

describe("galley tools check", () => {
  it("knows a custom tool", async () => {
    put("greet.ts", tool);
    const { code, stdout } = await check("greet.ts");
    expect(code).toBe(0);
    expect(stdout).toBe(
      "~/greet.ts: custom tool\n  tools:     greet\n" +
        "greet                    exec             ~/greet.ts (project, Config)\n",
    );
  });

  it("knows an extension, and everything that it registers", async () => {
    put("all.ts", extension);
    expect(await check("all.ts")).toEqual({
      code: 0,
      stdout:
        "~/all.ts: extension\n  tools:     wave\n  commands:  hello\n  flags:     loud\n  shortcuts: ctrl+x\n" +
        "  renderers: note\n  events:    tool_call, session_fork\n",
      stderr: "",
    });
    const { stdout } = await check("all.ts", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      modules: [
        {
          form: "extension",
          tools: ["wave"],
          commands: ["hello"],
          flags: ["loud"],
          events: ["tool_call", "session_fork"],
        },
      ],
      problems: [],
    });
  });

  it("knows a hook, and suggests the event that was meant", async () => {
    put("hooks/guard.ts", 'export default (pi) => pi.on("tool_cal", () => ({ block: true }));');
    expect(await check("hooks/guard.ts")).toEqual({
      code: 3,
      stdout:
        "~/hooks/guard.ts: hook\n  events:    tool_cal\n" +
        'problem: ~/hooks/guard.ts: there is no event "tool_cal", so its handler is never called; did you mean "tool_call"?\n',
      stderr: "",
    });
  });

  it("knows a hook that is a program, without starting it", async () => {
    put("hooks/pre/ask.sh", "#!/bin/sh\ntouch started\n");
    expect(await check("hooks/pre/ask.sh")).toEqual({
      code: 3,
      stdout:
        "~/hooks/pre/ask.sh: hook program\n  events:    tool_call\n" +
        "problem: ~/hooks/pre/ask.sh cannot be started: make it executable with chmod +x\n",
      stderr: "",
    });
    chmodSync(join(place.home, "hooks/pre/ask.sh"), 0o755);
    expect(await check("hooks/pre/ask.sh")).toMatchObject({ code: 0 });
  });

  it("names every import and member that is missing, with line and nearest name", async () => {
    put("helper.ts", 'import { Markdwn } from "@mariozechner/pi-tui";\nexport const spin = () => new Markdwn("");\n');
    put(
      "reach.ts",
      `import type { Nowhere } from "@mariozechner/pi-coding-agent";
import { createBashTol, isToolCallEventType, InteractiveMode, type AlsoNowhere, Elided } from "@mariozechner/pi-coding-agent";
import * as agent from "galley";
import { spin } from "./helper.js";
export default (pi: Nowhere & { on: unknown }) => {
  const kept: Elided | AlsoNowhere | undefined = undefined;
  pi.registerComand("go", {
    description: "Goes",
    handler: async (_args, ctx) => {
      createBashTol(spin(), agent.astEdits, kept, isToolCallEventType, InteractiveMode);
      ctx.modelRegistry.hasConfiguredOath(ctx.model);
      ctx.ui.notifi("x");
      ctx.somethingNew?.();
      await ctx.waitForIdle();
      const inner = (ctx: { own(): void }) => ctx.own();
      const { confrm, select: choose, later = inner } = ctx.ui;
    },
  });
  pi.getComands();
  if (typeof pi.registerProvider === "function") pi.registerProvider("x", {});
};
`,
    );
    const { code, stdout } = await check("reach.ts");
    expect(code).toBe(3);
    const problems = stdout.split("\n").filter((line) => /:\d+: /.test(line));
    expect(problems).toEqual([
      'problem: ~/reach.ts:2: @mariozechner/pi-coding-agent has no export "createBashTol" here; did you mean "createBashTool"?',
      'problem: ~/reach.ts:7: pi has no member "registerComand" here; did you mean "registerCommand"?',
      'problem: ~/reach.ts:10: galley has no export "astEdits" here; did you mean "astEdit"?',
      'problem: ~/reach.ts:11: ctx.modelRegistry has no member "hasConfiguredOath" here; did you mean "hasConfiguredAuth"?',
      'problem: ~/reach.ts:12: ctx.ui has no member "notifi" here; did you mean "notify"?',
      'problem: ~/reach.ts:16: ctx.ui has no member "confrm" here; did you mean "confirm"?',
      expect.stringMatching(/reach\.ts:19: pi has no member "getComands" here/),
      'problem: ~/helper.ts:1: @mariozechner/pi-tui has no export "Markdwn" here; did you mean "Markdown"?',
      'advice: ~/reach.ts:2: @mariozechner/pi-coding-agent: "InteractiveMode" fails when it is used, galley does not have it yet',
    ]);
  });

  it("names the line of a misspelt member of a tool, of either kind", async () => {
    const misspelt = (head: string) => `export default (pi) => ${head}{
  name: "greet", label: "Greet", description: "Greets a person by name",
  concurency: "shared",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [] }),
}${head === "" ? "" : ")"};
`;
    for (const [path, head] of [
      ["tool.ts", "("],
      ["extension.ts", "pi.registerTool("],
    ] as const) {
      put(path, misspelt(head));
      const { code, stdout } = await check(path);
      expect(code).toBe(3);
      expect(stdout).toContain(
        `problem: ~/${path}:3: tool "greet" has an unknown member "concurency"; did you mean "concurrency"?\n`,
      );
    }
  });

  it("says where a tool belongs that stands among extensions", async () => {
    put("extensions/greet.ts", tool);
    const { code, stdout } = await check("extensions/greet.ts");
    expect(code).toBe(3);
    expect(stdout).toContain("problem: ~/extensions/greet.ts makes a custom tool: its place is a folder tools\n");
  });

  it("says why a module cannot be loaded", async () => {
    put("broken.ts", "throw new Error('no disk');");
    put("extensions/broken.ts", "export const x = 1;");
    expect(await check("broken.ts")).toMatchObject({
      code: 3,
      stdout: "problem: ~/broken.ts: Failed to load tool: no disk\n",
    });
    expect((await check("extensions/broken.ts")).stdout).toContain(
      "problem: ~/extensions/broken.ts: Extension does not export a valid factory function",
    );
    expect(await check("gone.ts")).toMatchObject({
      code: 3,
      stdout: "problem: ~/gone.ts: No such file or directory\n",
    });
  });

  it("tells an extension that registers nothing", async () => {
    put("idle.ts", "export default () => {};");
    expect(await check("idle.ts")).toMatchObject({
      code: 0,
      stdout: "~/idle.ts: extension\nadvice: ~/idle.ts registers nothing while it is loaded\n",
    });
  });
});
