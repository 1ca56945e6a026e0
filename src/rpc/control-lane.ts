// The frames in which a host answers us. They are handled as soon as they are read, ahead of everything else: a command
// may be waiting for them.

import type { TypedObject } from "../base/ndjson.js";
import type { HostTools } from "./host-tools.js";
import type { UiBridge } from "./ui-bridge.js";

export class ControlLane {
  readonly #hostTools: HostTools;
  readonly #ui: UiBridge | undefined;

  constructor(hostTools: HostTools, ui: UiBridge | undefined) {
    this.#hostTools = hostTools;
    this.#ui = ui;
  }

  /** A call or dialog waits for an answer of the host. */
  get isWaiting(): boolean {
    return this.#hostTools.hasOpen || this.isAsking;
  }

  /** A dialog is open. */
  get isAsking(): boolean {
    return this.#ui?.hasOpen ?? false;
  }

  /** False for a frame that is no answer. */
  take(frame: TypedObject): boolean {
    if (frame.type === "extension_ui_response") this.#ui?.receive(frame);
    else if (frame.type === "host_tool_update" || frame.type === "host_tool_result") this.#hostTools.receive(frame);
    else return false;
    return true;
  }
}
