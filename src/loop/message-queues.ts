// The queues of messages that wait for the agent. Items have ids, so two equal texts never get mixed up;
// modes are read at every poll, so a change takes effect at once.

import type { AgentMessage } from "../protocol/messages.js";

export type QueueMode = "all" | "one-at-a-time";
export type InterruptMode = "immediate" | "wait";

export interface QueuedMessage {
  readonly id: number;
  readonly message: AgentMessage;
  /** A hidden reminder rides along with steering but must never cut a running batch short. */
  readonly interrupts: boolean;
}

export class MessageQueues {
  steeringMode: QueueMode = "one-at-a-time";
  followUpMode: QueueMode = "one-at-a-time";
  interruptMode: InterruptMode = "wait";

  #steering = new Fifo<QueuedMessage>();
  #followUp = new Fifo<QueuedMessage>();
  #nextTurn = new Fifo<QueuedMessage>();
  #asides = new Fifo<QueuedMessage>();
  #lastId = 0;
  readonly #onChange: () => void;

  /** `onChange` is called for every change of the steering and follow-up queues. */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  get count(): number {
    return this.#steering.size + this.#followUp.size + this.#nextTurn.size;
  }

  /** Something waits that a run could take. */
  get hasWork(): boolean {
    return this.#steering.size + this.#followUp.size > 0;
  }

  /** The queues as they are now, read when asked: a view costs the same however much waits. */
  view(): { steering: () => QueuedMessage[]; followUp: () => QueuedMessage[] } {
    return { steering: this.#steering.view(), followUp: this.#followUp.view() };
  }

  steer(message: AgentMessage, options: { interrupts?: boolean } = {}): number {
    return this.#add(this.#steering, message, options.interrupts ?? true);
  }

  queueFollowUp(message: AgentMessage): number {
    return this.#add(this.#followUp, message, false);
  }

  queueNextTurn(message: AgentMessage): number {
    return this.#add(this.#nextTurn, message, false);
  }

  takeSteering(): QueuedMessage[] {
    return this.#take(this.#steering, this.steeringMode === "all" ? this.#steering.size : 1);
  }

  takeFollowUps(): QueuedMessage[] {
    return this.#take(this.#followUp, this.followUpMode === "all" ? this.#followUp.size : 1);
  }

  /** Text that the model gets with its next request, whenever there is one. An aside never starts a request. */
  queueAside(message: AgentMessage): void {
    this.#asides.push({ id: ++this.#lastId, message, interrupts: false });
  }

  takeAsides(): QueuedMessage[] {
    return this.#asides.take(this.#asides.size);
  }

  takeNextTurn(): QueuedMessage[] {
    return this.#take(this.#nextTurn, this.#nextTurn.size);
  }

  /** The poll between tool calls: nothing unless the mode is `immediate` and something in the queue may interrupt. */
  takeInterrupting(): QueuedMessage[] {
    if (this.interruptMode !== "immediate") return [];
    const first = this.#steering.items().findIndex((item) => item.interrupts);
    if (first === -1) return [];
    return this.#take(this.#steering, this.steeringMode === "all" ? this.#steering.size : first + 1);
  }

  /** Puts back, in front, what was taken and could not be delivered. */
  restoreSteering(items: readonly QueuedMessage[]): void {
    if (items.length === 0) return;
    this.#steering.unshift(items);
    this.#onChange();
  }

  clear(): { steering: QueuedMessage[]; followUp: QueuedMessage[] } {
    const taken = {
      steering: this.#steering.take(this.#steering.size),
      followUp: this.#followUp.take(this.#followUp.size),
    };
    this.#nextTurn.take(this.#nextTurn.size);
    this.#asides.take(this.#asides.size);
    if (taken.steering.length + taken.followUp.length > 0) this.#onChange();
    return taken;
  }

  #add(queue: Fifo<QueuedMessage>, message: AgentMessage, interrupts: boolean): number {
    const id = ++this.#lastId;
    queue.push({ id, message, interrupts });
    if (queue !== this.#nextTurn) this.#onChange();
    return id;
  }

  #take(queue: Fifo<QueuedMessage>, count: number): QueuedMessage[] {
    if (queue.size === 0) return [];
    const taken = queue.take(count);
    if (queue !== this.#nextTurn) this.#onChange();
    return taken;
  }
}

/** A queue whose front moves instead of its items, so that n takes cost n steps. */
class Fifo<Item> {
  #items: Item[] = [];
  #front = 0;

  get size(): number {
    return this.#items.length - this.#front;
  }

  items(): Item[] {
    return this.#items.slice(this.#front);
  }

  /** The array only ever grows at its end (other changes replace it), so its bounds are a snapshot. */
  view(): () => Item[] {
    const items = this.#items;
    const front = this.#front;
    const end = items.length;
    return () => items.slice(front, end);
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  unshift(items: readonly Item[]): void {
    this.#items = [...items, ...this.items()];
    this.#front = 0;
  }

  take(count: number): Item[] {
    const taken = this.#items.slice(this.#front, this.#front + count);
    this.#front += taken.length;
    if (this.#front * 2 > this.#items.length) {
      this.#items = this.items();
      this.#front = 0;
    }
    return taken;
  }
}
