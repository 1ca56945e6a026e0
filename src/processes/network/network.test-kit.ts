// A gate on this machine's loopback, a network in which every name and address leads to a server of the test, and a plain
// client that sends bytes as they are.

import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { NetworkGate } from "../sandbox/box.js";
import type { Network } from "./dial.js";
import { createNetworkGate, type NetworkGateOptions } from "./gate.js";

/** A public address that belongs to the tests' listed hosts. */
export const publicAddress = "93.184.216.34";

export interface TestNetwork extends Network {
  readonly lookups: string[];
  /** `address:port`, in order. */
  readonly dials: string[];
}

/** `names`: the addresses of each; the others do not exist. Whatever is dialled, `server` answers. */
export function testNetwork(names: Readonly<Record<string, readonly string[]>>, server?: Server): TestNetwork {
  const lookups: string[] = [];
  const dials: string[] = [];
  return {
    lookups,
    dials,
    async lookup(name) {
      lookups.push(name);
      const found = names[name];
      if (found === undefined) throw new Error("ENOTFOUND");
      return found;
    },
    connect(address, port) {
      dials.push(`${address}:${port}`);
      return connect({ host: "127.0.0.1", port: server === undefined ? 1 : portOf(server), allowHalfOpen: true });
    },
  };
}

export interface OpenGate {
  readonly gate: NetworkGate;
  /** Connections of programs that were there and are closed. */
  closed(): number;
  readonly port: number;
}

export async function openGate(options: NetworkGateOptions): Promise<OpenGate> {
  const gate = createNetworkGate(options);
  const server = await listening(createServer());
  onTestFinished(() => gate.close());
  gate.serve(server);
  let closed = 0;
  server.on("connection", (socket) => socket.once("close", () => closed++));
  return { gate, port: portOf(server), closed: () => closed };
}

export async function httpServer(answer: RequestListener): Promise<Server> {
  return listening(createHttpServer(answer));
}

export async function tcpServer(answer: (socket: Socket) => void): Promise<Server> {
  return listening(createServer({ allowHalfOpen: true }, answer));
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Sends the text, and resolves with everything that came until the other end closed. */
export function exchange(port: number, text: string | Buffer, { endsFirst = false } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    let received = "";
    socket.setEncoding("latin1");
    socket.on("error", reject);
    socket.on("data", (chunk) => (received += chunk));
    socket.on("end", () => {
      socket.end();
      resolve(received);
    });
    if (endsFirst) socket.end(text);
    else socket.write(text);
  });
}

/** Status and body of an answer. */
export function answerOf(text: string): { status: number; body: string } {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), body };
}

/** Resolves when the condition holds; looks whenever other work had its turn. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return server;
}
