// What the built-in tools need, with nothing behind it.

import { systemClock } from "../base/clock.js";
import type { Workspace } from "../files/workspace.js";
import type { NewAction } from "../plans/stored-action.js";
import type { BuiltInToolDeps } from "./index.js";
import type { Staging } from "./staging.js";

/** Holds what is staged, and numbers it. */
export function stagingKit(mode: "off" | "auto" | "all" = "auto") {
  const actions: NewAction[] = [];
  const staging: Staging = {
    mode: () => mode,
    stage: async (action) => `pa_${actions.push(action)}`,
    staged: () => [],
    stagedPaths: () => [],
    note: async () => async () => {},
    wrote: async () => {},
    applyNow: () => Promise.reject(new Error("nothing is applied here")),
  };
  return { staging, actions };
}

export function toolDeps(workspace: Workspace): BuiltInToolDeps {
  return {
    workspace,
    unattended: workspace,
    processes: { run: () => Promise.reject(new Error("no processes here")), shutdown: async () => {} },
    artifacts: {
      open: async () => ({ id: "1", write: async () => {}, close: async () => {} }),
      readBytes: async () => undefined,
    },
    staging: stagingKit().staging,
    todos: { get: () => [], applyOps: () => "" },
    clock: systemClock,
    isPersistent: false,
    dialogs: { select: async () => undefined, input: async () => undefined },
    settings: {},
  };
}
