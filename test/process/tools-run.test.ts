// `galley tools run` in the built program: its result on stdout, everything else on stderr, what it stages on disk.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

let place: ReturnType<typeof emptyHome>;
beforeEach(() => {
  place = emptyHome();
  mkdirSync(join(place.home, "project"));
});
afterEach(() => place.remove());

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(place.home, path)), { recursive: true });
  writeFileSync(join(place.home, path), text);
};
const inProject = (path: string) => join(place.home, "project", path);
const galley = (args: string[], input = "") =>
  run(process.execPath, [galleyBin, ...args], { env: place.env, cwd: join(place.home, "project"), input });
const toolRun = (name: string, args: unknown, ...options: string[]) =>
  galley(["tools", "run", name, JSON.stringify(args), ...options]);
const sessionFiles = () => {
  const sessions = join(place.home, ".galley/agent/sessions");
  if (!existsSync(sessions)) return [];
  return readdirSync(sessions, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
};

const renaming = { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["a.ts"] };

const greeting = `export default (pi) => ({
  name: "greet", label: "Greet", description: "Greets somebody by name, for a test",
  parameters: pi.zod.object({ name: pi.zod.string(), loud: pi.zod.boolean().optional() }),
  async execute(_id, { name }) {
    console.log("noise");
    if (name === "nobody") throw new Error("There is no one to greet");
    return { content: [{ type: "text", text: "Hello " + name }] };
  },
});
`;

const deploying = `export default (pi) => ({
  name: "deploy", description: "Deploys", parameters: pi.zod.object({}), approval: "exec",
  execute: async () => ({ content: [{ type: "text", text: "deployed" }] }),
});`;

const closing = `export default (pi) => ({
  name: "sweep", description: "Previews sweeping", deferrable: true, parameters: pi.zod.object({}),
  async execute() {
    pi.pushPendingAction({
      label: "Sweep the hall", sourceToolName: "sweep",
      apply: async () => ({ content: [{ type: "text", text: "Swept." }] }),
    });
    return { content: [{ type: "text", text: "Would sweep." }] };
  },
});
`;

describe("galley tools run", () => {
  it("prints the result of a built-in tool, and a tool that only reads leaves no session", async () => {
    put("project/a.ts", "old(1);\n");
    expect(await toolRun("ls", {})).toEqual({ code: 0, stdout: "a.ts\n", stderr: "" });
    expect(sessionFiles()).toEqual([]);
  });

  it("keeps what a tool stages in a session of its own, which any later command finds", async () => {
    put("project/a.ts", "old(1);\n");
    const { code, stdout, stderr } = await toolRun("ast_edit", renaming);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        "Staged, nothing is written yet:\n  pa_1  AST Edit: 1 replacement in 1 file\n" +
        "See it with galley show pa_1; decide with galley apply pa_1 or galley discard pa_1.\n",
    });
    expect(stdout).toContain("+1:1 fresh(1)");
    expect(readFileSync(inProject("a.ts"), "utf8")).toBe("old(1);\n");
    expect(sessionFiles()).toHaveLength(1);
    expect((await galley(["sessions", "list"])).stdout).toContain("galley tools run ast_edit");
    expect(await galley(["apply", "pa_1"])).toMatchObject({ code: 0 });
    expect(readFileSync(inProject("a.ts"), "utf8")).toBe("fresh(1);\n");
  });

  it("never continues another session, whatever the settings say", async () => {
    put(".galley/agent/config.yml", "autoResume: true\n");
    put("project/a.ts", "old(1);\n");
    await toolRun("ast_edit", renaming);
    await galley(["discard", "--all"]);
    await toolRun("ast_edit", renaming);
    expect(sessionFiles()).toHaveLength(2);
  });

  it("writes at once what the tool writes, and undo takes it back", async () => {
    const { code, stdout } = await toolRun("write", { path: "b.txt", content: "one\n" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Successfully wrote 4 bytes to b.txt\n" });
    expect(readFileSync(inProject("b.txt"), "utf8")).toBe("one\n");
    expect(await galley(["undo"])).toMatchObject({ code: 0 });
    expect(existsSync(inProject("b.txt"))).toBe(false);
  });

  it("stages with --stage, applies with --yes, tells with --exit-code", async () => {
    const staged = await toolRun("write", { path: "b.txt", content: "one\n" }, "--stage", "--exit-code");
    expect(staged.code).toBe(5);
    expect(existsSync(inProject("b.txt"))).toBe(false);
    const written = await toolRun("write", { path: "c.txt", content: "two\n" }, "--stage", "--yes", "--exit-code");
    expect(written).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(inProject("c.txt"), "utf8")).toBe("two\n");
  });

  it("refuses a tool that declares exec while everything is staged, with exit code 6, unless --allow-exec", async () => {
    put(".galley/agent/tools/deploy.ts", deploying);
    const refused = await toolRun("deploy", {}, "--stage");
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain("Refused: commands bypass staging. Use --allow-exec to permit them.");
    expect(await toolRun("deploy", {}, "--stage", "--allow-exec")).toMatchObject({ code: 0, stdout: "deployed\n" });
  });

  it("lets a hook refuse, with exit code 6", async () => {
    put("guard.ts", 'export default (pi) => pi.on("tool_call", () => ({ block: true, reason: "Not today." }));');
    const refused = await toolRun("ls", {}, "-e", join(place.home, "guard.ts"));
    expect(refused).toEqual({ code: 6, stdout: "", stderr: "galley: Not today.\n" });
  });

  it("runs nothing without a module that was named", async () => {
    put("broken.ts", "throw new Error('broken');");
    const { code, stdout, stderr } = await toolRun("ls", {}, "-e", join(place.home, "broken.ts"));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("broken.ts was named and cannot be used.");
  });

  it("runs a custom tool; what it prints is no part of the result", async () => {
    put(".galley/agent/tools/greet.ts", greeting);
    expect(await toolRun("greet", { name: "Ada" })).toEqual({ code: 0, stdout: "Hello Ada\n", stderr: "noise\n" });
  });

  it("shows the stack of a custom tool that throws, on stderr, with exit code 3", async () => {
    put(".galley/agent/tools/greet.ts", greeting);
    const { code, stdout, stderr } = await toolRun("greet", { name: "nobody" });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/tool greet failed: There is no one to greet\n +at .*greet\.ts:\d+/);
    expect(stderr).toMatch(/galley: There is no one to greet\n$/);
  });

  it("names a preview that cannot outlive it, and applies it with --yes", async () => {
    put(".galley/agent/tools/sweep.ts", closing);
    expect(await toolRun("sweep", {})).toEqual({
      code: 0,
      stdout: "Would sweep.\n",
      stderr: "Discarded undecided, nothing was done; use --yes to apply it:\n  pa_1  Sweep the hall\n",
    });
    expect(await toolRun("sweep", {}, "--yes")).toEqual({ code: 0, stdout: "Would sweep.\nSwept.\n", stderr: "" });
  });

  it.each([["SIGINT", 130] as const, ["SIGTERM", 143] as const])(
    "%s stops the tool, with exit code %i",
    async (signal, code) => {
      const waits = JSON.stringify({ command: "touch started; sleep 1000" });
      const child = spawn(process.execPath, [galleyBin, "tools", "run", "bash", waits], {
        cwd: join(place.home, "project"),
        env: place.env,
        stdio: "ignore",
      });
      const ended = once(child, "close");
      const watcher = watch(join(place.home, "project"));
      const started = once(watcher, "change");
      if (!existsSync(inProject("started"))) await started;
      watcher.close();
      child.kill(signal);
      expect((await ended)[0]).toBe(code);
    },
  );

  it("reads the arguments from stdin", async () => {
    put("project/a.ts", "");
    expect(await galley(["tools", "run", "ls", "-"], '{"path": "."}')).toEqual({
      code: 0,
      stdout: "a.ts\n",
      stderr: "",
    });
  });

  it("prints one JSON document with --json", async () => {
    put("project/a.ts", "old(1);\n");
    const { code, stdout, stderr } = await toolRun("ast_edit", renaming, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ tool: "ast_edit", isError: false, isDenied: false, pending: ["pa_1"] });
  });

  it.each([
    [["lss", "{}"], "galley: Unknown tool lss. Did you mean ls?\n"],
    [["frobnicate", "{}"], "galley: Unknown tool frobnicate. Tools here: read, bash, edit,"],
    [["ask", "{}"], "galley: Unknown tool ask. It is built in, but switched off by a setting, or it needs a user"],
    [
      ["ls", "{path: 1}"],
      'The arguments are not valid JSON at line 1, column 2: expected a name in double quotes, or "}".',
    ],
    [["ls", '{"path":\n tru}'], "The arguments are not valid JSON at line 2, column 2: expected a value."],
    [["ls", "[]"], "The arguments must be a JSON object"],
    [["ls", '{"path": 3}'], 'Validation failed for tool "ls":\n  - path: must be string\n'],
    [["ls"], "Give the tool's arguments as JSON, for example '{}', or - to read them from stdin."],
    [[], "Name the tool to run."],
    [["ls", "{}", "{}"], "takes a name and one JSON text"],
    [["ls", "{}", "--model", "x"], "galley tools run does not take --model."],
    [["ls", "{}", "--stag"], "Unknown option --stag. Did you mean --stage?"],
  ])("says what is wrong with %j, and runs nothing", async (words, text) => {
    const { code, stdout, stderr } = await galley(["tools", "run", ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(text);
    expect(sessionFiles()).toEqual([]);
  });

  it("says how to trust a project whose tool is not loaded, with exit code 6", async () => {
    put("project/.galley/tools/greet.ts", greeting);
    const { code, stdout, stderr } = await toolRun("greet", { name: "Ada" });
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toContain(
      "Unknown tool greet. 1 module of this project is not trusted and so not loaded. Review and trust with  galley trust ",
    );
    expect(await toolRun("greet", { name: "Ada" }, "--trust-project")).toMatchObject({
      code: 0,
      stdout: "Hello Ada\n",
    });
    await galley(["trust", "--yes"]);
    expect(await toolRun("greet", { name: "Ada" })).toMatchObject({ code: 0, stdout: "Hello Ada\n" });
  });
});
