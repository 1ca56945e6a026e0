// A list that is searched by typing and walked with the arrows: pure, without a terminal.

export interface ListRow<T> {
  readonly value: T;
  readonly text: string;
  /** In a column of its own, at the right. */
  readonly detail?: string;
  /** Found by these words too. */
  readonly search?: string;
}

export class ListState<T> {
  #rows: readonly ListRow<T>[];
  #found: readonly ListRow<T>[];
  #filter = "";
  #at = 0;

  constructor(rows: readonly ListRow<T>[], isSelected: (value: T) => boolean = () => false) {
    this.#rows = rows;
    this.#found = rows;
    this.#at = Math.max(
      0,
      rows.findIndex(({ value }) => isSelected(value)),
    );
  }

  get filter(): string {
    return this.#filter;
  }

  /** Those that match the filter. */
  get found(): readonly ListRow<T>[] {
    return this.#found;
  }

  get total(): number {
    return this.#rows.length;
  }

  get index(): number {
    return this.#at;
  }

  get selected(): ListRow<T> | undefined {
    return this.#found[this.#at];
  }

  /** Other rows; the selected one stays selected if it is still there. */
  replace(rows: readonly ListRow<T>[], isSame: (a: T, b: T) => boolean = (a, b) => a === b): void {
    const before = this.selected;
    this.#rows = rows;
    this.#search();
    const at = before ? this.#found.findIndex(({ value }) => isSame(value, before.value)) : 0;
    this.#at = at === -1 ? Math.min(this.#at, Math.max(0, this.#found.length - 1)) : at;
  }

  move(by: number): void {
    const last = this.#found.length - 1;
    // One step over an end goes to the other; a page stops there.
    if (Math.abs(by) === 1 && last >= 0) this.#at = (this.#at + by + last + 1) % (last + 1);
    else this.#at = Math.max(0, Math.min(last, this.#at + by));
  }

  /** The first row that is called so is selected, before one that only its detail matches. */
  setFilter(text: string): void {
    this.#filter = text;
    const words = this.#search();
    const named = this.#found.findIndex((row) => hasAll(row.text, words));
    this.#at = Math.max(0, named);
  }

  /** The rows to show where so many fit, and where they begin: the selected one is among them. */
  window(rows: number): { readonly from: number; readonly rows: readonly ListRow<T>[] } {
    const from = Math.max(0, Math.min(this.#at - Math.floor(rows / 2), this.#found.length - rows));
    return { from, rows: this.#found.slice(from, from + rows) };
  }

  /** Every word of the filter occurs in the row. */
  #search(): readonly string[] {
    const words = this.#filter
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    this.#found =
      words.length === 0
        ? this.#rows
        : this.#rows.filter(({ text, detail = "", search = "" }) => hasAll(`${text} ${detail} ${search}`, words));
    return words;
  }
}

function hasAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}
