// One question with its text and the keys that answer it. The text is shown whole: what does not fit scrolls, and an answer
// that lets something happen counts only once the last line has been on the screen.

import { Input, type KeyId, matchesKey, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import type { FullView } from "../full-screen.js";
import type { Dialog } from "./question-queue.js";

export interface Choice<Answer> {
  readonly key: KeyId;
  readonly label: string;
  /** It lets something happen: the whole text must have been on the screen. */
  readonly needsWhole?: boolean;
  /** A line of text goes with it. */
  readonly asksReason?: boolean;
  answer(reason: string): Answer;
}

export interface QuestionText<Answer> {
  /** Cleaned already, as all of it. */
  readonly title: string;
  /** At the end of the first line. */
  readonly facts: readonly string[];
  readonly lines: readonly string[];
  readonly choices: readonly Choice<Answer>[];
  /** What Esc says. */
  readonly none: Answer;
}

export interface DialogPlace {
  readonly theme: Theme;
  /** Of the terminal. */
  rows(): number;
  waiting(): number;
  openView(view: FullView): void;
  closeView(): void;
}

/** Two borders, the title and the line that counts what is not visible; below the question the footer and the statuses. */
const frameRows = 4;
const footerRows = 3;
const showAll: KeyId = "v";

export class QuestionDialog<Answer> implements Dialog {
  readonly #question: QuestionText<Answer>;
  readonly #place: DialogPlace;
  readonly #close: (answer: Answer) => void;
  readonly #text: ScrollText;
  #reason: { input: Input; choice: Choice<Answer> } | undefined;
  #hint = "";

  constructor(question: QuestionText<Answer>, place: DialogPlace, close: (answer: Answer) => void) {
    this.#question = question;
    this.#place = place;
    this.#close = close;
    this.#text = new ScrollText(question.lines);
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { theme } = this.#place;
    const hint = this.#hint === "" ? [] : [` ${theme.fg("warning", this.#hint)}`];
    const keys = this.#reason ? this.#reasonLines(this.#reason.input, width) : this.#keyLines(width);
    // What is not on the screen must not count as seen: a window without room for the text shows none of it.
    const room = this.#place.rows() - frameRows - footerRows - hint.length - keys.length;
    const body = this.#text.layout(width - 4, room);
    const rest = [
      ...(this.#text.above > 0 ? [`${this.#text.above} above`] : []),
      ...(this.#text.below > 0
        ? [`${this.#text.below} more line${this.#text.below === 1 ? "" : "s"} (↓ PgDn End)`]
        : []),
    ];
    return [
      theme.fg("border", "─".repeat(width)),
      this.#head(width),
      ...body.map((line) => `   ${line}`),
      ...(rest.length > 0 ? [`   ${theme.fg("muted", `… ${rest.join(" · ")}`)}`] : []),
      ...hint,
      ...keys,
      theme.fg("border", "─".repeat(width)),
    ];
  }

  handleInput(data: string): void {
    this.#hint = "";
    if (this.#reason) return this.#reason.input.handleInput(data);
    if (matchesKey(data, "escape")) return this.#close(this.#question.none);
    if (this.#text.handleInput(data)) return;
    if (this.#hasShowAll && matchesKey(data, showAll)) return this.#showAll();
    const choice = this.#question.choices.find(({ key }) => matchesKey(data, key));
    if (choice) this.#choose(choice);
  }

  #choose(choice: Choice<Answer>): void {
    if (choice.needsWhole && !this.#text.hasSeenEnd) {
      this.#hint = "Not all of it was on the screen yet";
      return;
    }
    if (!choice.asksReason) return this.#close(choice.answer(""));
    const input = new Input();
    input.focused = true;
    input.onSubmit = (reason) => this.#close(choice.answer(reason));
    input.onEscape = () => this.#close(this.#question.none);
    this.#reason = { input, choice };
  }

  get #hasShowAll(): boolean {
    return this.#question.lines.length > 0;
  }

  /** The same text on a screen of its own; what is seen there is seen. */
  #showAll(): void {
    const { theme, openView, closeView } = this.#place;
    openView({
      render: (columns, rows) => {
        const body = this.#text.layout(columns - 2, rows - 2);
        const end = this.#text.below > 0 ? `${this.#text.below} more (↓ PgDn End)` : "end";
        return [
          cutTo(` ${theme.bold(this.#question.title)}`, columns),
          ...body.map((line) => ` ${line}`),
          ...Array.from({ length: Math.max(0, rows - 2 - body.length) }, () => ""),
          cutTo(` ${theme.fg("muted", `${end} · q back to the question`)}`, columns),
        ];
      },
      handleInput: (data) => {
        if (this.#text.handleInput(data)) return;
        if ((["q", "escape", "v", "ctrl+c"] as const).some((key) => matchesKey(data, key))) closeView();
      },
    });
  }

  #head(width: number): string {
    const { theme, waiting } = this.#place;
    const more = waiting() > 0 ? [`${waiting()} more wait${waiting() === 1 ? "s" : ""}`] : [];
    const facts = [...this.#question.facts, ...more].join(" · ");
    const room = width - visibleWidth(facts) - 4;
    const title = cutTo(this.#question.title, Math.max(8, room));
    const gap = " ".repeat(Math.max(2, width - visibleWidth(title) - visibleWidth(facts) - 2));
    return ` ${theme.bold(theme.fg("accent", title))}${gap}${theme.fg("muted", facts)}`;
  }

  /** As many on a line as fit. */
  #keyLines(width: number): string[] {
    const { theme } = this.#place;
    const { choices } = this.#question;
    const all = [
      ...choices.map(({ key, label }) => ({ key, label })),
      ...(this.#hasShowAll ? [{ key: showAll, label: "show all" }] : []),
    ];
    const lines: string[] = [];
    for (const { key, label } of all) {
      const part = `${theme.bold(theme.fg("accent", key))} ${label}`;
      const last = lines.at(-1);
      const joined = last === undefined ? ` ${part}` : `${last}   ${part}`;
      if (last !== undefined && visibleWidth(joined) <= width) lines[lines.length - 1] = joined;
      else lines.push(` ${part}`);
    }
    return lines;
  }

  #reasonLines(input: Input, width: number): string[] {
    const { theme } = this.#place;
    const hint = theme.fg("muted", "What should it do instead? Enter sends, Esc says only no");
    return [cutTo(` ${hint}`, width), ...input.render(width - 1).map((line) => ` ${line}`)];
  }
}

// Text that is shown whole, however small the room: it scrolls, and it knows whether its last line has been on the screen.
// Pure: a width and a number of rows go in, lines come out. The text is cleaned already.

class ScrollText {
  readonly #lines: readonly string[];
  #first = 0;
  #rows = 1;
  #height = 0;
  #hasSeenEnd = false;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** The visible lines, at most `rows`. What is returned counts as seen. */
  layout(width: number, rows: number): string[] {
    const wrapped = this.#lines.flatMap((line) => wrapTextWithAnsi(line.replaceAll("\t", "    "), Math.max(1, width)));
    this.#rows = Math.max(0, rows);
    this.#height = wrapped.length;
    this.scrollTo(this.#first);
    if (this.below === 0) this.#hasSeenEnd = true;
    return wrapped.slice(this.#first, this.#first + this.#rows);
  }

  get hasSeenEnd(): boolean {
    return this.#hasSeenEnd;
  }

  /** Lines above and below what is visible, at the last layout. */
  get above(): number {
    return this.#first;
  }

  get below(): number {
    return Math.max(0, this.#height - this.#first - this.#rows);
  }

  scrollTo(first: number): void {
    this.#first = Math.max(0, Math.min(first, this.#height - Math.max(1, this.#rows)));
  }

  /** True: the key was one for scrolling. */
  handleInput(data: string): boolean {
    const page = Math.max(1, this.#rows - 1);
    const to = [
      [matchesKey(data, "up"), this.#first - 1],
      [matchesKey(data, "down"), this.#first + 1],
      [matchesKey(data, "pageUp"), this.#first - page],
      [matchesKey(data, "pageDown") || matchesKey(data, "space"), this.#first + page],
      [matchesKey(data, "home"), 0],
      [matchesKey(data, "end"), this.#height],
    ].find(([isIt]) => isIt);
    if (!to) return false;
    this.scrollTo(to[1] as number);
    return true;
  }
}
