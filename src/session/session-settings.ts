// The settings of a session's behaviour, with the built-in values. Changes over RPC belong to the session.

import type { InterruptMode, QueueMode } from "../loop/message-queues.js";
import { defaultPendingSettings, type PendingSettings } from "../pending/pending-settings.js";
import type { CompactionSettings } from "./compaction/compaction-controller.js";
import type { RetrySettings } from "./retry.js";
import { defaultTtsrSettings, type TtsrSettings } from "./rules/rules-controller.js";
import { defaultTodoSettings, type TodoSettings } from "./todos/todo-tracker.js";

export interface BranchSummarySettings {
  /** Whether one is made by default. */
  readonly enabled: boolean;
  /** Room for it. */
  readonly reserveTokens: number;
}

export interface SessionSettings {
  readonly retry: RetrySettings;
  readonly compaction: CompactionSettings;
  readonly ttsr: TtsrSettings;
  readonly todos: TodoSettings;
  readonly branchSummary?: BranchSummarySettings;
  readonly pending: PendingSettings;
  /** No image is sent to a model. */
  readonly blockImages?: boolean;
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  readonly interruptMode: InterruptMode;
}

export const defaultSessionSettings: Required<SessionSettings> = {
  retry: {
    enabled: true,
    maxRetries: 3,
    baseDelayMs: 2000,
    maxDelayMs: 60_000,
    fallbackChains: {},
    fallbackRevertPolicy: "cooldown-expiry",
  },
  compaction: {
    enabled: true,
    strategy: "context-full",
    autoContinue: true,
    thresholdPercent: -1,
    thresholdTokens: -1,
    reserveTokens: 16_384,
    keepRecentTokens: 20_000,
  },
  ttsr: defaultTtsrSettings,
  todos: defaultTodoSettings,
  branchSummary: { enabled: false, reserveTokens: 16_384 },
  pending: defaultPendingSettings,
  blockImages: false,
  steeringMode: "one-at-a-time",
  followUpMode: "one-at-a-time",
  interruptMode: "wait",
};
