// Layers of staged views that processes left behind. One whose session still has something pending is kept: it holds what
// commands of the session made and git ignores.

import { systemClock } from "../../base/clock.js";
import { randomIds } from "../../base/ids.js";
import { silentLog } from "../../base/log.js";
import type { SessionLocation } from "../../config/session-directory.js";
import { cleanLayers, type FoundLayer } from "../../files/layer/clean-layers.js";
import { readPending } from "../../pending/read-pending.js";
import { openRecord } from "../../record/open-record.js";
import { hasPlans } from "../../record/store/artifacts.js";
import { listSessions } from "../manage-sessions.js";

export interface LayerLocation extends SessionLocation {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Of these roots, or of all. Never rejects. */
export function cleanLeftLayers(location: LayerLocation, roots?: readonly string[]): Promise<FoundLayer[]> {
  const { agentDir, env } = location;
  return cleanLayers({
    agentDir,
    env,
    roots,
    hasPending: async (sessionId, root) => {
      // A view has more roots than the project's, and the session is found by the project alone.
      for (const cwd of new Set([root ?? location.cwd, location.cwd]))
        if (await hasPending({ ...location, cwd }, sessionId)) return true;
      return false;
    },
  });
}

/** A session that cannot be read may have something pending. */
async function hasPending(location: SessionLocation, sessionId: string): Promise<boolean> {
  const { cwd, agentDir } = location;
  const session = (await listSessions(location).catch(() => [])).find(({ id }) => id === sessionId);
  if (!session || !(await hasPlans(session.path))) return false;
  const options = { cwd, agentDir, clock: systemClock, ids: randomIds, log: silentLog };
  const record = await openRecord(session.path, options, { isReadOnly: true }).catch(() => undefined);
  if (!record) return true;
  try {
    return (await readPending(record)).found.length > 0;
  } finally {
    await record.close();
  }
}
