// The watcher: one small process that outlives a killed galley for a moment and kills galley's children. It holds one
// end of a pipe; the system closes the other end when galley ends. Every child that was forked before has its marker by
// then: until it has, it holds a copy of our end itself.

import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { Group } from "./process-table.js";
import { reaperScript } from "./reaper-script.js";
import type { Spawn } from "./start.js";

/** The watcher ends early only if another program kills it. After this many times galley gives up. */
const maxStarts = 20;

const laterMs = 100;

export interface ReaperOptions {
  readonly spawn: Spawn;
  readonly log: Log;
  readonly clock: Clock;
  /** The marker in the environment of all our children. */
  readonly marker: string;
  /** By full names; undefined where there is none. */
  readonly grep: string | undefined;
  readonly sleep: string | undefined;
}

export class Reaper {
  readonly #options: ReaperOptions;
  #child: ChildProcess | undefined;
  #line = "";
  #starts = 0;
  #isClosed = false;
  #cancelLater: (() => void) | undefined;

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  /** Before a child starts: without a watcher there is none. */
  ensure(): void {
    if (this.#child !== undefined) return;
    if (this.#starts++ >= maxStarts) throw failure("it was ended too often");
    const { spawn, marker, grep = "", sleep = "" } = this.#options;
    const child = spawn("/bin/sh", ["-c", reaperScript, "galley-reaper", marker, grep, sleep], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.on("error", () => {}); // the missing pid says the same
    if (child.pid === undefined) throw failure("the system refused it");
    child.stdin?.on("error", () => {}); // its end says the same
    child.on("exit", () => this.#lost(child));
    child.unref();
    (child.stdin as Socket).unref();
    this.#child = child;
    this.#send();
  }

  /** The groups to kill, from now on. */
  watch(groups: ReadonlySet<Group>): void {
    this.#cancelLater?.();
    this.#cancelLater = undefined;
    this.#line = Array.from(groups, ({ pid, startTime }) => `${pid}:${startTime}`).join(" ");
    this.#send();
  }

  /** For groups that ended: their numbers stay theirs for a while, and the next command tells the watcher anyway. */
  watchLater(groups: ReadonlySet<Group>): void {
    this.#cancelLater ??= this.#options.clock.after(laterMs, () => this.watch(groups));
  }

  /** The watcher kills what is left and ends by itself. */
  close(): void {
    this.#isClosed = true;
    this.#cancelLater?.();
    this.#child?.stdin?.end();
  }

  #send(): void {
    this.#child?.stdin?.write(`${this.#line}\n`);
  }

  #lost(child: ChildProcess): void {
    if (this.#isClosed || this.#child !== child) return;
    this.#child = undefined;
    this.#options.log.warn("The watcher of child processes was killed; starting another.");
    try {
      this.ensure();
    } catch (error) {
      this.#options.log.error("Child processes may outlive galley now.", error);
    }
  }
}

function failure(reason: string): GalleyError {
  return new GalleyError("start_failed", `Cannot start the watcher of child processes: ${reason}.`);
}
