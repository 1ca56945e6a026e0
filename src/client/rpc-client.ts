// A host's end of the protocol: starts the agent, sends commands, hears events. Every request ends: with its answer,
// with a typed error, or with the end of the process.

import { isObject, type JsonObject } from "../base/json.js";
import { encodeFrame, FrameReader, type TypedObject } from "../base/ndjson.js";
import type { RpcCommand, RpcCommandType } from "../protocol/commands.js";
import type { RpcData } from "../protocol/data.js";
import type { ReadyFrame } from "../protocol/frames.js";
import { type AgentProcess, type SpawnOptions, spawnAgent } from "./spawn.js";

export interface RpcClientOptions extends SpawnOptions {
  startTimeoutMs?: number;
  requestTimeoutMs?: number;
}

/** A command that was refused, or that can no longer be answered. */
export class RpcError extends Error {
  readonly command: string;
  readonly code: string | undefined;

  constructor(command: string, message: string, code?: string) {
    super(message);
    this.name = "RpcError";
    this.command = command;
    this.code = code;
  }
}

type Fields<C extends RpcCommandType> = Omit<Extract<RpcCommand, { type: C }>, "type" | "id">;
type FrameListener = (frame: TypedObject) => void;

interface Pending {
  command: string;
  resolve(data: unknown): void;
  reject(error: RpcError): void;
  timer: NodeJS.Timeout;
}

const maxStderrBytes = 64 * 1024;

export class RpcClient {
  readonly #options: RpcClientOptions;
  readonly #listeners = new Set<FrameListener>();
  readonly #pending = new Map<string, Pending>();
  #process: AgentProcess | undefined;
  #exit: Promise<number | null> = Promise.resolve(null);
  #requests = 0;
  #stderr = "";

  constructor(options: RpcClientOptions = {}) {
    this.#options = options;
  }

  /** Resolves with the `ready` frame. */
  async start(): Promise<ReadyFrame> {
    if (this.#process) throw new RpcError("start", "The agent is already running");
    const child = spawnAgent(this.#options);
    this.#process = child;
    this.#stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-maxStderrBytes);
    });
    child.stdin.on("error", () => {}); // the exit says it better
    this.#exit = new Promise((resolve) => {
      child.on("error", (error) => {
        this.#stderr += error.message;
        resolve(null);
      });
      child.on("close", resolve);
    });
    void this.#exit.then((code) => this.#ended(child, code));
    const reader = new FrameReader();
    const ready = this.#next((frame) => frame.type === "ready", this.#options.startTimeoutMs ?? 30_000, "start");
    child.stdout.on("data", (chunk: Buffer) => {
      for (const frame of reader.push(chunk)) if (frame.ok) this.#receive(frame.value);
    });
    return (await ready) as unknown as ReadyFrame;
  }

  /** Closes stdin and waits for the orderly end; after the grace the process is killed. */
  async stop(graceMs = 6000): Promise<number | null> {
    const child = this.#process;
    if (!child) return this.#exit;
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
    const code = await this.#exit;
    clearTimeout(timer);
    return code;
  }

  /** Ends the agent at once, without its orderly end. */
  kill(): void {
    this.#process?.kill("SIGKILL");
  }

  /** What the agent wrote to stderr, the last part of it. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Every frame that is no answer to a request of this client. */
  onFrame(listener: FrameListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  request<C extends RpcCommandType>(type: C, fields: Fields<C>): Promise<RpcData[C]> {
    const id = `req_${++this.#requests}`;
    return new Promise<unknown>((resolve, reject) => {
      if (!this.#process) return reject(new RpcError(type, "The agent is not running"));
      const late = () => this.#settle(id)?.reject(new RpcError(type, `No answer to ${type} in time`));
      const timer = setTimeout(late, this.#options.requestTimeoutMs ?? 30_000);
      this.#pending.set(id, { command: type, resolve, reject, timer });
      this.send({ ...fields, id, type });
    }) as Promise<RpcData[C]>;
  }

  /** A raw frame. */
  send(frame: JsonObject): void {
    this.#process?.stdin.write(encodeFrame(frame));
  }

  /** Prompts and waits until the session has settled; rejects if the prompt fails late or the agent ends. */
  async promptAndWait(message: string, timeoutMs = 600_000): Promise<void> {
    const settled = this.#next((frame) => frame.type === "agent_settled", timeoutMs, "prompt");
    const failed = this.#next((frame) => frame.type === "response" && frame.success === false, timeoutMs, "prompt");
    const late = failed.then((frame) => {
      throw new RpcError("prompt", String(frame.error));
    });
    await Promise.all([this.request("prompt", { message }), Promise.race([settled, late])]);
  }

  #next(matches: (frame: TypedObject) => boolean, timeoutMs: number, command: string): Promise<TypedObject> {
    const found = new Promise<TypedObject>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        stopListening();
      };
      const timer = setTimeout(() => {
        done();
        reject(new RpcError(command, `Waited ${timeoutMs} ms in vain. ${this.#stderr}`.trim()));
      }, timeoutMs);
      timer.unref();
      const stopListening = this.onFrame((frame) => {
        if (!matches(frame)) return;
        done();
        resolve(frame);
      });
      void this.#exit.then((code) => {
        done();
        reject(new RpcError(command, `The agent ended (exit code ${code}). ${this.#stderr}`.trim()));
      });
    });
    found.catch(() => {}); // whoever awaits it hears; a wait that lost a race must not end the host
    return found;
  }

  #receive(frame: TypedObject): void {
    if (frame.type === "response") {
      const id = typeof frame.id === "string" ? frame.id : frame.requestId;
      const pending = typeof id === "string" ? this.#settle(id) : undefined;
      if (pending) return this.#answer(pending, frame);
    }
    for (const listener of [...this.#listeners]) listener(frame);
  }

  #answer(pending: Pending, frame: TypedObject): void {
    if (frame.success === true) return pending.resolve(frame.data);
    const code = isObject(frame) && typeof frame.code === "string" ? frame.code : undefined;
    pending.reject(new RpcError(pending.command, String(frame.error), code));
  }

  #settle(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    if (!pending) return undefined;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    return pending;
  }

  #ended(child: AgentProcess, code: number | null): void {
    if (this.#process === child) this.#process = undefined;
    for (const id of [...this.#pending.keys()]) {
      const pending = this.#settle(id);
      pending?.reject(new RpcError(pending.command, `The agent ended (exit code ${code}). ${this.#stderr}`.trim()));
    }
  }
}
