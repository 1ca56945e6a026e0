// The end of an interactive session: what the user is told about going on, and closing it.

import type { AgentSession } from "../sdk/index.js";

/** How long a session may take to close, before the program ends all the same. */
const closeMs = 5000;
const modulesMs = 1000;

/** How to go on, and what waits. */
export async function lastLines(session: AgentSession): Promise<string> {
  const isKept = session.sessionFile !== undefined && session.messages.length > 0;
  const pending = await session.getPendingActions().catch(() => []);
  return [
    ...(isKept ? [`galley --resume ${session.sessionId}\n`] : []),
    ...(isKept && pending.length > 0 ? [`${pending.length} pending: galley review\n`] : []),
  ].join("");
}

/** In order, but not for ever. */
export async function closed(session: AgentSession): Promise<void> {
  session.beginShutdown({ modulesMs });
  const late = new Promise((resolve) => setTimeout(resolve, closeMs).unref());
  await Promise.race([session.dispose({ modulesMs }).catch(() => {}), late]);
}
