// The session that `galley exec` works in. What it stages goes to the project's newest such session with something pending,
// so that commands stack across calls; else to a new one. Without staging nothing is kept.

import type { Log } from "../../base/log.js";
import type { Assignment } from "../../config/settings/assignment.js";
import type { AgentSession } from "../../session/agent-session.js";
import { type AccessMode, heldAccess } from "../access/access-mode.js";
import { createAgentSession } from "../create-agent-session.js";
import { listPendingSessions, notWritable, type PendingLocation } from "../pending-sessions.js";
import { findSessionEnvironment } from "../session-environment.js";
import type { CreateAgentSessionOptions } from "../session-options.js";

export interface ExecOptions {
  readonly program: string;
  readonly access?: AccessMode | undefined;
  readonly assignments: readonly Assignment[];
}

const prefix = "exec: ";
const defaultAccess = "workspace";

/** Throws `busy` when another process has the session. */
export async function openExecSession(
  location: PendingLocation & { readonly log: Log },
  { program, access, assignments }: ExecOptions,
): Promise<AgentSession> {
  const { cwd, agentDir, log, sessionDir } = location;
  const { settings } = await findSessionEnvironment({ cwd, agentDir, log, assignments });
  const isStaged = heldAccess(settings, { access, defaultAccess }).staging === "all";
  const stacked = isStaged ? await stackedSession(location) : undefined;
  const options: CreateAgentSessionOptions = {
    cwd,
    agentDir,
    log,
    settings,
    defaultAccess,
    persist: isStaged,
    mode: "print",
    contextFiles: [],
    disableExtensionDiscovery: true,
    onNoModel: () => {},
    access,
    sessionDir,
    ...(stacked === undefined ? {} : { resume: { kind: "open", target: stacked, isExclusive: true } }),
  };
  const { session } = await createAgentSession(options);
  const { readOnly } = session.sessionManager;
  if (readOnly) {
    await session.dispose();
    throw notWritable(readOnly);
  }
  await session.getPendingActions(); // of earlier calls: the view shows them
  if (stacked === undefined) session.sessionManager.setName(`${prefix}${program}`, "auto");
  return session;
}

/** The file of the newest one with something pending. */
async function stackedSession(location: PendingLocation): Promise<string | undefined> {
  const sessions = await listPendingSessions(location);
  return sessions.find(({ session }) => session.name?.startsWith(prefix))?.session.path;
}
