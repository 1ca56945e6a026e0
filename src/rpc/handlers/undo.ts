// `undo` and `redo`: staged for review, or decided by the host at once.

import { GalleyError } from "../../base/errors.js";
import type { ResolveDetails, RpcData } from "../../protocol/data.js";
import type { Change } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import type { Features } from "../features.js";
import type { HandlerContext } from "../handler.js";

export function decisionOf({ apply }: { apply?: boolean }, { decider: by }: Features) {
  return apply ? { apply: { by, reason: `Asked by the ${by}.` } } : {};
}

type Undone = Awaited<ReturnType<AgentSession["undo"]>>;

export async function undone(
  { session, features }: Pick<HandlerContext, "session" | "features">,
  { action, result, code = "apply_failed", changeId = "", record }: Undone,
): Promise<RpcData["undo"]> {
  if (!result) return { action };
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  if (result.isError) throw new GalleyError(code, text);
  const details = result.details as ResolveDetails;
  const [change] = await session.getChanges({ ids: [changeId], isWholeRoot: true });
  const told = change ?? unrecorded({ action, changeId, record }, { by: features.decider, reason: details.reason });
  return { details, text, change: told };
}

/** It happened, but the replaced content was too large to be kept, or none is kept. */
function unrecorded(
  { action, changeId = "", record }: Pick<Undone, "action" | "changeId" | "record">,
  decision: Pick<Change, "by" | "reason">,
): Change {
  const { id: pendingId, label, sourceToolName, createdAt: at } = action;
  const files = record.files.map(({ shownPath: path, kind, before }) => ({
    path,
    kind: before === null ? ("delete" as const) : kind === "delete" ? ("create" as const) : ("modify" as const),
  }));
  return { id: changeId, pendingId, label, sourceToolName, ...decision, at, files, state: "applied", undoable: false };
}
