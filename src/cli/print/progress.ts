// What a person sees while a one-shot run works: one line on stderr that changes, if stderr is a terminal. Elsewhere a
// retry is told in a line of its own, and with `--verbose` every tool call.

import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { AgentSessionEvent } from "../../protocol/events.js";
import type { RunTally } from "../../sdk/run-report/run-tally.js";
import { amountText, secondsText } from "./figures.js";

export interface ProgressOptions {
  readonly stderr: Pick<NodeJS.WriteStream, "write" | "columns">;
  readonly hasLine: boolean;
  readonly isVerbose: boolean;
  readonly isQuiet: boolean;
  now(): number;
}

const eraseLine = "\r\u001b[K";
const refreshMs = 500;

export class Progress {
  readonly #options: ProgressOptions;
  #tally: RunTally | undefined;
  #model = "";
  #startedAt = 0;
  #retryUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  /** What the line shows; undefined: nothing. */
  #shown: string | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** `tally` is brought up to date by the caller, before each event. */
  begin(tally: RunTally, model: string): void {
    const { hasLine, isQuiet, now } = this.#options;
    this.#tally = tally;
    this.#model = model;
    this.#startedAt = now();
    if (!hasLine || isQuiet) return;
    this.#timer = setInterval(() => this.#draw(), refreshMs);
    this.#draw();
  }

  event(event: AgentSessionEvent): void {
    const { isVerbose, isQuiet, hasLine, now } = this.#options;
    if (!this.#tally || isQuiet) return;
    const { call, retry } = this.#tally;
    if (event.type === "auto_retry_start" && retry) {
      this.#retryUntil = now() + retry.delayMs;
      if (!hasLine) this.write(`galley: ${this.#retryText(retry)}\n`);
    }
    if (event.type === "tool_execution_start" && isVerbose && call) this.write(`${callText(call)}\n`);
    if (event.type !== "message_update" && event.type !== "tool_execution_update") this.#draw();
  }

  /** A text of whole lines, above the line. */
  write(text: string): void {
    this.#erase();
    this.#options.stderr.write(sanitizeForTerminal(text));
    this.#draw();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#erase();
  }

  #erase(): void {
    if (this.#shown !== undefined) this.#options.stderr.write(eraseLine);
    this.#shown = undefined;
  }

  #draw(): void {
    if (!this.#timer || !this.#tally) return;
    const { stderr, now } = this.#options;
    const { call, retry, tokens, cost } = this.#tally;
    const doing = retry ? this.#retryText(retry) : call ? callText(call) : `waiting for ${this.#model}`;
    const parts = [secondsText(Math.floor((now() - this.#startedAt) / 1000)), ...amountText({ tokens, cost })];
    const rest = `  ${parts.join("  ")}`;
    const width = Math.max((stderr.columns || 80) - 1, 10);
    const room = Math.max(width - rest.length, 10);
    const cut = doing.length > room ? `${doing.slice(0, room - 1)}…` : doing;
    const text = sanitizeForTerminal(`${cut}${rest}`.slice(0, width));
    if (text !== this.#shown) stderr.write(eraseLine + text);
    this.#shown = text;
  }

  #retryText({ attempt, maxAttempts, reason }: NonNullable<RunTally["retry"]>): string {
    const wait = secondsText(Math.ceil(Math.max(this.#retryUntil - this.#options.now(), 0) / 1000));
    return `retry ${attempt} of ${maxAttempts} in ${wait}: ${reason}`;
  }
}

function callText({ tool, target }: { tool: string; target: string }): string {
  return target === "" ? tool : `${tool} ${target}`;
}
