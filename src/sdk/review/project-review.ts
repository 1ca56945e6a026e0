// What is under review in a project, across its sessions. A session is opened only while something is decided about it: its
// lock is held for that time alone.

import { GalleyError } from "../../base/errors.js";
import { planOf } from "../../pending/store/stack.js";
import { diffPage, type ShownFile } from "../../plans/diff/diff-page.js";
import { gitSummary, isGrouped } from "../../plans/diff/git-group.js";
import type { Plan } from "../../plans/plan.js";
import { binariesIn } from "../../plans/planned-bytes.js";
import type { DiffFile } from "../../protocol/diff.js";
import { joinPages } from "../../render/diff-rows.js";
import {
  changedFiles,
  listPendingSessions,
  listProjectChanges,
  type PendingLocation,
  projectRoot,
  withSessionFile,
} from "../pending-sessions.js";
import { findAction } from "./find-by-id.js";
import { type ListedAction, shownInProject } from "./listed-action.js";
import type { ReviewAction, ReviewSource } from "./review-source.js";
import { reviewAction, withGitGroup } from "./session-review.js";
import { stackOrder } from "./stack-order.js";
import { stageUndo } from "./stage-undo.js";

/** How often other programs' work is looked for. */
const lookEveryMs = 3000;

export function projectReview(location: PendingLocation): ReviewSource {
  let listed: readonly ListedAction[] = [];
  const list = async () => {
    listed = (await listPendingSessions(location)).flatMap(({ actions }) => actions);
    return listed;
  };
  const named = (key: string): ListedAction => findAction(listed, key);
  const inSession = <T>(key: string, work: Parameters<typeof withSessionFile<T>>[2]) =>
    withSessionFile(location, named(key).session.path, work);
  const listeners = new Set<() => void>();
  const staged = async (verb: "undo" | "redo", changeId?: string) => {
    const { id, session } = await stageUndo(location, { verb, changeId });
    const found = (await list()).find((action) => action.id === id && action.session.id === session);
    if (!found) throw new GalleyError("not_found", `${id} was staged, and is no longer pending.`);
    return found.name;
  };
  return {
    actions: async () => stackOrder((await list()).map(actionOf)),
    changes: () => listProjectChanges(location, { nameFile: (path) => shownInProject(path, projectRoot(location)) }),
    async diff(of) {
      if ("change" in of) {
        const shown = await changedFiles(location, of.change);
        if (!shown) throw new GalleyError("not_found", `Change ${of.change} can no longer be shown.`);
        return { files: withGitGroup(await allFiles(shown.files), shown.git) };
      }
      const { stored, action } = named(of.action);
      const plan = planOf(stored);
      const files = withGitGroup(await allFiles(plannedFiles(plan)), plan && gitSummary(plan));
      return { revision: action.revision, files, binaries: binariesIn(files, stored.work) };
    },
    decide: ({ key, ...decision }) =>
      inSession(key, async (session) => {
        const { decided } = await session.resolvePendingAction({ ...decision, pendingId: named(key).id, by: "user" });
        return decided;
      }),
    revise: ({ key, ...edit }) =>
      inSession(key, async (session) => {
        await session.revisePendingAction({ ...edit, pendingId: named(key).id, by: "user" });
      }),
    rebase: (key, revision) =>
      inSession(
        key,
        async (session) => (await session.rebasePendingAction({ pendingId: named(key).id, revision, by: "user" })).left,
      ),
    undo: (changeId) => staged("undo", changeId),
    redo: () => staged("redo"),
    subscribe(listener) {
      listeners.add(listener);
      const timer = setInterval(listener, lookEveryMs);
      return () => {
        clearInterval(timer);
        listeners.delete(listener);
      };
    },
  };
}

function actionOf({ name, action, files, prompt, restsOn }: ListedAction): ReviewAction {
  const { files: told, ...made } = reviewAction(action, prompt);
  const stagedOf = new Map(files.map(({ shown, staged }) => [shown, staged]));
  const pathOf = (shown: string) => stagedOf.get(shown) ?? shown;
  return {
    ...made,
    key: name,
    files: told.map(({ group, ...file }) => ({
      ...file,
      path: pathOf(file.path),
      ...(group ? { group: { ...group, paths: group.paths.map(pathOf) } } : {}),
    })),
    restsOn: restsOn.map(({ id, files: paths }) => ({ key: id, paths: paths.map(pathOf) })),
  };
}

function plannedFiles(plan: Plan | undefined): ShownFile[] {
  const shown = plan?.changes.filter((change) => !isGrouped(plan, change)) ?? [];
  return shown.map((change) => ({ path: change.stamp.path, kind: change.kind, to: change.to, change }));
}

async function allFiles(files: readonly ShownFile[]): Promise<DiffFile[]> {
  const pages: { files: DiffFile[] }[] = [];
  for (let from: Parameters<typeof diffPage>[1] = {}; ; ) {
    const { files: more, next } = await diffPage(files, from);
    pages.push({ files: more });
    if (!next) return joinPages(pages);
    from = { from: next };
  }
}
