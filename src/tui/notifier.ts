// Tells a user who looks elsewhere that a long run has ended or that a question waits: by OSC 9 where the terminal is known
// to show it, else by the bell. Pure but for `write`; time and focus come in.

import { oneLine } from "../base/sanitize.js";

export type NotificationKind = "auto" | "bell" | "osc9" | "off";

export interface NotifierOptions {
  readonly kind: NotificationKind;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  readonly write: (text: string) => void;
}

const longRunMs = 10_000;
/** Where the terminal does not tell whether it has the focus. */
const blindMs = 30_000;
const knownForOsc9 = /^(?:iTerm\.app|WezTerm|ghostty|Ghostty)$/;

export class Notifier {
  readonly #options: NotifierOptions;
  /** Undefined until the terminal says so. */
  #hasFocus: boolean | undefined;
  #runStartedAt: number | undefined;
  #question: { cancel: () => void } | undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  focus(hasFocus: boolean): void {
    this.#hasFocus = hasFocus;
  }

  runStarted(): void {
    this.#runStartedAt = this.#options.now();
  }

  runEnded(): void {
    if (this.#runStartedAt === undefined) return;
    const took = this.#options.now() - this.#runStartedAt;
    this.#runStartedAt = undefined;
    const isLong = this.#hasFocus === undefined ? took > blindMs : took > longRunMs;
    if (isLong && this.#hasFocus !== true) this.#tell("The run has ended.");
  }

  /** A question is shown, or no longer. */
  questionWaits(isWaiting: boolean): void {
    this.#question?.cancel();
    this.#question = undefined;
    if (!isWaiting) return;
    if (this.#hasFocus === false) return this.#tell("A question waits.");
    if (this.#hasFocus === undefined)
      this.#question = { cancel: this.#options.after(blindMs, () => this.#tell("A question waits.")) };
  }

  #tell(text: string): void {
    const { kind, env, write } = this.#options;
    if (kind === "off") return;
    const isShown = kind === "osc9" || (kind === "auto" && knownForOsc9.test(env.TERM_PROGRAM ?? ""));
    write(isShown ? `\u001b]9;${oneLine(`galley: ${text}`, 100)}\u0007` : "\u0007");
  }
}
