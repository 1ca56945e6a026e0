// Names to addresses, and addresses to connections: what the proxy does outside, with bounds on time and on how many lookups
// run at once. A lookup takes a thread that galley's own file access needs as well.

import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { type Clock, sleep } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";

/** The network as the proxy sees it; tests bring their own. */
export interface Network {
  /** All addresses of a name, in the order to try. */
  lookup(name: string): Promise<readonly string[]>;
  connect(address: string, port: number): Socket;
}

export const systemNetwork: Network = {
  lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  // Half-open: a program may end its request and still read the answer.
  connect: (address, port) => connect({ host: address, port, allowHalfOpen: true }),
};

const maxLookups = 2;
const lookupMs = 20_000;
const connectMs = 20_000;
/** Of the addresses of one name. */
const maxTries = 4;

export class Dialer {
  readonly #network: Network;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ network, clock, signal }: { network: Network; clock: Clock; signal: AbortSignal }) {
    this.#network = network;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Throws a sentence. */
  async addressesOf(name: string): Promise<readonly string[]> {
    if (this.#running >= maxLookups) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      const found = await this.#within(lookupMs, this.#network.lookup(name));
      if (found.length === 0) throw new GalleyError("not_found", "no address");
      return found;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next(); // takes the place over
    }
  }

  /** The first of the addresses that answers. All of them were checked. Throws what the last one said. */
  async connectTo(addresses: readonly string[], port: number): Promise<Socket> {
    let failure: unknown = new GalleyError("not_found", "no address");
    for (const address of addresses.slice(0, maxTries)) {
      const socket = this.#network.connect(address, port);
      try {
        await this.#within(connectMs, connected(socket));
        return socket;
      } catch (error) {
        failure = error;
        socket.destroy();
      }
    }
    throw failure;
  }

  async #within<T>(ms: number, work: Promise<T>): Promise<T> {
    const done = new AbortController();
    const bound = sleep(this.#clock, ms, AbortSignal.any([done.signal, this.#signal])).then(() => {
      throw new GalleyError("timeout", "timed out");
    });
    return Promise.race([work, bound as Promise<never>]).finally(() => done.abort());
  }
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.on("error", reject); // stays: an error without a listener would end the process
  });
}
