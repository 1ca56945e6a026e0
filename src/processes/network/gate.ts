// The way of one confined command to the network: a proxy whose listening socket is inside, in the command's own network, and
// whose other end is here. No port is opened on this machine, and no file leads to it.

import { Server } from "node:net";
import { type Clock, systemClock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import type { NetworkGate } from "../sandbox/box.js";
import { addressKind } from "./address-kind.js";
import type { DecideHost } from "./admission.js";
import { type HostEntry, isHostEntry, isLocalName, parseHostEntry } from "./allow-list.js";
import { type Network, systemNetwork } from "./dial.js";
import type { Host } from "./host.js";
import { HttpProxy } from "./proxy.js";

export interface NetworkGateOptions {
  /** As the setting `bash.hosts` has them. */
  readonly hosts: readonly string[];
  /** Asks the user about a host that is not listed; absent: it is refused. */
  readonly decide?: DecideHost | undefined;
  readonly clock?: Clock;
  readonly network?: Network;
}

/** Free in a network of its own, and outside the range from which systems take ports for outgoing connections. */
export const gatePort = 21_128;

// A failure is told on stderr, and the exit code says it. Without the loopback of its network there is nothing to listen on.
const listenScript = [
  'const server = process.getBuiltinModule("node:net").createServer();',
  'server.on("error", (error) => { console.error("proxy: " + error.message); process.exit(1); });',
  `server.listen({ host: "127.0.0.1", port: ${gatePort}, backlog: 128 }, () =>`,
  '  process.send("listening", server, (error) => process.exit(error ? 1 : 0)));',
].join("\n");

/** For one command. Throws `invalid_argument` for a host that is none. */
export function createNetworkGate(options: NetworkGateOptions): NetworkGate {
  const { hosts, decide, clock = systemClock, network = systemNetwork } = options;
  const entries = hosts.map(entryOf);
  const proxy = new HttpProxy({ hosts: entries, decide, clock, network });
  let isClosed = false;
  let listening: Server | undefined;
  return {
    listenScript,
    env: proxyVariables(entries.some(({ host }) => isThisMachine(host))),
    serve(handle) {
      if (!(handle instanceof Server)) return; // nothing to accept on: the command reaches nothing
      if (isClosed || listening !== undefined) return void handle.close();
      listening = handle;
      handle.on("connection", (socket) => proxy.accept(socket));
      handle.on("error", () => {}); // of a connection that could not be accepted: the program sees it
    },
    blocked: () => proxy.blocked(),
    close() {
      if (isClosed) return;
      isClosed = true;
      listening?.close();
      proxy.close();
    },
  };
}

/**
 * Programs differ in which case they read. A server that the command started itself is reached past the proxy, unless an
 * entry such as `localhost:5432` means the user's machine.
 */
function proxyVariables(meansThisMachine: boolean): Readonly<Record<string, string>> {
  const names = ["http_proxy", "https_proxy", "all_proxy"];
  const url = `http://127.0.0.1:${gatePort}`;
  const lower = names.map((name): [string, string] => [name, url]);
  if (!meansThisMachine) lower.push(["no_proxy", "localhost,127.0.0.1,::1"]);
  return Object.fromEntries([...lower, ...lower.map(([name, value]) => [name.toUpperCase(), value])]);
}

function isThisMachine(host: Host): boolean {
  return host.kind === "address" ? addressKind(host.text) === "loopback" : isLocalName(host);
}

function entryOf(text: string): HostEntry {
  const entry = parseHostEntry(text);
  if (isHostEntry(entry)) return entry;
  throw new GalleyError("invalid_argument", `bash.hosts: expected ${entry.expected}`);
}
