// The first shell of the next command, started while a command runs: forking a large program takes longer than many a
// command. It waits for its script on standard input, with the environment that commands have, and ends by itself when
// galley does, because its input ends. It carries a marker as every child does. There is one at most, and a command
// that asks for another place, environment or input does not get it.

import { statSync } from "node:fs";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.js";
import type { Begun } from "./process-child.js";
import type { CommandLine } from "./process-shell.js";
import { signalGroup } from "./process-table.js";
import type { ProcessRequest } from "./processes.js";

/** Who has not run a command for so long may well run none. */
const idleMs = 60_000;

export class SpareShell {
  readonly #clock: Clock;
  #waiting: Begun | undefined;
  #cancelIdle: (() => void) | undefined;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The waiting shell, if it does for this command what a new one would. One in another directory is of no use. */
  take(request: ProcessRequest, { script }: CommandLine): Begun | undefined {
    if (this.#waiting === undefined || script === undefined || !isUsual(request)) return undefined;
    const waiting = this.#waiting;
    if (!isIn(request.cwd, waiting.group.pid)) return void this.#end();
    this.#forget();
    return waiting;
  }

  /** Has `start` make the next one, as soon as the command of this request is on its way. */
  prepareFor(request: ProcessRequest, start: () => Begun | Promise<never>): void {
    if (!isUsual(request)) return;
    setImmediate(() => {
      if (this.#isClosed || this.#waiting !== undefined) return;
      try {
        const started = start();
        if (started instanceof Promise) started.catch(() => {});
        else this.#keep(started);
      } catch {
        // Then the next command is started as the first one was, or hears why not.
      }
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  #keep(waiting: Begun): void {
    const { process } = waiting;
    process.unref();
    for (const pipe of [process.stdin, process.stdout] as Socket[]) pipe.on("error", () => {}).unref();
    process.on("exit", () => {
      if (this.#waiting === waiting) this.#end();
    });
    this.#waiting = waiting;
    this.#cancelIdle = this.#clock.after(idleMs, () => this.#end());
  }

  #end(): void {
    if (this.#waiting === undefined) return;
    const { process, group } = this.#waiting;
    this.#forget();
    signalGroup(group, "SIGKILL");
    process.stdin?.destroy();
    process.stdout?.destroy();
  }

  #forget(): void {
    this.#waiting = undefined;
    this.#cancelIdle?.();
  }
}

function isUsual({ command, mergesOutput, stdin, env = {} }: ProcessRequest): boolean {
  return "shell" in command && mergesOutput === true && stdin === undefined && Object.keys(env).length === 0;
}

/**
 * By what the directory is: another one may have its name by now. The dot asks for the right to enter it, as a new
 * process would need. Also no if the process has ended.
 */
function isIn(directory: string, pid: number): boolean {
  try {
    const [here, there] = [`${directory}/.`, `/proc/${pid}/cwd`].map((path) => statSync(path, { bigint: true }));
    return here?.ino === there?.ino && here?.dev === there?.dev;
  } catch {
    return false;
  }
}
