// The access mode as the user sees and changes it. There is no sandbox yet: where commands run without one, the footer says
// so in warning colour.

import { GalleyError } from "../base/errors.js";
import { type AccessMode, type AgentSession, accessModes, type Theme } from "../sdk/index.js";
import type { TerminalApp } from "./terminal-app.js";

/** What Ctrl-S goes through. */
const cycle: readonly AccessMode[] = ["stage", "workspace", "read-only"];

const meaning: Readonly<Record<AccessMode, string>> = {
  "read-only": "Files are staged, and no command runs.",
  stage: "Files are staged for your review; each command asks.",
  workspace: "Files are written when a tool says so; commands run without a sandbox, with your rights.",
  full: "Files are written when a tool says so; commands run with your rights.",
};

export function cycleAccess(app: TerminalApp): boolean {
  const at = cycle.indexOf(app.session.access as AccessMode);
  setAccess(app, cycle[(at + 1) % cycle.length] ?? "stage");
  return true;
}

/** `/access` tells, `/access MODE` changes. */
export async function accessCommand(app: TerminalApp, argument: string): Promise<void> {
  if (argument === "") {
    const rows = accessModes.map(
      (mode) => `${mode === app.session.access ? "›" : " "} ${mode.padEnd(10)} ${meaning[mode]}`,
    );
    return app.notice("info", rows.join("\n"));
  }
  const mode = accessModes.find((each) => each === argument);
  if (!mode) throw new GalleyError("usage", `/access takes one of ${accessModes.join(", ")}.`);
  setAccess(app, mode);
}

function setAccess(app: TerminalApp, mode: AccessMode): void {
  app.session.setAccess(mode);
  app.notice("info", `Access: ${mode}. ${meaning[mode]}`);
}

export function accessText({ access }: AgentSession, theme: Theme): string {
  if (access === "workspace") return theme.fg("warning", "workspace, no sandbox");
  return access === "full" ? theme.fg("warning", "full") : access;
}

export function approvalWarnings({ approvalMode }: AgentSession): string[] {
  return approvalMode === "never" ? ["approvals off"] : [];
}
