// What the settings of pi mean here: for galley in the place of pi, and for a user who copies them.

import { join } from "node:path";
import { isObject, type JsonObject } from "../../base/json.js";
import { readConfigFile } from "../../files/config/config-files.js";
import { parseConfig } from "../parse-config.js";
import { readLayer, type SettingValues } from "./layers.js";
import type { SettingKey } from "./schema.js";

/** In pi these mean what they mean here; omp and xcsh share galley's names. */
export const samePi: ReadonlySet<SettingKey> = new Set<SettingKey>([
  ...(["steeringMode", "followUpMode", "defaultThinkingLevel", "enabledModels", "modelRoles", "theme"] as const),
  ...(["thinkingBudgets.minimal", "thinkingBudgets.low", "thinkingBudgets.medium", "thinkingBudgets.high"] as const),
  ...(["compaction.enabled", "compaction.reserveTokens", "compaction.keepRecentTokens"] as const),
  ...(["branchSummary.reserveTokens", "retry.enabled", "retry.maxRetries", "retry.baseDelayMs"] as const),
  ...(["images.autoResize", "images.blockImages", "shellPath"] as const),
]);

/** pi names its usual model in two settings. */
export function withDefaultModel({ defaultProvider, defaultModel, ...rest }: JsonObject): JsonObject {
  if (typeof defaultProvider !== "string" || typeof defaultModel !== "string") return rest;
  return { ...rest, modelRoles: { default: `${defaultProvider}/${defaultModel}` } };
}

/** Those that mean the same here. None of a file that cannot be read: it is pi's to tell. */
export async function readPiSettings(agentDir: string): Promise<SettingValues> {
  try {
    const file = readConfigFile(join(agentDir, "settings.json"));
    const given = file && (await parseConfig(file));
    const { values } = readLayer(withDefaultModel(isObject(given) ? given : {}), "");
    return new Map([...values].filter(([key]) => samePi.has(key)));
  } catch {
    return new Map();
  }
}
