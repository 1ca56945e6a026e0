// The real program, led to one phase of its work and held there: a model service that says what the phase needs, a home
// of its own, and a host that reads everything with a strict eye.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EventLaws } from "../../test/kit/event-laws.mjs";
import { StrictReader } from "../../test/kit/strict-frames.mjs";

const bin = fileURLToPath(new URL("../../bin/galley.js", import.meta.url));
const goBetween = fileURLToPath(new URL("go-between.mjs", import.meta.url));
const patienceMs = 20_000;

export class Scene {
  frames = [];
  laws = new EventLaws();
  strict = new StrictReader({ onJoined: (frame) => this.#take(frame) });
  stderr = "";
  requests = 0;
  /** Ids of the commands so far. */
  sent = [];
  child;
  home;
  exited;
  /** Everything that it wrote is read, or its output is closed. */
  ended;
  #replies;
  #server;
  #rest = "";
  #wake = () => {};

  /** `replies` are asked in turn, the last one again and again; `hasGoBetween` puts a process between us and galley. */
  static async open({ replies = [], args = [], settings = "", files = {}, hasGoBetween = false }) {
    const scene = new Scene(replies);
    await scene.#listen();
    const agentDir = join(scene.home, "agent");
    for (const directory of [agentDir, scene.project]) mkdirSync(directory);
    const { port } = scene.#server.address();
    const acme = {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      api: "openai-completions",
      auth: "none",
      models: [{ id: "m" }],
    };
    writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
    writeFileSync(join(agentDir, "config.yml"), settings);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(scene.project, name), text);
    scene.start(args, { hasGoBetween });
    return scene;
  }

  constructor(replies, home = mkdtempSync(join(tmpdir(), "galley-scene-"))) {
    this.#replies = replies;
    this.home = home;
  }

  get project() {
    return join(this.home, "project");
  }

  /** Whoever was started here bears it in the environment. */
  get tag() {
    return this.home;
  }

  start(args, { hasGoBetween = false } = {}) {
    const command = [bin, "--mode", "rpc", "--model", "acme/m", ...args];
    this.child = spawn(process.execPath, hasGoBetween ? [goBetween, ...command] : command, {
      cwd: this.project,
      env: { PATH: process.env.PATH, HOME: this.home, GALLEY_AGENT_DIR: join(this.home, "agent") },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.stdin.on("error", () => {}); // its exit says more
    this.child.stdout.setEncoding("utf8").on("data", (chunk) => this.#read(chunk));
    this.child.stdout.on("error", () => {});
    this.child.stderr.setEncoding("utf8").on("data", (chunk) => {
      this.stderr += chunk;
      this.#wake();
    });
    // "exit" and not "close": whoever closed stdout would wait for ever, and who did not reads the rest in time.
    this.ended = new Promise((resolve) => this.child.stdout.on("close", resolve));
    this.exited = new Promise((resolve) => this.child.on("exit", (code, signal) => resolve({ code, signal })));
  }

  send(...commands) {
    this.sent.push(...commands.map(({ id }) => id));
    this.child.stdin.write(commands.map((command) => `${JSON.stringify(command)}\n`).join(""));
  }

  type(type) {
    return this.until(() => this.frames.some((frame) => frame.type === type), type);
  }

  response(id) {
    return this.until(() => this.answered(id), `response ${id}`);
  }

  answered(id) {
    return this.frames.some((frame) => frame.type === "response" && frame.id === id);
  }

  async until(isTrue, what, limitMs = patienceMs) {
    for (const deadline = Date.now() + limitMs; !isTrue(); ) {
      if (Date.now() > deadline || this.child.exitCode !== null)
        throw new Error(`no ${what}: ${this.stderr.slice(-500)}`);
      await new Promise((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 20);
      });
    }
  }

  sessionFiles() {
    const names = readdirSync(this.home, { recursive: true });
    return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(this.home, name));
  }

  close() {
    this.child.kill("SIGKILL");
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  #listen() {
    this.#server = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        const reply = this.#replies[Math.min(this.requests, this.#replies.length - 1)];
        this.requests++;
        response.on("error", () => {}); // the program may hang up at any moment
        reply(response);
        this.#wake();
      });
    });
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  #read(chunk) {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) {
      if (this.strict.read(line) !== "no JSON") this.#take(JSON.parse(line));
    }
    this.#wake();
  }

  #take(frame) {
    this.frames.push(frame);
    this.laws.read(frame);
  }
}

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const begin = (response) => response.writeHead(200, { "content-type": "text/event-stream" });

/** What the model service does with one request. */
export const replies = {
  text: (text) => (response) => {
    begin(response).write(chunk({ content: text }));
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  },
  stalls: (response) => void begin(response).write(chunk({ content: "Hm" })),
  silent: () => {},
  unavailable: (response) => response.writeHead(503).end("service unavailable"),
  calls: (name, args) => (response) => {
    const call = { index: 0, id: "call_1", type: "function", function: { name, arguments: JSON.stringify(args) } };
    begin(response).write(chunk({ tool_calls: [call] }));
    response.end(`${chunk({}, "tool_calls")}data: [DONE]\n\n`);
  },
};
