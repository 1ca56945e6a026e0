// The system prompt of a session: the standard one, or what an extension chose for the run under way.

export class SystemPrompt {
  readonly #standard: () => string;
  #forRun: string | undefined;

  /** `standard` is asked every time: it changes with the active tools. */
  constructor(standard: () => string) {
    this.#standard = standard;
  }

  get text(): string {
    return this.#forRun ?? this.#standard();
  }

  /** Returns a function that ends it. The choice of a later run stays then. */
  useForRun(text: string): () => void {
    this.#forRun = text;
    return () => {
      if (this.#forRun === text) this.#forRun = undefined;
    };
  }
}
