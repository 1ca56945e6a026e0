// `undo` and `redo`: staged for review, or decided by the host at once.

import type { RpcData } from "../../protocol/data.js";
import type { Change } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import { appliedChangeOf } from "../../sdk/review/decided.js";
import type { Features } from "../features.js";
import type { HandlerContext } from "../handler.js";

export function decisionOf({ apply }: { apply?: boolean }, { decider: by }: Features) {
  return apply ? { apply: { by, reason: `Asked by the ${by}.` } } : {};
}

type Undone = Awaited<ReturnType<AgentSession["undo"]>>;

export async function undone(
  { session, features }: Pick<HandlerContext, "session" | "features">,
  { action, answer, record }: Undone,
): Promise<RpcData["undo"]> {
  if (!answer) return { action };
  const { details, text, decided } = answer;
  const id = appliedChangeOf(decided) ?? "";
  const [change] = await session.getChanges({ ids: [id], isWholeRoot: true });
  const told = change ?? unrecorded({ action, id, record }, { by: features.decider, reason: details.reason });
  return { details, text, change: told };
}

/** It happened, but the replaced content was too large to be kept, or none is kept. */
function unrecorded(
  { action, id, record }: Pick<Undone, "action" | "record"> & { id: string },
  decision: Pick<Change, "by" | "reason">,
): Change {
  const { id: pendingId, label, sourceToolName, createdAt: at } = action;
  const files = record.files.map(({ shownPath: path, kind, before }) => ({
    path,
    kind: before === null ? ("delete" as const) : kind === "delete" ? ("create" as const) : ("modify" as const),
  }));
  return { id, pendingId, label, sourceToolName, ...decision, at, files, state: "applied", undoable: false };
}
