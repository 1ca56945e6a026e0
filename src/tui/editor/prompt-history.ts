// What was sent before, searched by what is typed: pure, without a terminal or a file.

export const maxHistory = 500;

export class PromptHistory {
  /** The oldest first. */
  readonly #texts: string[];
  #search: { readonly typed: string; at: number } | undefined;

  constructor(texts: readonly string[]) {
    this.#texts = texts.slice(-maxHistory);
  }

  get isSearching(): boolean {
    return this.#search !== undefined;
  }

  /** False where it is empty or the same as the last one. */
  add(text: string): boolean {
    this.#search = undefined;
    const said = text.trim();
    if (said === "" || this.#texts.at(-1) === said) return false;
    this.#texts.push(said);
    if (this.#texts.length > maxHistory) this.#texts.shift();
    return true;
  }

  /** The next older text that begins with what was typed when the search began; undefined when there is none. */
  older(typed: string): string | undefined {
    const search = this.#search ?? { typed, at: this.#texts.length };
    const shown = this.#texts[search.at] ?? typed;
    for (let at = search.at - 1; at >= 0; at--) {
      const text = this.#texts[at] as string;
      if (!text.startsWith(search.typed) || text === shown) continue;
      this.#search = { typed: search.typed, at };
      return text;
    }
    return undefined;
  }

  /** The next newer one, at last what was typed; undefined without a search. */
  newer(): string | undefined {
    const search = this.#search;
    if (!search) return undefined;
    const shown = this.#texts[search.at];
    for (let at = search.at + 1; at < this.#texts.length; at++) {
      const text = this.#texts[at] as string;
      if (!text.startsWith(search.typed) || text === shown) continue;
      search.at = at;
      return text;
    }
    this.#search = undefined;
    return search.typed;
  }

  /** The text was changed: what it is now is what the next search begins with. */
  end(): void {
    this.#search = undefined;
  }
}
