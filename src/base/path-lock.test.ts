import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { manualClock } from "../testing/manual-clock.js";
import { systemClock } from "./clock.js";
import { sha256Of } from "./digest.js";
import { acquireLock, acquireLockBy, type FileLock, type LockStrategy, platformLock } from "./path-lock.js";
import { socketFileDirectory } from "./socket-file-lock.js";

/** Beside the tests' other directories, with a short name: a socket's path has to fit into 104 bytes. */
const lockDirectory = mkdtempSync(join(tmpdir(), "gl-"));
afterAll(() => rmSync(lockDirectory, { recursive: true, force: true }));
const socketFile: LockStrategy = { kind: "socket-file", directory: lockDirectory };

const strategies: LockStrategy[] = process.platform === "win32" ? [{ kind: "pipe" }] : [socketFile];
if (process.platform === "linux") strategies.unshift({ kind: "socket" });

it("uses the kind of this platform", async () => {
  const { lock } = await acquireLock(join(temporaryDirectory(), "s.jsonl"), systemClock);
  expect(lock?.kind).toBe(platformLock);
  expect(platformLock).toBe({ linux: "socket", win32: "pipe" }[process.platform as string] ?? "socket-file");
  await lock?.release();
});

describe.each(strategies)("the lock of kind $kind", (strategy) => {
  const acquire = (path: string, clock = systemClock, waitMs = 0) => acquireLockBy(strategy, { path, clock, waitMs });

  async function held(path: string): Promise<FileLock> {
    const { lock } = await acquire(path);
    if (!lock) throw new Error("the lock is taken");
    onTestFinished(() => lock.release());
    return lock;
  }

  it("has one holder at a time, also within one process", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const first = await held(path);
    expect(first.kind).toBe(strategy.kind);
    expect(await acquire(path)).toEqual({ lock: undefined, holderPid: process.pid });
    await held(`${path}.other`);
    await first.release();
    await first.release(); // a second time does nothing
    await held(path);
  });

  it("is given to exactly one of many who try at once", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const attempts = await Promise.all(Array.from({ length: 20 }, () => acquire(path)));
    const locks = attempts.flatMap(({ lock }) => lock ?? []);
    expect(locks).toHaveLength(1);
    await locks[0]?.release();
  });

  it("is waited for as long as the caller says, and no longer", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const first = await held(path);
    const clock = manualClock();
    const waiting = acquire(path, clock, 5000);
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

    const again = acquire(path, clock, 5000);
    await first.release();
    clock.advance(25);
    const { lock } = await again;
    expect(lock).toBeDefined();
    await lock?.release();
  });

  describe("between processes", () => {
    it("is refused with the holder's pid, and free when the holder is killed", async () => {
      const path = join(temporaryDirectory(), "s.jsonl");
      const holder = await startContender(strategy);
      expect(await holder.acquire(path)).toEqual({ kind: strategy.kind });
      const attempts = await Promise.all([acquire(path), acquire(path)]);
      const refused = { lock: undefined, holderPid: holder.pid };
      expect(attempts).toEqual([refused, refused]); // neither is taken for the holder
      await holder.kill();
      const lock = await held(path);
      expect(lock.kind).toBe(strategy.kind);
      const other = await startContender(strategy);
      expect(await other.acquire(path)).toEqual({ holderPid: process.pid });
    });

    it("is free when the holder released it, and when it ended without", async () => {
      const path = join(temporaryDirectory(), "s.jsonl");
      const [first, second] = await Promise.all([startContender(strategy), startContender(strategy)]);
      await first.acquire(path);
      await first.release();
      expect(await second.acquire(path)).toEqual({ kind: strategy.kind });
      await second.end();
      await held(path);
    });

    it("stays held while the holder is suspended", async () => {
      const path = join(temporaryDirectory(), "s.jsonl");
      const holder = await startContender(strategy);
      await holder.acquire(path);
      process.kill(holder.pid, "SIGSTOP");
      // A holder that does not answer cannot tell its pid.
      expect((await acquire(path)).lock).toBeUndefined();
      process.kill(holder.pid, "SIGCONT");
    });

    it("has one winner of twenty processes, each time the last one was killed", async () => {
      const path = join(temporaryDirectory(), "s.jsonl");
      const contenders = await Promise.all(Array.from({ length: 20 }, () => startContender(strategy)));
      const first = await startContender(strategy);
      await first.acquire(path);
      await first.kill();
      while (contenders.length > 0) {
        const answers = await Promise.all(contenders.map((contender) => contender.acquire(path)));
        const winners = contenders.filter((_, index) => answers[index]?.kind === strategy.kind);
        expect(winners).toHaveLength(1);
        expect(answers.filter(({ kind }) => kind !== undefined)).toHaveLength(1);
        const [winner] = winners;
        await winner?.kill();
        contenders.splice(contenders.indexOf(winner as Contender), 1);
      }
    });

    it("lets one process work at a time while all take and release it again and again", async () => {
      const directory = temporaryDirectory();
      const contenders = await Promise.all(Array.from({ length: 8 }, () => startContender(strategy)));
      const path = join(directory, "s.jsonl");
      const results = await Promise.all(
        contenders.map((contender) => contender.work(path, { marker: join(directory, "inside"), times: 10 })),
      );
      expect(results).toEqual(Array(8).fill({ collisions: 0 }));
    });

    it("is one worker's of a cluster", async () => {
      const path = join(temporaryDirectory(), "s.jsonl");
      const primary = await startContender(strategy);
      const { results } = await primary.cluster(path, 4);
      expect(results.filter(({ kind }) => kind === strategy.kind)).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === undefined)).toHaveLength(3);
    });
  });
});

describe.runIf(platformLock === "socket")("an abstract socket", () => {
  it("is neither held up nor brought down by callers", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const { lock } = await acquireLock(path, systemClock);
    const name = `\0galley-${sha256Of(path).slice(0, 32)}`;
    const callers = Array.from({ length: 50 }, () => createConnection(name));
    await Promise.all(callers.map((caller) => new Promise((resolve) => caller.once("data", resolve))));
    callers[0]?.destroy();
    await lock?.release();
    const { lock: again } = await acquireLock(path, systemClock);
    expect(again).toBeDefined();
    await again?.release();
    for (const caller of callers) caller.destroy();
  });
});

describe.skipIf(process.platform === "win32")("a socket file", () => {
  const placeOf = (path: string) => join(lockDirectory, sha256Of(path).slice(0, 24));
  const acquire = (path: string, directory = lockDirectory) =>
    acquireLockBy({ kind: "socket-file", directory }, { path, clock: systemClock });

  it("leaves nothing behind when it is released or refused", async () => {
    const directory = mkdtempSync(join(tmpdir(), "gl-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const path = join(temporaryDirectory(), "s.jsonl");
    const { lock } = await acquire(path, directory);
    expect(readdirSync(directory)).toHaveLength(1);
    const other = await startContender({ kind: "socket-file", directory });
    expect(await other.acquire(path)).toEqual({ holderPid: process.pid });
    expect(readdirSync(directory)).toHaveLength(1);
    await lock?.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it("is not taken from a living process that refuses connections", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    // As a holder with a full queue looks on BSD systems: the process is there and the connection is refused.
    const holder = await startContender(socketFile);
    mkdirSync(placeOf(path));
    const name = join(placeOf(path), `${holder.pid}.abcdef`);
    await leaveDeadSocket(name);
    expect(await acquire(path)).toEqual({ lock: undefined, holderPid: holder.pid });
    expect(existsSync(name)).toBe(true);
    await holder.kill();
    const { lock } = await acquire(path);
    expect(lock?.kind).toBe("socket-file");
    await lock?.release();
  });

  it("takes the place of foreign files and empty directories", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    mkdirSync(placeOf(path));
    const { lock: first } = await acquire(path);
    expect(first?.kind).toBe("socket-file");
    await first?.release();
    mkdirSync(placeOf(path));
    writeFileSync(join(placeOf(path), ".DS_Store"), "");
    const { lock: second } = await acquire(path);
    expect(second?.kind).toBe("socket-file");
    await second?.release();
  });

  it("is not put where other users may write", async () => {
    const directory = temporaryDirectory();
    const open = join(directory, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    symlinkSync(lockDirectory, join(directory, "link"));
    for (const name of ["open", "link", "missing/locks"]) {
      const { lock } = await acquire(join(directory, "s.jsonl"), join(directory, name));
      expect(lock?.kind).toBe("none");
      await lock?.release();
    }
    expect(readdirSync(open)).toEqual([]);
  });

  it("has a path that is short enough, whatever the environment says", () => {
    const longest = join(socketFileDirectory(), "0".repeat(24), `${2 ** 31}.abcdef`);
    expect(longest.length).toBeLessThan(104);
    expect(socketFileDirectory()).toBe(`/tmp/galley-${process.getuid?.()}`);
  });
});

/** A socket file that nothing listens on, as it is after a `kill -9`. */
async function leaveDeadSocket(path: string): Promise<void> {
  const script = `require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
  await once(spawn(process.execPath, ["-e", script, path], { stdio: "inherit" }), "exit");
  expect(existsSync(path)).toBe(true);
}

/** A process that takes locks as it is told to. Its source: */
const contenderSource = `
  import cluster from "node:cluster";
  import { rmSync, writeFileSync } from "node:fs";
  import { systemClock as clock } from "./clock.js";
  import { acquireLockBy } from "./path-lock.js";
  const strategy = JSON.parse(process.argv[2]);
  const acquire = (path, waitMs) => acquireLockBy(strategy, { path, clock, waitMs });
  let lock;
  const commands = {
    async acquire({ path }) {
      const attempt = await acquire(path, 0);
      lock = attempt.lock;
      return lock ? { kind: lock.kind } : { holderPid: attempt.holderPid };
    },
    async release() {
      await lock.release();
      return {};
    },
    async work({ path, marker, times }) {
      let collisions = 0;
      for (let done = 0; done < times; ) {
        const { lock } = await acquire(path, 1000);
        if (!lock) continue;
        try {
          writeFileSync(marker, "", { flag: "wx" }); // fails where another process is inside
          await new Promise(setImmediate);
          rmSync(marker);
        } catch {
          collisions++;
        }
        await lock.release();
        done++;
      }
      return { collisions };
    },
    /** Has that many workers of a cluster try, and answers what each of them got. */
    cluster: ({ path, workers }) =>
      new Promise((resolve) => {
        const results = [];
        cluster.setupPrimary({ args: [process.argv[2]] });
        for (let index = 0; index < workers; index++) {
          const worker = cluster.fork();
          worker.on("message", (answer) => {
            if (answer.isReady) return worker.send({ type: "acquire", path });
            results.push(answer);
            if (results.length === workers) resolve({ results });
          });
        }
      }),
    async end() {
      process.exit();
    },
  };
  process.on("message", async ({ type, ...given }) => process.send(await commands[type](given)));
  process.on("disconnect", () => process.exit());
  process.send({ isReady: true });
`;

let programDirectory: string;
let program: string;
beforeAll(async () => {
  programDirectory = mkdtempSync(join(tmpdir(), "galley-lock-"));
  program = join(programDirectory, "contender.cjs");
  const resolveDir = fileURLToPath(new URL(".", import.meta.url));
  const stdin = { contents: contenderSource, resolveDir };
  await build({ stdin, bundle: true, platform: "node", format: "cjs", outfile: program });
});
afterAll(() => rmSync(programDirectory, { recursive: true, force: true }));

interface Answer {
  readonly kind?: string;
  readonly holderPid?: number;
}

interface Contender {
  readonly pid: number;
  acquire(path: string): Promise<Answer>;
  release(): Promise<void>;
  work(path: string, options: { marker: string; times: number }): Promise<{ collisions: number }>;
  cluster(path: string, workers: number): Promise<{ results: Answer[] }>;
  /** Ends by itself, without releasing. */
  end(): Promise<void>;
  kill(): Promise<void>;
}

async function startContender(strategy: LockStrategy): Promise<Contender> {
  const child: ChildProcess = fork(program, [JSON.stringify(strategy)], { execArgv: [] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exit = once(child, "exit");
  await once(child, "message");
  const ask = async (message: object) => {
    const answer = once(child, "message");
    child.send(message);
    return (await answer)[0];
  };
  return {
    pid: child.pid ?? 0,
    acquire: (path) => ask({ type: "acquire", path }),
    release: () => ask({ type: "release" }),
    work: (path, options) => ask({ type: "work", path, ...options }),
    cluster: (path, workers) => ask({ type: "cluster", path, workers }),
    async end() {
      child.send({ type: "end" });
      await exit;
    },
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
