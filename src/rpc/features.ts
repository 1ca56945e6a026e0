// What a host may switch on by negotiation. Off until then: a host that never asks sees the plain protocol.

export const knownFeatures = ["delta-updates", "message-ids", "echo-ids", "queue-events"] as const;
export type Feature = (typeof knownFeatures)[number];

/** What a host gets that negotiates without naming features. */
const usualFeatures: readonly Feature[] = ["message-ids", "echo-ids"];

export class Features {
  #on = new Set<Feature>();

  has(feature: Feature): boolean {
    return this.#on.has(feature);
  }

  /** Replaces the set; unknown names are dropped. Returns what is on now. */
  negotiate(names: readonly string[] = usualFeatures): Feature[] {
    this.#on = new Set(knownFeatures.filter((feature) => names.includes(feature)));
    return [...this.#on];
  }
}
