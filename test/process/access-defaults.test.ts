// The working mode of each front end of the built program where nothing is said, what changes it, and which words exclude
// each other.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openAi, startScriptedServer } from "../../src/testing/index.js";
import { call, createPrintRig, type PrintRig } from "../kit/print-rig.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";

await ensureBuilt();
const { noSandbox, noView } = sandboxAbility();
if (noSandbox !== undefined) it.skip(`skipped in part: commands cannot be confined here: ${noSandbox}`, () => {});
const confined = it.skipIf(noSandbox !== undefined);
const staged = it.skipIf(noView !== undefined);

beforeAll(ensureBuilt, 150_000);

let rig: PrintRig;
beforeEach(() => {
  rig = createPrintRig();
  rig.newProject();
});
afterEach(() => rig.remove());

const outside = "echo x > ../outside.txt; echo inside > inside.txt; cat inside.txt";
const toolText = (requests: unknown[]) => {
  const { messages } = requests.at(-1) as { messages: { role: string; content: string }[] };
  return messages.find(({ role }) => role === "tool")?.content ?? "";
};

async function start(args: string[], files: Record<string, string> = {}) {
  const host = new RpcHost({ args: ["--no-session", ...args], files });
  onTestFinished(() => host.dispose());
  host.send({ id: "s", type: "get_state" });
  const { data } = (await host.waitFor(({ id }) => id === "s")) as { data?: Record<string, unknown> };
  return { host, state: data ?? {} };
}

describe("the access of a front end", () => {
  confined(
    "-p writes in the project, and its commands write nowhere else",
    async () => {
      const replies = [call("bash", { command: outside }), openAi.text("Done.")];
      const { code, requests } = await rig.withModel(replies, ["-p", "go"]);
      expect(code).toBe(0);
      expect(toolText(requests)).toMatch(/Read-only file system[\s\S]*inside/);
      expect(readFileSync(join(rig.cwd, "inside.txt"), "utf8")).toBe("inside\n");
      expect(existsSync(join(rig.cwd, "../outside.txt"))).toBe(false);
    },
    30_000,
  );

  confined(
    "--mode json and galley tools run do the same",
    async () => {
      const replies = [call("bash", { command: outside }), openAi.text("Done.")];
      expect((await rig.withModel(replies, ["--mode", "json", "-p", "go"])).code).toBe(0);
      expect(existsSync(join(rig.cwd, "inside.txt"))).toBe(true);
      const ran = await rig.galley(["tools", "run", "bash", JSON.stringify({ command: "touch two; touch ../out" })]);
      expect(ran.stderr).toContain("Read-only file system");
      expect([existsSync(join(rig.cwd, "two")), existsSync(join(rig.cwd, "../out"))]).toEqual([true, false]);
      expect(existsSync(join(rig.cwd, "../outside.txt"))).toBe(false);
    },
    30_000,
  );

  staged(
    "--stage leaves the disk alone, also where a command writes",
    async () => {
      const replies = [call("bash", { command: "echo inside > inside.txt" }), openAi.text("Done.")];
      const { code, stderr } = await rig.withModel(replies, ["-p", "--stage", "go"]);
      expect(code).toBe(0);
      expect(existsSync(join(rig.cwd, "inside.txt"))).toBe(false);
      expect(stderr).toContain("Pending, not written yet:");
      expect(stderr).toContain("inside.txt");
    },
    30_000,
  );

  staged.each(["apply", "discard"])("a callback cannot wait: in stage the model is made to %s it", async (action) => {
    writeFileSync(
      join(rig.home, "tool.js"),
      `import { writeFileSync } from "node:fs";
       export default (pi) => ({
         name: "make", description: "Makes a file", parameters: { type: "object" },
         async execute() {
           pi.pushPendingAction({ label: "Later", apply: () => { writeFileSync("later.txt", "x"); return "ok"; } });
           return { content: [{ type: "text", text: "made" }] };
         },
       });`,
    );
    const replies = [
      call("write", { path: "waits.txt", content: "x" }, "c0"),
      call("make", {}, "c1"),
      call("resolve", { action, reason: "good" }, "c2"),
      openAi.text("Done."),
    ];
    const args = ["--tool", join(rig.home, "tool.js"), "--stage", "-p", "go"];
    const { requests, stderr } = await rig.withModel(replies, args);
    expect((requests[2] as { tool_choice?: unknown }).tool_choice).toMatchObject({ function: { name: "resolve" } });
    expect(existsSync(join(rig.cwd, "later.txt"))).toBe(action === "apply");
    expect(existsSync(join(rig.cwd, "waits.txt"))).toBe(false);
    expect(stderr).toContain("waits.txt");
  });

  confined(
    "confines what a project's own tool starts, and not what the user's starts",
    async () => {
      const tool = (name: string) => `export default (pi) => ({
      name: "${name}", description: "Writes outside", parameters: { type: "object" }, approval: "read",
      async execute() {
        const { code, stderr } = await pi.exec("touch", ["../by-${name}"]);
        return { content: [{ type: "text", text: code + " " + stderr }] };
      },
    });`;
      mkdirSync(join(rig.cwd, ".galley/tools"), { recursive: true });
      writeFileSync(join(rig.cwd, ".galley/tools/theirs.js"), tool("theirs"));
      writeFileSync(join(rig.home, "own.js"), tool("own"));
      const theirs = await rig.galley(["tools", "run", "theirs", "{}", "--trust-project"]);
      expect(theirs.stdout).toMatch(/^1 .*Read-only file system/);
      const own = await rig.galley(["tools", "run", "own", "{}", "--tool", join(rig.home, "own.js")]);
      expect(own.stdout).toBe("0\n");
    },
    30_000,
  );

  it("RPC begins in full, and --access and set_access change it", async () => {
    const { host, state } = await start([]);
    expect(state.access).toBe("full");
    expect(state.sandbox).toMatchObject({ mode: "off", mechanism: "none", network: "on" });
    host.send({ id: "b", type: "bash", command: "echo x > ../reached && cat ../reached" });
    expect(await host.waitFor(({ id }) => id === "b")).toMatchObject({ data: { output: "x\n", exitCode: 0 } });
    host.send({ id: "a", type: "set_access", access: "read-only" });
    expect(await host.waitFor(({ id }) => id === "a")).toMatchObject({
      data: { access: "read-only", staging: "all", sandbox: { mode: "read-only" } },
    });
    expect((await start(["--access", "workspace"])).state.access).toBe("workspace");
  }, 30_000);

  confined(
    "of the host's commands holds from the next one on, and unsandboxed is the host's own word",
    async () => {
      const { host } = await start(["--access", "workspace"]);
      const bash = async (command: string, more: object = {}) => {
        host.send({ id: "b", type: "bash", command, ...more });
        return (await host.waitFor(({ id }) => id === "b")) as unknown as {
          data: { output: string; exitCode: number };
        };
      };
      expect((await bash("touch ../no")).data.output).toContain("Read-only file system");
      expect((await bash("touch ../yes", { unsandboxed: true })).data).toMatchObject({ exitCode: 0, output: "" });
      host.send({ id: "a", type: "set_access", access: "full" });
      await host.waitFor(({ id }) => id === "a");
      expect((await bash("touch ../now")).data.exitCode).toBe(0);
    },
    30_000,
  );

  it("is only made stricter by a project", async () => {
    mkdirSync(join(rig.cwd, ".galley"));
    writeFileSync(join(rig.cwd, ".galley/settings.json"), '{"access": "full", "staging": "all"}');
    const replies = [call("write", { path: "a.txt", content: "x" }), openAi.text("Done.")];
    const { stderr } = await rig.withModel(replies, ["-p", "go"]);
    expect(existsSync(join(rig.cwd, "a.txt"))).toBe(false);
    expect(stderr).toContain("Pending, not written yet:");
  }, 30_000);

  it.each([
    [["--stage", "--auto"], "--stage and --auto exclude each other."],
    [["--access", "full", "--stage"], "--access full and --stage exclude each other."],
    [["--access", "stage", "--auto"], "--access stage and --auto exclude each other."],
    [["--access", "root"], '--access must be one of read-only, stage, workspace, full, not "root".'],
  ])("%j is wrong usage: exit code 2, in RPC mode 1", async (args, text) => {
    const print = await rig.galley(["-p", ...args, "go"]);
    expect(print.code).toBe(2);
    expect(print.stderr).toContain(text);
    const rpc = await rig.galley(["--mode", "rpc", ...args]);
    expect({ code: rpc.code, stdout: rpc.stdout }).toEqual({ code: 1, stdout: "" });
    expect(rpc.stderr).toContain(text);
  });

  it("the same word twice is no conflict", async () => {
    const { state } = await start(["--access", "workspace", "--auto"]);
    expect(state.access).toBe("workspace");
  });
});

describe("X-8: escalation over RPC", () => {
  const command = "touch ../escaped; echo ran # the whole of it";
  const ask = async (answer: (frame: Record<string, unknown>) => object | undefined) => {
    const server = await startScriptedServer([
      call("bash", { command, escalate: "needs the parent directory" }),
      openAi.text("Done."),
    ]);
    onTestFinished(() => server.close().catch(() => {}));
    const host = new RpcHost({ args: ["--no-session", "--access", "workspace"], models: modelsAt(server.url) });
    onTestFinished(() => host.dispose());
    host.send({ id: "p", type: "prompt", message: "go" });
    const question = await host.waitFor(({ type }) => type === "extension_ui_request");
    const reply = answer(question);
    if (reply) host.send({ type: "extension_ui_response", id: question.id, ...reply });
    else host.send({ id: "a", type: "abort" });
    const end = await host.waitFor(({ type }) => type === "tool_execution_end");
    return { question, text: JSON.stringify(end.result) };
  };
  const refused = "Refused: the user did not allow this command outside the sandbox.";

  confined(
    "shows the whole command; yes runs it",
    async () => {
      const { question, text } = await ask(() => ({ confirmed: true }));
      expect(question).toMatchObject({ method: "confirm", title: "Run outside the sandbox?" });
      const message = question.message as string;
      expect(message).toContain(`  ${command}\n  in /`);
      expect(message).toContain("The model says: needs the parent directory");
      expect(text).toContain("ran");
      expect(text).not.toContain("Read-only");
    },
    30_000,
  );

  confined.each([
    ["no", { confirmed: false }],
    ["a broken answer", { confirmed: "yes" }],
    ["another answer", { value: "y" }],
    ["a cancelled question", { cancelled: true }],
  ])(
    "%s does not run it",
    async (_name, answer) => {
      expect((await ask(() => answer)).text).toContain(refused);
    },
    30_000,
  );

  confined(
    "silence does not run it",
    async () => {
      expect((await ask(() => undefined)).text).not.toContain("ran");
    },
    30_000,
  );
});
