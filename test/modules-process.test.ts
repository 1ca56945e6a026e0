// Other people's modules in the built program: as print and RPC mode run them, and as `galley tools` and `galley trust`
// look after them. stdout stays what it is, whatever a module prints.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "./rpc-host.js";
import { emptyHome, galleyBin, run } from "./run-galley.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
let server: ScriptedServer | undefined;
beforeEach(() => {
  place = emptyHome();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  place.remove();
});

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(place.home, path)), { recursive: true });
  writeFileSync(join(place.home, path), text);
};

const galley = (args: string[], input = "") => {
  mkdirSync(join(place.home, "project"), { recursive: true });
  return run(process.execPath, [galleyBin, ...args], { env: place.env, cwd: join(place.home, "project"), input });
};

/** Prints wherever it can, stages, and needs a compiler, a library and the host's own exports. */
const noisyTool = `import { Type } from "@sinclair/typebox";
import { defineCustomTool, type CustomToolFactory } from "galley";
enum Word { Done = "Swept" }
console.log("at import");
process.stdout.write("raw\\n");
const factory: CustomToolFactory = (pi) => defineCustomTool({
  name: "sweep", label: "Sweep", description: "Previews sweeping a room", deferrable: true,
  parameters: Type.Object({ room: Type.String({ description: "Which" }) }),
  async execute(_id, { room }) {
    console.log("in execute");
    const { stdout } = await pi.exec("echo", [room]);
    pi.pushPendingAction({
      label: "Sweep " + room, sourceToolName: "sweep",
      apply: async (reason) => ({ content: [{ type: "text", text: Word.Done + " " + stdout.trim() + ". " + reason }] }),
    });
    return { content: [{ type: "text", text: "Would sweep " + room }] };
  },
  onSession: ({ reason }) => console.log("tool hears " + reason),
});
export default factory;
`;

const noisyExtension = `export default (pi) => {
  pi.registerCommand("hello", { description: "Says hello", handler: () => console.log("hello") });
  pi.on("agent_end", () => {
    console.log("at the end");
    throw new Error("no disk");
  });
};
`;

const sweepAndResolve = () => [
  openAi.toolCalls([{ id: "c1", name: "sweep", arguments: { room: "hall" } }]),
  openAi.toolCalls([{ id: "c2", name: "resolve", arguments: { action: "apply", reason: "Dusty." } }]),
  openAi.text("All clean."),
];

describe("a module that prints", () => {
  it("works in RPC mode, and every line of stdout is a frame", async () => {
    server = await startScriptedServer(sweepAndResolve());
    const files = { "sweep.ts": noisyTool, "e.ts": noisyExtension, "exits.ts": "process.exit(0);" };
    const args = ["--tool", "sweep.ts", "-e", "e.ts", "--tool", "exits.ts"];
    const host = new RpcHost({ models: modelsAt(server.url), files, args });
    try {
      host.send({ id: "s", type: "get_state" }, { id: "c", type: "get_commands" });
      const state = (await host.waitForResponse("s")).data as { dumpTools: { name: string }[] };
      expect(state.dumpTools.map(({ name }) => name)).toContain("sweep");
      expect((await host.waitForResponse("c")).data).toMatchObject({
        commands: [{ name: "hello", source: "extension" }],
      });
      host.send({ id: "h", type: "prompt", message: "/hello" }, { id: "p", type: "prompt", message: "Sweep the hall" });
      await host.waitForType("agent_settled");
      const results = host.frames.flatMap((frame) => (frame.type === "tool_execution_end" ? [frame.result] : []));
      expect(results).toMatchObject([
        { content: [{ text: "Would sweep hall" }] },
        { content: [{ text: "Swept hall. Dusty." }], details: { label: "Sweep hall", sourceToolName: "sweep" } },
      ]);
      const errors = host.frames.filter(({ type }) => type === "extension_error");
      expect(errors).toMatchObject([{ event: "load" }, { event: "agent_end", error: "no disk" }]);
      host.child.stdin?.end();
      expect((await host.exited).code).toBe(0);
      expect(host.lines.every((line) => JSON.parse(line).type)).toBe(true);
      for (const text of [
        "at import",
        "raw",
        "in execute",
        "hello",
        "at the end",
        "tool hears start",
        "tool hears shutdown",
      ])
        expect(host.stderr).toContain(text);
    } finally {
      await host.dispose();
    }
  });

  it("works in print mode, and stdout is the answer", async () => {
    server = await startScriptedServer(sweepAndResolve());
    put(".galley/agent/models.yml", modelsAt(server.url));
    put(".galley/agent/tools/sweep.ts", noisyTool);
    const { code, stdout, stderr } = await galley(["-p", "Sweep the hall"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "All clean.\n" });
    for (const text of ["at import", "in execute", "tool hears start", "tool hears shutdown"])
      expect(stderr).toContain(text);
  });
});

describe("a project's own modules", () => {
  const own = () => {
    const marker = join(place.home, "ran");
    put(
      "project/.galley/tools/own.ts",
      `require("node:fs").appendFileSync(${JSON.stringify(marker)}, "x");
export default (pi) => ({ name: "own", description: "Of the project itself", label: "Own",
  parameters: pi.zod.object({}), execute: async () => ({ content: [] }) });
`,
    );
    return () => (existsSync(marker) ? readFileSync(marker, "utf8").length : 0);
  };

  it("run only when it is trusted, for one run or until they change", async () => {
    const runs = own();
    expect((await galley(["-p", "help"])).stderr).toContain("own.ts: Skipped: project is not trusted");
    expect((await galley(["tools", "list"])).stdout).toBe("No custom tools here.\n");
    const asked = await galley(["trust"]);
    expect(asked).toMatchObject({ code: 6, stderr: expect.stringContaining("galley trust --yes") });
    expect(asked.stdout).toContain(".galley/tools/own.ts");
    expect(runs()).toBe(0);

    expect((await galley(["-p", "help", "--trust-project"])).code).toBe(0);
    expect(runs()).toBe(1);
    await galley(["-p", "help"]);
    expect(runs()).toBe(1);

    expect((await galley(["trust", "--yes"])).stdout).toContain("Trusted.");
    expect((await galley(["trust"])).stdout).toContain("It is trusted, as it is now.");
    expect((await galley(["trust", "--list"])).stdout).toContain("/project\n");
    expect((await galley(["tools", "list"])).stdout).toMatch(/^own .*own\.ts \(project, galley\)\n$/);
    expect(runs()).toBe(2);

    put("project/.galley/tools/other.ts", "export default () => null;");
    expect((await galley(["trust"])).stdout).toMatch(/Since it was trusted.*new .*other\.ts/s);
    expect((await galley(["trust", "--revoke"])).stdout).toContain("Forgot what was decided about");
    await galley(["-p", "help"]);
    expect(runs()).toBe(2);
  }, 30_000);
});

describe("galley tools", () => {
  it("writes a tool that passes its own check, once", async () => {
    const made = await galley(["tools", "new", "shout"]);
    const path = join(place.home, ".galley/agent/tools/shout.ts");
    expect(made).toEqual({ code: 0, stdout: `Wrote ${path}\n`, stderr: "" });
    expect(await galley(["tools", "check", path])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^shout +read/),
    });
    expect(await galley(["tools", "new", "shout"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there already"),
    });
    const { tools } = JSON.parse((await galley(["tools", "list", "--json"])).stdout) as { tools: object[] };
    expect(tools).toMatchObject([{ name: "shout", approval: "read", path }]);
  });

  it("says what is wrong with a module, whatever it does", async () => {
    put(
      "project/bad.ts",
      'setInterval(() => {}, 1000);\nconsole.log("noise");\nexport default () => ({ name: "x" });\n',
    );
    const { code, stdout, stderr } = await galley(["tools", "check", "bad.ts"]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^problem: .*bad\.ts: Tool factory returned invalid tool at index 0/);
    expect(stderr).toContain("noise");
  });

  it.each([
    [["tools"]],
    [["tools", "check"]],
    [["tools", "list", "--nope"]],
    [["trust", "--nope"]],
    [["trust", "x", "y"]],
  ])("%j is wrong usage", async (args) => {
    const { code, stderr } = await galley(args);
    expect([code, stderr.startsWith("Usage")]).toEqual([2, true]);
  });
});
