// Keeps a call or a host that the user allowed for good in the user's own file of settings; from then on this session
// knows it too.

import { userSettingsFile } from "../../config/settings/load-settings.js";
import { saveSetting } from "../../config/settings/save-setting.js";
import type { SessionEnvironment } from "../session-environment.js";

type Place = Pick<SessionEnvironment, "agentDir" | "clock" | "settings">;

/** Throws what `saveSetting` does; then the call is asked about again. */
export function allowForGood(line: string, place: Place): Promise<void> {
  return addTo("approval.allow", line, place);
}

/** The same for a host that commands may reach. */
export function allowHostForGood(host: string, place: Place): Promise<void> {
  return addTo("bash.hosts", host, place);
}

async function addTo(key: "approval.allow" | "bash.hosts", item: string, place: Place): Promise<void> {
  const { agentDir, clock, settings } = place;
  const value = [...settings.get(key), item];
  await saveSetting(userSettingsFile(agentDir), { key, value }, { clock });
  settings.override(key, value);
}
