// What a command handler is given, and what it returns: the command's data, or a GalleyError as a refusal.

import type { Clock } from "../base/clock.js";
import type { RpcCommand, RpcCommandType } from "../protocol/commands.js";
import type { RpcData } from "../protocol/data.js";
import type { AgentSession } from "../sdk/index.js";
import type { CommandListUpdates } from "./command-list-updates.js";
import type { Dialect } from "./dialect.js";
import type { Features } from "./features.js";
import type { HostTools } from "./host-tools.js";
import type { Outbox } from "./outbox.js";
import type { PromptResults } from "./prompt-results.js";
import type { Request } from "./read-request.js";

export interface HandlerContext {
  readonly session: AgentSession;
  readonly request: Request;
  readonly features: Features;
  readonly results: PromptResults;
  readonly commandListUpdates: CommandListUpdates;
  readonly hostTools: HostTools;
  readonly outbox: Outbox;
  readonly dialect: Dialect;
  readonly clock: Clock;
}

export type Handler<C extends RpcCommandType> = (
  context: HandlerContext,
  command: Extract<RpcCommand, { type: C }>,
) => RpcData[C] | Promise<RpcData[C]>;
