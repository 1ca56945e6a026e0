// How previews are decided about, with the built-in values.

import type { DecideSettings } from "./decide/decision.js";

export interface PendingSettings extends DecideSettings {
  readonly order: "lifo" | "fifo";
  readonly forcing: "force" | "remind" | "off";
  /** How often the model is reminded of one preview before the reminders stop. */
  readonly reminders: number;
  /** 0: a preview never expires. */
  readonly ttlMs: number;
}

export const defaultPendingSettings: PendingSettings = {
  order: "lifo",
  forcing: "force",
  reminders: 1,
  maxAttempts: 5,
  ttlMs: 0,
  decider: "model",
  requireUser: false,
};
