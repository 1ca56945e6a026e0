// From the names of the settings files to the settings of a session.

import type { Settings } from "../config/settings/settings.js";
import type { SessionSettings } from "../session/session-settings.js";
import type { CreateAgentSessionOptions } from "./session-options.js";

/** In a one-shot run an open todo causes no further replies, which the user would pay for, unless the user wants them. */
export function sessionSettingsOf(settings: Settings, mode?: CreateAgentSessionOptions["mode"]): SessionSettings {
  const isOneShot = mode === "print" || mode === "json";
  const mayRemind = !isOneShot || settings.isSetByUser("todo.reminders");
  return {
    retry: {
      enabled: settings.get("retry.enabled"),
      maxRetries: settings.get("retry.maxRetries"),
      baseDelayMs: settings.get("retry.baseDelayMs"),
      maxDelayMs: settings.get("retry.maxDelayMs"),
      fallbackChains: settings.get("retry.fallbackChains"),
      fallbackRevertPolicy: settings.get("retry.fallbackRevertPolicy"),
    },
    compaction: {
      enabled: settings.get("compaction.enabled"),
      strategy: settings.get("compaction.strategy") === "off" ? "off" : "context-full",
      autoContinue: settings.get("compaction.autoContinue"),
      thresholdPercent: settings.get("compaction.thresholdPercent"),
      thresholdTokens: settings.get("compaction.thresholdTokens"),
      reserveTokens: settings.get("compaction.reserveTokens"),
      keepRecentTokens: settings.get("compaction.keepRecentTokens"),
    },
    ttsr: {
      enabled: settings.get("ttsr.enabled"),
      contextMode: settings.get("ttsr.contextMode"),
      interruptMode: settings.get("ttsr.interruptMode"),
      repeatMode: settings.get("ttsr.repeatMode"),
      repeatGap: settings.get("ttsr.repeatGap"),
    },
    todos: {
      enabled: settings.get("todo.enabled"),
      reminders: mayRemind && settings.get("todo.reminders"),
      remindersMax: settings.get("todo.reminders.max"),
      clearDelaySeconds: settings.get("tasks.todoClearDelay"),
      eager: settings.get("todo.eager"),
    },
    branchSummary: {
      enabled: settings.get("branchSummary.enabled"),
      reserveTokens: settings.get("branchSummary.reserveTokens"),
    },
    pending: {
      order: settings.get("resolve.order"),
      forcing: settings.get("resolve.forcing"),
      reminders: settings.get("resolve.reminders"),
      maxAttempts: settings.get("resolve.maxAttempts"),
      ttlMs: settings.get("resolve.ttlSeconds") * 1000,
      decider: deciderOf(settings, mode),
      requireUser: settings.get("resolve.requireUser"),
    },
    blockImages: settings.get("images.blockImages"),
    steeringMode: settings.get("steeringMode"),
    followUpMode: settings.get("followUpMode"),
    interruptMode: settings.get("interruptMode"),
  };
}

/** At a terminal the user agrees to what the model wants to apply, unless a file or an option says otherwise. */
function deciderOf(settings: Settings, mode: CreateAgentSessionOptions["mode"]) {
  const decider = settings.get("resolve.decider");
  const isDefault = decider === "model" && !settings.isSetByUser("resolve.decider");
  return mode === "interactive" && isDefault ? "both" : decider;
}
