// What a user is told when a server on this machine does not run.

import { localServers } from "../provider-list.js";

/** `server`: the provider, or the kind of server that it is. */
export function nothingListens(origin: string, server: string): string {
  const name = localServers.find(({ id }) => id === server)?.name ?? "the server";
  return `Nothing listens at ${origin}. Is ${name} running?`;
}
