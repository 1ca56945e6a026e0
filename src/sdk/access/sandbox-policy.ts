// A sandbox that was asked for and is not available means that no command runs. This version has none, so that only the
// built-in default, which is no request, leaves commands to the user's rights.

import type { Settings } from "../../config/settings/settings.js";
import type { SandboxState } from "../../protocol/data.js";

export const sandboxReason = "This version has no sandbox.";
export const noSandboxText = `Commands need the sandbox you asked for, and it is not available: ${sandboxReason} Set sandbox to off to run them with your rights.`;

/** A file, the command line or the caller asks for a sandbox. */
export function refusesCommands(settings: Settings): boolean {
  return settings.sourceOf("sandbox") !== "default" && settings.get("sandbox") !== "off";
}

/** As hosts are told. */
export function sandboxState(settings: Settings): SandboxState {
  return refusesCommands(settings)
    ? { mode: settings.get("sandbox"), mechanism: "none", reason: `${sandboxReason} Commands are refused.` }
    : { mode: "off", mechanism: "none", reason: "This version has no sandbox: commands run with your rights." };
}
