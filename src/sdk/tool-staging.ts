// What the built-in tools are told about staging, from the session's working mode and its pending actions.

import type { Workspace } from "../files/workspace.js";
import type { PendingActions } from "../pending/pending-actions.js";
import { actionsNeeded, planOf, stagedFor } from "../pending/store/stack.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import { typeAfter } from "../plans/plan.js";
import type { KeptFiles, Staging } from "../tools/staging.js";
import type { SessionAccess } from "./access/access-mode.js";

/** `workspace`: whose rules count for what is written at once; default: the session's. */
export function stagingOf(
  pending: PendingActions,
  {
    changes: writer,
    access,
    workspace,
    kept,
  }: { changes: ChangeWriter; access: SessionAccess; workspace?: Workspace; kept?: () => KeptFiles | undefined },
): Staging {
  return {
    mode: () => access.staging,
    stage: (action) => pending.stage(action),
    staged: (path) =>
      stagedFor(pending.store, path).map(({ id, change }) => ({
        id,
        bytes: change.kind === "delete" ? undefined : change.after,
        type: typeAfter(change),
        mode: change.mode,
      })),
    get kept() {
      return kept?.();
    },
    stagedPaths: () => [
      ...new Set(pending.store.list().flatMap((stored) => planOf(stored)?.changes.map(({ path }) => path) ?? [])),
    ],
    needed: (changes) => actionsNeeded(pending.store, changes),
    note: ({ files, ...what }) =>
      writer.note(
        {
          ...what,
          by: "model",
          reason: "",
          files: files.map((file) => ({ kind: file.before ? ("modify" as const) : ("create" as const), ...file })),
        },
        pending.session,
      ),
    wrote: (paths) => pending.filesWritten(paths),
    async applyNow(changes, what) {
      const usual = { by: "model", reason: "Staging is off." } as const;
      const applied = await writer.apply(changes, { ...usual, ...what, pendingId: "" }, pending.session, workspace);
      await pending.filesWritten(changes.map(({ path }) => path));
      return applied;
    },
  };
}
