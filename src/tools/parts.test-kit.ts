// What the built-in tools need, with nothing behind it.

import { systemClock } from "../base/clock.js";
import type { Workspace } from "../workspace/workspace.js";
import type { BuiltInToolParts } from "./index.js";

export function toolParts(workspace: Workspace): BuiltInToolParts {
  return {
    workspace,
    unattended: workspace,
    processes: { run: () => Promise.reject(new Error("no processes here")), shutdown: async () => {} },
    artifacts: { open: () => Promise.reject(new Error("no artifacts here")), readBytes: async () => undefined },
    todos: { get: () => [], applyOps: () => "" },
    clock: systemClock,
    isPersistent: false,
    dialogs: { select: async () => undefined, input: async () => undefined },
    settings: {},
  };
}
