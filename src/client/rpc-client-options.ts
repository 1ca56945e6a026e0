// What a host tells its client.

import type { EventOptions } from "./rpc-events.js";
import type { HostTool } from "./served-tools.js";
import type { SpawnOptions } from "./spawn.js";

export interface RpcClientOptions extends SpawnOptions, EventOptions {
  /** Until `ready`; 30,000. */
  startTimeoutMs?: number | undefined;
  /** For each request that names no deadline of its own; 30,000. `bash`, `compact` and `export_html` have none. */
  requestTimeoutMs?: number | undefined;
  /** Lent to the model from the start. */
  customTools?: readonly HostTool[] | undefined;
  /** Asked for where the agent offers them. `delta-updates` saves bytes and leaves `message_update.message` empty. */
  features?: readonly string[] | undefined;
  maxStderrBytes?: number | undefined;
}
