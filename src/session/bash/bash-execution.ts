// The commands that a user runs in a session, beside the agent. Each becomes a message of the conversation: at once
// when no run is active, otherwise after it, so that nothing comes between a call and its result. It belongs to the
// conversation in which it was requested, even when the session has switched to another one meanwhile.

import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { BashResult, StagedEffects } from "../../protocol/data.js";
import type { BashExecutionMessage } from "../../protocol/messages.js";

export interface BashExecutionDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The conversation that a command belongs to when it is requested now. */
  home(): BashHome;
  /** Resolves when no run is active; never while a home's `isStreaming` holds. */
  whenIdle(): Promise<void>;
}

export interface BashHome {
  /** Runs the command to its end; throws where it cannot be started. */
  run(request: BashRunRequest): Promise<BashRunOutcome>;
  /** A run is active in this conversation; runs of other conversations do not count. */
  isStreaming(): boolean;
  append(message: BashExecutionMessage): void;
  /** Where an artifact lies on the disk, if it does. */
  artifactPath(id: string): Promise<string | undefined>;
  /** Nothing more will come. May be called more than once. */
  release(): void;
}

export interface BashRunRequest {
  readonly command: string;
  readonly excludeFromContext: boolean;
  readonly signal: AbortSignal;
  readonly onChunk?: (text: string) => void;
  /** What it does to files is staged, whatever the mode. */
  readonly stage?: boolean;
  /** The host's word: with the user's rights. */
  readonly isUnsandboxed?: boolean;
}

export interface BashRunOutcome {
  readonly exitCode: number;
  /** Why it was ended, with the sentence for it; absent where it ended by itself. */
  readonly stopped?: { readonly by: "abort" | "timeout" | "output"; readonly sentence: string };
  readonly output: {
    readonly text: string;
    readonly totalLines: number;
    readonly totalBytes: number;
    readonly outputLines: number;
    readonly outputBytes: number;
    readonly artifactId?: string;
    readonly truncation?: object;
  };
  /** What became of it besides its output. */
  readonly notes?: { readonly lines: readonly string[]; readonly staged?: StagedEffects };
}

export interface BashOptions {
  readonly excludeFromContext?: boolean | undefined;
  readonly stage?: boolean | undefined;
  readonly unsandboxed?: boolean | undefined;
}

export class BashExecutions {
  readonly #deps: BashExecutionDeps;
  readonly #running = new Set<AbortController>();
  readonly #held: { readonly message: BashExecutionMessage; readonly home: BashHome }[] = [];
  #isWaiting = false;
  /** One command after the other, in the order in which they came. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: BashExecutionDeps) {
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /**
   * Any exit code is a result; rejects only where the command cannot be started. Sizes are those of what the command
   * printed, without the line that says how it was ended.
   */
  async execute(
    command: string,
    onChunk?: (text: string) => void,
    { excludeFromContext = false, stage = false, unsandboxed: isUnsandboxed = false }: BashOptions = {},
  ): Promise<BashResult> {
    const abort = new AbortController();
    this.#running.add(abort);
    const home = this.#deps.home();
    const previous = this.#last;
    const run = previous.then(() =>
      home.run({
        command,
        excludeFromContext,
        stage,
        isUnsandboxed,
        signal: abort.signal,
        ...(onChunk ? { onChunk } : {}),
      }),
    );
    this.#last = run.catch(() => {}); // the caller gets the error
    try {
      const outcome = await run;
      const result = await resultOf(home, outcome);
      this.#deliver(home, this.#asMessage(command, result, outcome, excludeFromContext));
      return result;
    } catch (error) {
      home.release();
      throw error;
    } finally {
      this.#running.delete(abort);
    }
  }

  /** Ends every command that runs or waits now; their results still arrive. */
  abort(): void {
    for (const controller of this.#running) controller.abort();
  }

  /** Adds held results. Called before a prompt; otherwise it happens by itself. */
  flush(): void {
    this.#add(() => true);
  }

  #add(isDue: (home: BashHome) => boolean): void {
    const takeNext = () => {
      const index = this.#held.findIndex(({ home }) => isDue(home));
      return index < 0 ? undefined : this.#held.splice(index, 1)[0];
    };
    for (let next = takeNext(); next; next = takeNext()) {
      try {
        next.home.append(next.message);
      } finally {
        next.home.release();
      }
    }
  }

  #asMessage(
    command: string,
    { output, exitCode, cancelled, truncated }: BashResult,
    { output: { truncation } }: BashRunOutcome,
    excludeFromContext: boolean,
  ): BashExecutionMessage {
    return {
      role: "bashExecution",
      command,
      output,
      exitCode,
      cancelled,
      truncated,
      ...(truncation ? { meta: { truncation } } : {}),
      ...(excludeFromContext ? { excludeFromContext } : {}),
      timestamp: this.#deps.clock.now(),
    };
  }

  #deliver(home: BashHome, message: BashExecutionMessage): void {
    this.#held.push({ message, home }); // behind those that wait, to keep the order
    this.#addWhereIdle();
    if (this.#held.length === 0 || this.#isWaiting) return;
    this.#addWhenIdle().catch((error: unknown) =>
      this.#deps.log.warn(`a command's result was not added to the session: ${messageOf(error)}`),
    );
  }

  #addWhereIdle(): void {
    this.#add((home) => !home.isStreaming());
  }

  async #addWhenIdle(): Promise<void> {
    this.#isWaiting = true;
    try {
      // The next run may have begun before the end of the last one is reported.
      while (this.#held.length > 0) {
        await this.#deps.whenIdle();
        this.#addWhereIdle();
      }
    } finally {
      this.#isWaiting = false;
    }
  }
}

async function resultOf(home: BashHome, { exitCode, stopped, output, notes }: BashRunOutcome): Promise<BashResult> {
  const { text, truncation, artifactId, ...sizes } = output;
  const path = artifactId === undefined ? undefined : await home.artifactPath(artifactId);
  const ended = stopped ? withLine(text, stopped.by === "abort" ? "Command cancelled" : stopped.sentence) : text;
  return {
    output: notes && notes.lines.length > 0 ? withLine(ended, notes.lines.join("\n")) : ended,
    ...(stopped ? {} : { exitCode }),
    cancelled: stopped !== undefined,
    truncated: truncation !== undefined,
    totalLines: sizes.totalLines,
    totalBytes: sizes.totalBytes,
    outputLines: sizes.outputLines,
    outputBytes: sizes.outputBytes,
    artifactId,
    ...(path === undefined ? {} : { fullOutputPath: path }),
    ...notes?.staged,
  };
}

function withLine(text: string, line: string): string {
  return text === "" || text.endsWith("\n") ? `${text}${line}` : `${text}\n${line}`;
}
