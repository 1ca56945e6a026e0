// The life of one child: its output, its end, and being stopped. Stopping is TERM to the group, two seconds, KILL to
// the group, and then KILL to whatever else carries this child's marker.

import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import type { Clock } from "../base/clock.js";
import { ProcessOutput } from "./child-output.js";
import { giveInput } from "./own-input.js";
import { type Group, groupOf, killMarked, signalGroup, signalMembers, whenGroupGone } from "./process-table.js";
import type { ProcessEnd, ProcessRequest } from "./processes.js";
import type { Started } from "./start.js";

export const stopGraceMs = 2000;
/** How long to wait for output after the child's end, and for a killed child to end. */
const closeGraceMs = 500;
/** More than any pipe holds, so a slow reader loses nothing of the child's own output. */
const maxLateBytes = 1024 * 1024;

export type StopReason = NonNullable<ProcessEnd["stopped"]>;

export interface ChildContext {
  readonly request: ProcessRequest;
  readonly clock: Clock;
  readonly marker: string;
  /** The child is the helper of a confined command: where that one's standard error arrives, if it has one. */
  readonly helper?: { readonly errorDescriptor: number | undefined } | undefined;
}

export class Child {
  readonly group: Group;
  /** Rejects only with what `onOutput` threw. */
  readonly ended: Promise<ProcessEnd>;
  readonly #context: ChildContext;
  readonly #output: ProcessOutput;
  #exitCode: number | undefined;
  #stopped: StopReason | undefined;
  #failure: { error: unknown } | undefined;
  #end: () => void = () => {};
  #exit: () => void = () => {};
  readonly #exited = new Promise<void>((resolve) => {
    this.#exit = resolve;
  });

  constructor({ process, pid }: Started, context: ChildContext) {
    const { request, clock } = context;
    this.#context = context;
    this.group = groupOf(pid);
    const source = { stdout: process.stdout as Readable, stderr: errorStream(process, context) };
    const sink = request.onOutput?.bind(request) ?? (() => undefined);
    this.#output = new ProcessOutput(source, sink, (error) => this.#fail(error));
    this.ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    }).then(() => this.#result());
    process.on("exit", (code, signal) => this.#onExit(code, signal));
    giveInput(request.stdin, process.stdin);

    const cancelTimeout =
      request.timeoutMs === undefined ? undefined : clock.after(request.timeoutMs, () => void this.stop("timed_out"));
    const onAbort = () => void this.stop("aborted");
    request.signal?.addEventListener("abort", onAbort, { once: true });
    const release = () => {
      cancelTimeout?.();
      request.signal?.removeEventListener("abort", onAbort);
    };
    this.ended.then(release, release);
  }

  /** Resolves when the child and its processes are stopped. If the child has ended by itself, only its pipes are closed. */
  async stop(reason: StopReason): Promise<void> {
    if (this.#exitCode !== undefined || this.#stopped !== undefined) {
      if (this.#stopped === undefined) this.#finish();
      return void (await this.ended.catch(() => {})); // `run` reports the failure
    }
    this.#stopped = reason;
    await this.#kill();
    this.#finish();
  }

  async #kill(): Promise<void> {
    const { clock, marker, request, helper } = this.#context;
    // The helper would take the command along at once: only the command is asked to end.
    if (helper === undefined) signalGroup(this.group, "SIGTERM");
    else signalMembers(this.group, "SIGTERM");
    const isGone = request.startsNoOthers
      ? await this.#within(stopGraceMs, this.#exited)
      : await whenGroupGone(this.group, clock, stopGraceMs);
    if (!isGone) signalGroup(this.group, "SIGKILL");
    if (!request.startsNoOthers) await killMarked(marker);
    if (!isGone) await whenGroupGone(this.group, clock, closeGraceMs);
    // Not even KILL ends a process that waits for a broken disk; the answer must not wait for it.
    await this.#within(closeGraceMs, Promise.all([this.#exited, this.#output.closed]));
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    this.#exit();
    if (this.#stopped === undefined) void this.#afterExit();
  }

  async #afterExit(): Promise<void> {
    const isClosed = await this.#within(closeGraceMs, this.#output.closed);
    if (!isClosed) await this.#output.readRest(maxLateBytes);
    this.#finish();
  }

  /** Whether it happened in time. */
  #within(timeoutMs: number, event: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#context.clock.after(timeoutMs, () => resolve(false));
      void event.then(() => {
        cancel();
        resolve(true);
      });
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    void this.stop("aborted");
  }

  #finish(): void {
    this.#output.close();
    this.#end();
  }

  #result(): ProcessEnd {
    if (this.#failure !== undefined) throw this.#failure.error;
    const exitCode = this.#exitCode ?? 128 + constants.signals.SIGKILL;
    return this.#stopped === undefined ? { exitCode } : { exitCode, stopped: this.#stopped };
  }
}

function errorStream({ stderr, stdio }: ChildProcess, { helper }: ChildContext): Readable | null {
  if (helper === undefined) return stderr;
  return helper.errorDescriptor === undefined ? null : (stdio[helper.errorDescriptor] as Readable);
}
