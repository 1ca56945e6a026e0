// The sandbox of a session, from its options and settings. Where the host brings what starts programs, or what they work
// on, nothing of ours can confine them.

import type { SandboxProbe } from "../../processes/sandbox/box.js";
import type { SessionAccess } from "../access/access-mode.js";
import type { SessionEnvironment } from "../session-environment.js";
import type { CreateAgentSessionOptions } from "../session-options.js";
import { SessionSandbox } from "./session-sandbox.js";

const hostText = "The host provides what this session's commands run with.";

export function createSessionSandbox(
  options: Pick<CreateAgentSessionOptions, "processes" | "workspace">,
  { log }: Pick<SessionEnvironment, "log" | "settings">,
  access: SessionAccess,
): SessionSandbox {
  const isHosted = (options.processes ?? options.workspace) !== undefined;
  const none: SandboxProbe = { mechanism: "none", reason: isHosted ? hostText : "This version has no sandbox." };
  return new SessionSandbox({
    access,
    network: () => "off",
    probe: async () => none,
    probeStage: async () => ({ mechanism: "none", ...(none.reason === undefined ? {} : { reason: none.reason }) }),
    warn: (text) => log.warn(text),
  });
}
