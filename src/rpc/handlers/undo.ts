// `undo` and `redo`: staged for review, or decided by the host in the same breath.

import { GalleyError } from "../../base/errors.js";
import type { ResolveDetails, RpcData } from "../../protocol/data.js";
import type { AgentSession } from "../../sdk/index.js";

const byHost = { by: "host", reason: "Asked by the host." } as const;

export function decisionOf({ apply }: { apply?: boolean }): { apply?: typeof byHost } {
  return apply ? { apply: byHost } : {};
}

type Undone = Awaited<ReturnType<AgentSession["undo"]>>;

export async function undone(
  { action, result, code = "apply_failed", changeId = "", record }: Undone,
  session: AgentSession,
): Promise<RpcData["undo"]> {
  if (!result) return { action };
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  if (result.isError) throw new GalleyError(code, text);
  const [change] = await session.getChanges({ ids: [changeId], isWholeRoot: true });
  if (!change) throw new GalleyError("not_found", `The change that undid ${record.label} is not on record.`);
  return { details: result.details as ResolveDetails, text, change };
}
