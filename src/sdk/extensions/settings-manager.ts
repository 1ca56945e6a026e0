// pi's view of the settings, to read: what galley has under a name of its own. Every other member says that it is missing.

import { join } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { isObject, parseObject } from "../../base/json.js";
import type { Settings } from "../../config/settings/settings.js";
import { lookAt, readModuleFile } from "../../files/module-files.js";

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

const maxBytes = 1024 * 1024;

type Get = (key: (typeof keyOf)[keyof typeof keyOf]) => unknown;

export function settingsManagerOf({ settings, agentDir }: { settings: Pick<Settings, "get">; agentDir: string }) {
  const path = join(agentDir, "settings.json");
  return {
    create: () =>
      view(
        (key) => settings.get(key),
        () =>
          lookAt(path).kind === "file"
            ? (parseObject(Buffer.from(readModuleFile(path, maxBytes).bytes).toString()) ?? {})
            : {},
      ),
    /** `values` as in a settings file of pi. */
    inMemory: (values: unknown = {}) =>
      view(
        (key) => key.split(".").reduce(memberOf, values),
        () => values,
      ),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** `whole`: as the user's file has it, where packages keep settings of their own. A project's says nothing here. */
function view(get: Get, whole: () => unknown): object {
  const getters = Object.entries(keyOf).map(([name, key]) => [name, () => get(key)] as const);
  const made = {
    ...Object.fromEntries(getters),
    getCompactionSettings: () => ({
      enabled: get("compaction.enabled"),
      reserveTokens: get("compaction.reserveTokens"),
      keepRecentTokens: get("compaction.keepRecentTokens"),
    }),
    getGlobalSettings: whole,
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
