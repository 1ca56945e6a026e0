// What becomes of the plan of ast_edit: staged for a decision, or, where nobody wants to look, onto the disk at once.

import { inLanes } from "../base/in-lanes.js";
import type { RefreshedPlan } from "../preview/pending-action-store.js";
import { type PlannedChange, stampOf } from "../preview/plan.js";
import type { ToolResult } from "../protocol/events.js";
import type { WriteTarget } from "../workspace/workspace.js";
import type { Found, SearchParts } from "./ast-edit-plan.js";
import { fileDiff, maxShownChanges, previewText } from "./ast-preview.js";
import type { RewritePlan } from "./ast-rewrite.js";
import { count } from "./output-text.js";
import type { SeenFiles } from "./seen-files.js";
import { type Staging, stagedBelow } from "./staging.js";
import { type ArtifactSink, textResult, toolFailure } from "./tool.js";

export interface AstEditParts extends SearchParts {
  readonly staging: Staging;
  readonly artifacts: ArtifactSink;
  /** Told what the model rewrote; default: nobody keeps track. */
  readonly seen?: SeenFiles;
}

export type Search = (signal: AbortSignal | undefined) => Promise<Found>;

/** Before somebody's eyes, or, where nobody wants to look, onto the disk at once. */
export async function deliver(
  parts: AstEditParts,
  found: Found,
  { toolCallId, search }: { toolCallId: string; search: Search },
): Promise<ToolResult> {
  const { staging, seen } = parts;
  const action = await actionFor(parts, found);
  const { label, sourceToolName, work } = action;
  const artifactId = await keepDiff(parts, found.plan);
  const { isSingleFile, plan, details } = found;
  const told = (headline: string, more: object) =>
    textResult(previewText(plan, { isSingleFile, headline, artifactId }), { ...details, ...more });
  const noteRewrites = () => {
    for (const { path, before, after } of work.plan.changes) seen?.noteRewrite(path, before, after);
  };
  if (staging.mode() === "off") {
    const { changeId } = await staging.applyNow(work.plan.changes, { label, sourceToolName });
    noteRewrites();
    return told(work.plan.applied.text, { applied: true, changeId });
  }
  const isForReview = staging.mode() === "all";
  let id = "";
  // Under review a search would see its own changes: whoever wants it again runs it again.
  const refresh = isForReview
    ? {}
    : { refresh: (signal: AbortSignal | undefined) => again(parts, { search, signal, id }) };
  id = await staging.stage({
    ...action,
    toolCallId,
    isForReview,
    dependsOn: stagedBelow(staging, work.plan.changes),
    work: { ...work, ...refresh, ...(isForReview ? {} : { afterApply: () => void noteRewrites() }) },
  });
  if (isForReview) noteRewrites(); // the session's tools see it from now on
  const next = isForReview ? "The user decides." : "Call resolve to apply or discard.";
  return told(`Staged as ${id} – files NOT modified. ${next}`, { pendingId: id });
}

/** The same search on the files as they are now. */
async function again(
  parts: AstEditParts,
  { search, signal, id }: { search: Search; signal: AbortSignal | undefined; id: string },
): Promise<RefreshedPlan> {
  const found = await search(signal);
  const { label, details, preview, work } = await actionFor(parts, found);
  const { isSingleFile, plan } = found;
  const text = previewText(plan, { isSingleFile, headline: "Previewed again; files NOT modified." });
  return { plan: work.plan, label, details, preview, result: textResult(text, { ...found.details, pendingId: id }) };
}

/** Refuses here what could not be written later. */
export async function actionFor({ workspace }: SearchParts, { plan, details }: Found) {
  if (plan.totalReplacements === 0) throw toolFailure("The pattern matches nothing any more.");
  const places = await workspace.resolveAll(
    plan.files.map(({ target }) => target.path),
    "write",
  );
  const changes: PlannedChange[] = [];
  await inLanes(plan.files.entries(), 8, async ([index, { target, before, after }]) => {
    const { path, displayPath } = places[index] as WriteTarget;
    const { mode } = await workspace.stat(target);
    changes[index] = { kind: "modify", path, stamp: stampOf(displayPath, { bytes: before, mode }), before, after };
  });
  const amount = `${count(plan.totalReplacements, "replacement")} in ${count(plan.files.length, "file")}`;
  const applied = { text: `Applied ${amount}.`, details: { ...details, applied: true } };
  return {
    label: `AST Edit: ${amount}`,
    sourceToolName: "ast_edit",
    details: { totalReplacements: plan.totalReplacements, filesTouched: plan.files.length },
    preview: { diff: details.diff },
    work: { kind: "plan" as const, plan: { changes, applied } },
  };
}

/** To write the diff of one file at a time would take longer than to make it. */
const minWritten = 128 * 1024;

/** The whole diff, where the text shows only its beginning. */
async function keepDiff({ artifacts }: AstEditParts, plan: RewritePlan): Promise<string | undefined> {
  if (plan.totalReplacements <= maxShownChanges) return undefined;
  const writer = await artifacts.open("ast_edit");
  let waiting = "";
  for (const file of plan.files) {
    waiting += fileDiff(file, Number.MAX_SAFE_INTEGER);
    if (waiting.length < minWritten) continue;
    await writer.write(Buffer.from(waiting));
    waiting = "";
  }
  if (waiting !== "") await writer.write(Buffer.from(waiting));
  await writer.close();
  return writer.id;
}
