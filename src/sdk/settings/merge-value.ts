// What the layers together say of a setting.

import type { SettingValues } from "./layers.js";
import { type SettingKey, settingOf } from "./schema.js";

/** One setting over the layers, lowest first: records merge, everything else is replaced. */
export function mergeValue(key: SettingKey, layers: readonly SettingValues[]): unknown {
  const { kind, default: standard } = settingOf(key);
  let merged: unknown = standard;
  for (const layer of layers) {
    const value = layer.get(key);
    if (value === undefined) continue;
    merged = kind.type === "record" ? Object.freeze({ ...(merged as object), ...(value as object) }) : value;
  }
  return merged;
}
