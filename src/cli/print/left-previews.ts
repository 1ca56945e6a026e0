// What happens to the previews that a one-shot run leaves undecided: plans wait in the session, or go with it; the
// callbacks of custom tools end with the process.

import { oneLine } from "../../base/sanitize.js";
import type { PendingActionView } from "../../protocol/pending.js";
import type { AgentSession } from "../../sdk/index.js";
import { projectRoot } from "../../sdk/pending-sessions.js";
import { shownInProject } from "../../sdk/review/listed-action.js";
import type { CommandLine } from "../arguments.js";
import { accessOf } from "../session-options.js";
import { shellWord } from "../shell-word.js";
import { fileLine, listing } from "./listing.js";
import type { Outcome } from "./run-outcome.js";

/** Of a text from elsewhere. */
const maxLength = 200;

export interface LeftPreviews {
  /** Plans; they can be decided later if the session is kept. */
  readonly plans: readonly PendingActionView[];
  /** Of custom tools: they end with the process. */
  readonly callbacks: readonly PendingActionView[];
  readonly isKept: boolean;
  readonly persistError: string | undefined;
  /** The directory that the command line named. */
  readonly sessionDir: string | undefined;
  /** The command line already says that the model decides. */
  readonly isAuto: boolean;
}

export async function leftOf(
  session: AgentSession,
  { options }: CommandLine,
  { withDiff }: { withDiff: boolean },
): Promise<LeftPreviews> {
  const { isOnDisk } = session.sessionManager;
  const { persistError } = session;
  // As the commands that decide about them call the files, from whatever directory.
  const root = projectRoot({ cwd: session.cwd });
  const nameFile = (path: string) => shownInProject(path, root);
  const left = await session.getPendingActions({ diff: withDiff, nameFile });
  const ofKind = (kind: PendingActionView["kind"]) => left.filter((action) => action.kind === kind);
  return {
    plans: ofKind("plan"),
    callbacks: ofKind("closure"),
    isKept: isOnDisk && persistError === undefined,
    persistError,
    sessionDir: options.get("session-dir")?.[0],
    isAuto: accessOf({ options }).access === "workspace",
  };
}

/** The outcome of a run, with what it left. */
export function outcomeWith(left: LeftPreviews, failure: Outcome | undefined): Outcome {
  const ids = (actions: readonly PendingActionView[]) => actions.map(({ id }) => id);
  const pending = left.isKept ? ids(left.plans) : [];
  const discarded = [...(left.isKept ? [] : ids(left.plans)), ...ids(left.callbacks)];
  const previews = { pending, ...(discarded.length === 0 ? {} : { discarded }) };
  if (failure) return { ...failure, ...previews };
  if (left.plans.length + left.callbacks.length === 0) return { reason: "done", ...previews };
  // What was staged is lost although it should have been kept.
  const isLost = left.persistError !== undefined && left.plans.length > 0;
  return { reason: isLost ? "failed" : "pending", message: leftText(left).trimEnd(), ...previews };
}

/** What happened to previews that were not decided; empty if there are none. */
export function leftText(left: LeftPreviews): string {
  const { plans, isKept } = left;
  const listed = plans.flatMap((plan) => [
    `${nameOf(plan)}${plan.status === "stale" ? "  (stale: its files changed)" : ""}`,
    ...(plan.files ?? []).map(plannedLine),
  ]);
  const waiting = isKept
    ? listing("Pending, not written yet:", listed) + commandsText(left)
    : listing("Not applied, and gone with the run:", listed) + goneText(left);
  return (plans.length === 0 ? "" : waiting) + callbacksText(left);
}

function commandsText({ plans, sessionDir }: LeftPreviews): string {
  const [only, ...others] = plans;
  const name = others.length === 0 ? (only?.id ?? "") : "ID";
  const where = sessionDir === undefined ? "" : ` --session-dir ${shellWord(sessionDir)}`;
  const all = others.length === 0 ? "" : ` (or --all)`;
  return `See it with  galley show ${name}${where}
Decide with  galley apply ${name}${where}  or  galley discard ${name}${where}${all}
`;
}

function goneText({ persistError }: LeftPreviews): string {
  if (persistError !== undefined) return `The session could not be kept (${persistError}).\n`;
  return "The session is not kept. Run it again with --yes, or without --no-session to decide later.\n";
}

function callbacksText({ callbacks, isAuto }: LeftPreviews): string {
  if (callbacks.length === 0) return "";
  const listed = callbacks.map((callback) => {
    const { lastError } = callback;
    return nameOf(callback) + (lastError === undefined ? "" : `  (its apply failed: ${oneLine(lastError, maxLength)})`);
  });
  const ways = [...(isAuto ? [] : ["--auto (the model decides)"]), "--yes (applied at the end)"].join(" or ");
  return `${listing("Discarded undecided, because it cannot outlive the run:", listed)}Run it again with ${ways}\n`;
}

function nameOf({ id, label }: PendingActionView): string {
  return `${id}  ${oneLine(label, maxLength)}`;
}

function plannedLine(file: NonNullable<PendingActionView["files"]>[number]): string {
  const { path, kind, added, removed } = file;
  const figures = { added, removed };
  return `      ${fileLine({ shownPath: path, kind, ...figures })}`;
}
