// Where a user's command belongs: the record that is current when it is requested, even when the session has switched
// to another one by the time it ends.

import { GalleyError } from "../../base/errors.js";
import type { PendingActions } from "../../pending/pending-actions.js";
import type { AgentSessionDeps } from "../agent-session-deps.js";
import { artifactsOf, type CurrentRecord } from "../current-record.js";
import type { DetachedSessions } from "../detached-sessions.js";
import type { ModelControl } from "../models/model-control.js";
import type { RunDriver } from "../run-driver.js";
import type { BashHome } from "./bash-execution.js";

interface BashSession {
  readonly deps: Pick<AgentSessionDeps, "runBash">;
  readonly current: CurrentRecord;
  readonly driver: RunDriver;
  readonly models: ModelControl;
  readonly pending: PendingActions;
  readonly detached: DetachedSessions;
}

export function createBashHome({ deps, current, driver, models, pending, detached }: BashSession): BashHome {
  const { record } = current;
  return {
    run: async (request) => {
      if (!deps.runBash) throw new GalleyError("unsupported", "This session runs no commands.");
      try {
        return await deps.runBash(
          request,
          artifactsOf(() => record),
        );
      } finally {
        await pending.filesWritten();
      }
    },
    isStreaming: () => record === current.record && driver.isStreaming,
    append: (message) => {
      if (record === current.record) models.recordStart(); // a command may be the first entry on record
      record.append({ type: "message", message });
    },
    artifactPath: (id) => record.artifacts.pathOf(id),
    release: detached.use(record),
  };
}
