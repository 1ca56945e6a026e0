// Which file the agent keeps its session in, as far as the host knows. The agent is asked whenever it may be another one;
// without an answer the file known so far stays.

import { isObject } from "../base/json.js";
import type { TypedObject } from "../base/ndjson.js";
import { bounded } from "./deadline.js";

export class SessionFile {
  path: string | undefined;
  readonly #askState: () => Promise<unknown>;
  #isSure = false;
  /** Ends when the agent has answered, or does not. */
  #asking: Promise<unknown> | undefined;

  constructor(askState: () => Promise<unknown>) {
    this.#askState = askState;
  }

  /** The answer comes by `see`. A new session may have no file before its first prompt, which makes sure. */
  ask(isSure = false): void {
    this.#isSure = isSure;
    this.#asking = this.#askState().catch(() => {});
  }

  makeSure(): void {
    if (!this.#isSure) this.ask(true);
  }

  /** Waits for the last answer, within the time of a caller that already has its own. Never rejects. */
  known(since: number, timeoutMs = Number.NaN, signal?: AbortSignal): Promise<unknown> {
    const leftMs = since + timeoutMs - performance.now();
    return bounded(Promise.resolve(this.#asking), { timeoutMs: leftMs, signal, command: "" }).catch(() => {});
  }

  /** Every response of the agent. */
  see({ command, data }: TypedObject): void {
    if (command === "get_state" && isObject(data))
      this.path = typeof data.sessionFile === "string" ? data.sessionFile : undefined;
  }
}
