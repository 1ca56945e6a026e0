// Ends a run early: after the first signal, or when the reader has gone, it is stopped and closed in order, within time
// limits. A second signal does not wait, nor does one before the run.

import { systemCode } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { AgentSession } from "../../sdk/index.js";
import { exitCodes, signalCodes } from "../exit-codes.js";

/** From the moment it is known that the run ends early. */
const shutdownBudgetMs = 5000;
/** The part of it that extensions may take. */
const goodbyeMs = 1500;

type StopSignal = keyof typeof signalCodes;

export class Stop {
  /** The program's exit code; undefined as long as nothing stops it. */
  code: number | undefined;
  signal: StopSignal | undefined;
  session: AgentSession | undefined;
  hasReader = true;
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  watch(session: AgentSession): void {
    this.session = session;
    for (const signal of Object.keys(signalCodes) as StopSignal[])
      process.on(signal, () => {
        if (this.signal !== undefined) process.exit(this.code);
        this.signal = signal;
        this.#end(signalCodes[signal]);
      });
  }

  /** The reader has gone: there is nothing left to say. Any other failure lost the answer. */
  outputFailed(error: Error): void {
    if (!this.hasReader) return;
    this.hasReader = false;
    const isGone = systemCode(error) === "EPIPE";
    if (!isGone) this.#log.error(`Cannot write the output: ${error.message}`);
    this.#end(isGone ? exitCodes.done : exitCodes.failed);
  }

  #end(code: number): void {
    if (this.code !== undefined) return;
    this.code = code;
    setTimeout(() => process.exit(code), shutdownBudgetMs);
    this.session?.beginShutdown({ modulesMs: goodbyeMs });
    void this.session?.abort();
  }
}
