// The ast_edit tool: structural search and replace. It computes the exact bytes of every file and stages them: what is
// applied later is what was shown, not another search.

import type { XStatic } from "typebox/schema";
import { GalleyError } from "../base/errors.js";
import { inLanes } from "../base/in-lanes.js";
import type { WriteTarget } from "../files/workspace.js";
import { type PlannedChange, stampOf } from "../plans/plan.js";
import type { RefreshedPlan } from "../plans/stored-action.js";
import type { ToolResult } from "../protocol/events.js";
import { type Found, planFor, type SearchDeps } from "./ast/plan-rewrite.js";
import { fileDiff, maxShownChanges, nothingFoundText, previewText } from "./ast/preview.js";
import type { RewritePlan } from "./ast/rewrite.js";
import { count } from "./output/text.js";
import type { SeenFiles } from "./seen-files.js";
import { type Staging, stagedBelow } from "./staging.js";
import { type AgentTool, type ArtifactSink, textResult, toolFailure } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    ops: {
      type: "array",
      maxItems: 100,
      items: {
        type: "object",
        properties: {
          pat: { type: "string", description: "Pattern, e.g. foo($A, $$$REST)" },
          out: { type: "string", maxLength: 20_000, description: "Replacement; empty deletes" },
        },
        required: ["pat", "out"],
      },
    },
    paths: { type: "array", maxItems: 200, items: { type: "string" }, description: "Files, directories or globs" },
    glob: { type: "string", description: "Filter below paths" },
    lang: { type: "string", description: "For unusual file endings" },
    sel: { type: "string", description: "Node kind to match within pat" },
    limit: { type: "number", description: "Most replacements" },
  },
  required: ["ops"],
} as const;

type AstEditParams = XStatic<typeof parameters>;

export interface AstEditDeps extends SearchDeps {
  readonly staging: Staging;
  readonly artifacts: ArtifactSink;
  /** Records what the model rewrote; default: not recorded. */
  readonly seen?: SeenFiles;
}

type Search = (signal: AbortSignal | undefined) => Promise<Found>;

/** A turn's calls run side by side, and each of them may stage once. */
const maxAttempts = 10;

export function createAstEdit(deps: AstEditDeps): AgentTool<AstEditParams> {
  return {
    name: "ast_edit",
    label: "AST Edit",
    description: "Preview a code rewrite by structure (ast-grep patterns). Staged, not written: see resolve.",
    parameters,
    approval: "write",
    deferrable: true,
    prepareArguments,
    async execute(toolCallId, params, signal, onUpdate) {
      const search: Search = (stop) => planFor(deps, params, { signal: stop, onUpdate });
      for (let attempt = 1; ; attempt++) {
        const found = await search(signal);
        if (found.plan.totalReplacements === 0)
          return { ...textResult(nothingFoundText(found.plan), found.details), isWarning: true };
        try {
          return await deliver(deps, found, { toolCallId, search });
        } catch (error) {
          // Another call of the same turn staged something for one of the files while this one searched.
          if (attempt === maxAttempts || !GalleyError.is(error, "file_changed")) throw error;
        }
      }
    },
  };
}

/** `path` for `paths`, and one text for a list. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { path, ...rest } = args;
  const paths = rest.paths ?? path;
  if (paths === undefined || paths === null) return rest;
  return { ...rest, paths: typeof paths === "string" ? [paths] : paths };
}

/** Staged for a decision, or, where previews are off, written to the disk at once. */
async function deliver(
  deps: AstEditDeps,
  found: Found,
  { toolCallId, search }: { toolCallId: string; search: Search },
): Promise<ToolResult> {
  const { staging, seen } = deps;
  const action = await actionFor(deps, found);
  const { label, sourceToolName, work } = action;
  const artifactId = await keepDiff(deps, found.plan);
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
  // Under review a repeated search would see its own changes, so there is no refresh: the model runs it again.
  const refresh = isForReview
    ? {}
    : { refresh: (signal: AbortSignal | undefined) => again(deps, { search, signal, id }) };
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
  deps: AstEditDeps,
  { search, signal, id }: { search: Search; signal: AbortSignal | undefined; id: string },
): Promise<RefreshedPlan> {
  const found = await search(signal);
  const { label, details, preview, work } = await actionFor(deps, found);
  const { isSingleFile, plan } = found;
  const text = previewText(plan, { isSingleFile, headline: "Previewed again; files NOT modified." });
  return { plan: work.plan, label, details, preview, result: textResult(text, { ...found.details, pendingId: id }) };
}

/** Refuses here what could not be written later. */
export async function actionFor({ workspace }: SearchDeps, { plan, details }: Found) {
  if (plan.totalReplacements === 0) throw toolFailure("The pattern matches nothing any more.");
  const places = await workspace.resolveAll(
    plan.files.map(({ target }) => target.path),
    "write",
  );
  const changes: PlannedChange[] = [];
  await inLanes(plan.files.entries(), 8, async ([index, { target, before, after, replacements }]) => {
    const { path, displayPath } = places[index] as WriteTarget;
    const { mode } = await workspace.stat(target);
    const stamp = stampOf(displayPath, { bytes: before, mode });
    changes[index] = { kind: "modify", path, stamp, before, after, units: replacements.length };
  });
  const amount = `${count(plan.totalReplacements, "replacement")} in ${count(plan.files.length, "file")}`;
  const applied = { text: `Applied ${amount}.`, details: { ...details, applied: true } };
  return {
    label: `AST Edit: ${amount}`,
    sourceToolName: "ast_edit",
    details: { totalReplacements: plan.totalReplacements, filesTouched: plan.files.length },
    preview: { diff: details.diff },
    work: { kind: "plan" as const, plan: { changes, applied, unit: "replacement" } },
  };
}

/** To write the diff of one file at a time would take longer than to make it. */
const minWritten = 128 * 1024;

/** The whole diff, where the text shows only its beginning. */
async function keepDiff({ artifacts }: AstEditDeps, plan: RewritePlan): Promise<string | undefined> {
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
