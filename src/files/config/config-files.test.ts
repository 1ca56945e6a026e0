import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { manualClock } from "../../testing/manual-clock.js";
import { maxConfigBytes, readConfigFile, runForOutput } from "./config-files.js";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

const at = (name: string) => join(directory, name);
const refusal = (message: string) => expect.objectContaining({ code: "file_refused", message });

describe("readConfigFile", () => {
  it("gives path, text and mode, and follows the user's own links", () => {
    writeFileSync(at("a.json"), "\uFEFF{ü}");
    chmodSync(at("a.json"), 0o640);
    expect(readConfigFile(at("a.json"))).toEqual({ path: at("a.json"), text: "{ü}", mode: 0o640 });
    symlinkSync(at("a.json"), at("link.json"));
    expect(readConfigFile(at("link.json"))?.text).toBe("{ü}");
  });

  it("gives nothing where there is nothing", () => {
    writeFileSync(at("file"), "");
    symlinkSync(at("nowhere"), at("dangling"));
    for (const name of ["absent", "no/such/folder", "file/below", "dangling"])
      expect(readConfigFile(at(name))).toBeUndefined();
    expect(readConfigFile(at("file"))?.text).toBe("");
  });

  it("reads up to the limit and refuses one byte more", () => {
    writeFileSync(at("full"), Buffer.alloc(maxConfigBytes, 0x20));
    expect(readConfigFile(at("full"))?.text).toHaveLength(maxConfigBytes);
    writeFileSync(at("over"), Buffer.alloc(maxConfigBytes + 1, 0x20));
    expect(() => readConfigFile(at("over"))).toThrow(refusal("is larger than 8388608 bytes"));
  });

  it("refuses what is not a regular file, without waiting on a FIFO", () => {
    mkdirSync(at("folder"));
    execFileSync("mkfifo", [at("fifo")]);
    for (const name of ["folder", "fifo"])
      expect(() => readConfigFile(at(name))).toThrow(refusal("is not a regular file"));
  });

  it("refuses what cannot be opened or is not UTF-8", () => {
    symlinkSync("loop", at("loop"));
    expect(() => readConfigFile(at("loop"))).toThrow(refusal("cannot be opened (ELOOP)"));
    writeFileSync(at("latin1"), Buffer.from([0x66, 0xfc, 0x72]));
    expect(() => readConfigFile(at("latin1"))).toThrow(refusal("is not UTF-8 text"));
  });
});

describe("runForOutput", () => {
  const run = (command: string, clock = manualClock()) =>
    runForOutput(command, { timeoutMs: 10_000, env: { PATH: process.env.PATH, ONLY: "this" }, cwd: directory, clock });

  it("gives trimmed output of the shell, run in the given place with the given environment", async () => {
    expect(await run('printf " %s " "$ONLY"; pwd; echo noise >&2')).toBe(`this ${directory}`);
    expect(await run("env | cut -d= -f1 | grep -c HOME || true")).toBe("0");
  });

  it("has nothing to read from", async () => {
    expect(await run("cat")).toBe("");
  });

  it.each([
    ["exit 3", "The command ended with exit code 3."],
    ["echo sk-secret; exit 1", "The command ended with exit code 1."],
    ["kill -TERM $$", "The command ended with signal SIGTERM."],
    ["no-such-program-here", "The command ended with exit code 127."],
    ["yes sk-secret", "The command printed more than 65536 bytes."],
  ])("fails for %j without repeating it", async (command, message) => {
    await expect(run(command)).rejects.toMatchObject({ code: "start_failed", message });
  });

  it("fails when the place is not there", async () => {
    const options = { timeoutMs: 10_000, env: {}, cwd: at("nowhere") };
    await expect(runForOutput("true", options)).rejects.toMatchObject({
      code: "start_failed",
      message: "The command could not be started.",
    });
  });

  it("kills the whole group at the limit", async () => {
    const clock = manualClock();
    const running = run(`sleep 1000 & echo $! > ${at("child")}; echo $$ > ${at("shell")}; wait`, clock);
    const failed = expect(running).rejects.toMatchObject({
      code: "timeout",
      message: "The command did not end within 10 s.",
    });
    await vi.waitFor(() => expect(readFileSync(at("shell"), "utf8")).toMatch(/\n/), { timeout: 10_000, interval: 5 });
    clock.advance(9999);
    for (const name of ["child", "shell"]) expect(isRunning(at(name))).toBe(true);
    clock.advance(1);
    await failed;
    for (const name of ["child", "shell"])
      await vi.waitFor(() => expect(isRunning(at(name))).toBe(false), { timeout: 10_000, interval: 5 });
    expect(clock.pendingTimers).toBe(0);
  });

  it("does not wait for a daemon that keeps the pipe", async () => {
    const clock = manualClock();
    const running = run(`sleep 1000 & echo $! > ${at("daemon")}; echo key`, clock);
    // The limit and, once the shell itself has ended, the drain.
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(2), { timeout: 10_000, interval: 5 });
    clock.advance(500);
    expect(await running).toBe("key");
    expect(isRunning(at("daemon"))).toBe(true);
    process.kill(pidIn(at("daemon")), "SIGKILL");
  });
});

function pidIn(file: string): number {
  return Number(readFileSync(file, "utf8"));
}

/** A killed process that nobody has collected yet is not running. */
function isRunning(file: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pidIn(file)}/status`, "utf8"));
  } catch {
    return false; // no such process
  }
}
