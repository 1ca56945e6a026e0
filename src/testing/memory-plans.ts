// Plans on the in-memory workspace, as for any workspace that a host brings, with ids and times that count.

import type { PlanHands } from "../sdk/index.js";
import { createWorkspacePlans } from "../sdk/workspace-change-writer.js";
import type { MemoryWorkspace } from "./memory-workspace.js";

export function createMemoryPlans(workspace: MemoryWorkspace): PlanHands {
  let [changes, times] = [0, 0];
  const plans = createWorkspacePlans({
    workspace,
    clock: { now: () => times++ },
    retention: () => ({ keep: 100, maxBytes: 256 * 1024 * 1024 }),
    nextTxid: async () => (++changes).toString(16).padStart(8, "0").padEnd(32, "0"),
  });
  return { ...plans, historyLimit: undefined };
}
