// Other people's modules in the built program: as print and RPC mode run them, and as `galley tools` and `galley trust`
// look after them. stdout stays what it is, whatever a module prints.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

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

describe("a module whose timer fails", () => {
  const lateFailure = `export default (pi) => {
    pi.on("agent_start", () => new Promise((done) => setTimeout(() => {
      Promise.reject(new Error("too late"));
      setTimeout(done, 5);
    }, 1)));
  };`;

  it.each([[[]], [["--mode", "json"]]])("costs no answer with %j, and is named", async (mode) => {
    server = await startScriptedServer([openAi.text("Still here.")]);
    put(".galley/agent/models.yml", modelsAt(server.url));
    put(".galley/agent/extensions/late.ts", lateFailure);
    const { code, stdout, stderr } = await galley([...mode, "-p", "Hello"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Still here.");
    expect(stderr).toMatch(/late\.ts unhandledRejection\nError: too late/);
  });

  it("costs no decision on the command line", async () => {
    put("project/a.ts", "old(1);\n");
    await galley(["-p", "replace old($A) with fresh($A)"]);
    const reject = 'setTimeout(() => Promise.reject(new Error("too late")), 1)';
    put(
      ".galley/agent/extensions/late.ts",
      `export default (pi) => pi.on("session_shutdown", () => new Promise((done) => { ${reject}; setTimeout(done, 20); }));`,
    );
    const { code, stdout, stderr } = await galley(["apply", "pa_1"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Applied pa_1 as ch_\w+: AST Edit: 1 replacement in 1 file\n/),
    ]);
    expect(stderr).toContain("uncaught (unhandledRejection)\nError: too late");
  });

  it("is named to a host", async () => {
    server = await startScriptedServer([openAi.text("Still here.")]);
    const host = new RpcHost({ models: modelsAt(server.url), files: { "e.ts": lateFailure }, args: ["-e", "e.ts"] });
    try {
      host.send({ id: "p", type: "prompt", message: "Hello" });
      await host.waitForType("agent_settled");
      const errors = host.frames.filter(({ type }) => type === "extension_error");
      expect(errors).toEqual([
        {
          type: "extension_error",
          extensionPath: expect.stringMatching(/e\.ts$/),
          event: "unhandledRejection",
          error: "too late",
        },
      ]);
    } finally {
      await host.dispose();
    }
  });
});

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

describe("a project of which one module was edited", () => {
  const tool = (name: string, word: string) => `export default () => ({ name: "${name}", description: "Says ${word}",
  label: "L", parameters: { type: "object" }, execute: async () => ({ content: [] }) });\n`;

  it("goes on with the others, and is asked about that one only", async () => {
    for (const name of ["one", "two"]) put(`project/.galley/tools/${name}.ts`, tool(name, "yes"));
    put("project/.galley/tools/three.ts", `import "../lib/part";\n${tool("three", "yes")}`);
    put("project/.galley/lib/part.ts", "export {};\n");
    expect((await galley(["trust", "--yes"])).code).toBe(0);
    const names = async () => (await galley(["tools", "list"])).stdout.match(/^\w+/gm);
    expect(await names()).toEqual(["one", "three", "two"]);

    put("project/.galley/lib/part.ts", "export const changed = true;\n");
    expect(await names()).toEqual(["one", "two"]);
    const { stderr } = await galley(["-p", "--quiet", "help"]);
    expect(stderr).toBe("galley: 1 tool of this project is not trusted: galley trust\n");
    const asked = await galley(["trust"]);
    expect(asked.code).toBe(6);
    expect(asked.stdout.split("\n").slice(1)).toEqual([
      expect.stringMatching(/^Since it was trusted on /),
      "  changed .galley/lib/part.ts",
      "Tools it would load:",
      "  .galley/tools/three.ts",
      "Files that these load:",
      "  .galley/lib/part.ts",
      "Already trusted and unchanged: 2.",
      "",
    ]);
    expect((await galley(["trust", "--yes"])).code).toBe(0);
    expect(await names()).toEqual(["one", "three", "two"]);
    expect((await galley(["-p", "--quiet", "help"])).stderr).toBe("");
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
    expect((await galley(["-p", "help"])).stderr).toContain(
      "galley: 1 tool of this project is not trusted: galley trust\n",
    );
    expect((await galley(["tools", "list"])).stdout).toBe("No custom tools here.\n");
    const asked = await galley(["trust"]);
    expect(asked).toMatchObject({ code: 6, stderr: expect.stringContaining("galley trust --yes") });
    expect(asked.stdout).toContain(".galley/tools/own.ts");
    expect(runs()).toBe(0);

    expect((await galley(["-p", "help", "--trust-project"])).code).toBe(0);
    expect(runs()).toBe(1);
    await galley(["-p", "help"]);
    expect(runs()).toBe(1);

    expect((await galley(["trust", "nowhere"])).stderr).toContain("Working directory does not exist");
    expect((await galley(["trust", ".", "..", "--yes"])).code).toBe(2);
    expect((await galley(["trust", ".galley/..", "--yes"])).stdout).toContain("Trusted.");
    expect((await galley(["trust"])).stdout).toContain("It is trusted in its current state.");
    expect((await galley(["trust", "--list"])).stdout).toContain("/project\n");
    expect((await galley(["tools", "list"])).stdout).toMatch(/^own .*own\.ts \(project, galley\)\n$/);
    expect(runs()).toBe(2);

    put("project/.galley/tools/other.ts", "export default () => null;");
    expect((await galley(["trust"])).stdout).toMatch(/Since it was trusted.*new .*other\.ts/s);
    expect((await galley(["trust", "--revoke"])).stdout).toContain("Removed the decision about");
    await galley(["-p", "help"]);
    expect(runs()).toBe(2);
  }, 30_000);
});

/** A terminal for one command: python3 knows how to make one. Answers once the question is there. */
const terminalScript = `
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
seen, answer = b"", sys.argv[1].encode()
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    seen += chunk
    if answer and b"[y/N]" in seen:
        os.write(terminal, answer + b"\\n")
        answer = b""
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status))
`;

describe("galley trust in a terminal", () => {
  const ask = (answer: string) => {
    put("project/.galley/tools/own.ts", "export default () => null;");
    const args = ["-c", terminalScript, answer, process.execPath, galleyBin, "trust"];
    return run("python3", args, { env: place.env, cwd: join(place.home, "project") });
  };

  it("shows what would run, asks, and keeps a plain yes", async () => {
    const asked = await ask("y");
    expect(asked.stdout).toMatch(
      /\.galley\/tools\/own\.ts.*Trust it\? \[y\/N\].*Trusted\. If any of it changes, galley asks again/s,
    );
    expect(asked.code).toBe(0);
    expect((await galley(["trust"])).stdout).toContain("It is trusted in its current state.");
  });

  it.each(["n", "yo", " "])("takes %j for a no, and keeps nothing", async (answer) => {
    const asked = await ask(answer);
    expect(asked.stdout).toContain("Nothing was decided.");
    expect(asked.code).toBe(6);
    expect(existsSync(join(place.home, ".galley/trust.json"))).toBe(false);
  });
});

describe("flags of extensions", () => {
  const flagged = `export default (pi) => {
    pi.registerFlag("loud", { type: "boolean", default: false });
    pi.registerFlag("word", { type: "string", default: "hello" });
    pi.on("input", ({ text }) => ({ text: pi.getFlag("loud") ? text : "help" }));
    pi.on("session_start", () => console.error("word " + pi.getFlag("word") + ", loud " + pi.getFlag("loud")));
  };\n`;

  it("are read in print mode, and their values are not said", async () => {
    put(".galley/agent/extensions/flags.ts", flagged);
    put("project/notes.txt", "noted\n");
    const said = await galley(["-p", "--word", "ahoy", "--loud", "show notes.txt"]);
    expect(said.stderr).toContain("word ahoy, loud true");
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("noted") });
    expect((await galley(["-p", "show notes.txt"])).stderr).toContain("word hello, loud false");
  });

  it("a typing error is told as ever, whether extensions are there or not, and starts nothing", async () => {
    const told = {
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("Unknown option --modell. Did you mean --model?"),
    };
    expect(await galley(["-p", "--modell", "x", "help"])).toMatchObject(told);
    put(".galley/agent/extensions/flags.ts", flagged);
    const typo = await galley(["-p", "--modell", "x", "help"]);
    expect(typo).toMatchObject(told);
    expect(typo.stderr).not.toContain("word hello"); // it was not started
    expect(await galley(["--version", "--modell"])).toMatchObject(told);
    expect(await galley(["-p", "--loud=very", "help"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--loud takes no value."),
    });
  });

  it("are read in RPC mode, where foreign ones only warn", async () => {
    const host = new RpcHost({
      files: { "flags.ts": flagged },
      args: ["-e", "flags.ts", "--word=ahoy", "--frob", "x"],
    });
    try {
      host.send({ id: "s", type: "get_state" });
      await host.waitForResponse("s");
      host.end();
      await host.exited;
      expect(host.stderr).toContain("word ahoy, loud false");
      expect(host.stderr).toContain("Unknown option --frob. See galley --help. It is ignored.");
    } finally {
      await host.dispose();
    }
  });
});

describe("--tools", () => {
  const hidden = `export default (pi) => ({ name: "shy", description: "Hides", hidden: true,
    parameters: pi.zod.object({}), execute: async () => ({ content: [] }) });\n`;

  it("also names what modules bring, hidden ones too, and an unknown name lists all there are", async () => {
    put(".galley/agent/tools/shy.ts", hidden);
    const host = new RpcHost({ files: { "shy.ts": hidden }, args: ["--tool", "shy.ts", "--tools", "read,shy,nope"] });
    try {
      host.send({ id: "s", type: "get_state" });
      const { dumpTools } = (await host.waitForResponse("s")).data as { dumpTools: { name: string }[] };
      expect(dumpTools.map(({ name }) => name)).toEqual(["read", "shy"]);
      host.end();
      await host.exited;
      expect(host.stderr).toMatch(/Unknown tool nope\. Known tools: read, bash, .*shy\. It is ignored\./);
    } finally {
      await host.dispose();
    }
    expect(await galley(["-p", "--tools", "read,shy", "help"])).toMatchObject({ code: 0 });
    expect(await galley(["-p", "--no-tools", "--tools", "shy,nope", "help"])).toMatchObject({ code: 2 });
    expect(await galley(["-p", "--tools", "read,nope", "help"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Unknown tool nope\. Known tools: read, bash, /),
    });
  });
});

describe("--tools in RPC mode", () => {
  const hidden = `export default (pi) => pi.registerTool({ name: "shy", description: "Hides", hidden: true,
    parameters: { type: "object" }, execute: async () => ({ content: [] }) });\n`;

  it.each<[string[], string[], string]>([
    [["--tools", "read,ask", "--no-ui"], ["read"], "the tool ask needs a user to ask"],
    [["--tools", "read,ask"], ["read", "ask"], ""],
    [["--tools", "read,undo"], ["read", "undo"], ""],
    [["--no-tools", "--tools", "read,shy"], ["shy"], ""],
  ])("%j", async (args, names, warning) => {
    const host = new RpcHost({ files: { "shy.js": hidden }, args: ["-e", "shy.js", ...args] });
    try {
      host.send({ id: "s", type: "get_state" });
      const { dumpTools } = (await host.waitForResponse("s")).data as { dumpTools: { name: string }[] };
      expect(dumpTools.map(({ name }) => name)).toEqual(names);
      host.end();
      await host.exited;
      if (warning === "") expect(host.stderr).toBe("");
      else expect(host.stderr).toContain(warning);
    } finally {
      await host.dispose();
    }
  });
});

it.each([
  ["that is not there", undefined],
  ["that does not load", "export default ("],
])("a one-shot run does nothing without a module %s although it was named", async (_what, text) => {
  if (text !== undefined) put("project/guard.ts", text);
  put("project/victim.txt", "here\n");
  // As a script may put it together: it is the same file however it is written.
  const named = `${place.home}/project/../project/guard.ts`;
  const { code, stdout, stderr } = await galley(["-p", "-e", named, "run rm victim.txt"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/Nothing was run: .*guard\.ts was named and cannot be used\.\n$/);
  expect(existsSync(join(place.home, "project/victim.txt"))).toBe(true);
});

describe("galley tools", () => {
  it("writes a tool that passes its own check, once", async () => {
    const made = await galley(["tools", "new", "shout"]);
    const path = join(place.home, ".galley/agent/tools/shout.ts");
    expect(made).toEqual({ code: 0, stdout: `Wrote ${path}\n`, stderr: "" });
    expect(await galley(["tools", "check", path])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^shout +read/m),
    });
    expect(await galley(["tools", "new", "shout"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already exists"),
    });
    expect(await galley(["tools", "new", "my shout"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"my shout" is not a valid tool name'),
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

  it("outlives a module that fails in a timer, and does not call it fit", async () => {
    const tool = '{ name: "x", description: "x", parameters: { type: "object" }, execute: async () => ({}) }';
    const late =
      'setTimeout(() => { throw new Error("too late"); });\nawait new Promise((go) => setTimeout(go, 50));\n';
    put("project/late.ts", `${late}export default () => (${tool});\n`);
    const { code, stdout, stderr } = await galley(["tools", "check", "late.ts"]);
    expect([code, stdout]).toEqual([3, expect.stringMatching(/^x +/m)]);
    expect(stderr).toContain("uncaught (uncaughtException)");
  });

  it.each([
    [["tools"]],
    [["tools", "check"]],
    [["tools", "list", "--nope"]],
    [["trust", "--nope"]],
    [["trust", "x", "y"]],
  ])("%j is wrong usage", async (args) => {
    const { code, stderr } = await galley(args);
    expect([code, stderr.includes("\nUsage\n")]).toEqual([2, true]);
  });
});
