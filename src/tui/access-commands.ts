// The access mode as the user sees and changes it. Where commands run without a sandbox although the mode has one, the footer
// says so in warning colour.

import { GalleyError } from "../base/errors.js";
import { type AccessMode, type AgentSession, accessModes, type Theme } from "../sdk/index.js";
import type { TerminalApp } from "./terminal-app.js";

/** What Ctrl-S goes through. */
const cycle: readonly AccessMode[] = ["stage", "workspace", "read-only"];

const meaning: Readonly<Record<AccessMode, string>> = {
  "read-only": "Files are staged for your review; commands can change nothing.",
  stage: "Files are staged for your review, and so is what commands change: they run in a view of the project.",
  workspace: "Files are written when a tool says so; commands are confined to the project.",
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
    await app.session.learnSandbox();
    return app.notice("info", [...rows, sandboxLine(app.session)].join("\n"));
  }
  const mode = accessModes.find((each) => each === argument);
  if (!mode) throw new GalleyError("usage", `/access takes one of ${accessModes.join(", ")}.`);
  setAccess(app, mode);
}

function setAccess(app: TerminalApp, mode: AccessMode): void {
  app.session.setAccess(mode);
  app.notice("info", `Access: ${mode}. ${meaning[mode]}`);
}

/** Said once, to a user who has not worked here before. Short: one line also in a narrow window. */
export function firstAccessLine({ access }: Pick<AgentSession, "access">): string {
  return `Access: ${access}. /access changes it.`;
}

/** What this machine does for it. */
function sandboxLine({ sandbox }: Pick<AgentSession, "sandbox">): string {
  const { mode, mechanism, network, stage, reason } = sandbox;
  const view = stage.mechanism === "none" ? "" : `; staged commands: ${stage.mechanism}`;
  if (mode === "off") return `Sandbox: off.${reason === undefined ? "" : ` ${reason}`}`;
  return `Sandbox: ${mode} by ${mechanism}, network ${network}${view}.${reason === undefined ? "" : ` ${reason}`}`;
}

export function accessText({ access, sandbox }: Pick<AgentSession, "access" | "sandbox">, theme: Theme): string {
  if (access === "full") return theme.fg("warning", "full");
  const isOpen = sandbox.mode === "off" && access !== "custom";
  if (isOpen) return theme.fg("warning", `${access}, no sandbox`);
  const isClosed = sandbox.mechanism === "none" && sandbox.mode !== "off";
  return isClosed ? theme.fg("warning", `${access}, no commands`) : access;
}

export function approvalWarnings({ approvalMode }: AgentSession): string[] {
  return approvalMode === "never" ? ["approvals off"] : [];
}
