// The steps of a pending plan as they are on record. A session file may have been written by another version, or by hand,
// so every entry is checked.

import { isObject } from "../base/json.js";
import type { PartStep, RebasedStep, RevisedStep } from "../plans/plan-step.js";

/** A step as it is on record. `planRef` names the artifact with the new form of the files concerned. */
export type StepData =
  | PartStep
  | ((RevisedStep | RebasedStep) & { readonly planRef: string; readonly planSha256?: string });

export function isStepData(data: object): data is StepData {
  const { event, revision, by } = data as Record<string, unknown>;
  if (!Number.isSafeInteger(revision) || typeof by !== "string") return false;
  const check = typeof event === "string" ? checks.get(event) : undefined;
  return check?.(data as Record<string, unknown>) ?? false;
}

const checks = new Map<string, (data: Record<string, unknown>) => boolean>([
  [
    "part",
    ({ action, reason, settled, rest }) =>
      (action === "apply" || action === "discard") &&
      typeof reason === "string" &&
      isListOf(settled, isChosenFile) &&
      isRest(rest) &&
      typeof rest.sha256 === "string",
  ],
  ["revised", ({ path, sha256, planRef }) => [path, sha256, planRef].every(isText)],
  [
    "rebased",
    ({ dropped, left, rest, planRef }) =>
      isListOf(dropped, isText) && isListOf(left, isChosenFile) && isRest(rest) && isText(planRef),
  ],
]);

function isRest(value: unknown): value is Record<string, unknown> {
  return isObject(value) && isText(value.label) && isCount(value.files) && isCount(value.hunks);
}

function isChosenFile(value: unknown): boolean {
  return isObject(value) && isText(value.path) && (value.hunks === undefined || isListOf(value.hunks, isCount));
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value);
}
