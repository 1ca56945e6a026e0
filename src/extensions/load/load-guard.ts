// Extensions run guarded: their code cannot end the process, cannot take stdin away and cannot write between the frames
// on stdout. Whatever an extension starts (a timer, a promise) stays guarded, and no other code is affected.

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
  /** Fires when the result is no longer needed: then questions of the extension need no answer either. */
  readonly signal?: AbortSignal | undefined;
  /** The limit that the extension works under, if it stops while the user is asked. */
  readonly patience?: Patience;
}

export interface Patience {
  /** Does not count the time until then. */
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

/** For what an extension asks of us: our own code is not guarded, however it was reached. */
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

/** Replaces one of the process's streams for extensions only. */
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
