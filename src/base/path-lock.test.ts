import { spawn } from "node:child_process";
import { createConnection } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { manualClock } from "../testing/manual-clock.js";
import { systemClock } from "./clock.js";
import { sha256Of } from "./digest.js";
import { acquireLock, type FileLock, platformLock } from "./path-lock.js";

const socketName = (path: string) => `\0galley-${sha256Of(path).slice(0, 32)}`;

async function held(path: string): Promise<FileLock> {
  const { lock } = await acquireLock(path, systemClock);
  if (!lock) throw new Error("the lock is taken");
  onTestFinished(() => lock.release());
  return lock;
}

it("one holder at a time, also within one process (L-1, L-3)", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const first = await held(path);
  expect(first.kind).toBe(platformLock);
  expect(await acquireLock(path, systemClock)).toEqual({ lock: undefined, holderPid: process.pid });
  await held(`${path}.other`);
  await first.release();
  await first.release(); // a second time does nothing
  await held(path);
});

it("of many who try at once exactly one gets it", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const attempts = await Promise.all(Array.from({ length: 20 }, () => acquireLock(path, systemClock)));
  const locks = attempts.flatMap(({ lock }) => lock ?? []);
  expect(locks).toHaveLength(1);
  await locks[0]?.release();
});

it("waits as long as it may, and no longer (L-2)", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const first = await held(path);
  const clock = manualClock();
  const waiting = acquireLock(path, clock, 5000);
  let isSettled = false;
  void waiting.then(() => {
    isSettled = true;
  });
  for (let waited = 0; waited < 4990; waited += 10) {
    await Promise.resolve();
    clock.advance(10);
  }
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  clock.advance(25);
  await new Promise(setImmediate);
  clock.advance(25);
  expect((await waiting).lock).toBeUndefined();

  const again = acquireLock(path, clock, 5000);
  await first.release();
  clock.advance(25);
  const { lock } = await again;
  expect(lock).toBeDefined();
  await lock?.release();
});

it.runIf(platformLock === "socket")(
  "another process holds it, tells its pid, and loses it by dying (L-1)",
  async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    // As the program does it, in as few words as possible.
    const script = `
    const server = require("node:net").createServer((caller) => caller.end(process.pid + "\\n"));
    server.listen("\\0" + process.argv[1], () => process.stdout.write("held"));`;
    const child = spawn(process.execPath, ["-e", script, socketName(path).slice(1)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(await acquireLock(path, systemClock)).toEqual({ lock: undefined, holderPid: child.pid });
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    await held(path);
  },
);

it.runIf(platformLock === "socket")("callers neither hold it up nor bring it down", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const lock = await held(path);
  const callers = Array.from({ length: 50 }, () => createConnection(socketName(path)));
  await Promise.all(callers.map((caller) => new Promise((resolve) => caller.once("data", resolve))));
  callers[0]?.destroy();
  await lock.release();
  await held(path);
  for (const caller of callers) caller.destroy();
});
