// pi's view of the settings, to read: what galley has under a name of its own. Every other member says that it is missing.

import { join } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { isObject, type JsonObject, parseObject } from "../../base/json.js";
import type { Settings } from "../../config/settings/settings.js";
import { readConfigFile } from "../../files/config/config-files.js";

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

export function settingsManagerOf({ settings, agentDir }: { settings: Pick<Settings, "get">; agentDir: string }) {
  return {
    create: (_cwd?: string, directory = agentDir) =>
      view(
        (key) => settings.get(key),
        () => settingsFile(join(directory, "settings.json")),
      ),
    /** `values` as in a settings file of pi. */
    inMemory: (values: unknown = {}) =>
      view(
        (key) => key.split(".").reduce(memberOf, values),
        () => (isObject(values) ? { ...values } : {}),
      ),
  };
}

/** As it is, with the members of packages. Empty where there is none that can be read. */
function settingsFile(path: string): JsonObject {
  try {
    return parseObject(readConfigFile(path)?.text ?? "") ?? {};
  } catch {
    return {};
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function view(get: Get, whole: () => JsonObject): object {
  const getters = Object.entries(keyOf).map(([name, key]) => [name, () => get(key)] as const);
  const made = {
    ...Object.fromEntries(getters),
    getCompactionSettings: () => ({
      enabled: get("compaction.enabled"),
      reserveTokens: get("compaction.reserveTokens"),
      keepRecentTokens: get("compaction.keepRecentTokens"),
    }),
    getGlobalSettings: whole,
    /** A project's settings reach no package: the user may not have trusted it. */
    getProjectSettings: () => ({}),
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
