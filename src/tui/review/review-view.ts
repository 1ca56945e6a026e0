// The review view on the alternate screen: what is pending and what was changed, with every byte that is asked about. It ties
// the pure state to a source of pending actions; decisions are carried out one at a time, with what was shown.

import { messageOf } from "../../base/errors.js";
import type { Theme } from "../../sdk/index.js";
import type { ApplyAnswer, ApplyQuestion } from "../../sdk/review/apply-questions.js";
import { forUser } from "../../sdk/review/decided.js";
import type { ReviewSource } from "../../sdk/review/review-source.js";
import type { FullView } from "../full-screen.js";
import { click } from "./click.js";
import { DiffPane } from "./diff-pane.js";
import { type DrawnPlaces, drawReview } from "./draw-review.js";
import { keyName } from "./key-name.js";
import { closureDoc, ReviewDoc } from "./review-doc.js";
import type { ReviewKeyTable } from "./review-keys.js";
import { atUnit, selectAction } from "./review-list.js";
import type { ReviewState, Wish } from "./review-model.js";
import { refreshed } from "./review-refresh.js";
import { selectedAction } from "./review-scope.js";
import { firstState, press } from "./review-state.js";
import { diffText, newSideOf } from "./review-text.js";
import { SeenLines } from "./seen-lines.js";

export interface ReviewHost {
  readonly source: ReviewSource;
  readonly theme: Theme;
  /** Absent: those of the table. */
  readonly keys?: ReviewKeyTable | undefined;
  now(): number;
  /** Something has changed. */
  draw(): void;
  close(): void;
  /** The user wants to leave the program. */
  leave(): void;
  /** Undefined: it was not changed. */
  edit(text: string, name: string): Promise<string | undefined>;
  openFile(path: string): Promise<void>;
  copy(text: string): void;
  /** What the engine answered to a decision. */
  decided?(text: string): void;
  /** What the user might do next, below the first line. */
  tip?(): string | undefined;
}

const lookEveryMs = 3000;
/** Keys that were meant for something else are no answer. */
const noAnswerMs = 300;
const leaveMs = 1500;

interface Asked {
  readonly at: number;
  /** It was opened for the question, and closes with the answer. */
  readonly isOwn: boolean;
  answer(answer: ApplyAnswer): void;
}

export class ReviewView implements FullView {
  readonly #host: ReviewHost;
  readonly #pane: DiffPane;
  readonly #seen = new Map<string, SeenLines>();
  #state: ReviewState;
  #asked: Asked | undefined;
  #refreshing = Promise.resolve();
  #places: DrawnPlaces | undefined;
  #isDue = false;
  #isOpen = true;
  #lastLeave = Number.NEGATIVE_INFINITY;
  readonly #stop: () => void;
  readonly #timer: NodeJS.Timeout;

  constructor(host: ReviewHost) {
    this.#host = host;
    this.#state = { ...firstState, keys: host.keys ?? firstState.keys };
    this.#pane = new DiffPane(host.theme, () => host.draw());
    this.#stop = host.source.subscribe(() => void this.refresh());
    this.#timer = setInterval(() => void this.refresh(), lookEveryMs);
    this.#timer.unref();
  }

  get state(): ReviewState {
    return this.#state;
  }

  /** With the action that is to be shown, or on the diff of the only one. */
  async start(key?: string): Promise<void> {
    await this.refresh();
    const { actions } = this.#state;
    const first = key ?? actions[0]?.key;
    const isOne = key !== undefined || actions.length === 1;
    if (first !== undefined && this.#state.actionKey === undefined)
      this.#state = { ...selectAction(this.#state, first), pane: isOne ? "diff" : "list" };
    await this.#load();
    await this.#readChanges();
  }

  /** The colours have changed. */
  recolour(): void {
    this.#pane.recolour();
  }

  /** Stays until it is read; one that is there already stays above it. */
  tell(problem: string): void {
    const { message } = this.#state;
    this.#say("failure", message?.level === "failure" ? `${message.text}\n${problem}` : problem);
    this.#host.draw();
  }

  /** The model wants to apply this action and waits. `isOwn`: the view was opened for it. */
  ask(
    question: ApplyQuestion,
    { isOwn, signal }: { isOwn: boolean; signal: AbortSignal | undefined },
  ): Promise<ApplyAnswer> {
    return new Promise((resolve) => {
      const answer = (given: ApplyAnswer) => {
        signal?.removeEventListener("abort", stopped);
        this.#asked = undefined;
        this.#state = { ...this.#state, question: undefined, mode: { kind: "normal" } };
        resolve(given);
        if (isOwn) this.close();
        else void this.refresh();
      };
      const stopped = () => answer(false);
      signal?.addEventListener("abort", stopped, { once: true });
      this.#asked = { at: this.#host.now(), isOwn, answer };
      const { id: key, revision } = question;
      void this.refresh().then(() => {
        if (!this.#asked) return;
        this.#state = {
          ...selectAction(this.#state, key),
          tab: "pending",
          pane: "diff",
          question: { key, revision },
          mode: { kind: "normal" },
        };
        return this.#load().then(() => this.#readChanges());
      });
      if (signal?.aborted) stopped();
    });
  }

  /** A question that is open is postponed. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#timer);
    this.#stop();
    this.#asked?.answer("postponed");
    this.#host.close();
  }

  render(columns: number, rows: number): string[] {
    const { theme } = this.#host;
    const drawn = drawReview(this.#state, {
      columns,
      rows,
      theme,
      now: Date.now(),
      pane: this.#pane,
      seen: this.#seenNow(),
      tip: this.#host.tip?.(),
    });
    this.#state = drawn.state;
    this.#places = drawn.places;
    return drawn.lines;
  }

  handleClick(column: number, row: number): void {
    if (!this.#isOpen || !this.#places) return;
    const { state, wish } = click(this.#state, { column, row, places: this.#places, pane: this.#pane });
    this.#state = state;
    if (wish) this.#report(this.#fulfil(wish));
  }

  handleInput(data: string): void {
    const key = keyName(data);
    if (key === undefined || !this.#isOpen) return;
    if (this.#asked && this.#host.now() - this.#asked.at < noAnswerMs) return;
    if (key === "ctrl+c") return this.#interrupt();
    const seen = this.#seenNow();
    const { state, wish } = press(this.#state, key, (units) => seen?.unseen(units) ?? { lines: 0, files: 0 });
    this.#state = state;
    if (wish) this.#report(this.#fulfil(wish));
  }

  /** What has come, changed or gone: ends after a look that began after the call. Never rejects. */
  refresh(): Promise<void> {
    this.#isDue = true;
    this.#refreshing = this.#refreshing.then(() => (this.#isDue && this.#isOpen ? this.#look() : undefined));
    return this.#refreshing;
  }

  async #look(): Promise<void> {
    this.#isDue = false;
    try {
      const actions = await this.#host.source.actions();
      this.#state = refreshed(this.#state, { actions, changes: this.#state.changes });
    } catch (error) {
      this.#say("failure", messageOf(error));
    }
    if (this.#state.tab === "pending") await this.#load();
    this.#host.draw();
  }

  async #readChanges(): Promise<void> {
    try {
      const changes = await this.#host.source.changes();
      this.#state = { ...this.#state, changes };
    } catch (error) {
      this.#say("failure", messageOf(error));
    }
    this.#host.draw();
  }

  #interrupt(): void {
    const now = this.#host.now();
    if (now - this.#lastLeave < leaveMs) return this.#host.leave();
    this.#lastLeave = now;
    if (this.#state.mode.kind !== "normal") this.#state = { ...this.#state, mode: { kind: "normal" } };
    else if (this.#asked) this.#asked.answer("postponed");
    else this.close();
  }

  #seenNow(): SeenLines | undefined {
    const { doc } = this.#state;
    return doc && this.#seen.get(doc.key);
  }

  #say(level: "info" | "failure", text: string): void {
    this.#state = { ...this.#state, message: { level, text } };
  }

  #report(work: Promise<void>): void {
    work
      .catch((error: unknown) => {
        this.#state = { ...this.#state, busy: undefined };
        this.#say("failure", messageOf(error));
        return this.refresh();
      })
      .finally(() => this.#host.draw());
  }

  async #fulfil(wish: Wish): Promise<void> {
    const { source } = this.#host;
    switch (wish.kind) {
      case "decide":
        return this.#decide(wish);
      case "answer":
        return this.#asked?.answer(wish.answer);
      case "close":
        return this.close();
      case "scroll":
        this.#state = this.#pane.scroll(this.#state, wish);
        return;
      case "show":
        return this.#pane.showUnit(this.#state);
      case "load":
        if (this.#state.tab === "changes") void this.#readChanges();
        return this.#load();
      case "find": {
        const found = this.#pane.find(this.#state, wish);
        if (found) this.#state = found;
        else if (wish.text !== "") this.#say("info", `Not found: ${wish.text}`);
        return;
      }
      case "split":
        this.#state = this.#pane.toggleSplit(this.#state);
        return;
      case "edit":
        return this.#edit(wish.unit);
      case "openFile":
        return this.#host.openFile(wish.path);
      case "copy":
        this.#host.copy(diffText(this.#state.doc?.files ?? []));
        return this.#say("info", "Copied, if the terminal allows it.");
      case "undo":
        return this.#staged(await source.undo(wish.changeId));
      case "redo":
        return this.#staged(await source.redo());
      case "rebase": {
        const left = await source.rebase(wish.key, wish.revision);
        const names = left.map(({ path, hunks }) => `${path} (hunk ${hunks.join(", ")})`).join("; ");
        this.#state = { ...this.#state, busy: undefined };
        if (left.length > 0)
          this.#say("failure", `It was left as it is. These hunks no longer find their lines: ${names}`);
        else this.#say("info", `${wish.key} is made anew for the files as they are. Nothing is written yet.`);
        return this.refresh();
      }
    }
  }

  /** Looks at the disk once more; what is no longer as it was shown is not decided about. */
  async #decide({ decision, scope }: Extract<Wish, { kind: "decide" }>): Promise<void> {
    const { source } = this.#host;
    this.#host.draw();
    await this.refresh();
    const action = selectedAction(this.#state);
    const isSame = action?.key === decision.key && action.revision === decision.revision && !this.#state.gone;
    if (!isSame || (decision.action === "apply" && action.status !== "pending")) {
      this.#state = { ...this.#state, busy: undefined };
      const text =
        isSame && action.status === "stale"
          ? "It is stale. Nothing was written."
          : "It has changed meanwhile. Nothing was decided.";
      return this.#say("failure", text);
    }
    const { first, more } = forUser(await source.decide(decision));
    this.#state = { ...this.#state, busy: undefined };
    await this.refresh();
    const { gone } = this.#state;
    const along = decision.withDeps ? ` With it: ${scope.also.map(({ key }) => key).join(", ")}.` : "";
    const head = `${first}${along}`;
    this.#say("info", [head, ...more].join("\n"));
    this.#host.decided?.(head);
    if (gone?.key === decision.key) this.#state = { ...this.#state, gone: { ...gone, text: head } };
    else {
      const next = Math.min(scope.units[0]?.index ?? 0, (this.#state.doc?.units.length ?? 1) - 1);
      this.#state = atUnit(this.#state, Math.max(0, next));
      this.#pane.showUnit(this.#state);
    }
    await this.#readChanges();
  }

  /** An undo is shown as any preview. */
  async #staged(key: string): Promise<void> {
    this.#state = { ...this.#state, busy: undefined, tab: "pending" };
    await this.refresh();
    this.#state = { ...selectAction(this.#state, key), pane: "diff" };
    await this.#load();
  }

  async #edit(unit: { readonly file: number; readonly hunk?: number }): Promise<void> {
    const { doc } = this.#state;
    const file = doc?.files[unit.file];
    const hunk = file?.hunks.find(({ number }) => number === (unit.hunk ?? 1));
    if (!doc || doc.revision === undefined || !file || !hunk) return;
    const before = newSideOf(hunk);
    const text = await this.#host.edit(before, file.shown);
    if (text === undefined || text === before) return this.#say("info", "Nothing was edited.");
    await this.#host.source.revise({ key: doc.key, revision: doc.revision, path: file.path, hunk: hunk.number, text });
    this.#say("info", "Edited. Nothing is written yet.");
    await this.refresh();
  }

  /** The diff of what is selected, unless it is there. */
  async #load(): Promise<void> {
    const { tab, changeId, doc, gone } = this.#state;
    const action = selectedAction(this.#state);
    const isPending = tab === "pending";
    const key = isPending ? action?.key : changeId;
    const revision = isPending ? action?.revision : undefined;
    if (key === undefined || (isPending && gone?.key === key)) {
      this.#state = { ...this.#state, doc: undefined };
      return;
    }
    if (doc?.key === key && doc.revision === revision) return;
    try {
      const made =
        isPending && action?.kind === "closure"
          ? closureDoc(action)
          : new ReviewDoc({
              key,
              about: action?.files ?? [],
              ...(await this.#host.source.diff(isPending ? { action: key } : { change: key })),
            });
      this.#take(made);
    } catch (error) {
      if (!this.#isStill(key)) return;
      this.#state = { ...this.#state, doc: undefined, docProblem: messageOf(error) };
    }
    this.#host.draw();
  }

  #isStill(key: string): boolean {
    const { tab, changeId, actionKey } = this.#state;
    return (tab === "pending" ? actionKey : changeId) === key;
  }

  #take(doc: ReviewDoc): void {
    if (!this.#isStill(doc.key)) return;
    const isOther = this.#state.doc?.key !== doc.key;
    this.#seen.set(doc.key, new SeenLines(doc, this.#seen.get(doc.key)));
    const unit = isOther ? 0 : Math.min(this.#state.unit, Math.max(0, doc.units.length - 1));
    this.#state = { ...this.#state, doc, docProblem: undefined, unit };
    if (isOther) this.#pane.toTop(this.#state);
  }
}
