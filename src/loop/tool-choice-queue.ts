// Requests that the next model call must use a certain tool. A directive yields one choice per model call; the choice is
// in flight until the turn ends, and is queued again if the turn failed or the model ignored it.

import type { ToolResult } from "../protocol/events.js";
import type { ToolChoice } from "../provider/provider.js";

export type RejectReason = "aborted" | "error" | "cleared" | "removed" | "unavailable" | "not_invoked";

export type Invoker = (params: Record<string, unknown>) => Promise<ToolResult>;

export interface DirectiveCallbacks {
  onResolved?(): void;
  /** `requeue` puts the same choice back at the head; anything else drops it, and the rest of its sequence. */
  onRejected?(reason: RejectReason): "requeue" | undefined;
  /** The real work of the forced tool. A directive that has one is used up only if it ran. */
  onInvoked?: Invoker;
}

export interface DirectiveOptions extends DirectiveCallbacks {
  label?: string;
  /** At the head of the queue instead of its end. */
  now?: boolean;
  /** How often a choice may come back before it is dropped. */
  maxRequeues?: number;
}

interface Directive {
  readonly id: number;
  readonly label: string;
  readonly choices: ToolChoice[];
  readonly callbacks: DirectiveCallbacks;
  readonly requeuesLeft: number;
  /** Where a choice that came back was taken from. */
  readonly origin?: Directive;
}

interface InFlight {
  directive: Directive;
  choice: ToolChoice;
  invoked: boolean;
}

const defaultRequeues = 3;
const requeuedSuffix = "-requeued";

export class ToolChoiceQueue {
  #directives: Directive[] = [];
  #inFlight: InFlight | undefined;
  #lastId = 0;

  pushOnce(choice: ToolChoice, options: DirectiveOptions = {}): number {
    return this.pushSequence([choice], options);
  }

  /** Several choices, one per model call. */
  pushSequence(choices: readonly ToolChoice[], options: DirectiveOptions = {}): number {
    const { label = "unnamed", now = false, maxRequeues = defaultRequeues, ...callbacks } = options;
    const directive = { id: ++this.#lastId, label, choices: [...choices], callbacks, requeuesLeft: maxRequeues };
    if (now) this.#directives.unshift(directive);
    else this.#directives.push(directive);
    return directive.id;
  }

  /** Called once per model call. A choice that is still in flight belongs to a turn that broke: it counts as failed. */
  next(): ToolChoice | undefined {
    this.reject("error");
    for (let directive = this.#directives[0]; directive; directive = this.#directives[0]) {
      const choice = directive.choices.shift();
      if (directive.choices.length === 0) this.#directives.shift();
      if (choice === undefined) continue;
      this.#inFlight = { directive, choice, invoked: false };
      return choice;
    }
    return undefined;
  }

  /** At the end of a normal turn. */
  resolve(): void {
    const flight = this.#inFlight;
    if (!flight) return;
    if (flight.directive.callbacks.onInvoked && !flight.invoked) return this.reject("not_invoked");
    this.#inFlight = undefined;
    flight.directive.callbacks.onResolved?.();
  }

  /** At the end of a failed turn, or when the choice could not be made. */
  reject(reason: RejectReason): void {
    const flight = this.#inFlight;
    if (!flight) return;
    this.#inFlight = undefined;
    const { directive, choice, invoked } = flight;
    if (invoked) return directive.callbacks.onResolved?.(); // its work was done, whatever became of the turn
    const { origin = directive } = directive;
    if (directive.callbacks.onRejected?.(reason) !== "requeue" || directive.requeuesLeft <= 0) {
      // What follows it in its sequence makes no sense without it.
      this.#directives = this.#directives.filter((other) => other !== origin);
      return;
    }
    const label = directive.label.endsWith(requeuedSuffix) ? directive.label : directive.label + requeuedSuffix;
    this.#directives.unshift({
      id: ++this.#lastId,
      label,
      choices: [choice],
      callbacks: directive.callbacks,
      requeuesLeft: directive.requeuesLeft - 1,
      origin,
    });
  }

  /** What the forced tool should do now. */
  peekInvoker(): Invoker | undefined {
    const flight = this.#inFlight;
    const work = flight?.directive.callbacks.onInvoked;
    if (!flight || !work) return undefined;
    return (params) => {
      flight.invoked = true;
      return work(params);
    };
  }

  /** Removes a directive by the id that `push` returned, also if it was queued again. */
  remove(id: number): void {
    this.#drop((directive) => (directive.origin ?? directive).id === id, "removed");
  }

  removeByLabel(label: string): void {
    const matches = (other: string) => other === label || other === label + requeuedSuffix;
    this.#drop((directive) => matches(directive.label), "removed");
  }

  clear(): void {
    this.#drop(() => true, "cleared");
  }

  /** The labels that wait, head first. */
  inspect(): string[] {
    return this.#directives.map((directive) => directive.label);
  }

  #drop(matches: (directive: Directive) => boolean, reason: "removed" | "cleared"): void {
    const dropped = this.#directives.filter(matches);
    this.#directives = this.#directives.filter((directive) => !dropped.includes(directive));
    const flight = this.#inFlight;
    if (flight && matches(flight.directive)) {
      this.#inFlight = undefined;
      if (!dropped.includes(flight.directive)) dropped.unshift(flight.directive);
    }
    // Dropping is final: the answer of onRejected does not bring the choice back.
    for (const directive of dropped) directive.callbacks.onRejected?.(reason);
  }
}
