// `negotiate_protocol`: switches features on for this host. They take effect with the first frame after the answer.

import { GalleyError } from "../../base/errors.js";
import type { RpcCommand } from "../../protocol/commands.js";
import type { RpcData } from "../../protocol/data.js";
import type { HandlerContext } from "../handler.js";

export function negotiateProtocol(
  { session, features, request, commandListUpdates }: HandlerContext,
  command: Extract<RpcCommand, { type: "negotiate_protocol" }>,
): RpcData["negotiate_protocol"] {
  const { protocolVersion, features: names } = command;
  if (protocolVersion !== 2)
    throw new GalleyError("unsupported", `Unsupported RPC protocol version: ${protocolVersion}`);
  const data = { protocolVersion, features: features.negotiate(names) };
  void session.whenReady().then(() => commandListUpdates.tell(session));
  request.succeed(data); // in the same step: no event may show the new features before the answer
  return data;
}
