// Questions and notices of extensions. A question gets one answer at most, and always one in the end: the handler's, or
// "cancelled" when there is no handler, the handler fails, or its time is up. Silence and failure never count as
// consent.

import type { TypedObject } from "../base/ndjson.js";
import type { ExtensionUiRequest } from "../protocol/frames.js";
import { timerFor } from "./deadline.js";

export type UiRequestOf<M extends ExtensionUiRequest["method"]> = Extract<ExtensionUiRequest, { method: M }>;
type Answer<T> = T | undefined | Promise<T | undefined>;

/** Fires when the agent withdraws the question, its time is up, or the agent ends. */
export interface DialogContext {
  signal: AbortSignal;
}

/** One function per method, each of them optional. A question without one, or answered by `undefined`, is cancelled. */
export interface UiHandlers {
  select?(request: UiRequestOf<"select">, context: DialogContext): Answer<string>;
  confirm?(request: UiRequestOf<"confirm">, context: DialogContext): Answer<boolean>;
  input?(request: UiRequestOf<"input">, context: DialogContext): Answer<string>;
  editor?(request: UiRequestOf<"editor">, context: DialogContext): Answer<string>;
  notify?(request: UiRequestOf<"notify">): unknown;
  setStatus?(request: UiRequestOf<"setStatus">): unknown;
  setWidget?(request: UiRequestOf<"setWidget">): unknown;
  setTitle?(request: UiRequestOf<"setTitle">): unknown;
  set_editor_text?(request: UiRequestOf<"set_editor_text">): unknown;
}

/** The answers of a host without a screen; without a value the question is cancelled. */
export interface HeadlessAnswers {
  confirm?: boolean;
  select?: string;
  input?: string;
  editor?: string;
}

export interface DialogDeps {
  send(frame: object): void;
  report(thrown: unknown): void;
}

const questions = /^(select|confirm|input|editor)$/;

export class Dialogs {
  /** Without handlers every question is cancelled, unless a listener of the host answers them (`isLeftToHost`). */
  handlers: UiHandlers | undefined;
  readonly #deps: DialogDeps;
  readonly #open = new Map<unknown, AbortController>();

  constructor(deps: DialogDeps) {
    this.#deps = deps;
  }

  see(frame: TypedObject, isLeftToHost: boolean): void {
    const { id, method } = frame;
    if (typeof id !== "string" || typeof method !== "string") return;
    if (method === "cancel") return this.#open.get(frame.targetId)?.abort();
    if (!this.handlers && isLeftToHost) return;
    if (questions.test(method)) return void this.#ask(id, method, frame);
    void this.#run(method, frame).catch(this.#deps.report);
  }

  abortAll(): void {
    for (const controller of this.#open.values()) controller.abort();
  }

  async #ask(id: string, method: string, frame: TypedObject): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    const answer = (fields: object) => {
      if (controller.signal.aborted || !this.#open.delete(id)) return;
      try {
        this.#deps.send({ type: "extension_ui_response", id, ...fields });
      } catch (thrown) {
        this.#deps.report(thrown); // a timer may have called, so no caller could catch it
      }
    };
    const timer = timerFor(frame.timeout, () => {
      answer({ cancelled: true, timedOut: true });
      controller.abort();
    });
    controller.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      this.#open.delete(id);
    });
    try {
      const value = await this.#run(method, frame, { signal: controller.signal });
      const [type, key] = method === "confirm" ? ["boolean", "confirmed"] : ["string", "value"];
      answer(typeof value === type ? { [key]: value } : { cancelled: true });
    } catch (thrown) {
      answer({ cancelled: true });
      if (!controller.signal.aborted) this.#deps.report(thrown);
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(method: string, frame: TypedObject, context?: DialogContext): Promise<unknown> {
    const handlers = (this.handlers ?? {}) as Record<string, unknown>;
    const handler = method in Object.prototype ? undefined : handlers[method];
    return typeof handler === "function" ? handler.call(handlers, frame, context) : undefined;
  }
}

export function headlessHandlers({ confirm = false, select, input, editor }: HeadlessAnswers): UiHandlers {
  return { confirm: () => confirm, select: () => select, input: () => input, editor: () => editor };
}
