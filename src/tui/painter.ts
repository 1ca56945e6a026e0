// Which bytes make the terminal show these lines, in the normal screen: what has scrolled out belongs to the terminal and is
// never touched again. Pure: blocks of lines go in, bytes come out. Promises: no screen is ever cleared; a line is written
// when it appears or changes, and a frame costs what is visible; every final line is in the scrollback or on the screen, in
// order, as it finally was.

import { visibleWidth } from "@earendil-works/pi-tui";

/** Lines that belong together. The last block of a frame is the editor and what stands around it. */
export interface PaintedBlock {
  /** The same object in every frame. */
  readonly key: object;
  /** None is wider than the screen. */
  readonly lines: readonly string[];
  /** It will not change any more. */
  readonly isFinal: boolean;
}

export interface Frame {
  readonly blocks: readonly PaintedBlock[];
  readonly columns: number;
  readonly rows: number;
  /** Where the cursor is, from the start of the last block. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface Painted {
  readonly bytes: string;
  /** Final blocks that have scrolled out: they need not be in the next frame. */
  readonly gone: readonly object[];
}

export class Painter {
  /** The lines of each block that have scrolled out, as they were then. */
  #scrolledOut = new Map<object, string[]>();
  /** The rows on the screen that are ours, and the one that the cursor is in. */
  #shown: readonly string[] = [];
  #blocks: readonly PaintedBlock[] = [];
  #cursorRow = 0;
  #cursorColumn = 0;
  /** How many lines a final block had, and in which width. */
  readonly #finalSizes = new WeakMap<object, { readonly count: number; readonly columns: number }>();
  #size = { columns: 0, rows: 0 };

  paint(frame: Frame): Painted {
    const { columns, rows } = frame;
    const isResized = this.#shown.length > 0 && (columns !== this.#size.columns || rows !== this.#size.rows);
    this.#size = { columns, rows };
    const isAgain = this.#takeBackChanged(frame.blocks);
    if (isResized) this.#takeBackVisible(frame.blocks, rows);
    const lines = frame.blocks.flatMap(({ key, lines }) => lines.slice(this.#scrolledOut.get(key)?.length ?? 0));
    const bytes = isResized || isAgain ? this.#paintAnew(lines, isResized) : this.#paintChanges(lines);
    const out = Math.max(0, lines.length - rows);
    this.#shown = lines.slice(out);
    this.#blocks = frame.blocks;
    this.#cursorRow -= out; // a line scrolls out only when one was written below it
    this.#markScrolledOut(frame.blocks, out);
    return { bytes: bytes + this.#placeCursor(frame), gone: this.#forgetGone(frame.blocks) };
  }

  /**
   * Takes the last block away and leaves the cursor in its place, for what another program prints next. What stands above
   * belongs to the terminal from now on.
   */
  leave(): Painted {
    const above = Math.max(0, this.#shown.length - (this.#blocks.at(-1)?.lines.length ?? 0));
    const bytes = this.#shown.length === 0 ? "" : `${this.#toRow(above)}\r\u001b[J`;
    this.#markScrolledOut(this.#blocks.slice(0, -1), above);
    const gone = this.#forgetGone(this.#blocks);
    this.#shown = [];
    this.#blocks = [];
    this.#cursorRow = 0;
    return { bytes, gone };
  }

  /**
   * A block that ended in another form than the one that scrolled out is shown once more, from there. A final one whose lines
   * have become others, as many as before, has only changed its colours or a word about how it stands: what scrolled out stays.
   */
  #takeBackChanged(blocks: readonly PaintedBlock[]): boolean {
    const { columns } = this.#size;
    const changed = blocks.findIndex(({ key, lines, isFinal }) => {
      const known = this.#finalSizes.get(key);
      if (!isFinal || (known?.count === lines.length && known.columns === columns)) return false;
      this.#finalSizes.set(key, { count: lines.length, columns });
      return this.#scrolledOut.get(key)?.some((line, index) => line !== lines[index]) ?? false;
    });
    if (changed === -1) return false;
    const { key, lines } = blocks[changed] as PaintedBlock;
    const out = this.#scrolledOut.get(key) ?? [];
    out.length = out.findIndex((line, index) => line !== lines[index]);
    for (const { key: later } of blocks.slice(changed + 1)) this.#scrolledOut.delete(later);
    return true;
  }

  /**
   * What was visible is written again: a terminal has its own ways to fit lines into another size, and the rows that are
   * erased then are not always those that were written.
   */
  #takeBackVisible(blocks: readonly PaintedBlock[], rows: number): void {
    const outOf = ({ key, lines }: PaintedBlock) => Math.min(this.#scrolledOut.get(key)?.length ?? 0, lines.length);
    const firstShown = blocks.reduce((sum, block) => sum + outOf(block), 0);
    const all = blocks.reduce((sum, { lines }) => sum + lines.length, 0);
    let above = Math.max(0, Math.min(firstShown, all - rows));
    for (const block of blocks) {
      const out = Math.min(above, outOf(block));
      this.#scrolledOut.set(block.key, this.#scrolledOut.get(block.key)?.slice(0, out) ?? []);
      above -= out;
    }
  }

  #paintChanges(lines: readonly string[]): string {
    const shown = this.#shown;
    let bytes = "";
    for (const [row, line] of lines.slice(0, shown.length).entries())
      if (line !== shown[row]) bytes += `${this.#toRow(row)}\r${line}\u001b[K`;
    if (lines.length < shown.length) return `${bytes}${this.#toRow(lines.length)}\r\u001b[J${this.#toLast(lines)}`;
    const added = lines.slice(shown.length);
    if (added.length === 0) return bytes;
    if (shown.length > 0) bytes += `${this.#toLast(shown)}\r\n`;
    this.#cursorRow = lines.length - 1;
    return bytes + added.join("\r\n");
  }

  /** Erases from our first row on, and writes everything. */
  #paintAnew(lines: readonly string[], isResized: boolean): string {
    const above = this.#shown.slice(0, this.#cursorRow);
    // A terminal that has become narrower may show a line in several rows.
    const rowsOf = (line: string) => (isResized ? Math.max(1, Math.ceil(visibleWidth(line) / this.#size.columns)) : 1);
    const within = isResized ? Math.floor(this.#cursorColumn / this.#size.columns) : 0;
    const up = above.reduce((sum, line) => sum + rowsOf(line), within);
    this.#cursorRow = Math.max(0, lines.length - 1);
    return `${up > 0 ? `\u001b[${up}A` : ""}\r\u001b[J${lines.join("\r\n")}`;
  }

  #toLast(lines: readonly string[]): string {
    return this.#toRow(Math.max(0, lines.length - 1));
  }

  #toRow(row: number): string {
    const distance = row - this.#cursorRow;
    this.#cursorRow = row;
    if (distance === 0) return "";
    // Line feeds, which scroll: a terminal that has just become lower has dropped the rows below the cursor, and a movement that
    // stops at its last row would leave the cursor above the place it is believed at, over what the shell printed.
    return distance > 0 ? "\n".repeat(distance) : `\u001b[${-distance}A`;
  }

  #markScrolledOut(blocks: readonly PaintedBlock[], count: number): void {
    let left = count;
    for (const { key, lines } of blocks) {
      const out = this.#scrolledOut.get(key) ?? [];
      const more = lines.slice(out.length, out.length + left);
      if (more.length > 0) this.#scrolledOut.set(key, [...out, ...more]);
      left -= more.length;
    }
  }

  #placeCursor({ blocks, cursor }: Frame): string {
    const bottom = blocks.at(-1)?.lines.length ?? 0;
    this.#cursorColumn = cursor?.column ?? 0;
    if (!cursor) return "";
    const row = Math.max(0, this.#shown.length - bottom + cursor.row);
    return `${this.#toRow(row)}\u001b[${cursor.column + 1}G`;
  }

  #forgetGone(blocks: readonly PaintedBlock[]): object[] {
    const end = blocks.findIndex(
      ({ key, lines, isFinal }) => !isFinal || (this.#scrolledOut.get(key)?.length ?? 0) < lines.length,
    );
    const gone = blocks.slice(0, Math.max(0, end)).map(({ key }) => key);
    for (const key of gone) this.#scrolledOut.delete(key);
    return gone;
  }
}
