// The real program on a disk without room: a tiny file system of its own, in a mount namespace that goes with it. What
// cannot be written is told and kept, and is written once there is room; nothing that was written is damaged.

import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { RpcClient } from "../../src/client/index.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";

const { home, env, remove } = emptyHome();
const sessions = join(home, "sessions");
mkdirSync(sessions);
let client: RpcClient | undefined;
const { noView } = sandboxAbility();

/** Runs a program with 64 KiB of room in the sessions directory; its id goes to a file that stays outside. */
const inSmallDisk = [
  ...["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"],
  `mount -t tmpfs -o size=64k tmpfs "${sessions}" && echo $$ > "${home}/pid" && exec "$@"`,
  "sh",
];
const [unshare = "", ...unshareArgs] = inSmallDisk;
const canMount = spawnSync(unshare, [...unshareArgs, "true"], { stdio: "ignore" }).status === 0;

beforeAll(ensureBuilt, 150_000);
afterEach(() => client?.stop());
afterAll(remove);

/** The program's own view of a path. */
const inside = (path: string) => `/proc/${readFileSync(join(home, "pid"), "utf8").trim()}/root${path}`;

function fill(): void {
  const file = openSync(inside(join(sessions, "filler")), "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(512));
  } catch {
    closeSync(file); // full
  }
}

describe.skipIf(!canMount)("a full disk", () => {
  it("stops no conversation, is told, and costs nothing once there is room again", async () => {
    const args = ["--session-dir", sessions];
    client = new RpcClient({ command: [...inSmallDisk, process.execPath, galleyBin], args, cwd: home, env });
    await client.start();
    const state = () => client?.request("get_state", {}) as Promise<{ sessionFile: string; persistError?: string }>;
    await client.promptAndWait("help");
    const { sessionFile, persistError } = await state();
    expect(persistError).toBeUndefined();
    const lines = () => readFileSync(inside(sessionFile), "utf8").split("\n");
    const before = lines();

    fill();
    await client.promptAndWait(`say ${"x".repeat(8000)}`);
    expect((await state()).persistError).toContain("ENOSPC");
    expect((await client.request("get_messages", {})).messages).toHaveLength(4);
    // Whole lines only, and the old ones as they were.
    expect(lines().slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    for (const line of lines().slice(0, -1)) JSON.parse(line);
    expect(lines().at(-1)).toBe("");

    rmSync(inside(join(sessions, "filler")));
    await client.promptAndWait("help");
    expect((await state()).persistError).toBeUndefined();
    const entries = lines()
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { message?: { role: string } });
    const roles = entries.flatMap(({ message }) => (message ? [message.role] : []));
    expect(roles).toEqual(["user", "assistant", "user", "assistant", "user", "assistant"]);
  });

  it("does not keep a one-shot run from its answer, and says what was lost", async () => {
    const script = `head -c 200000 /dev/zero > "${sessions}/filler" 2>/dev/null; exec "$@"`;
    const galley = [process.execPath, galleyBin, "--session-dir", sessions, "-p", "help"];
    const { code, stdout, stderr } = await run(unshare, [...unshareArgs, "sh", "-c", script, "sh", ...galley], {
      env,
      cwd: home,
    });
    expect(stdout).toContain("I am galley's planner");
    expect(stderr).toMatch(/ENOSPC/);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(0);
  });
});

describe.skipIf(!canMount)("an agent directory that cannot be written", () => {
  const agentDir = join(home, "read-only");
  const project = join(home, "project");
  mkdirSync(agentDir);
  mkdirSync(project);
  const inMount = (mount: string, words: readonly string[]) => {
    const args = ["--user", "--map-root-user", "--mount", "sh", "-c", `${mount} && exec "$@"`, "sh"];
    return run(unshare, [...args, process.execPath, galleyBin, ...words], {
      env: { ...env, GALLEY_AGENT_DIR: agentDir },
      cwd: project,
    });
  };
  const inReadOnly = (...words: string[]) => inMount(`mount -t tmpfs -o ro tmpfs "${agentDir}"`, words);
  /** With so many bytes left. */
  const inFull = (left: number, ...words: string[]) => {
    const fill = `head -c ${256 * 1024 - left} /dev/zero > "${agentDir}/filler" 2>"${home}/filled"`;
    return inMount(`mount -t tmpfs -o size=256k tmpfs "${agentDir}" && { ${fill}; true; }`, words);
  };

  it("keeps no preview, which is a failure and says so", async () => {
    writeFileSync(join(project, "a.ts"), "old(1);\n");
    const { code, stderr } = await inReadOnly("-p", "--stage", "replace old($A) with fresh($A) in .");
    expect(stderr).toContain("Not applied, and gone with the run:");
    expect(stderr).toMatch(/The session could not be kept \(.*EROFS/);
    expect(code).toBe(3);
    expect(readFileSync(join(project, "a.ts"), "utf8")).toBe("old(1);\n");
  });

  it("is a sentence for a command that was to be staged, and a line of doctor", async () => {
    const { code, stdout, stderr } = await inReadOnly("exec", "--stage", "--", "true");
    expect([stdout, stderr]).toEqual(["", expect.stringMatching(/^galley: Nothing can be kept in .*read-only: .*\n/)]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("Nothing was run.");
    const doctor = await inReadOnly("doctor");
    expect(doctor.stdout).toMatch(/^problem {2}storage .*read-only cannot be written: EROFS/m);
  });

  it.skipIf(noView !== undefined)("or has no room: what became of a command is a sentence", async () => {
    const refused = await inFull(0, "exec", "--", "echo", "ran");
    expect([refused.code, refused.stdout]).toEqual([3, ""]);
    expect(refused.stderr).toMatch(/^galley: Nothing can be kept in .*ENOSPC.* Nothing was run\.\n$/);
    const write = "head -c 30000 /dev/zero > fresh || true; echo ran";
    const { code, stdout, stderr } = await inFull(40_000, "exec", "--stage", "--", "sh", "-c", write);
    expect([code, stdout]).toEqual([3, "ran\n"]);
    expect(stderr).toMatch(/^galley: What the command did cannot be kept: ENOSPC.*\. Its effects were dropped\.\n$/m);
  });
});

describe.skipIf(process.platform !== "linux")("an output that takes nothing more", () => {
  it("is a failure, not a success without an answer", () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [galleyBin, "-p", "help"], {
      cwd: home,
      env,
      input: "",
      stdio: ["pipe", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect([status, stderr]).toEqual([3, "galley: Cannot write the output: ENOSPC: no space left on device, write\n"]);
  });
});
