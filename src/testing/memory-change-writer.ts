// Applies plans to the in-memory workspace, as for any workspace of a host, with ids and times that count up.

import { createWorkspaceChangeWriter } from "../journal/workspace-change-writer.js";
import type { ChangeWriter } from "../sdk/index.js";
import type { MemoryWorkspace } from "./memory-workspace.js";

export function createMemoryChangeWriter(workspace: MemoryWorkspace): ChangeWriter {
  let [changes, times] = [0, 0];
  const plans = createWorkspaceChangeWriter({
    workspace,
    clock: { now: () => times++ },
    retention: () => ({ keep: 100, maxBytes: 256 * 1024 * 1024 }),
    nextTxid: async () => (++changes).toString(16).padStart(8, "0").padEnd(32, "0"),
  });
  return { ...plans, historyLimit: undefined };
}
