// A real HTTP server on the loopback that plays a script of replies and records what it was asked. A request beyond
// the script, or a part of the script that was never played, fails `close`: a test cannot pass by half.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { GalleyError } from "../base/errors.js";

export type Step =
  | { type: "bytes"; bytes: Uint8Array }
  /** `count` pieces as fast as the socket takes them; no more is held than the socket asks for. */
  | { type: "many"; count: number; make: (index: number) => string }
  | { type: "gate"; gate: Gate }
  | { type: "cut" }
  | { type: "stall" };

/** A plain answer, or a stream that plays its steps and ends after the last. */
export type Reply =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** `mayBeLeft`: the client is expected to hang up before the last step. */
  | { steps: Step[]; status?: number; headers?: Record<string, string>; mayBeLeft?: boolean };

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
  /** The client's port: equal ports are one connection. */
  port: number | undefined;
  /** Resolves when the connection closed before the reply had ended. */
  closed: Promise<void>;
}

export function sse(data: unknown, event?: string): Step {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  const lines = text.split("\n").map((line) => `data: ${line}\n`);
  return raw(`${event === undefined ? "" : `event: ${event}\n`}${lines.join("")}\n`);
}

export function comment(text: string): Step {
  return raw(`: ${text}\n\n`);
}

export function raw(bytes: string | Uint8Array): Step {
  return { type: "bytes", bytes: typeof bytes === "string" ? Buffer.from(bytes) : bytes };
}

export function many(count: number, make: (index: number) => string): Step {
  return { type: "many", count, make };
}

/** Closes the connection in the middle of the reply. */
export const cut: Step = { type: "cut" };

/** Says nothing more and keeps the connection. */
export const stall: Step = { type: "stall" };

/** A pause in a reply that ends when the test says so. */
export class Gate {
  readonly step: Step = { type: "gate", gate: this };
  readonly opened: Promise<void>;
  /** Resolves when the server waits at the gate. */
  readonly reached: Promise<void>;
  open!: () => void;
  arrive!: () => void;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
    this.reached = new Promise((resolve) => {
      this.arrive = resolve;
    });
  }
}

export async function startScriptedServer(script: readonly Reply[]): Promise<ScriptedServer> {
  const server = new ScriptedServer(script);
  await server.listen();
  return server;
}

export class ScriptedServer {
  readonly requests: RecordedRequest[] = [];
  readonly #script: readonly Reply[];
  readonly #server: Server;
  readonly #playing = new Set<Promise<void>>();
  readonly #problems: string[] = [];
  readonly #stopping = new AbortController();
  #next = 0;

  constructor(script: readonly Reply[]) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      const playing = this.#answer(request, response)
        .catch((error: unknown) => void this.#problems.push(String(error)))
        .finally(() => this.#playing.delete(playing));
      this.#playing.add(playing);
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", resolve);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Throws unless the whole script, and nothing else, was played so far. */
  verify(): void {
    const problems = [...this.#problems];
    const unused = this.#script.length - this.#next;
    if (unused > 0) problems.push(`${unused} of ${this.#script.length} scripted replies were never asked for`);
    if (problems.length > 0) throw new GalleyError("script_mismatch", problems.join("; "));
  }

  /** Waits for replies under way (not for closed gates), frees the port, then verifies. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#playing);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    this.verify();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const { method = "", url: path = "", headers } = request;
    const closed = new Promise<void>((resolve) => {
      response.once("close", () => {
        if (!response.writableFinished) resolve();
      });
    });
    const bytes = Buffer.concat(parts);
    let parsed: { body: unknown } | undefined;
    this.requests.push({
      method,
      path,
      headers,
      // Parsed when it is read: a slow server would make the program under test look slow.
      get body() {
        parsed ??= { body: parse(bytes.toString("utf8")) };
        return parsed.body;
      },
      port: request.socket.remotePort,
      closed,
    });

    const index = this.#next;
    const reply = this.#script[index];
    if (reply === undefined) {
      this.#problems.push(`request ${this.requests.length} (${method} ${path}) is beyond the script`);
      response.writeHead(500).end("No scripted reply is left.");
      return;
    }
    this.#next += 1;
    if (!("steps" in reply)) {
      response.writeHead(reply.status, reply.headers).end(reply.body ?? "");
      return;
    }
    response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers });
    response.flushHeaders();
    const played = await this.#play(reply.steps, response);
    if (played < reply.steps.length && !reply.mayBeLeft)
      this.#problems.push(`reply ${index + 1} stopped after ${played} of ${reply.steps.length} steps`);
  }

  /** How many steps were played. */
  async #play(steps: readonly Step[], response: ServerResponse): Promise<number> {
    for (const [index, step] of steps.entries()) {
      if (response.destroyed) return index;
      switch (step.type) {
        case "bytes":
          if (!(await this.#write(response, step.bytes))) return index;
          break;
        case "many":
          for (let piece = 0; piece < step.count; piece += 1)
            if (!(await this.#write(response, step.make(piece)))) return index;
          break;
        case "gate":
          step.gate.arrive();
          if (!(await this.#until(response, (resolve) => void step.gate.opened.then(resolve)))) return index;
          break;
        case "cut":
          // A turn later and softly: what was written before must arrive before the end does.
          setImmediate(() => response.socket?.destroySoon());
          return steps.length;
        case "stall":
          return steps.length;
      }
    }
    response.end();
    return steps.length;
  }

  /** False when the client is gone. Waits only when the socket asks for it. */
  #write(response: ServerResponse, bytes: string | Uint8Array): boolean | Promise<boolean> {
    if (response.destroyed) return false;
    return response.write(bytes) || this.#until(response, (resolve) => response.once("drain", resolve));
  }

  /** False when the client left, or the server was told to stop, before the event came. */
  #until(response: ServerResponse, subscribe: (resolve: () => void) => void): Promise<boolean> {
    const { signal } = this.#stopping;
    return new Promise((resolve) => {
      const finish = (came: boolean) => {
        response.off("close", onClose);
        signal.removeEventListener("abort", onStop);
        resolve(came);
      };
      const onClose = () => finish(false);
      const onStop = () => setImmediate(onClose); // a gate that is already open comes first
      subscribe(() => finish(true));
      response.once("close", onClose);
      signal.addEventListener("abort", onStop, { once: true });
      if (signal.aborted) onStop();
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // recorded as it came
  }
}
