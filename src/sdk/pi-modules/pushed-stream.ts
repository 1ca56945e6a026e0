// A stream of events that its maker fills and another reads, as modules of pi make them: `push`, `end`, `result`.

export class EventStream<Event, Result = Event> implements AsyncIterable<Event> {
  readonly #isComplete: (event: Event) => boolean;
  readonly #resultOf: (event: Event) => Result;
  #queue: Event[] = [];
  #wake: (() => void)[] = [];
  #isOver = false;
  readonly #finished: Promise<Result>;
  #finish: (result: Result) => void = () => {};

  constructor(isComplete: (event: Event) => boolean, extractResult: (event: Event) => Result) {
    this.#isComplete = isComplete;
    this.#resultOf = extractResult;
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  push(event: Event): void {
    if (this.#isOver) return;
    this.#queue.push(event);
    if (this.#isComplete(event)) {
      this.#isOver = true;
      this.#finish(this.#resultOf(event));
    }
    this.#tell();
  }

  end(result?: Result): void {
    this.#isOver = true;
    if (result !== undefined) this.#finish(result);
    this.#tell();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    for (;;) {
      const [event] = this.#queue.splice(0, 1);
      if (event !== undefined) yield event;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  result(): Promise<Result> {
    return this.#finished;
  }

  #tell(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

interface ReplyEvent {
  readonly type: string;
  readonly message?: unknown;
  readonly error?: unknown;
}

/** Ends with `done` or `error`; its result is the message of either. */
export class AssistantMessageEventStream extends EventStream<ReplyEvent, unknown> {
  constructor() {
    super(
      ({ type }) => type === "done" || type === "error",
      ({ message, error }) => message ?? error,
    );
  }
}

export function createAssistantMessageEventStream(): AssistantMessageEventStream {
  return new AssistantMessageEventStream();
}
