// Keeps a call that the user allowed for good in the user's own file of settings; from then on this session knows it too.

import type { Clock } from "../../base/clock.js";
import { userSettingsFile } from "../../config/settings/load-settings.js";
import { saveSetting } from "../../config/settings/save-setting.js";
import type { Settings } from "../../config/settings/settings.js";

/** Throws what `saveSetting` does; then the call is asked about again. */
export async function allowForGood(
  line: string,
  { agentDir, clock, settings }: { agentDir: string; clock: Clock; settings: Settings },
): Promise<void> {
  const value = [...settings.get("approval.allow"), line];
  await saveSetting(userSettingsFile(agentDir), { key: "approval.allow", value }, { clock });
  settings.override("approval.allow", value);
}
