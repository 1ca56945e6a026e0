// What the settings say about confined and staged commands, as one value, with paths as the sandbox takes them.

import { resolve } from "node:path";
import type { Settings } from "../../config/settings/settings.js";

/** As they are now: a session reads them anew for each command. */
export function sandboxSettings(settings: Settings, home: string) {
  const absolute = (path: string) => resolve(path.startsWith("~") ? home + path.slice(1) : path);
  return {
    network: settings.get("bash.network"),
    hosts: settings.get("bash.hosts"),
    unixSockets: settings.get("bash.unixSockets"),
    hide: settings.get("bash.hide").map(absolute),
    show: settings.get("bash.show").map(absolute),
    stage: {
      ignored: settings.get("stage.ignored"),
      maxFiles: settings.get("stage.maxFiles"),
      maxBytes: settings.get("stage.maxBytes"),
      maxFileBytes: settings.get("stage.maxFileBytes"),
      maxLayerBytes: settings.get("stage.maxLayerBytes"),
      copyMaxFiles: settings.get("stage.copyMaxFiles"),
      copyMaxBytes: settings.get("stage.copyMaxBytes"),
    },
  };
}
