// The user behind the host, as extensions and the session see one: every dialog is a frame and waits for the host's
// answer. Promises: a dialog ends once, and always: by its answer, its signal, its timeout or the end of the input.
// Anything but the expected answer counts as none, and none is never consent.

import type { Clock } from "../base/clock.js";
import type { TypedObject } from "../base/ndjson.js";
import type { SessionUI } from "../sdk/index.js";
import { type Dialog, type DialogOptions, requestingUi, type Shown, timeoutOf } from "./ui-requests.js";

export interface UiBridgeOptions {
  readonly clock: Clock;
  /** Titles are for hosts that asked for them. */
  readonly emitsTitle: boolean;
}

interface OpenDialog {
  answer(frame: TypedObject): void;
  giveUp(): void;
}

export class UiBridge {
  /** What extensions are given. An object of its own: it holds what they may call, and nothing else. */
  readonly ui: SessionUI;
  /** Answers to no open dialog. */
  ignoredAnswers = 0;
  readonly #clock: Clock;
  readonly #open = new Map<string, OpenDialog>();
  #send: ((frame: object) => void) | undefined;
  #onOpened: () => void = () => {};
  #isClosed = false;
  #requests = 0;

  constructor({ clock, emitsTitle }: UiBridgeOptions) {
    this.#clock = clock;
    this.ui = requestingUi({
      emitsTitle,
      show: (request) => void this.#request(request),
      ask: (extra, dialog) => this.#ask(extra, dialog),
    });
  }

  /** Until then, and after `close`, every dialog has its default. */
  connect(send: (frame: object) => void, onOpened: () => void = () => {}): void {
    this.#send = send;
    this.#onOpened = onOpened;
  }

  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** An `extension_ui_response`. One for a dialog that is not open is ignored. */
  receive(frame: TypedObject): void {
    const dialog = this.#open.get(frame.id as string);
    if (dialog) dialog.answer(frame);
    else this.ignoredAnswers++;
  }

  /** No more answers will come. Frames that only show something are still sent. */
  close(): void {
    this.#isClosed = true;
    for (const dialog of [...this.#open.values()]) dialog.giveUp();
  }

  #ask<Answer>(extra: DialogOptions = {}, { request, none, take }: Dialog<Answer>): Promise<Answer> {
    const { signal } = extra;
    if (!this.#send || this.#isClosed || signal?.aborted) return Promise.resolve(none);
    return new Promise((resolve) => {
      const end = (answer: Answer) => {
        this.#open.delete(id);
        cancelTimer();
        signal?.removeEventListener("abort", giveUp);
        resolve(answer);
      };
      const giveUp = () => {
        end(none);
        this.#request({ method: "cancel", targetId: id });
      };
      const tellLate = () => {
        try {
          extra.onTimeout?.();
        } catch {
          // The signal's own failure: the dialog is over either way.
        }
      };
      const { timeout } = timeoutOf(extra);
      const onLate = () => {
        tellLate();
        giveUp();
      };
      const id = this.#request(request);
      const cancelTimer = timeout === undefined ? () => {} : this.#clock.after(timeout, onLate);
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#open.set(id, {
        giveUp,
        answer: (frame) => {
          if (frame.cancelled !== true) return end(take(frame));
          if (frame.timedOut === true) tellLate();
          end(none);
        },
      });
      this.#onOpened();
    });
  }

  #request(request: Shown): string {
    const id = `ui_${++this.#requests}`;
    this.#send?.({ type: "extension_ui_request", id, ...request });
    return id;
  }
}
