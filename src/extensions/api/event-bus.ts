// How extensions talk to each other: named channels, delivered at once and in the order of subscription.

export type BusListener = (data: unknown) => void;

export class EventBus {
  readonly #channels = new Map<string, Set<BusListener>>();

  /** Returns a function that unsubscribes. A listener must not throw. */
  on(channel: string, listener: BusListener): () => void {
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  emit(channel: string, data: unknown): void {
    for (const listener of [...(this.#channels.get(channel) ?? [])]) listener(data);
  }
}
