// What a host has agreed on, or filtered out. All off at first: a host that never asks sees the plain protocol.

import type { Decider } from "../protocol/pending.js";

export const knownFeatures = [
  "delta-updates",
  "prompt-result",
  "message-ids",
  "echo-ids",
  "queue-events",
  "state-events",
  "person",
] as const;
export type Feature = (typeof knownFeatures)[number];

/** For a host that negotiates without naming features. */
const usualFeatures: readonly Feature[] = ["prompt-result", "message-ids", "echo-ids"];

export class Features {
  readonly #always: readonly Feature[];
  #on: Set<Feature>;
  #events: ReadonlySet<string> | undefined;
  /** From version 2 on large frames are sent in pieces. */
  version: 1 | 2 = 1;

  constructor(always: readonly Feature[] = []) {
    this.#always = always;
    this.#on = new Set(always);
  }

  has(feature: Feature): boolean {
    return this.#on.has(feature);
  }

  /** Who decides where this host does: with `person` it passes on what a person chose. */
  get decider(): Extract<Decider, "host" | "user"> {
    return this.has("person") ? "user" : "host";
  }

  /** Agrees on version 2. Replaces the set; unknown names are dropped. Returns what is on now. */
  negotiate(names: readonly string[] = usualFeatures): Feature[] {
    this.version = 2;
    this.#on = new Set(knownFeatures.filter((feature) => names.includes(feature) || this.#always.includes(feature)));
    return [...this.#on];
  }

  /** Session events of other types are not sent; null lets all of them through again. */
  filterEvents(types: readonly string[] | null): void {
    this.#events = types === null ? undefined : new Set(types);
  }

  wants(eventType: string): boolean {
    return this.#events?.has(eventType) ?? true;
  }
}
