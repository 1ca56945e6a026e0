// One terminal: its modes, its input, its size, and putting everything back. Promises: what was switched on is switched off
// again, once, whatever ends the program; nothing of ours writes to the terminal by another way.

import { StdinBuffer, setKittyProtocolActive, type Terminal } from "@earendil-works/pi-tui";
import { oneLine } from "../base/sanitize.js";

export interface TtyInput {
  setRawMode(isRaw: boolean): unknown;
  on(event: "data", listener: (data: Buffer) => void): unknown;
  off(event: "data", listener: (data: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

export interface TtyOutput {
  readonly columns?: number;
  readonly rows?: number;
  readonly writableNeedDrain: boolean;
  write(data: string): boolean;
  once(event: "drain", listener: () => void): unknown;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
}

export interface TtyOptions {
  readonly input: TtyInput;
  readonly output: TtyOutput;
  /** The title of the window; absent: it stays as it is. */
  readonly title?: string;
  /** The last word on what is written: another form for a terminal that cannot show all characters. */
  readonly spell?: (text: string) => string;
  /** The user wants the mouse in views on the alternate screen. */
  readonly hasMouse?: boolean;
}

const maxTitleLength = 200;

/** A smaller window shows only that it is too small. */
export const smallest = { columns: 20, rows: 6 };

const esc = "\u001b[";
/** How long a terminal may take to say that it speaks the newer protocol of keys. */
const kittyWaitMs = 150;
/** A key may come in several pieces. */
const pieceWaitMs = 10;

export class Tty implements Terminal {
  readonly #options: TtyOptions;
  /** What undoes what was switched on, by the name of the mode. */
  readonly #undo = new Map<string, string>();
  #keys: StdinBuffer | undefined;
  #onInput: ((data: string) => void) | undefined;
  #onResize: (() => void) | undefined;
  #hasKitty = false;
  #kittyTimer: NodeJS.Timeout | undefined;
  #onFocus: (hasFocus: boolean) => void = () => {};
  #onAnswer: (sequence: string) => void = () => {};

  constructor(options: TtyOptions) {
    this.#options = options;
  }

  get columns(): number {
    return this.#options.output.columns || 80;
  }

  get rows(): number {
    return this.#options.output.rows || 24;
  }

  get hasMouse(): boolean {
    return this.#options.hasMouse ?? false;
  }

  get kittyProtocolActive(): boolean {
    return this.#hasKitty;
  }

  /** It has not taken what was written before. */
  get isBusy(): boolean {
    return this.#options.output.writableNeedDrain;
  }

  whenFree(listener: () => void): void {
    this.#options.output.once("drain", listener);
  }

  /** Told by the terminal, where it tells. */
  onFocus(listener: (hasFocus: boolean) => void): void {
    this.#onFocus = listener;
  }

  /** What the terminal answers to a question (an OSC), which is never a key. */
  onAnswer(listener: (sequence: string) => void): void {
    this.#onAnswer = listener;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    const { input, output, title } = this.#options;
    this.#onInput = onInput;
    this.#onResize = onResize;
    this.#keys = new StdinBuffer({ timeout: pieceWaitMs });
    this.#keys.on("data", (key) => this.#take(key));
    this.#keys.on("paste", (text) => this.#onInput?.(`${esc}200~${text}${esc}201~`));
    input.setRawMode(true);
    input.on("data", this.#read);
    input.resume();
    output.on("resize", onResize);
    this.switchOn("bracketed paste", `${esc}?2004h`, `${esc}?2004l`);
    this.switchOn("focus events", `${esc}?1004h`, `${esc}?1004l`);
    if (title !== undefined) {
      this.switchOn("title", `${esc}22;0t`, `${esc}23;0t`);
      this.setTitle(title);
    }
    this.#askForKitty();
  }

  /** Puts the terminal back as it was. Safe to call at any moment, and more than once. */
  stop(): void {
    const { input, output } = this.#options;
    clearTimeout(this.#kittyTimer);
    this.#keys?.destroy();
    this.#keys = undefined;
    if (this.#onResize) output.off("resize", this.#onResize);
    input.off("data", this.#read);
    this.#switchAllOff();
    input.setRawMode(false);
    input.pause();
  }

  /** The same, after what was typed meanwhile has been taken in. */
  async leave(): Promise<void> {
    clearTimeout(this.#kittyTimer);
    this.#switchAllOff();
    await this.drainInput();
    this.stop();
  }

  #switchAllOff(): void {
    const undo = [...this.#undo.values()].reverse().join("");
    this.#undo.clear();
    this.#hasKitty = false;
    setKittyProtocolActive(false);
    if (undo !== "") this.#options.output.write(undo);
  }

  /** Takes in what is typed while the program leaves, so that the shell does not read it. */
  async drainInput(maxMs = 200, idleMs = 50): Promise<void> {
    const { input } = this.#options;
    this.#onInput = undefined;
    let idleSince = performance.now();
    const end = idleSince + maxMs;
    const note = () => {
      idleSince = performance.now();
    };
    input.on("data", note);
    while (performance.now() < end && performance.now() - idleSince < idleMs)
      await new Promise((resolve) => setTimeout(resolve, 10));
    input.off("data", note);
  }

  /** A mode that `stop` switches off again. */
  switchOn(name: string, on: string, off: string): void {
    this.#undo.delete(name);
    this.#undo.set(name, off);
    this.write(on);
  }

  switchOff(name: string): void {
    const off = this.#undo.get(name);
    this.#undo.delete(name);
    if (off !== undefined) this.write(off);
  }

  write(data: string): void {
    const { output, spell } = this.#options;
    output.write(spell ? spell(data) : data);
  }

  setTitle(title: string): void {
    if (this.#undo.has("title")) this.write(`\u001b]0;${oneLine(title, maxTitleLength)}\u0007`);
  }

  hideCursor(): void {
    if (!this.#undo.has("cursor")) this.switchOn("cursor", `${esc}?25l`, `${esc}?25h`);
  }

  showCursor(): void {
    this.switchOff("cursor");
  }

  // The library's own ways to draw and to show progress, which a Screen does not use.

  moveBy(): void {}
  clearLine(): void {}
  clearFromCursor(): void {}
  clearScreen(): void {}
  setProgress(): void {}

  readonly #read = (data: Buffer) => this.#keys?.process(data);

  #take(key: string): void {
    if (!this.#hasKitty && key.startsWith(`${esc}?`) && /^\d+u$/.test(key.slice(esc.length + 1))) {
      clearTimeout(this.#kittyTimer);
      this.#hasKitty = true;
      setKittyProtocolActive(true);
      this.switchOff("keys"); // the older way, where the answer came late
      this.switchOn("keys", `${esc}>7u`, `${esc}<u`);
    } else if (key === `${esc}I` || key === `${esc}O`) this.#onFocus(key === `${esc}I`);
    else if (key.startsWith("\u001b]")) this.#onAnswer(key);
    else this.#onInput?.(key);
  }

  /** Else the older way to tell Shift+Enter from Enter. */
  #askForKitty(): void {
    this.write(`${esc}?u`);
    this.#kittyTimer = setTimeout(() => this.switchOn("keys", `${esc}>4;2m`, `${esc}>4;0m`), kittyWaitMs);
  }
}
