// How a one-shot run says that it ended: the code, the last line of JSON mode, and what is only about this run.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../src/testing/index.js";
import { ensureBuilt, modelsAt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, type Outcome, run } from "../kit/run-galley.js";
import { noNamespaces } from "../kit/sandbox-rig.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
afterAll(remove);

let cwd = "";
let number = 0;
beforeEach(() => {
  cwd = join(home, `project${++number}`);
  mkdirSync(cwd);
});

const galley = (...args: string[]): Promise<Outcome> => run(process.execPath, [galleyBin, ...args], { env, cwd });

function lines({ stdout }: Outcome): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function withModel(reply: Reply, ...args: string[]): Promise<Outcome> {
  const server = await startScriptedServer([reply]);
  mkdirSync(join(home, ".galley/agent"), { recursive: true });
  writeFileSync(join(home, ".galley/agent/models.yml"), modelsAt(server.url));
  const outcome = await galley("--model", "scripted", ...args);
  await server.close();
  rmSync(join(home, ".galley/agent/models.yml"));
  return outcome;
}

describe("an extension's command", () => {
  const extension = `export default (pi) => {
    pi.registerCommand("ping", { description: "", handler: async () => {} });
    pi.registerCommand("ask", { description: "", handler: async () => { pi.sendUserMessage("show there.txt"); } });
  }`;
  beforeEach(() => writeFileSync(join(cwd, "x.js"), extension));

  it("does not end with the failure of an earlier run", async () => {
    expect((await galley("-p", "show missing.txt")).code).toBe(3);
    expect(await galley("-c", "-e", "x.js", "-p", "/ping")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect((await galley("-c", "-e", "x.js", "-p", "/ping", "--then", "show missing.txt")).code).toBe(3);
  });

  it("is done when the run that it started is", async () => {
    writeFileSync(join(cwd, "there.txt"), "found\n");
    expect(await galley("-e", "x.js", "-p", "/ask")).toEqual({ code: 0, stdout: "found\n", stderr: "2 turns\n" });
  });
});

describe("a command that fails", () => {
  it.each([
    [
      "an extension's",
      `export default (pi) => pi.registerCommand("deploy", { handler() { throw new Error("no"); } });`,
    ],
    ["a module's", `export default () => ({ name: "deploy", description: "", execute() { throw new Error("no"); } });`],
  ])("ends the run with 3: %s", async (whose, text) => {
    const isModule = whose === "a module's";
    const commands = join(home, ".galley/agent/commands");
    mkdirSync(commands, { recursive: true });
    writeFileSync(isModule ? join(commands, "deploy.js") : join(cwd, "x.js"), text);
    const named = isModule ? [] : ["-e", "x.js"];
    const outcome = await galley(...named, "--mode", "json", "/deploy", "--then", "show missing.txt");
    rmSync(commands, { recursive: true });
    expect(outcome.code).toBe(3);
    expect(lines(outcome).slice(1)).toEqual([
      { type: "exit", code: 3, reason: "failed", message: "/deploy failed: no", pending: [] },
    ]);
  });
});

describe("an extension that speaks", () => {
  const speaks = (event: string, times: number, more = "") => `export default (pi) => {
    let left = ${times};
    ${more}
    pi.on("${event}", () => { if (left-- > 0) pi.sendUserMessage("show " + left + ".txt"); });
  }`;
  beforeEach(() => {
    for (const name of ["0", "1", "2", "here"]) writeFileSync(join(cwd, `${name}.txt`), `${name}\n`);
  });

  it.each([
    ["agent_end", ""],
    ["agent_settled", ""],
    // While somebody looks at a prompt, nothing runs.
    ["agent_settled", `pi.on("input", () => new Promise((go) => setTimeout(go, 50)));`],
  ])("at %s is heard to the end", async (event, more) => {
    writeFileSync(join(cwd, "x.js"), speaks(event, 3, more));
    expect(await galley("-e", "x.js", "-p", "show here.txt")).toEqual({
      code: 0,
      stdout: "0\n",
      stderr: "8 turns\n",
    });
  });

  it("at the start is heard first, and the message after it", async () => {
    writeFileSync(join(cwd, "x.js"), speaks("session_start", 1));
    const outcome = await galley("-e", "x.js", "--mode", "json", "show here.txt");
    expect(lines(outcome).at(-1)).toEqual({ type: "exit", code: 0, reason: "done", pending: [] });
    const said = lines(outcome).flatMap(({ type, message }) => {
      const { role, content } = (message ?? {}) as { role?: string; content: { text: string }[] };
      return type === "message_end" && role === "user" ? content.map(({ text }) => text) : [];
    });
    expect(said).toEqual(["show 0.txt", "show here.txt"]);
  });
});

describe("the last line of JSON mode", () => {
  it("names what is left pending, however the run ended", async () => {
    writeFileSync(join(cwd, "a.ts"), "foo(1);\n");
    const left = await galley("--mode", "json", "replace foo($A) with bar($A) in a.ts");
    expect(lines(left).at(-1)).toMatchObject({ type: "exit", code: 0, reason: "pending", pending: ["pa_1"] });
    const failed = await galley("-c", "--mode", "json", "show missing.txt");
    expect(lines(failed).at(-1)).toMatchObject({ type: "exit", code: 3, reason: "failed", pending: ["pa_1"] });
    const applied = await galley("-c", "--yes", "--mode", "json", "help");
    expect(lines(applied).at(-1)).toEqual({ type: "exit", code: 0, reason: "done", pending: [] });
  });

  it.each([
    [["--mode", "json", "-Z", "x"], "Unknown option -Z. See galley --help."],
    [["--mode", "json", "--allow-home", "x"], "--allow-home is not supported in this version."],
    [["--mode=json", "hi", "--model"], "--model needs a value (PATTERN[:LEVEL])."],
  ])("is there for %j too", async (args, message) => {
    const outcome = await galley(...args);
    expect(outcome).toMatchObject({ code: 2, stderr: `${message}\n` });
    expect(lines(outcome)).toEqual([{ type: "exit", code: 2, reason: "usage", message, pending: [] }]);
  });

  it("is not there for a mode that was not asked for", async () => {
    expect((await galley("-Z", "--", "--mode", "json")).stdout).toBe("");
  });
});

describe("the first line of JSON mode", () => {
  it("is the header of the record", async () => {
    const header = {
      type: "session",
      version: 3,
      id: "s1",
      timestamp: "2026-02-16T10:20:30.000Z",
      cwd,
      parentSession: "/old.jsonl",
      title: "Of old",
    };
    writeFileSync(join(cwd, "x.jsonl"), `${JSON.stringify(header)}\n`, { mode: 0o600 });
    expect(lines(await galley("--mode", "json", "--resume", "x.jsonl", "help"))[0]).toEqual(header);
    const [first] = lines(await galley("--mode", "json", "--session-dir", "kept", "help"));
    const [name = ""] = readdirSync(join(cwd, "kept")).filter((file) => file.endsWith(".jsonl"));
    expect(first).toEqual(JSON.parse(readFileSync(join(cwd, "kept", name), "utf8").split("\n")[0] ?? ""));
  });
});

describe("the exit code", () => {
  const cutShort: Reply = { steps: [openAi.chunk({ content: "Half of an" }), ...openAi.finish("length")] };
  const message = "The answer was cut off: it reached the model's output limit.";

  it("is 4 for an answer that its limit cut off, and what there is of it is printed", async () => {
    const outcome = await withModel(cutShort, "-p", "hi");
    expect(outcome).toEqual({ code: 4, stdout: "Half of an\n", stderr: `galley: ${message}\n1 turn, 15 tokens\n` });
    const last = lines(await withModel(cutShort, "--mode", "json", "hi")).at(-1);
    expect(last).toEqual({ type: "exit", code: 4, reason: "limit", message, pending: [] });
  });

  const bare = noNamespaces();
  it.skipIf(!bare)("is 6 for a run that failed because it was not allowed", async () => {
    const words = [...(bare?.args ?? []), process.execPath, galleyBin, "--access", "workspace", "-p", "run touch made"];
    const refused = await run(bare?.file ?? "", words, { env, cwd });
    expect([refused.code, refused.stdout]).toEqual([6, ""]);
    expect(refused.stderr).toContain("Commands need the sandbox you asked for, and it is not available:");
    expect((await galley("--access", "full", "-p", "run false")).code).toBe(3);
  });

  it("is 6 when --yes finds a place that may not be written any more", async () => {
    const elsewhere = join(home, `elsewhere${number}`);
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "x.ts"), "old(1);\n");
    await galley("config", "set", "workspace.roots", JSON.stringify([elsewhere]));
    const staged = await galley("-p", `replace old($A) with fresh($A) in ${elsewhere}/x.ts`);
    expect(staged.code).toBe(0);
    await galley("config", "set", "workspace.roots", "[]");
    const refused = await galley("-c", "--yes", "-p", "help");
    expect(refused.code).toBe(6);
    expect(refused.stderr).toMatch(/^galley: pa_1 failed: AST Edit: 1 replacement in 1 file – /);
  });
});

describe("what is left pending", () => {
  beforeEach(() => writeFileSync(join(cwd, "a.ts"), "foo(1);\n"));
  const stage = (...args: string[]) => galley(...args, "-p", "replace foo($A) with bar($A) in a.ts");

  it("is told with the directory of the sessions, as a shell takes it", async () => {
    const { stderr } = await stage("--session-dir", "it's kept");
    expect(stderr).toMatch(/galley discard pa_1 --session-dir 'it'\\''s kept'\n2 turns\n$/);
  });

  it("is told to be gone where nothing is kept", async () => {
    const text = (id: unknown) => `Not applied, and gone with the run:
  ${id}  AST Edit: 1 replacement in 1 file
        a.ts  +1 -1
The session is not kept. Run it again with --yes, or without --no-session to decide later.`;
    const left = await stage("--no-session");
    expect(left.code).toBe(0);
    expect(left.stderr).toContain(`\n\n${text("pa_1")}\n2 turns\n`);
    expect((await stage("--no-session", "--exit-code")).code).toBe(5);
    const last = lines(await stage("--no-session", "--mode", "json")).at(-1) ?? {};
    const [id] = last.discarded as [string];
    const undecided = { pending: [], discarded: [id] };
    expect(last).toEqual({ type: "exit", code: 0, reason: "pending", message: text(id), ...undecided });
  });
});
