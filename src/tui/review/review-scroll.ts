// Where a long list of items is scrolled to. Items are of several rows; only those near the window are measured, so that a
// step costs the same in a list of any length.

export interface Measured {
  readonly count: number;
  heightOf(item: number): number;
}

export interface VisibleRows {
  readonly item: number;
  readonly from: number;
  readonly to: number;
}

export class ReviewScroll {
  #item = 0;
  #row = 0;

  get item(): number {
    return this.#item;
  }

  /** So that the item is the first one; less where the list ends before the window. */
  toItem(item: number, measured: Measured, rows: number): void {
    this.#item = Math.max(0, Math.min(item, measured.count - 1));
    this.#row = 0;
    this.#fill(measured, rows);
  }

  toEnd(measured: Measured, rows: number): void {
    this.#item = Math.max(0, measured.count - 1);
    this.#row = Math.max(0, measured.count === 0 ? 0 : measured.heightOf(this.#item) - 1);
    this.#up(measured, rows - 1);
  }

  by(step: number, measured: Measured, rows: number): void {
    if (step < 0) return this.#up(measured, -step);
    for (let left = step; left > 0; left--) {
      if (this.#row + 1 < measured.heightOf(this.#item)) this.#row++;
      else if (this.#item + 1 < measured.count) {
        this.#item++;
        this.#row = 0;
      } else break;
    }
    this.#fill(measured, rows);
  }

  /** The rows in the window; after a change of size or of the list it begins where something is. */
  visible(measured: Measured, rows: number): VisibleRows[] {
    this.#item = Math.max(0, Math.min(this.#item, measured.count - 1));
    if (measured.count === 0) return [];
    this.#row = Math.min(this.#row, measured.heightOf(this.#item) - 1);
    const found: VisibleRows[] = [];
    let left = rows;
    for (let item = this.#item; item < measured.count && left > 0; item++) {
      const from = item === this.#item ? this.#row : 0;
      const to = Math.min(measured.heightOf(item), from + left);
      found.push({ item, from, to });
      left -= to - from;
    }
    return found;
  }

  #up(measured: Measured, step: number): void {
    for (let left = step; left > 0; left--) {
      if (this.#row > 0) this.#row--;
      else if (this.#item > 0) {
        this.#item--;
        this.#row = measured.heightOf(this.#item) - 1;
      } else break;
    }
  }

  /** No empty rows below the end while there are rows above. */
  #fill(measured: Measured, rows: number): void {
    let shown = -this.#row;
    for (let item = this.#item; item < measured.count && shown < rows; item++) shown += measured.heightOf(item);
    if (shown < rows) this.#up(measured, rows - shown);
  }
}
