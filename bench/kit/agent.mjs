// A program that speaks the protocol, started and watched from the host's end. Promises: a moment is taken when the bytes
// arrive, before anything is parsed; nothing waits for ever; a program that dies fails whoever waits for it.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { row } from "./measure.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "galley-bench-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130)); // through the line above

/** Where the measured programs work. */
export const workspace = join(scratch, "workspace");
mkdirSync(workspace);

export const galley = {
  name: "galley",
  args: (url) => [join(root, "bin/galley.js"), "--mode", "rpc", ...(url ? ["--model", "bench/m"] : [])],
};
export const floor = { name: "floor", args: (url) => [join(root, "bench/floor.mjs"), ...(url ? [url] : [])] };

/** Other agents that speak the protocol, by name (`--beside NAME=COMMAND`). */
const others = {};

/** `command` is a program and its arguments, without spaces in them. It finds its model where pi looks for it. */
export function addOther(name, command) {
  const [file, ...before] = command.split(" ");
  const model = ["--provider", "bench", "--model", "m"];
  others[name] = { name, file, args: (url) => [...before, "--mode", "rpc", ...(url ? model : [])], isSilent: true };
}

/** What `alternate` takes turns with: `sample` for the floor, for galley and for each other agent. */
export function agents(sample) {
  const programs = Object.entries({ floor, galley, ...others });
  return Object.fromEntries(programs.map(([name, program]) => [name, () => sample(program)]));
}

/** Galley against each of the others; `limit` is the share of their time that it may take. */
export function besideOthers(samples, { name, unit, pick = (all) => all, limit = 1 / 3 }) {
  const beside = ([other]) => ({ name: other, samples: pick(samples[other]) });
  return Object.entries(others).map((each) =>
    row({ name: `${name}, beside ${each[0]}`, unit, samples: pick(samples.galley), against: beside(each), limit }),
  );
}

const patienceMs = 60_000;
const longestMarker = 256;
let agentDirectories = 0;

/** A small environment: neither the user's keys and proxies nor certificates that Node would load may have a say. */
export function environment(url) {
  const agentDir = join(scratch, `agent-${agentDirectories++}`);
  const otherDir = join(agentDir, "other");
  mkdirSync(otherDir, { recursive: true });
  if (url) {
    // With a key, as in use: what looks for it in everything that is said has its price.
    const apiKey = "sk-bench-0123456789abcdefghijklmnop";
    const bench = { baseUrl: `${url}/v1`, api: "openai-completions", apiKey, models: [{ id: "m" }] };
    for (const directory of [agentDir, otherDir])
      writeFileSync(join(directory, "models.json"), JSON.stringify({ providers: { bench } }));
  }
  const directories = { GALLEY_AGENT_DIR: agentDir, PI_CODING_AGENT_DIR: otherDir };
  return { PATH: process.env.PATH, HOME: scratch, TMPDIR: scratch, PI_OFFLINE: "1", ...directories };
}
export class Agent {
  /** By `performance.now()`. */
  startedAt;
  /** Since the start, or since `forget`. */
  stdoutBytes = 0;
  #isSilent;
  #child;
  #chunks = [];
  #received = 0;
  #tail = Buffer.alloc(0);
  #stderr = "";
  #waiters = new Set();
  #exit;

  /** `nodeArgs` go before the program; descriptor 3 is a pipe of its own; `env` comes on top of the small one. */
  constructor(program, { url, nodeArgs = [], env: more = {}, cwd = workspace } = {}) {
    const env = { ...environment(url), ...more };
    this.startedAt = performance.now();
    this.#isSilent = program.isSilent;
    this.#child = spawn(program.file ?? process.execPath, [...nodeArgs, ...program.args(url)], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    this.#child.stdout.on("data", (chunk) => this.#take(chunk));
    this.#child.stderr.on("data", (chunk) => {
      this.#stderr = (this.#stderr + chunk).slice(-2000);
    });
    this.#child.stdin.on("error", () => {}); // its exit, told below, says more
    this.#exit = new Promise((resolve) => {
      this.#child.once("error", resolve);
      this.#child.once("close", resolve);
    });
    void this.#exit.then((code) => this.#failAll(`${program.name} ended (${code})`));
  }

  /** Not every program says so by itself. */
  get ready() {
    return this.#isSilent ? this.state() : this.arrival('"type":"ready"');
  }

  /** Resolves with the moment at which the program has told of its state. */
  state() {
    const answered = this.arrival('"command":"get_state","success":true');
    this.send({ id: "state", type: "get_state" });
    return answered;
  }

  send(...commands) {
    this.#child.stdin.write(commands.map((command) => `${JSON.stringify(command)}\n`).join(""));
  }

  /** Sends one prompt; resolves with the moment at which the session had settled. */
  prompt(message) {
    const settled = this.arrival('"type":"agent_settled"');
    this.send({ type: "prompt", message });
    return settled;
  }

  /** The moment at which this text, not counting what came before the call, has arrived on stdout. */
  arrival(text) {
    const arrived = new Promise((resolve, reject) => {
      const settle = (act) => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        act();
      };
      const fail = (reason) => settle(() => reject(new Error(`no ${text}: ${reason}. stderr: ${this.#stderr}`)));
      const timer = setTimeout(() => fail(`nothing within ${patienceMs / 1000} s`), patienceMs);
      const waiter = { text, from: this.#received, found: (at) => settle(() => resolve(at)), fail };
      this.#waiters.add(waiter);
    });
    arrived.catch(() => {}); // whoever awaits it still hears of it; a measurement that gave up must not end the bench
    return arrived;
  }

  /** Every frame since the start, or since `forget`. A line that is no JSON throws. */
  frames() {
    const lines = Buffer.concat(this.#chunks).toString("utf8").split("\n");
    if (lines.pop() !== "") throw new Error("stdout does not end with a whole frame");
    return lines.map((line) => JSON.parse(line));
  }

  forget() {
    this.#chunks = [];
    this.stdoutBytes = 0;
  }

  stopReading() {
    this.#child.stdout.pause();
  }

  readOn() {
    this.#child.stdout.resume();
  }

  get rssMiB() {
    const [, kiB] = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8"));
    return Number(kiB) / 1024;
  }

  /** The CPU time so far, in ms; needs kit/report-cpu.cjs in the program. */
  async cpuMs() {
    return Number(await this.#report());
  }

  /** The files that the program has loaded; needs kit/report-files.cjs in it. */
  async loadedFiles() {
    return JSON.parse(await this.#report());
  }

  /** What is written to descriptor 3 when a script of ours in the program is asked. */
  #report() {
    return new Promise((resolve, reject) => {
      this.#child.stdio[3].once("data", resolve);
      void this.#exit.then(() => reject(new Error("ended before it could be asked")));
      this.#child.kill("SIGUSR2");
    });
  }

  /** The polite way out: the end of stdin. */
  async close() {
    this.#child.stdin.end();
    const patience = setTimeout(() => this.kill(), patienceMs);
    const code = await this.#exit;
    clearTimeout(patience);
    if (code !== 0) throw new Error(`ended with ${code}. stderr: ${this.#stderr}`);
  }

  kill() {
    this.#child.kill("SIGKILL");
  }

  #take(chunk) {
    const at = performance.now();
    this.#chunks.push(chunk);
    this.stdoutBytes += chunk.length;
    this.#received += chunk.length;
    const recent = Buffer.concat([this.#tail, chunk]);
    const start = this.#received - recent.length;
    this.#tail = recent.subarray(-longestMarker);
    for (const { text, from, found } of this.#waiters)
      if (recent.indexOf(text, Math.max(0, from - start)) >= 0) found(at);
  }

  #failAll(reason) {
    for (const { fail } of this.#waiters) fail(reason);
  }
}
