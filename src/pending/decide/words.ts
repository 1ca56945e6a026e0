// The sentences about a decision, made of its facts: for the model, for a host, and for a person at a front end. Pure.

import { type ErrorCode, GalleyError } from "../../base/errors.js";
import { protectedText } from "../../plans/protected-changes.js";
import type { ChosenFile } from "../../plans/split-plan.js";
import type { ResolveDetails } from "../../protocol/data.js";
import type { ToolResult } from "../../protocol/events.js";
import type { PendingOutcome } from "../../protocol/pending.js";
import type { Along, Applied, Decided, DecidedPart, Discarded, Outcome, Refused, Stale } from "../outcome.js";
import type { PendingActionStore } from "../store/pending-action-store.js";
import { blocksOf } from "./callback-result.js";

export const nothingPendingText = "No pending action to resolve. Nothing to apply or discard.";

/** What the model reads, with what a person made of its text before. */
export function forModel(decided: Decided): ToolResult {
  return resultOf(decided, { withEdits: true });
}

/** What a host is answered: the published details, and the text without what only the model has to know. */
export function forHost(decided: Decided): { details: ResolveDetails; text: string } {
  const result = resultOf(decided, { withEdits: false });
  return { details: result.details as ResolveDetails, text: joined(result) };
}

/** What a person reads: this decision alone, not what else is pending. The first line says the most. */
export function forUser(decided: Decided): { readonly first: string; readonly more: readonly string[] } {
  const [first = "", ...more] = joined(resultOf({ ...decided, remaining: [] }, { withEdits: false })).split("\n");
  return { first, more };
}

/** Undefined: it went as it was meant. A list tells its failures in its rows. */
export function errorOf(decided: Decided): GalleyError | undefined {
  const [outcome] = decided.outcomes;
  if (decided.isList || !outcome || !isError(outcome)) return undefined;
  const details = outcome.kind === "stale" ? { details: { files: [...outcome.files] } } : {};
  return new GalleyError(codeOf(outcome), forHost(decided).text, details);
}

function codeOf(outcome: Outcome): ErrorCode {
  if (outcome.kind === "stale") return "stale_preview";
  if (outcome.kind === "refused" && outcome.why.kind === "protected") return "protected";
  return (outcome.kind === "failed" ? outcome.code : undefined) ?? "apply_failed";
}

function isError(outcome: Outcome): boolean {
  if (outcome.kind === "applied") return outcome.returned.isError === true;
  if (outcome.kind === "discarded") return outcome.cleanupError !== undefined || outcome.returned?.isError === true;
  return outcome.kind !== "refreshed";
}

interface Telling {
  readonly remaining: Decided["remaining"];
  readonly withEdits: boolean;
}

function resultOf({ decision, isList, outcomes, remaining }: Decided, { withEdits }: { withEdits: boolean }) {
  const telling = { remaining, withEdits };
  const [only] = outcomes;
  if (!isList && only) return resultOfOne(only, telling);
  const rows = outcomes.flatMap((outcome) => rowsOf(outcome, telling));
  const edits = withEdits ? outcomes.flatMap(editsRow) : [];
  const { action, reason } = decision;
  return {
    ...resultWith([rows.map(lineOf).join("\n"), ...edits], { action, reason, results: rows }),
    ...(rows.some(({ error }) => error !== undefined) ? { isError: true } : {}),
  };
}

function resultOfOne(outcome: Outcome, telling: Telling): ToolResult {
  switch (outcome.kind) {
    case "applied":
      return outcome.part ? partResult(outcome, outcome.part, telling) : appliedResult(outcome, telling);
    case "discarded":
      return outcome.part ? partResult(outcome, outcome.part, telling) : discardedResult(outcome, telling);
    case "refreshed":
      return { ...outcome.returned, details: { ...(outcome.returned.details as object), refreshed: true } };
    case "stale":
      return failedResult(outcome, staleText(outcome), telling);
    case "refused":
      return failedResult(outcome, refusalText(outcome), telling);
    case "failed":
      return failedResult(outcome, outcome.error, telling);
  }
}

function appliedResult(outcome: Applied, telling: Telling): ToolResult {
  const { edits, also, returned } = outcome;
  return wholeResult(outcome, returned, [telling.withEdits ? edits : undefined, withIt(also, "Applied")], telling);
}

function discardedResult(outcome: Discarded, telling: Telling): ToolResult {
  const { action, decision, also, returned, cleanupError } = outcome;
  const { label } = action;
  if (cleanupError !== undefined) {
    const text = `Discarded: ${label}, but cleanup failed: ${cleanupError}`;
    return failedResult({ ...outcome, attempt: action.attempts }, text, telling);
  }
  const standard = resultWith([`Discarded: ${label}. Reason: ${decision.reason}`]);
  return wholeResult(outcome, returned ?? standard, [withIt(also, "Discarded")], telling);
}

function wholeResult(
  outcome: Outcome,
  source: ToolResult,
  notes: readonly (string | undefined)[],
  telling: Telling,
): ToolResult {
  const texts = [...notes, stillPendingText(telling.remaining)].filter((text) => text !== undefined);
  const details = source.details === undefined ? {} : { sourceResultDetails: source.details };
  return {
    content: [...blocksOf(source), ...resultWith(texts).content],
    details: { ...metadata(outcome, telling), ...details },
    ...(source.isError === true ? { isError: true } : {}),
  };
}

function partResult(outcome: Applied | Discarded, part: DecidedPart, telling: Telling): ToolResult {
  const { chosen, hunks, ofHunks, ofFiles, rest } = part;
  const word = outcome.kind === "applied" ? "Applied" : "Discarded";
  const texts = [
    `${word} ${hunks} of ${ofHunks} hunks in ${chosen.length} of ${ofFiles} files (${pathsOf(chosen)}).`,
    withIt(outcome.also, word),
    ...(rest === undefined ? [] : [editsOf(outcome, telling), restText(outcome.id, rest, telling)]),
  ];
  const source = outcome.kind === "applied" ? { sourceResultDetails: outcome.returned.details } : {};
  const details = { ...metadata(outcome, telling), ...source, partial: true, settled: chosen };
  return resultWith(
    texts.filter((text) => text !== undefined),
    details,
  );
}

function editsOf(outcome: Applied | Discarded, { withEdits }: Telling): string | undefined {
  return withEdits && outcome.kind === "applied" ? outcome.edits : undefined;
}

function restText(id: string, rest: NonNullable<DecidedPart["rest"]>, telling: Telling): string {
  if (rest === "kept") return `Not written: the rest stays pending as ${id} for the user.`;
  return `Not written: the rest. ${joined(discardedResult(rest, telling))}`;
}

function failedResult(outcome: Outcome & { attempt: number }, error: string, telling: Telling): ToolResult {
  const details = { ...metadata(outcome, telling), error, attempt: outcome.attempt };
  return { ...resultWith([error], details), isError: true };
}

/** The first four keys are part of the published contract, in this form. */
function metadata({ action, decision }: Outcome, { remaining }: Telling) {
  const { id, label, sourceToolName, details } = action;
  const { action: decided, reason, extra } = decision;
  return {
    action: decided,
    reason,
    sourceToolName,
    label,
    id,
    remaining: remaining.length,
    extra,
    sourceDetails: details,
  };
}

interface Row {
  readonly id: string;
  readonly outcome: PendingOutcome;
  readonly label: string;
  readonly error?: string;
  readonly changeId?: string | undefined;
  readonly hardlinkBroken?: readonly string[] | undefined;
}

/** An action, and those that ended with it. */
function rowsOf(outcome: Outcome, telling: Telling): Row[] {
  const { id, kind, action } = outcome;
  const { label } = action;
  if (kind !== "applied" && kind !== "discarded") {
    const error = kind === "refreshed" ? refreshedText : joined(resultOfOne(outcome, telling));
    return [{ id, outcome: kind === "stale" ? "stale" : "failed", label, error }];
  }
  const told = joined(resultOfOne(outcome, telling));
  // The user was asked about all of it, and agreed to this part.
  if (outcome.part) return [{ id, outcome: kind, label: told.replaceAll("\n", " ") }];
  const written = kind === "applied" ? writtenMembers(outcome) : {};
  const own = { id, outcome: kind, label, ...(isError(outcome) ? { error: told } : {}), ...written };
  const others = outcome.also.filter(({ part }) => !part);
  return [own, ...others.map((other) => ({ id: other.id, outcome: kind, label: other.label, ...written }))];
}

export function writtenMembers({ changeId, hardlinkBroken }: Pick<Applied, "changeId" | "hardlinkBroken">) {
  return { changeId, ...(hardlinkBroken?.length ? { hardlinkBroken } : {}) };
}

function lineOf({ id, outcome, label, error }: Row): string {
  const word = outcome === "applied" || outcome === "discarded" ? outcome : "failed";
  return `${id} ${word}: ${label}${error === undefined ? "" : ` – ${error}`}`;
}

function editsRow(outcome: Outcome): string[] {
  const isTold = outcome.kind === "applied" && !outcome.part && outcome.edits !== undefined;
  return isTold ? [`${outcome.id}: ${outcome.edits}`] : [];
}

const refreshedText = "A new preview was made. Nothing was written.";

function refusalText({ id, why }: Refused): string {
  switch (why.kind) {
    case "protected":
      return `Pending action ${id}: ${protectedText(why.files)}`;
    case "misfit":
      return why.cause;
    case "for_review":
      return "Staged for review: the user decides.";
    case "attempts":
      return `Pending action ${id} failed ${why.attempts} times; discard it and preview again. Last error: ${why.lastError}`;
    case "cannot_ask":
      return "The user has to agree, but cannot be asked here. Nothing was written; the action stays pending.";
    case "postponed":
      return `The user postponed it: ${id} stays pending.`;
  }
}

const maxNamed = 5;

/** Also what the action's record says of the failure. */
export function staleText({ files, total, action }: Pick<Stale, "files" | "total" | "action">): string {
  const paths = files.slice(0, maxNamed).join(", ");
  return `Preview is stale: ${files.length} of ${total} files changed since the preview (${paths}). Nothing was written. Run ${action.sourceToolName} again or discard.`;
}

function stillPendingText(remaining: Decided["remaining"]): string | undefined {
  if (remaining.length === 0) return undefined;
  const names = remaining.slice(0, maxNamed).map(({ id, label }) => `${id} ${label}`);
  const more = remaining.length > maxNamed ? [`+${remaining.length - maxNamed} more`] : [];
  return `Still pending: ${[...names, ...more].join("; ")}`;
}

/** Names what was decided with an action; undefined where nothing was. */
function withIt(also: readonly Along[], word: "Applied" | "Discarded"): string | undefined {
  if (also.length === 0) return undefined;
  const names = also.map(({ id, label, part }) => `${id} ${label}${part ? ` (${pathsOf(part)})` : ""}`);
  return `${word} with it: ${names.join("; ")}`;
}

function pathsOf(files: readonly ChosenFile[]): string {
  return files.map(({ path }) => path).join(", ");
}

/** The reason on record for applying an action that another one rests on. */
export function neededBy(id: string): string {
  return `Needed by ${id}.`;
}

/** The reason on record for discarding an action that rests on another one. */
export function dependsOn(id: string): string {
  return `Depends on ${id}.`;
}

/** Why an id cannot be decided about: it ended, or there never was one. */
export function missingText(store: PendingActionStore, id: string): string {
  const outcome = store.endOf(id);
  if (outcome === "expired") return `Pending action ${id} expired. Preview again.`;
  if (outcome === "applied" || outcome === "discarded") return `Pending action ${id} was already ${outcome}.`;
  if (store.get(id)) return `Pending action ${id} is being applied.`;
  const pending = store.list().map(({ action }) => action.id);
  return `No pending action with id "${id}". Pending: ${pending.join(", ") || "none"}.`;
}

function joined({ content }: ToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function resultWith(texts: readonly string[], details?: object): ToolResult {
  const content = texts.map((text) => ({ type: "text" as const, text }));
  return details === undefined ? { content } : { content, details };
}
