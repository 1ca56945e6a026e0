// Sessions of the real program: what is on the disk when a prompt is accepted, what survives a kill, and what happens
// to files that are no sessions.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { RpcClient } from "../../src/client/index.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
const clients: RpcClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop()));
});
afterAll(remove);

async function start(...args: string[]): Promise<RpcClient> {
  const client = new RpcClient({ command: [process.execPath, galleyBin], args, cwd: home, env });
  clients.push(client);
  await client.start();
  return client;
}

const fileOf = async (client: RpcClient) => (await client.request("get_state", {})).sessionFile as string;
const roles = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; message?: { role: string } })
    .map(({ type, message }) => message?.role ?? type);

describe("a session on the disk", () => {
  it("has no file before its first message, and every message after it, for its owner only", async () => {
    const client = await start();
    const file = await fileOf(client);
    expect(existsSync(file)).toBe(false);
    await client.promptAndWait("help");
    expect(roles(file).filter((role) => role !== "model_change")).toEqual(["session", "user", "assistant"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
  });

  it("holds an accepted prompt even when the program is killed at once", async () => {
    const client = await start();
    const file = await fileOf(client);
    const done = client.request("prompt", { message: "help" });
    await done;
    client.kill();
    await client.stop();
    expect(roles(file)).toContain("user");
    const again = await start("--session", file);
    expect((await again.request("get_messages", {})).messages[0]).toMatchObject({ role: "user" });
  });

  it("gives a host its images, also where the file only names them", async () => {
    const data = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(1500, 7)]).toString("base64");
    const image = { type: "image", data, mimeType: "image/png" } as const;
    const client = await start();
    await client.promptAndWait("help", { images: [image] });
    const file = await fileOf(client);
    await client.stop();
    expect(readFileSync(file, "utf8")).toContain('"data":"blob:sha256:');
    const again = await start("--session", file);
    expect((await again.getMessages()).messages[0]).toMatchObject({ content: [{ type: "text" }, image] });
    expect((await again.getMessagesPage()).messages[0]).toMatchObject({ content: [{ type: "text" }, image] });
    const { entries } = await again.getEntries();
    expect(entries.find(({ type }) => type === "message")).toMatchObject({
      message: { content: [{ type: "text" }, image] },
    });
  });

  it("goes on with --continue and --resume, from the file the last one left", async () => {
    const first = await start();
    await first.promptAndWait("help");
    const file = await fileOf(first);
    await first.stop();
    const second = await start("--continue");
    expect(await fileOf(second)).toBe(file);
    await second.promptAndWait("help");
    await second.stop();
    const third = await start("--resume", file.replace(/.*_|\.jsonl$/g, "").slice(0, 36));
    expect((await third.request("get_messages", {})).messages).toHaveLength(4);
    const { code, stderr } = await run(process.execPath, [galleyBin, "--mode", "rpc", "--resume", "nope"], { env });
    expect([code, stderr]).toEqual([1, 'Session "nope" not found.\n']);
  });

  it("is only read by a second program, whose next entry goes to a file of its own", async () => {
    const first = await start();
    await first.promptAndWait("help");
    const file = await fileOf(first);
    const second = await start("--session", file);
    await second.promptAndWait("help");
    expect(await fileOf(second)).not.toBe(file);
    await first.promptAndWait("help");
    expect(roles(file).filter((role) => role === "user")).toHaveLength(2);
    expect(roles(await fileOf(second)).filter((role) => role === "user")).toHaveLength(2);
  });
});

describe("a session that another process holds", () => {
  it("is told before and when it moves to a new file, and by the answer of switch_session", async () => {
    const first = await start();
    await first.promptAndWait("help");
    const file = await fileOf(first);
    const inUse = { readOnlyReason: expect.stringContaining(`Session ${file} is in use by another galley (pid `) };
    const second = await start("--resume", file);
    expect(await second.getState()).toMatchObject({ sessionFile: file, lockKind: "held", ...inUse });
    const moves: unknown[] = [];
    second.on("session_moved", (event) => void moves.push(event));
    await second.promptAndWait("help");
    const state = await second.getState();
    const to = state.sessionFile as string;
    expect(to).not.toBe(file);
    expect([state.lockKind, state.readOnlyReason]).toEqual([undefined, undefined]);
    expect(moves).toEqual([{ type: "session_moved", from: file, to, reason: inUse.readOnlyReason }]);
    expect(second.sessionFile).toBe(to);
    expect((await second.getMessages()).messages).toHaveLength(4);
    expect((await first.getState()).sessionFile).toBe(file);
    const third = await start();
    expect(await third.switchSession(file)).toEqual({ cancelled: false, ...inUse });
    expect(await third.switchSession(to)).toMatchObject({ cancelled: false, readOnlyReason: expect.anything() });
    await second.stop();
    expect(await third.switchSession(to)).toEqual({ cancelled: false });
  });
});

describe("switch_session", () => {
  const folder = join(home, "odd");
  mkdirSync(folder);
  const newer = '{"type":"session","version":9,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n';
  const files: Record<string, string | Buffer> = {
    hostname: "my-machine\n",
    binary: Buffer.from([0, 255, 1, 254, 10, 0]),
    "source.ts": "export const a = 1;\n",
    "object.json": '{"type":"something"}\n',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);

  it.each(Object.keys(files))("leaves %s as it is, and the session at hand active", async (name) => {
    const client = await start();
    await client.promptAndWait("help");
    const before = await client.request("get_state", {});
    await expect(client.request("switch_session", { sessionPath: join(folder, name) })).rejects.toThrow(
      `Not a session file: ${join(folder, name)}`,
    );
    expect(readFileSync(join(folder, name))).toEqual(Buffer.from(files[name] as string));
    expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
    expect(await client.request("get_state", {})).toEqual(before);
  });

  it("refuses a directory, opens a newer version only to read, starts anew in an empty file", async () => {
    const client = await start();
    await expect(client.request("switch_session", { sessionPath: folder })).rejects.toThrow();
    const newerFile = join(home, "newer.jsonl");
    writeFileSync(newerFile, newer);
    await client.request("switch_session", { sessionPath: newerFile });
    await client.promptAndWait("help");
    expect(readFileSync(newerFile, "utf8")).toBe(newer);
    expect(await fileOf(client)).not.toBe(newerFile);
    const empty = join(home, "empty.jsonl");
    writeFileSync(empty, "");
    await client.request("switch_session", { sessionPath: empty });
    await client.promptAndWait("help");
    expect(roles(empty)[0]).toBe("session");
  });

  it.skipIf(process.getuid?.() === 0)("refuses a file that cannot be read (skipped as root, who may)", async () => {
    const locked = join(home, "locked.jsonl");
    writeFileSync(locked, newer);
    chmodSync(locked, 0);
    const client = await start();
    await expect(client.request("switch_session", { sessionPath: locked })).rejects.toThrow();
  });
});

it("the prompt that pi keeps among its messages is no reason to warn", async () => {
  const file = join(home, "of-pi.jsonl");
  const entry = (id: string, parentId: string | null, message: object) =>
    JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message });
  const lines = [
    JSON.stringify({ type: "session", version: 3, id: "of-pi", timestamp: "2026-01-01T00:00:00.000Z", cwd: home }),
    entry("a0b1c2d3", null, { role: "system", content: "", sections: { preamble: "You are pi." }, timestamp: 1 }),
    entry("b1c2d3e4", "a0b1c2d3", { role: "user", content: "hello", timestamp: 2 }),
  ];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  const args = [galleyBin, "--session", file, "-p", "help"];
  const { code, stderr } = await run(process.execPath, args, { env, cwd: home });
  expect([code, stderr]).toEqual([0, "1 turn\n"]);
});

describe("galley sessions", () => {
  const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { env, cwd: home });

  it("lists what is here, as text and as JSON, and cleans up", async () => {
    await galley("-p", "help");
    const { code, stdout } = await galley("sessions", "list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[0-9a-f-]{36} {2}\d{4}-\d\d-\d\d \d\d:\d\d +\d+ messages {2}help$/m);
    const { sessions } = JSON.parse((await galley("sessions", "list", "--all", "--json")).stdout) as {
      sessions: unknown[];
    };
    expect(sessions.length).toBeGreaterThanOrEqual(stdout.trimEnd().split("\n").length);
    expect(await galley("sessions", "gc")).toEqual({
      code: 0,
      stdout: "Removed 0 images, 0 plans and 0 drafts (0 bytes).\n",
      stderr: "",
    });
    expect((await galley("sessions", "lsit")).code).toBe(2);
  });
});

describe("what a host says", () => {
  it("changes no file of the agent directory but the session", async () => {
    const client = await start();
    const agent = join(home, ".galley/agent");
    const snapshot = () =>
      (readdirSync(agent, { recursive: true, withFileTypes: true }) as { name: string }[]).map(({ name }) => name);
    await client.promptAndWait("help");
    const before = snapshot();
    await client.request("set_steering_mode", { mode: "all" });
    await client.request("set_auto_retry", { enabled: false });
    await client.request("set_thinking_level", { level: "high" });
    expect(snapshot()).toEqual(before);
  });
});
