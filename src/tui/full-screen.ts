// A view on the alternate screen: every row is drawn by its place. Promises as the conversation's: one write for a frame, only
// changed rows, no line too wide, and the normal screen is back when it closes, as it was.

import { CURSOR_MARKER, visibleWidth } from "@earendil-works/pi-tui";
import { messageOf } from "../base/errors.js";
import { cutTo } from "./cut-to.js";
import { mouseDeed, mouseOff, mouseOn } from "./mouse.js";
import { smallest, type Tty } from "./terminal.js";

export interface FullView {
  /** At most `rows` lines. */
  render(columns: number, rows: number): string[];
  handleInput(data: string): void;
  /** Only where the user switched the mouse on; from 0. */
  handleClick?(column: number, row: number): void;
}

const frameMs = 33;
const reset = "\u001b[0m";

export class FullScreen {
  readonly #tty: Tty;
  readonly #view: FullView;
  #shown: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isOpen = false;
  #isWaiting = false;

  constructor(tty: Tty, view: FullView) {
    this.#tty = tty;
    this.#view = view;
  }

  /** The terminal must be started already; its input and size go here until `close`. */
  open(): void {
    this.#isOpen = true;
    this.#tty.switchOn("alternate screen", "\u001b[?1049h", "\u001b[?1049l");
    if (this.#tty.hasMouse) this.#tty.switchOn("mouse", mouseOn, mouseOff);
    this.#tty.hideCursor();
    this.#shown = [];
    this.#paint();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#timer = undefined; // it may be opened again
    this.#tty.switchOff("mouse");
    this.#tty.switchOff("alternate screen");
  }

  handleInput(data: string): void {
    const deed = mouseDeed(data);
    if (!deed) this.#view.handleInput(data);
    else if (deed.kind === "keys") for (const key of deed.keys) this.#view.handleInput(key);
    else if (deed.kind === "click") this.#view.handleClick?.(deed.column, deed.row);
    this.requestRender();
  }

  /** After a change of size everything is drawn again. */
  resized(): void {
    this.#shown = [];
    this.requestRender();
  }

  requestRender(): void {
    if (!this.#isOpen) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#paint();
    }, frameMs);
  }

  #paint(): void {
    if (!this.#isOpen) return;
    if (this.#tty.isBusy) return this.#paintLater();
    const { columns, rows } = this.#tty;
    const lines = this.#lines(columns, rows);
    let bytes = "";
    for (let row = 0; row < rows; row++) {
      const line = lines[row] ?? "";
      if (line !== this.#shown[row]) bytes += `\u001b[${row + 1};1H${line}${reset}\u001b[K`;
    }
    this.#shown = Array.from({ length: rows }, (_, row) => lines[row] ?? "");
    if (bytes !== "") this.#tty.write(`\u001b[?2026h${bytes}\u001b[?2026l`);
  }

  #lines(columns: number, rows: number): string[] {
    if (columns < smallest.columns || rows < smallest.rows)
      return [cut(`Window too small (${smallest.columns}x${smallest.rows} needed)`, columns)];
    try {
      return this.#view
        .render(columns, rows)
        .slice(0, rows)
        .map((line) => cut(line, columns));
    } catch (error) {
      return [cut(`⚠ render failed: ${messageOf(error)}`, columns)];
    }
  }

  #paintLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#tty.whenFree(() => {
      this.#isWaiting = false;
      this.requestRender();
    });
  }
}

function cut(line: string, columns: number): string {
  const flat = line.replaceAll(CURSOR_MARKER, "").replace(/[\r\n\t]/g, " ");
  return visibleWidth(flat) <= columns ? flat : cutTo(flat, columns);
}
