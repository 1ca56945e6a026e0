// The one API object that all tools of a session share. What may change later (the UI) is asked at the moment of use.

import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { VirtualModules } from "../compat/virtual-modules.js";
import { currentModule, runAsHost } from "../load/load-guard.js";
import type { CustomToolAPI, ToolLogger } from "./custom-tool.js";
import type { LiveUI } from "./custom-tool-ui.js";
import { type ExecDeps, execProgram } from "./tool-api-exec.js";
import { type GivenPush, pushPendingAction, type ToolPendingActions } from "./tool-api-pending.js";

export interface ToolApiDeps extends ExecDeps {
  readonly live: LiveUI;
  readonly logger: ToolLogger;
  readonly virtual: VirtualModules;
  /** Absent where nothing can hold a pending action. */
  readonly pending?: ToolPendingActions | GivenPush | undefined;
}

export function createToolApi({ live, logger, virtual, pending, ...running }: ToolApiDeps): CustomToolAPI {
  return {
    cwd: running.cwd,
    exec: (command, args, options) => runAsHost(() => execProgram(running, { command, args }, options)),
    ui: live.ui,
    get hasUI() {
      return live.hasUI;
    },
    logger,
    // What serves an import has this type by construction; the table of modules cannot say so. An unused library is
    // undefined, and must not throw: tools copy this object member by member.
    get typebox() {
      return virtual.find("@sinclair/typebox") as CustomToolAPI["typebox"];
    },
    get zod() {
      return virtual.find("zod") as CustomToolAPI["zod"];
    },
    get pi() {
      return virtual.find("galley") as CustomToolAPI["pi"];
    },
    pushPendingAction(action) {
      const running = currentModule();
      return runAsHost(() => pushPendingAction(pending, action, running));
    },
  };
}

export function createToolLogger(log: Log): ToolLogger {
  return {
    debug: (message, fields) => runAsHost(() => log.trace?.("debug", lineOf(message, fields))),
    info: (message, fields) => runAsHost(() => log.trace?.("info", lineOf(message, fields))),
    warn: (message, fields) => runAsHost(() => log.warn(lineOf(message, fields))),
    error: (message, fields) => runAsHost(() => log.error(lineOf(message, fields))),
  };
}

function lineOf(message: unknown, fields: unknown): string {
  const text = typeof message === "string" ? message : messageOf(message);
  return fields === undefined ? text : `${text} ${messageOf(fields)}`;
}
