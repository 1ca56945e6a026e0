// pi's view of the settings, to read: what galley has under a name of its own. Every other member says that it is missing.

import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { Settings } from "../../config/settings/settings.js";

const keyOf = {
  getShellPath: "shellPath",
  getTheme: "theme",
  getSessionDir: "sessionDir",
  getDefaultThinkingLevel: "defaultThinkingLevel",
  getSteeringMode: "steeringMode",
  getFollowUpMode: "followUpMode",
  getEnabledModels: "enabledModels",
  getCompactionEnabled: "compaction.enabled",
  getCompactionReserveTokens: "compaction.reserveTokens",
  getCompactionKeepRecentTokens: "compaction.keepRecentTokens",
  getRetryEnabled: "retry.enabled",
  getImageAutoResize: "images.autoResize",
  getBlockImages: "images.blockImages",
} as const;

type Get = (key: (typeof keyOf)[keyof typeof keyOf]) => unknown;

export function settingsManagerOf(settings: Pick<Settings, "get">) {
  return {
    create: () => view((key) => settings.get(key)),
    /** `values` as in a settings file of pi. */
    inMemory: (values: unknown = {}) => view((key) => key.split(".").reduce(memberOf, values)),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function view(get: Get): object {
  const getters = Object.entries(keyOf).map(([name, key]) => [name, () => get(key)] as const);
  const made = {
    ...Object.fromEntries(getters),
    getCompactionSettings: () => ({
      enabled: get("compaction.enabled"),
      reserveTokens: get("compaction.reserveTokens"),
      keepRecentTokens: get("compaction.keepRecentTokens"),
    }),
    reload: async () => {},
    flush: async () => {},
  };
  return new Proxy(made, {
    get(target, name, receiver) {
      if (typeof name === "symbol" || name === "then" || name in target) return Reflect.get(target, name, receiver);
      return () => {
        throw new GalleyError("unsupported", `galley does not have SettingsManager.${name} of pi-coding-agent yet.`);
      };
    },
  });
}
