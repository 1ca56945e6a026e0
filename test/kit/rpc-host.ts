// A host of the built program: starts `galley --mode rpc` with a home of its own, writes lines or raw bytes, reads
// frames split at LF and nothing else, and never waits without a deadline. A frame that a strict host would refuse fails
// the test, whatever the test is about.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyHome, galleyBin, projectRoot } from "./run-galley.js";
import { StrictReader } from "./strict-frames.mjs";

type Frame = Record<string, unknown> & { type: string };
interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** After `--mode rpc`. */
  args?: string[];
  /** The user's models file. */
  models?: string;
  /** Files of the working directory. */
  files?: Record<string, string>;
  /** Beside what an empty home gives. */
  env?: Record<string, string>;
}

const program = join(projectRoot, "dist/cli/main.js");
const patienceMs = 15_000;

/** `npm ci` builds, and so does the beginning of a test run (temporary-root.ts) where nothing is built. */
export async function ensureBuilt(): Promise<void> {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build`);
}

export class RpcHost {
  /** Every line of stdout so far, as it came. */
  readonly lines: string[] = [];
  readonly frames: Frame[] = [];
  readonly exited: Promise<Exit>;
  readonly child: ChildProcess;
  readonly strict = new StrictReader();
  readonly #removeHome: () => void;
  #stderr = "";
  /** The line under way. */
  readonly #rest: Buffer[] = [];
  #seen = 0;
  #isOver = false;
  readonly #wakers = new Set<() => void>();

  constructor({ args = [], models, files = {}, env = {} }: StartOptions = {}) {
    const { home, env: emptyEnv, remove } = emptyHome();
    this.#removeHome = remove;
    const agentDir = join(home, "agent");
    const cwd = join(home, "project");
    for (const directory of [agentDir, cwd]) mkdirSync(directory);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    if (models !== undefined) writeFileSync(join(agentDir, "models.yml"), models);
    this.child = spawn(process.execPath, [galleyBin, "--mode", "rpc", ...args], {
      cwd,
      env: { ...emptyEnv, GALLEY_AGENT_DIR: agentDir, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk));
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    this.child.stdin?.on("error", () => {}); // the program may be gone before it has read everything
    this.exited = new Promise((resolve, reject) => {
      this.child.on("error", reject);
      // "close", not "exit": by then everything it wrote was read.
      this.child.on("close", (code, signal) => {
        this.#isOver = true;
        this.#wake();
        resolve({ code, signal });
      });
    });
  }

  /** Processor time used so far, in the system's ticks. */
  get processorTicks(): number {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resident memory now and at its highest. */
  get memory(): { nowBytes: number; peakBytes: number } {
    const status = readFileSync(`/proc/${this.child.pid}/status`, "utf8");
    const of = (name: string) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, "m"))?.[1]) * 1024;
    return { nowBytes: of("VmRSS"), peakBytes: of("VmHWM") };
  }

  send(...frames: object[]): void {
    void this.sendBytes(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
  }

  /** Resolves when the pipe has taken it. */
  sendBytes(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.child.stdin?.write(bytes, () => resolve()));
  }

  /** The first frame not yet waited for that fits. */
  async waitFor(fits: (frame: Frame) => boolean, what = "a frame"): Promise<Frame> {
    let next = this.#seen;
    const isFound = () => {
      while (next < this.frames.length) if (fits(this.frames[next++] as Frame)) return true;
      return false;
    };
    await this.until(isFound, what);
    this.#seen = next;
    return this.frames[next - 1] as Frame;
  }

  waitForType(type: string): Promise<Frame> {
    return this.waitFor((frame) => frame.type === type, type);
  }

  waitForResponse(id: string | number): Promise<Frame> {
    return this.waitFor((frame) => frame.type === "response" && frame.id === id, `the response to ${id}`);
  }

  /** Looks again whenever something was read, and now and then. */
  async until(isTrue: () => boolean, what: string, limitMs = patienceMs): Promise<void> {
    for (const deadline = Date.now() + limitMs; !isTrue(); ) {
      if (this.#isOver || Date.now() > deadline)
        throw new Error(
          `${this.#isOver ? "galley ended before" : "No"} ${what}; last frames: ${this.#tail()}\n${this.#stderr}`,
        );
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => wake(), 100);
        const wake = () => {
          clearTimeout(timer);
          this.#wakers.delete(wake);
          resolve();
        };
        this.#wakers.add(wake);
      });
    }
  }

  /** Resolves when the program has used no processor time for half a second: it waits for us. */
  async untilStalled(): Promise<void> {
    let ticks = -1;
    let since = 0;
    const isQuiet = () => {
      if (this.processorTicks !== ticks) since = Date.now();
      ticks = this.processorTicks;
      return Date.now() - since >= 500;
    };
    await this.until(isQuiet, "a program that waits for its reader", 30_000);
  }

  /** How it ended and how long that took. */
  async exit(limitMs = patienceMs): Promise<Exit & { tookMs: number }> {
    const start = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`galley still runs; last frames: ${this.#tail()}`)), limitMs);
    });
    const exit = await Promise.race([this.exited, late]).finally(() => clearTimeout(timer));
    return { ...exit, tookMs: performance.now() - start };
  }

  end(): void {
    this.child.stdin?.end();
  }

  /** For `afterEach`: whatever the test left behind is gone. */
  async dispose(): Promise<void> {
    this.child.stdout?.resume();
    this.child.kill("SIGKILL");
    await this.exited.catch(() => {}); // it could not even be started; the test has told
    this.#removeHome();
    this.strict.verify();
  }

  #read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const line = Buffer.concat([...this.#rest.splice(0), chunk.subarray(start, end)]).toString("utf8");
      this.lines.push(line);
      this.frames.push(parse(line));
      this.strict.read(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }

  #tail(): string {
    return this.lines
      .slice(-5)
      .map((line) => line.slice(0, 200))
      .join(" ");
  }
}

/** What is no frame must not look like one. */
function parse(line: string): Frame {
  try {
    return JSON.parse(line) as Frame;
  } catch {
    return { type: "(no frame)", line };
  }
}

/** A models file whose only model is served at this address; without a key when none is named. `more`: of the model. */
export function modelsAt(baseUrl: string, apiKey?: string, more = ""): string {
  return `providers:
  acme:
    baseUrl: ${baseUrl}/v1
    api: openai-completions
    ${apiKey === undefined ? "auth: none" : `apiKey: ${apiKey}`}
    models:
      - id: scripted
${more}`;
}
