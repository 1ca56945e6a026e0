// One parser process: started with its grammars, asked one file after another. It reports which request it was busy with
// when it ended, so the file that killed it can be named.

import { ownLocation } from "../../base/own-location.js";
import { startWorker, type WorkerProcess } from "../../processes/worker-process.js";
import { languages } from "./languages.js";
import { type MatchReply, type MatchRequest, type WorkerReady, type WorkerSetup, workerScript } from "./worker.js";

export interface Job {
  readonly request: MatchRequest;
  /** Its tree takes so much memory that no two of them are parsed at a time. */
  readonly isLarge: boolean;
  readonly signal: AbortSignal | undefined;
  answer(reply: MatchReply): void;
}

export interface ParserProcessOptions {
  /** Grammars to register, by name. */
  readonly grammars: readonly string[];
  /** A file from which grammar packages are resolved. Default: galley's own. */
  readonly grammarsFrom?: string | undefined;
  /** Longest time for one request. */
  readonly timeoutMs: number;
  /** An answer came: there is room for more. */
  onRoom(): void;
  /** Jobs that were sent and never begun. */
  onEnd(leftOver: readonly Job[]): void;
}

/** Requests wait in the pipe while the process answers those before: it must not have to wait for us. */
const maxSentBytes = 128 * 1024;
const maxSentJobs = 64;
/** Loading a damaged library may hang instead of failing. */
const startTimeoutMs = 20_000;

export class ParserProcess {
  readonly #options: ParserProcessOptions;
  readonly #worker: WorkerProcess;
  readonly #sent: Job[] = [];
  #sentBytes = 0;
  #hasGrown = false;
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;
  /** Why we ended it, in the words of an issue. */
  #killedFor: string | undefined;
  #onReady: (ready: WorkerReady | { failure: string }) => void = () => {};
  /** What it can parse, or why it did not start. */
  readonly ready: Promise<WorkerReady | { failure: string }>;

  constructor(options: ParserProcessOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    const setup: WorkerSetup = {
      parserFrom: ownLocation(),
      grammarsFrom: options.grammarsFrom ?? ownLocation(),
      languages: languages.flatMap(({ grammar, packageName }) =>
        packageName && options.grammars.includes(grammar) ? [{ id: grammar, packageName }] : [],
      ),
    };
    let isReady = false;
    this.#worker = startWorker({
      script: workerScript(),
      args: [JSON.stringify(setup)],
      onMessage: (message) => {
        if (isReady) this.#settleFirst(message as MatchReply);
        else {
          isReady = true;
          clearTimeout(this.#timer);
          this.#worker.hold(false);
          this.#onReady(message as WorkerReady);
        }
      },
      onEnd: ({ reason }) => this.#end(reason),
    });
    this.#worker.hold(true);
    this.#timer = setTimeout(() => this.kill("it did not start in time"), startTimeoutMs);
  }

  get pid(): number | undefined {
    return this.#worker.pid;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isIdle(): boolean {
    return this.#sent.length === 0;
  }

  get hasRoom(): boolean {
    return this.#isOpen && this.#sentBytes < maxSentBytes && this.#sent.length < maxSentJobs;
  }

  /** Not answered yet. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  get hasLargeJob(): boolean {
    return this.#sent.some(({ isLarge }) => isLarge);
  }

  /** It has parsed a large file, and keeps most of the memory. */
  get hasGrown(): boolean {
    return this.#hasGrown;
  }

  send(job: Job): void {
    this.#sent.push(job);
    this.#sentBytes += job.request.source.length;
    this.#hasGrown ||= job.isLarge;
    this.#worker.hold(true);
    this.#worker.send(job.request);
    if (this.#sent.length === 1) this.#watch();
  }

  /** Stops the process if it is busy with this job. What else was sent is left over, not lost. */
  abort(job: Job): void {
    if (this.#sent[0] === job) this.kill("it was stopped");
  }

  kill(reason: string): void {
    this.#isOpen = false;
    this.#killedFor ??= reason;
    this.#worker.kill();
  }

  #settleFirst(reply: MatchReply): void {
    const job = this.#sent.shift();
    this.#sentBytes -= job?.request.source.length ?? 0;
    this.#watch();
    if (this.#sent.length === 0) this.#worker.hold(false);
    job?.answer(reply);
    this.#options.onRoom();
  }

  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#sent.length === 0) return;
    const { timeoutMs } = this.#options;
    this.#timer = setTimeout(() => this.kill(`parsing took longer than ${timeoutMs / 1000} s`), timeoutMs);
  }

  #end(reason: string): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#onReady({ failure: this.#killedFor ?? reason });
    const [first, ...leftOver] = this.#sent.splice(0);
    first?.answer({ problem: this.#killedFor ?? `the parser crashed: ${reason}`, isFatal: true });
    this.#options.onEnd(leftOver);
  }
}
