// The parsers: up to two processes that start with the first question, share the work of every call, and end when there
// has been none for a while. Any failure in them (a damaged grammar, a crash, an endless parse) becomes a reply.

import { GalleyError, messageOf } from "../../base/errors.js";
import { toolFailure } from "../tool.js";
import { languages } from "./languages.js";
import type { Job, ParserProcess } from "./parser-process.js";
import type { MatchReply, MatchRequest, WorkerReady } from "./worker.js";

export interface Parsers {
  /** Which optional grammars are usable. The first call starts a process to find out. */
  grammars(): Promise<Grammars>;
  /** Rejects when the signal fires or no parser can be started; everything else is in the reply. */
  match(request: MatchRequest, signal?: AbortSignal): Promise<MatchReply>;
}

export type Grammars = Readonly<WorkerReady>;

export interface ParserOptions {
  maxProcesses?: number;
  /** Longest time for one file. */
  timeoutMs?: number;
  /** A process that was idle for this long is ended. */
  idleMs?: number;
  /** A file from which grammar packages are resolved. Default: galley's own. */
  grammarsFrom?: string;
}

/** One process mostly finishes this little work before a second one could start. */
const maxFewFiles = 8;
const maxFewBytes = 2 * 1024 * 1024;
/** A tree takes some forty times the size of its file. */
const minLargeBytes = 512 * 1024;
/** After this time a second process is started anyway. */
const patienceMs = 250;

let shared: ParserPool | undefined;

export function sharedParsers(): Parsers {
  shared ??= new ParserPool();
  return shared;
}

export class ParserPool implements Parsers {
  readonly #options: Required<Omit<ParserOptions, "grammarsFrom">> & Pick<ParserOptions, "grammarsFrom">;
  readonly #queue: Job[] = [];
  /** What ends the open requests of a signal. */
  readonly #open = new WeakMap<AbortSignal, Set<() => void>>();
  #processes: ParserProcess[] = [];
  #starting = 0;
  #grammars: Promise<Grammars> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(options: ParserOptions = {}) {
    this.#options = { maxProcesses: 2, timeoutMs: 20_000, idleMs: 60_000, ...options };
  }

  /** The pids of the processes that run, for monitoring. */
  get pids(): (number | undefined)[] {
    return this.#processes.map(({ pid }) => pid);
  }

  grammars(): Promise<Grammars> {
    this.#grammars ??= this.#takeStock().catch((error: unknown) => {
      this.#grammars = undefined; // the next call may find a repaired installation
      throw error;
    });
    return this.#grammars;
  }

  async match(request: MatchRequest, signal?: AbortSignal): Promise<MatchReply> {
    await this.grammars();
    if (signal?.aborted) throw aborted();
    const open = signal && this.#openOf(signal);
    let onAbort = () => {};
    try {
      return await new Promise<MatchReply>((answer, reject) => {
        const job: Job = { request, isLarge: request.source.length > minLargeBytes, signal, answer };
        onAbort = () => {
          const place = this.#queue.indexOf(job);
          if (place >= 0) this.#queue.splice(place, 1);
          for (const process of this.#processes) process.abort(job);
          reject(aborted());
        };
        open?.add(onAbort);
        this.#queue.push(job);
        this.#dispatch();
      });
    } finally {
      open?.delete(onAbort);
    }
  }

  /** A signal compares each new listener with all it has. A search has hundreds of open files, so one listens for all. */
  #openOf(signal: AbortSignal): Set<() => void> {
    const known = this.#open.get(signal);
    if (known) return known;
    const open = new Set<() => void>();
    this.#open.set(signal, open);
    const stopAll = () => {
      for (const onAbort of open) onAbort();
    };
    signal.addEventListener("abort", stopAll, { once: true });
    return open;
  }

  /** Ends every process; the next question starts new ones. */
  shutdown(): void {
    clearTimeout(this.#idleTimer);
    for (const process of this.#processes) process.kill("the parsers were shut down");
  }

  #dispatch(): void {
    clearTimeout(this.#idleTimer);
    for (let job = this.#nextJob(); job; job = this.#nextJob()) {
      const free = this.#roomFor(job);
      if (!free?.isIdle && !this.#isFull) this.#considerAnother();
      if (!free) return;
      this.#queue.splice(this.#queue.indexOf(job), 1);
      free.send(job);
    }
    if (this.#queue.length === 0) this.#endGrown();
    if (this.#processes.every(({ isIdle }) => isIdle)) this.#waitIdle();
  }

  /** A new process takes less than half of the memory that one keeps after a large file. */
  #endGrown(): void {
    for (const process of this.#processes) if (process.isIdle && process.hasGrown) process.kill("it has grown");
  }

  /** Large files one after another, because of their memory; the others pass them. */
  #nextJob(): Job | undefined {
    const isTaken = this.#processes.some(({ hasLargeJob }) => hasLargeJob);
    return this.#queue.find((job) => !(isTaken && job.isLarge));
  }

  /** The process with the least to do; for a large file the one that has had such a file before. */
  #roomFor(job: Job): ParserProcess | undefined {
    const grown = job.isLarge ? this.#processes.filter(({ hasGrown }) => hasGrown) : [];
    const able = grown.length > 0 ? grown : this.#processes;
    return able.filter(({ hasRoom }) => hasRoom).sort((a, b) => a.sentBytes - b.sentBytes)[0];
  }

  get #isFull(): boolean {
    return this.#processes.length + this.#starting >= this.#options.maxProcesses;
  }

  /** One more process, unless the work is probably done before it could begin. */
  #considerAnother(): void {
    const bytes = this.#queue.reduce((sum, { request }) => sum + request.source.length, 0);
    const isLittle = this.#queue.length <= maxFewFiles && bytes <= maxFewBytes;
    if (this.#processes.length === 0 || !isLittle) void this.#addProcess();
    else this.#patience ??= setTimeout(() => this.#losePatience(), patienceMs).unref();
  }

  #losePatience(): void {
    this.#patience = undefined;
    if (this.#queue.length > 0 && !this.#isFull) void this.#addProcess();
  }

  #waitIdle(): void {
    this.#idleTimer = setTimeout(() => this.shutdown(), this.#options.idleMs);
    this.#idleTimer.unref();
  }

  async #addProcess(): Promise<void> {
    this.#starting++;
    const outcome = await this.#start(Object.keys((await this.grammars()).expandos)).catch((error: unknown) => ({
      failure: messageOf(error),
    }));
    this.#starting--;
    // A parser that started before cannot start now: all waiting callers get the reason.
    if ("failure" in outcome && this.#processes.length === 0)
      for (const job of this.#queue.splice(0)) job.answer({ problem: cannotStart(outcome.failure), isFatal: true });
  }

  /** The first start, with every grammar. If it fails, one of them is damaged: each is tried alone. */
  async #takeStock(): Promise<Grammars> {
    const all = languages.flatMap(({ grammar, packageName }) => (packageName ? [grammar] : []));
    const first = await this.#start(all);
    if (!("failure" in first)) return first;
    const stock = { expandos: {}, broken: {} };
    for (const grammar of all) {
      const alone = await this.#start([grammar], { isTrial: true });
      if ("failure" in alone) Object.assign(stock.broken, { [grammar]: alone.failure });
      else {
        Object.assign(stock.expandos, alone.expandos);
        Object.assign(stock.broken, alone.broken);
      }
    }
    const second = await this.#start(Object.keys(stock.expandos));
    if ("failure" in second) throw toolFailure(cannotStart(second.failure));
    return stock;
  }

  async #start(
    grammars: readonly string[],
    { isTrial = false }: { isTrial?: boolean } = {},
  ): Promise<WorkerReady | { failure: string }> {
    // Loaded only now: most runs make no ast calls and should not load the code that starts processes.
    const { ParserProcess } = await import("./parser-process.js");
    const process: ParserProcess = new ParserProcess({
      grammars,
      grammarsFrom: this.#options.grammarsFrom,
      timeoutMs: this.#options.timeoutMs,
      onRoom: () => this.#dispatch(),
      onEnd: (leftOver) => {
        this.#processes = this.#processes.filter((other) => other !== process);
        this.#queue.unshift(...leftOver.filter(({ signal }) => !signal?.aborted));
        if (this.#queue.length > 0) this.#dispatch();
      },
    });
    const outcome = await process.ready;
    if (isTrial) process.kill("it was a trial");
    else if (!("failure" in outcome) && process.isOpen) {
      this.#processes.push(process);
      this.#dispatch();
    }
    return outcome;
  }
}

function aborted(): GalleyError {
  return new GalleyError("aborted", "Operation aborted");
}

function cannotStart(reason: string): string {
  return `The parser cannot be started: ${reason}`;
}
