// The exported function `astEdit`: structural search and replace without a session. Heavy code is loaded with the first
// call.

import { systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { randomIds } from "../base/ids.js";
import { silentLog } from "../base/log.js";
import { agentDirectory } from "../config/agent-directory.js";
import type { Workspace } from "../files/workspace.js";
import { withoutSession } from "../plans/change-writer.js";
import type { Processes } from "../processes/processes.js";
import type { AstEditOutcome, AstEditRequest, AstEngineDeps } from "../tools/ast/engine.js";
import type { Staging } from "../tools/staging.js";

export type { AstChange, AstEditOutcome, AstEditRequest } from "../tools/ast/engine.js";

export interface AstEditLocation {
  /** What paths begin from; default: that of the process. */
  readonly cwd?: string;
  readonly agentDir?: string;
}

/**
 * Shows what the files would become. With `dryRun: false` it is written, all or nothing, within the same bounds as in a
 * session, and `galley undo` reverts it.
 */
export async function astEdit(request: AstEditRequest & AstEditLocation): Promise<AstEditOutcome> {
  const { cwd = process.cwd(), agentDir = agentDirectory(process.env) } = request;
  const [
    { discoverEnvironment, discoverSettings },
    { createToolResources, toolSettingsOf },
    { createProjectChanges },
    roots,
  ] = await Promise.all([
    import("../config/discover.js"),
    import("./tool-resources.js"),
    import("./project-changes.js"),
    import("../files/paths/find-roots.js"),
  ]);
  const location = { cwd, agentDir, clock: systemClock, log: silentLog };
  const env = discoverEnvironment(location);
  const settings = await discoverSettings(location, { env });
  const { workspace, processes } = createToolResources({ ...location, env, settings });
  const root = roots.findProject({ cwd, home: homedir() }).writableRoot;
  const writer = createProjectChanges({
    ...location,
    root,
    workspace,
    settings,
    sessions: { ...location, ids: randomIds },
  });
  const { astEdit: { maxFiles } = {} } = toolSettingsOf(settings, env);
  try {
    const apply: AstEditAccess["apply"] = (changes, what) =>
      writer.apply(changes, { ...what, ...byModule, pendingId: "" }, withoutSession);
    return await astEditBy({ workspace, processes, apply, maxFiles })(request);
  } finally {
    await processes.shutdown();
  }
}

export interface AstEditAccess {
  readonly workspace: Workspace;
  readonly processes: Processes;
  readonly apply: AstEngineDeps["apply"];
  readonly maxFiles?: number | undefined;
}

const byModule = { by: "runtime", reason: "astEdit" } as const;

/** To the disk by the rules of a session: where everything is staged, nothing is written past that. */
export function applyBeside(staging: () => Pick<Staging, "mode" | "applyNow"> | undefined): AstEditAccess["apply"] {
  return async (changes, what) => {
    const own = staging();
    if (!own) throw new GalleyError("pending_unavailable", "astEdit cannot write before the session has begun.");
    if (own.mode() === "all") throw new GalleyError("tool_failed", stagedInsteadText);
    return own.applyNow(changes, { ...what, ...byModule });
  };
}

const stagedInsteadText =
  "Every change is staged here, so astEdit wrote nothing. Use it without `dryRun: false`, and stage its result with pushPendingAction.";

/** The same with what a session has. */
export function astEditBy({ workspace, processes, apply, maxFiles }: AstEditAccess) {
  return async (request: AstEditRequest): Promise<AstEditOutcome> => {
    const { runAstEdit } = await import("../tools/ast/engine.js");
    return runAstEdit({ workspace, maxFiles, ripgrep: { processes }, apply }, request);
  };
}
