// Other people's code runs as a guest: it cannot end the process, cannot take stdin away and cannot write between the
// frames on stdout. Whatever a guest starts (a timer, a promise) stays a guest, and nobody else is ever touched.

import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import { GalleyError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";

export interface GuardedModule {
  /** The module. */
  readonly path: string;
  readonly log: Log;
  /** The tool call that is being carried out. */
  readonly call?: ModuleCall;
  /** Fires when nobody waits for what the guest does: then nobody need answer what it asks either. */
  readonly signal?: AbortSignal | undefined;
  /** The limit that the guest works under, if it stands still while a person is asked. */
  readonly patience?: Patience;
}

export interface Patience {
  /** Does not count what passes until then. */
  hold(until: Promise<unknown>): void;
}

export interface ModuleCall {
  readonly toolCallId: string;
  /** What has to be done before the call counts as finished. */
  readonly unfinished: Promise<unknown>[];
}

const storage = new AsyncLocalStorage<GuardedModule | undefined>();
let isInstalled = false;

export function runGuarded<Result>(running: GuardedModule, work: () => Result): Result {
  if (!isInstalled) install();
  isInstalled = true;
  return storage.run(running, work);
}

/** For what a guest asks of us: our own code is nobody's guest, however it was reached. */
export function runAsHost<Result>(work: () => Result): Result {
  return storage.getStore() ? storage.run(undefined, work) : work();
}

export function currentModule(): GuardedModule | undefined {
  return storage.getStore();
}

function install(): void {
  for (const name of ["exit", "reallyExit", "abort"] as const) refuseExit(name);
  for (const name of ["log", "info", "debug"] as const) redirect(name);
  replaceStream("stdout", () => process.stderr);
  const inputs = new WeakMap<GuardedModule, Readable>();
  replaceStream("stdin", (running) => {
    const known = inputs.get(running);
    if (known) return known;
    running.log.warn(`${running.path} reads stdin, which belongs to galley; it is given an empty one`);
    const input = emptyInput();
    inputs.set(running, input);
    return input;
  });
}

function refuseExit(name: "exit" | "reallyExit" | "abort"): void {
  const holder = process as unknown as Record<string, (...args: unknown[]) => unknown>;
  const original = holder[name];
  if (!original) return; // a worker thread has no abort
  holder[name] = (...args) => {
    const running = storage.getStore();
    if (!running) return original.apply(process, args);
    const sentence = `${running.path} called process.${name}(${args.map(String).join(", ")})`;
    running.log.warn(`${sentence}; it was not obeyed`);
    throw new GalleyError("unsupported", sentence);
  };
}

function redirect(name: "log" | "info" | "debug"): void {
  const { console } = globalThis;
  const original = console[name];
  console[name] = (...args: unknown[]) => (storage.getStore() ? console.error(...args) : original(...args));
}

/** Replaces one of the process's streams for guests only. */
function replaceStream(name: "stdout" | "stdin", standIn: (running: GuardedModule) => unknown): void {
  const before = Object.getOwnPropertyDescriptor(process, name);
  if (before?.configurable !== true) return;
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get() {
      const running = storage.getStore();
      if (running) return standIn(running);
      return before.get ? before.get.call(process) : before.value;
    },
  });
}

/** At its end from the start, and not a terminal. */
function emptyInput(): Readable {
  const input = Readable.from([]);
  return Object.assign(input, { fd: -1, isTTY: false, isRaw: false, setRawMode: () => input });
}
