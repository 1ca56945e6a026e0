// One confined command, from its start to its end: feeds the helper's descriptors, notices that the command began, waits
// until all its processes are gone, and undoes what the box had to put on the disk.

import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { GalleyError } from "../../base/errors.js";
import { groupOf, isProcessAlive, killProcess } from "../process-table.js";
import type { CommandLine } from "../shell.js";
import type { BoxedCommand, BoxReport, NetworkGate } from "./box.js";

const maxErrorText = 4000;
/** How long its pipes may stay open after its end, and its processes may take to end. */
const closeMs = 2000;

export interface BoxedStart extends Pick<BoxedCommand, "command" | "cwd" | "env"> {
  readonly descriptors: Descriptors;
  readonly gate: NetworkGate | undefined;
  /** After the end: what was taken away. */
  cleanUp(): readonly string[];
}

/** To what the helper itself says on the descriptor first, up to an empty line. */
type Answer = (said: string) => string;

/** The descriptors of a helper, from 3 on. */
export class Descriptors {
  readonly stdio: ("pipe" | "ipc")[] = ["pipe"];
  readonly inputs: { readonly descriptor: number; readonly bytes: string | Uint8Array | Answer }[] = [];
  readonly start: number;
  readonly error: number | undefined;
  readonly channel: number | undefined;
  info: number | undefined;

  constructor({ hasError, hasChannel }: { readonly hasError: boolean; readonly hasChannel: boolean }) {
    this.start = this.#add("pipe");
    this.error = hasError ? this.#add("pipe") : undefined;
    this.channel = hasChannel ? this.#add("ipc") : undefined;
  }

  /** Descriptor 3. */
  giveInput(bytes: string | Answer): void {
    this.inputs.push({ descriptor: 3, bytes });
  }

  addInput(bytes: Uint8Array): number {
    const descriptor = this.#add("pipe");
    this.inputs.push({ descriptor, bytes });
    return descriptor;
  }

  addInfo(): number {
    this.info = this.#add("pipe");
    return this.info;
  }

  #add(kind: "pipe" | "ipc"): number {
    return this.stdio.push(kind) + 2;
  }
}

export function boxedCommand(start: BoxedStart): BoxedCommand {
  return new ConfinedCommand(start);
}

class ConfinedCommand implements BoxedCommand {
  readonly #start: BoxedStart;
  #hasBegun = false;
  #isStarted = false;
  #errorText = "";
  #info = "";
  #closed: Promise<unknown> = Promise.resolve();
  #release: () => void = () => {};

  constructor(start: BoxedStart) {
    this.#start = start;
  }

  get command(): CommandLine {
    return this.#start.command;
  }

  get cwd(): string {
    return this.#start.cwd;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#start.env;
  }

  get stdio(): readonly ("pipe" | "ipc")[] {
    return this.#start.descriptors.stdio;
  }

  get errorDescriptor(): number | undefined {
    return this.#start.descriptors.error;
  }

  started(child: ChildProcess): void {
    const { descriptors, gate } = this.#start;
    this.#isStarted = true;
    const stream = (descriptor: number) => child.stdio[descriptor] as unknown as Readable & Writable;
    for (const { descriptor, bytes } of descriptors.inputs) {
      stream(descriptor).on("error", () => {}); // a helper that ended early says why on its standard error
      if (typeof bytes === "function") answer(stream(descriptor), bytes);
      else stream(descriptor).end(bytes);
    }
    const outputs: Readable[] = [];
    const read = (descriptor: number, take: (chunk: Buffer) => void) => {
      const output = stream(descriptor);
      output.on("error", () => {});
      output.on("data", take);
      outputs.push(output);
    };
    read(descriptors.start, () => {
      this.#hasBegun = true;
    });
    read(2, (chunk) => {
      if (!this.#hasBegun) this.#errorText = (this.#errorText + chunk.toString("utf8")).slice(0, maxErrorText);
    });
    if (descriptors.info !== undefined)
      read(descriptors.info, (chunk) => {
        this.#info = (this.#info + chunk.toString("utf8")).slice(0, maxErrorText);
      });
    this.#closed = Promise.all(outputs.map((output) => new Promise((resolve) => output.on("close", resolve))));
    this.#release = () => {
      for (const output of outputs) output.destroy();
      if (child.connected) child.disconnect();
    };
    if (gate !== undefined) child.on("message", (_, handle) => gate.serve(handle));
  }

  async ended(): Promise<BoxReport> {
    const { gate, cleanUp } = this.#start;
    try {
      if (this.#isStarted) await within(closeMs, this.#closed);
      await this.#processesGone();
    } finally {
      this.#release();
      gate?.close();
    }
    const removed = cleanUp();
    if (!this.#hasBegun && this.#isStarted)
      throw new GalleyError("start_failed", `Sandbox failed to start: ${this.#said()}`);
    return { removed, blocked: gate?.blocked() ?? [] };
  }

  /** The helper ends a moment before the first process of the namespace, with which all others end. */
  async #processesGone(): Promise<void> {
    const [, pid] = /"child-pid": (\d+)/.exec(this.#info) ?? [];
    if (pid === undefined) return;
    const first = groupOf(Number(pid));
    for (let rounds = 0; first.startTime !== "" && isProcessAlive(first); rounds++) {
      if (rounds === closeMs / 2) killProcess(first);
      if (rounds > closeMs) return; // it waits for a broken disk, and the answer must not
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #said(): string {
    const text = this.#errorText
      .trim()
      .replace(/^bwrap: /, "")
      .replace(/\s*\n\s*/g, "; ");
    return text === "" ? "it ended without a word." : /[.!?]$/.test(text) ? text : `${text}.`;
  }
}

function answer(pipe: Readable & Writable, toAnswer: Answer): void {
  let said = "";
  pipe.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.endsWith("\n\n")) pipe.end(toAnswer(said));
  });
}

async function within(timeoutMs: number, event: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([event, late]);
  clearTimeout(timer);
}
