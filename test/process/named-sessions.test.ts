// Sessions as hosts name them: by an id of their own, by a file that is not there yet, and by a file that the process
// before them still has open. No conversation is lost, and none goes on where the host does not look.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { RpcClient } from "../../src/client/index.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
const clients: RpcClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop()));
});
afterAll(remove);

const projectAt = (name: string) => {
  const cwd = join(home, name);
  mkdirSync(join(cwd, ".git"), { recursive: true });
  return cwd;
};
const cwd = projectAt("project");

async function start(args: string[], at = cwd): Promise<RpcClient> {
  const client = new RpcClient({ command: [process.execPath, galleyBin], args, cwd: at, env });
  clients.push(client);
  await client.start();
  return client;
}

const galley = (args: string[]) => run(process.execPath, [galleyBin, ...args], { env, cwd });
const stateOf = async (client: RpcClient) => {
  const { sessionFile = "", sessionId, messageCount } = await client.getState();
  return { sessionFile, sessionId, messageCount };
};
const users = (file: string) => readFileSync(file, "utf8").split('"role":"user"').length - 1;

describe("--session-id", () => {
  it("begins a session with exactly this id, and continues it at each later start", async () => {
    const first = await start(["--session-id", "thread-42.a_b"]);
    await first.promptAndWait("help");
    const { sessionFile, sessionId } = await stateOf(first);
    expect(sessionId).toBe("thread-42.a_b");
    expect(sessionFile.endsWith("_thread-42.a_b.jsonl")).toBe(true);
    await first.stop();
    expect(await stateOf(await start(["--session-id", "thread-42.a_b"]))).toEqual({
      sessionFile,
      sessionId,
      messageCount: 2,
    });
    // Not by a part of it, and not that of another project.
    expect(await stateOf(await start(["--session-id", "thread-42"]))).toMatchObject({ messageCount: 0 });
    const elsewhere = await stateOf(await start(["--session-id", "thread-42.a_b"], projectAt("other")));
    expect(elsewhere).toMatchObject({ sessionId, messageCount: 0 });
    expect(elsewhere.sessionFile).not.toBe(sessionFile);
  });

  it("is the id of a copy with --fork, of a session in memory, and of a one-shot run", async () => {
    const first = await start(["--session-id", "origin"]);
    await first.promptAndWait("help");
    const copy = await stateOf(await start(["--fork", "origin", "--session-id", "copy"]));
    expect(copy).toMatchObject({ sessionId: "copy", messageCount: 2 });
    expect(copy.sessionFile.endsWith("_copy.jsonl")).toBe(true);
    expect(await galley(["--mode", "rpc", "--fork", "origin", "--session-id", "copy"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "There is already a session with the id copy in this project.\n",
    });
    expect(await stateOf(await start(["--no-session", "--session-id", "mine"]))).toMatchObject({ sessionId: "mine" });
    for (let turn = 1; turn <= 2; turn++) {
      expect((await galley(["-p", "--session-id", "shot", "help"])).code).toBe(0);
      const { sessions } = JSON.parse((await galley(["sessions", "list", "--json"])).stdout) as {
        sessions: { id: string }[];
      };
      expect(sessions.filter(({ id }) => id === "shot")).toMatchObject([{ messageCount: 2 * turn }]);
    }
  });

  it.each(["", "../x", "a/b", "a b", ".hidden", "x".repeat(129), "x".repeat(300), "é"])("refuses %j", async (id) => {
    const refused =
      "--session-id must be 1 to 128 letters, digits, dots, dashes or underscores, and begin and end with";
    const rpc = await galley(["--mode", "rpc", "--session-id", id]);
    expect([rpc.code, rpc.stdout]).toEqual([1, ""]);
    expect(rpc.stderr).toContain(refused);
    expect(await galley(["-p", "--session-id", id, "help"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("takes 128 characters, and no other session beside it", async () => {
    const id = "x".repeat(128);
    expect(await stateOf(await start(["--session-id", id]))).toMatchObject({ sessionId: id });
    const { code, stderr } = await galley(["-p", "--session-id", "a", "--continue", "help"]);
    expect([code, stderr]).toEqual([2, "galley: --session-id and --continue exclude each other.\n"]);
  });
});

describe("--session", () => {
  it("begins a session in a file that is not there", async () => {
    for (const file of [join(home, "kept/new/talk.jsonl"), join(cwd, "here.jsonl")]) {
      const client = await start(["--session", file.startsWith(cwd) ? "here.jsonl" : file]);
      expect((await stateOf(client)).sessionFile).toBe(file);
      expect(existsSync(file)).toBe(false);
      await client.promptAndWait("help");
      await client.stop();
      expect(users(file)).toBe(1);
      expect(await stateOf(await start(["--session", file]))).toMatchObject({ sessionFile: file, messageCount: 2 });
    }
  });

  it("fails for an id that is not found, for a folder, and with --resume for a missing file", async () => {
    for (const [args, text] of [
      [["--session", "no-such-id"], 'no-such-id"'],
      [["--session", `${cwd}/`], "Not a session file"],
      [["--resume", join(cwd, "none.jsonl")], "File not found"],
      [["--fork", join(cwd, "none.jsonl")], "File not found"],
    ] as const) {
      const { code, stdout, stderr } = await galley(["--mode", "rpc", ...args]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(text);
    }
  });
});

describe("a session that the process before has open", () => {
  const moves = (client: RpcClient) => {
    const seen: { from: string; to: string; reason: string }[] = [];
    client.on("session_moved", (event) => void seen.push(event));
    return seen;
  };

  it("goes on in its file once that process has ended", async () => {
    const first = await start(["--session-id", "handed-over"]);
    await first.promptAndWait("help");
    const { sessionFile } = await stateOf(first);
    const second = await start(["--session", sessionFile]);
    const seen = moves(second);
    await first.stop();
    await second.promptAndWait("help");
    expect(seen).toEqual([]);
    expect(await stateOf(second)).toMatchObject({ sessionFile, messageCount: 4 });
    expect((await second.getState()).readOnlyReason).toBeUndefined();
    expect(users(sessionFile)).toBe(2);
  });

  it("belongs to the process that writes first, and the other is told before its answer (H-2)", async () => {
    const made = await start(["--session-id", "two-readers"]);
    await made.promptAndWait("help");
    const { sessionFile } = await stateOf(made);
    await made.stop();
    const first = await start(["--session", sessionFile]);
    const second = await start(["--session", sessionFile]);
    const [seenByFirst, seenBySecond] = [moves(first), moves(second)];
    await second.promptAndWait("help");
    expect([seenBySecond, (await stateOf(second)).sessionFile]).toEqual([[], sessionFile]);
    await first.prompt("help");
    expect(seenByFirst).toEqual([
      {
        type: "session_moved",
        from: sessionFile,
        to: expect.any(String),
        reason: expect.stringContaining("is in use by another galley"),
      },
    ]);
    const [moved] = seenByFirst;
    expect((await stateOf(first)).sessionFile).toBe(moved?.to);
    await first.waitForIdle();
    expect([users(sessionFile), users(moved?.to ?? "")]).toEqual([2, 2]);
  });

  it("goes on in another file when it has grown meanwhile", async () => {
    const made = await start(["--session-id", "grown"]);
    await made.promptAndWait("help");
    const { sessionFile } = await stateOf(made);
    const second = await start(["--session", sessionFile]);
    const seen = moves(second);
    await made.promptAndWait("help");
    await made.stop();
    await second.promptAndWait("help");
    expect(seen).toMatchObject([
      { from: sessionFile, reason: `Session ${sessionFile} was changed by another program` },
    ]);
    expect(users(sessionFile)).toBe(2);
    expect(readdirSync(join(sessionFile, "..")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe("what hosts read in the folder of sessions", () => {
  const sessions = join(home, ".galley/agent/sessions");
  const plain = (at: string) => `--${at.slice(1).replace(/[/:]/g, "-")}--`;
  const folderOf = async (client: RpcClient) => basename(dirname((await stateOf(client)).sessionFile));

  it("its name is the one that they compute, unless another directory has its sessions there", async () => {
    const [first, other] = [projectAt("x/a-b"), projectAt("x/a/b")];
    expect(plain(first)).toBe(plain(other));
    const own = await start([], first);
    await own.promptAndWait("help");
    expect(await folderOf(own)).toBe(plain(first));
    const beside = await start([], other);
    expect(await folderOf(beside)).toMatch(/-[0-9a-f]{8}$/);
    await beside.promptAndWait("help");
    const { sessionFile } = await stateOf(beside);
    await Promise.all([own.stop(), beside.stop()]);
    expect((await stateOf(await start(["--continue"], other))).sessionFile).toBe(sessionFile);
    expect(await folderOf(await start(["--continue"], first))).toBe(plain(first));
  });

  it("a folder with a hash, as it was named before, is still found", async () => {
    const at = projectAt("before");
    const made = await start([], at);
    await made.promptAndWait("help");
    const { sessionFile, sessionId } = await stateOf(made);
    await made.stop();
    const hash = createHash("sha256").update(at).digest("hex").slice(0, 8);
    const hashed = join(sessions, `-before-${hash}`);
    renameSync(dirname(sessionFile), hashed);
    expect(await stateOf(await start(["--continue"], at))).toMatchObject({ sessionId, messageCount: 2 });
    expect(await stateOf(await start(["--session", sessionId.slice(0, 30)], at))).toMatchObject({ sessionId });
  });

  it("a model is written with all its names, and `type` is the first member of every line", async () => {
    const client = await start(["--session-id", "names"]);
    await client.promptAndWait("help");
    const { sessionFile } = await stateOf(client);
    const lines = readFileSync(sessionFile, "utf8").trimEnd().split("\n");
    expect(lines.filter((line) => !line.startsWith('{"type":"'))).toEqual([]);
    const change = lines.map((line) => JSON.parse(line)).find(({ type }) => type === "model_change");
    const model = { provider: "galley", modelId: "planner", model: "galley/planner", role: "default" };
    expect(change).toMatchObject(model);
  });

  it("a fork has the name that was given before its place, and none that came later", async () => {
    const client = await start([]);
    await client.promptAndWait("help");
    await client.setSessionName("Early");
    await client.promptAndWait("help");
    await client.setSessionName("Late");
    const { messages } = await client.request("get_fork_messages", {});
    const [first, second] = messages.map(({ entryId }) => entryId);
    const { sessionFile } = await stateOf(client);
    await client.request("fork", { entryId: second as string });
    expect((await client.getState()).sessionName).toBe("Early");
    await client.switchSession(sessionFile);
    await client.request("fork", { entryId: first as string });
    expect((await client.getState()).sessionName).toBeUndefined();
  });
});
