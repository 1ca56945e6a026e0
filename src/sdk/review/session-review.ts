// What is under review in an open session.

import type { DiffFile, DiffPage } from "../../protocol/diff.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { PendingActionView } from "../../protocol/pending.js";
import { joinPages } from "../../render/diff-rows.js";
import type { AgentSession } from "../../session/agent-session.js";
import { maskedReview } from "./masked-review.js";
import type { ReviewAction, ReviewFile, ReviewSource } from "./review-source.js";
import { stackOrder } from "./stack-order.js";

/** Without the secrets that the session knows. */
export function sessionReview(session: AgentSession): ReviewSource {
  const source: ReviewSource = {
    async actions() {
      const found = await session.getPendingActions({ check: true });
      return stackOrder(found.map((action) => reviewAction(action, promptOf(action, session.messages))));
    },
    changes: () => session.getChanges({ isWholeRoot: true, limit: 200 }),
    async diff(of) {
      const which = "action" in of ? { pendingId: of.action } : { changeId: of.change };
      const pages: DiffPage[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await session.getDiff({ ...which, cursor });
        pages.push(page);
        cursor = page.nextCursor;
        if (cursor !== undefined) continue;
        const files = withGitGroup(joinPages(pages), pages[0]?.git);
        const binaries = "action" in of ? { binaries: session.getPlannedBinaries(of.action, files) } : {};
        return { revision: page.revision, files, ...binaries };
      }
    },
    decide: async ({ key, ...decision }) =>
      (await session.resolvePendingAction({ ...decision, pendingId: key, by: "user" })).decided,
    async revise({ key, ...edit }) {
      await session.revisePendingAction({ ...edit, pendingId: key, by: "user" });
    },
    rebase: async (key, revision) => (await session.rebasePendingAction({ pendingId: key, revision, by: "user" })).left,
    undo: async (changeId) => (await session.undo({ changeId, isWholeRoot: true, mustFit: true })).action.id,
    redo: async () => (await session.redo({ isWholeRoot: true, mustFit: true })).action.id,
    subscribe: (listener) =>
      session.subscribe((event) => {
        if (event.type.startsWith("pending_action")) listener();
      }),
  };
  return maskedReview(source, session.secrets);
}

export function reviewAction(action: PendingActionView, prompt: string): ReviewAction {
  const { files = [], restsOn = [], preview } = action;
  return {
    key: action.id,
    label: action.label,
    sourceToolName: action.sourceToolName,
    createdAt: action.createdAt,
    kind: action.kind,
    status: action.status,
    revision: action.revision,
    files: [
      ...files
        .filter(({ isGitData }) => !isGitData)
        .map((file) => ({
          path: file.path,
          shown: file.path,
          kind: file.kind ?? "modify",
          to: file.to,
          added: file.added ?? 0,
          removed: file.removed ?? 0,
          hunks: file.hunks ?? 0,
          isStale: file.stale === true,
          isProtected: file.protected === true,
          size: file.size,
          sha256: file.sha256,
        })),
      ...gitGroup(action),
    ],
    prompt,
    restsOn: restsOn.map(({ id, files: paths }) => ({ key: id, paths })),
    lastError: action.lastError,
    text: preview?.diff ?? preview?.text ?? "",
  };
}

/** Where git's own data is shown as one file. */
const groupPath = ".git";

function gitGroup({ files = [], git }: PendingActionView): ReviewFile[] {
  if (git === undefined) return [];
  const own = files.filter(({ isGitData }) => isGitData);
  const group = { paths: own.map(({ path }) => path), text: `git: ${git}` };
  const isStale = own.some(({ stale }) => stale);
  const figures = { added: 0, removed: 0, hunks: 0, size: 0, sha256: "" };
  return [{ path: groupPath, shown: groupPath, kind: "modify", ...figures, isStale, isProtected: false, group }];
}

/** Behind the files of a diff, what stands for git's own data. */
export function withGitGroup(files: DiffFile[], git: string | undefined): DiffFile[] {
  return git === undefined ? files : [...files, { path: groupPath, kind: "modify", hunks: [] }];
}

/** What the user said last before the call that staged it. */
function promptOf({ toolCallId }: PendingActionView, messages: readonly AgentMessage[]): string {
  if (toolCallId === undefined) return "";
  let prompt = "";
  for (const message of messages) {
    if (message.role === "user") prompt = textOf(message.content);
    else if (message.role === "toolResult" && message.toolCallId === toolCallId) return prompt;
  }
  return prompt;
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join(" ");
}
