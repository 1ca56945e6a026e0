// One agent process and its three pipes. Promises: frames in the order in which they were written, bounded buffers in
// every direction, and exactly one `onClose`, after the last frame, whatever the process or its children do.

import type { Frame, TypedObject } from "../base/ndjson.js";
import { ChunkAssembler } from "./join-chunks.js";
import { LineReader, maxRecordBytes } from "./line-reader.js";
import { RpcError } from "./rpc-error.js";
import type { AgentProcess } from "./spawn.js";

/** How a process ended. */
export interface AgentExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last part of what it wrote there, or why it could not be started. */
  stderr: string;
}

/** Neither part of a stack nor the runtime's own last line. */
const tellingLines = /^(?!Node\.js)[^\s^}].*/gm;

/** Only where the agent failed by itself do its last words say why; the rest of its stderr is about something else. */
export function endingOf({ code, signal, stderr }: AgentExit, wasStopped: boolean): string {
  if (wasStopped) return "The agent was stopped";
  if (signal) return `The agent ended by ${signal}`;
  const words = code === 0 ? undefined : stderr.match(tellingLines)?.at(-1);
  return `The agent ended with code ${code}${words ? `: ${words}` : ""}`;
}

export interface ConnectionDeps {
  process: AgentProcess;
  maxStderrBytes: number;
  onFrame(frame: TypedObject): void;
  onProblem(problem: string): void;
  onClose(exit: AgentExit): void;
}

/** A grandchild that holds the pipes open delays callers no longer than this after the agent's end. */
const lingerMs = 1000;

export class Connection {
  readonly closed: Promise<AgentExit>;
  readonly #deps: ConnectionDeps;
  readonly #reader = new LineReader();
  readonly #chunks = new ChunkAssembler();
  #stderr: Buffer = Buffer.alloc(0);
  #isStopping = false;
  #isClosed = false;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    const { process, maxStderrBytes, onClose } = deps;
    const { stdin, stdout, stderr } = process;
    // The exit reports better what happened to a pipe.
    for (const pipe of [stdin, stdout, stderr]) pipe.on("error", () => {});
    stdout.on("data", (chunk: Buffer) => this.#take(this.#reader.push(chunk)));
    // An agent that no longer writes cannot answer.
    stdout.on("end", () => setTimeout(() => process.kill("SIGKILL"), lingerMs).unref());
    stderr.on("data", (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-maxStderrBytes || Infinity); // none, not all
    });
    this.closed = new Promise((resolve) => {
      const close = (code: number | null, signal: NodeJS.Signals | null, reason = "") => {
        this.#isClosed = true;
        resolve({ code, signal, stderr: this.stderr || reason });
      };
      process.on("close", close);
      process.on("error", (error) => process.pid ?? close(null, null, error.message));
      process.on("exit", (code, signal) => {
        const linger = setTimeout(() => close(code, signal), lingerMs);
        void this.closed.then(() => clearTimeout(linger));
      });
    });
    void this.closed.then((exit) => {
      stdout.destroy();
      stderr.destroy();
      this.#take(this.#reader.end());
      onClose(exit);
    });
  }

  get stderr(): string {
    return this.#stderr.toString();
  }

  /** The host closed stdin, or killed the process. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get isOpen(): boolean {
    return !this.#isStopping && !this.#isClosed;
  }

  /** The agent has not read what was sent so far. */
  get isClogged(): boolean {
    return this.#deps.process.stdin.writableNeedDrain;
  }

  /** Resolves when the pipe has taken the frame or is gone; throws for a frame that cannot be sent at all. */
  send(frame: object): Promise<void> {
    const line = `${JSON.stringify(frame)}\n`;
    const { stdin } = this.#deps.process;
    const bytes = Buffer.byteLength(line);
    if (bytes > maxRecordBytes) throw new RpcError("overflow", `A frame of ${bytes} bytes is too large for the agent`);
    if (bytes + stdin.writableLength > 2 * maxRecordBytes)
      throw new RpcError("overflow", "The agent does not read what it is sent");
    return new Promise((resolve) => stdin.write(line, () => resolve()));
  }

  /** Closes stdin: the agent shuts down in order. */
  end(): void {
    this.#isStopping = true;
    this.#deps.process.stdin.end();
  }

  kill(signal: "SIGTERM" | "SIGKILL" = "SIGKILL"): void {
    this.#isStopping = true;
    this.#deps.process.kill(signal);
  }

  #take(lines: readonly Frame[]): void {
    for (const line of lines)
      for (const frame of line.ok ? this.#chunks.take(line.value) : [line]) {
        if (frame.ok) this.#deps.onFrame(frame.value);
        else this.#deps.onProblem(frame.problem);
      }
  }
}
