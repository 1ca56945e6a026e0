// The conversation in the normal screen: the library's focus, input and overlays with a way to draw of our own. Promises: one
// write for a frame; at most thirty frames a second, the last always; no line is wider than the terminal; what fails while
// it is drawn becomes a line, never the end of the program.

import { type Component, Container, CURSOR_MARKER, TUI, visibleWidth } from "@earendil-works/pi-tui";
import { cutTo } from "./cut-to.js";
import type { FullScreen } from "./full-screen.js";
import { wheelKeys } from "./mouse.js";
import { type Frame, type PaintedBlock, Painter } from "./painter.js";
import { smallest, type Tty } from "./terminal.js";

/** A part of the conversation. */
export interface ChatBlock extends Component {
  /** It will not change any more. */
  readonly isFinal: boolean;
}

const frameMs = 33;
const resizeMs = 50;
const syncOn = "\u001b[?2026h";
const syncOff = "\u001b[?2026l";
const reset = "\u001b[0m\u001b]8;;\u0007";

export class Screen extends TUI {
  /** Above the editor, in the order they were said. */
  readonly chat: ChatBlock[] = [];
  /** The editor and what stands around it. */
  readonly bottom = new Container();
  readonly #tty: Tty;
  readonly #painter = new Painter();
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #paintedAt = 0;
  #isOpen = false;
  #isWaiting = false;
  #full: FullScreen | undefined;

  constructor(tty: Tty, onFailure: (error: unknown) => void) {
    super(tty);
    this.#tty = tty;
    this.#onFailure = onFailure;
  }

  override start(): void {
    this.#isOpen = true;
    this.#tty.start(
      (data) => this.#takeInput(data),
      () => (this.#full ? this.#full.resized() : this.#schedule(resizeMs)),
    );
    this.#tty.hideCursor();
    this.requestRender();
  }

  /** Leaves the conversation with the cursor below it, and the terminal as it was. */
  override stop(): void {
    if (this.#isOpen) this.#endDrawing();
    this.#tty.stop();
  }

  /** The same, without haste: what is typed meanwhile does not reach the shell. */
  async leave(): Promise<void> {
    if (this.#isOpen) this.#endDrawing();
    await this.#tty.leave();
  }

  /** Puts the terminal back for another program, until `take`. */
  release(): void {
    if (!this.#isOpen) return;
    this.#full?.close();
    const full = this.#full;
    this.#full = undefined;
    this.suspend();
    this.#tty.stop();
    this.#full = full;
  }

  /** The editor and what stands around it come back, below what the other program printed. */
  take(): void {
    const full = this.#full;
    this.#full = undefined;
    this.start();
    if (full) this.openFull(full);
  }

  #endDrawing(): void {
    this.closeFull();
    this.suspend();
    this.#tty.write("\r\n"); // between the conversation and what the shell prints
  }

  /** A key that makes a component fail must not end the program. */
  #takeInput(data: string): void {
    // The library's own way from a key to the component that has the focus, with what it calls first.
    const { handleInput } = this as unknown as { handleInput(data: string): void };
    try {
      if (this.#full) this.#full.handleInput(data);
      else for (const key of wheelKeys(data)) handleInput.call(this, key);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /** Draws nothing until `resume`: another screen has the terminal. */
  suspend(): void {
    this.#paint(); // the last frame always
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { bytes, gone } = this.#painter.leave();
    this.chat.splice(0, gone.length);
    this.#tty.write(bytes);
  }

  /** A view on the alternate screen, until `closeFull`; the conversation is drawn again then. */
  openFull(full: FullScreen): void {
    this.#paint();
    this.#full = full;
    full.open();
  }

  closeFull(): void {
    this.#full?.close();
    this.#full = undefined;
    this.requestRender();
  }

  override requestRender(): void {
    this.#full?.requestRender();
    this.#schedule(frameMs);
  }

  #schedule(intervalMs: number): void {
    if (!this.#isOpen || this.#timer || this.#full) return;
    const wait = Math.max(0, this.#paintedAt + intervalMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#paint();
    }, wait);
  }

  #paint(): void {
    if (!this.#isOpen || this.#full) return;
    if (this.#tty.isBusy) return this.#paintLater();
    this.#paintedAt = performance.now();
    const { bytes, gone } = this.#painter.paint(this.#frame());
    if (gone.length > 0) this.chat.splice(0, gone.length);
    if (bytes !== "") this.#tty.write(syncOn + bytes + syncOff);
  }

  /** A terminal that does not take the bytes skips frames. */
  #paintLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#tty.whenFree(() => {
      this.#isWaiting = false;
      this.requestRender();
    });
  }

  #frame(): Frame {
    const { columns, rows } = this.#tty;
    if (columns < smallest.columns || rows < smallest.rows) {
      const line = fitted(`Window too small (${smallest.columns}x${smallest.rows} needed)`, columns);
      return { blocks: [{ key: this, lines: [line], isFinal: false }], columns, rows };
    }
    const blocks = this.chat.map(
      (block): PaintedBlock => ({ key: block, lines: this.#linesOf(block, columns), isFinal: block.isFinal }),
    );
    // Never higher than the screen: what scrolls out cannot be taken back.
    const bottom = this.#linesOf(this.bottom, columns).slice(-rows);
    const row = bottom.findIndex((line) => line.includes(CURSOR_MARKER));
    const cursor = row === -1 ? {} : { cursor: { row, column: columnOf(bottom[row] as string) } };
    const lines = bottom.map((line) => line.replaceAll(CURSOR_MARKER, ""));
    return { blocks: [...blocks, { key: this.bottom, lines, isFinal: false }], columns, rows, ...cursor };
  }

  #linesOf(component: Component, columns: number): string[] {
    try {
      return component.render(columns).map((line) => fitted(line, columns) + reset);
    } catch (error) {
      this.#onFailure(error);
      return [fitted(`⚠ ${component.constructor.name}: render failed`, columns)];
    }
  }
}

/** Cut to the width of the terminal, whoever made it. */
function fitted(line: string, columns: number): string {
  const flat = line.replace(/[\r\n\t]/g, " ");
  return visibleWidth(flat) <= columns ? flat : cutTo(flat, columns);
}

function columnOf(line: string): number {
  return visibleWidth(line.slice(0, line.indexOf(CURSOR_MARKER)));
}
