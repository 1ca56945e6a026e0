// `pi.pushPendingAction`: a tool stages what it would do, and `resolve` or the user decides. A callback is checked
// against the files it was made for; with a plan galley writes the files itself.

import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { PlannedChange, SeenFile } from "../../plans/plan.js";
import type { ActionWork, DecisionInfo, NewAction } from "../../plans/stored-action.js";
import type { ToolResult } from "../../protocol/events.js";
import { type GuardedModule, type ModuleCall, runGuarded } from "../load/load-guard.js";

type Extra = Record<string, unknown> | undefined;

export interface CustomToolPendingAction {
  label: string;
  /** Needed unless there is a plan; with one it runs after the files were written and supplies the result. */
  apply?(reason: string, extra?: Extra, info?: DecisionInfo): Promise<ToolResult> | ToolResult;
  reject?(reason: string, extra?: Extra, info?: DecisionInfo): Promise<ToolResult | undefined> | ToolResult | undefined;
  details?: unknown;
  /** Default `custom_tool`. */
  sourceToolName?: string;
  /** What the preview depends on: when one of them has changed, nothing is applied. */
  files?: readonly string[];
  plan?: readonly FileChange[];
  preview?: { text?: string; diff?: string };
  expiresInMs?: number;
}

export interface FileChange {
  path: string;
  /** The whole new content; `null` deletes the file. */
  after: string | Uint8Array | null;
  /** Permission bits; default: as they are, or what is usual for a new file. */
  mode?: number;
}

/** The session's side. */
export interface ToolPendingActions {
  push(action: NewAction): string;
  /** The id of an action that is pushed later. */
  nextId(): string;
  /** The files as they are now, including those that do not exist. */
  stamp(paths: readonly string[]): Promise<readonly SeenFile[]>;
  /** Reads and stamps the files and refuses what must not be written. */
  plan(changes: readonly FileChange[]): Promise<readonly PlannedChange[]>;
}

/** Instead of a session: a program that keeps pending actions itself. */
export type GivenPush = (action: CustomToolPendingAction) => string | Promise<string> | undefined | void;

const unavailableText = "Pending action store unavailable for custom tools in this runtime.";
const incompleteText = "pushPendingAction requires a label and an apply callback.";

/** A tool call that is under way does not end before what it stages is stamped. */
export function pushPendingAction(
  pending: ToolPendingActions | GivenPush | undefined,
  action: CustomToolPendingAction,
  running: GuardedModule | undefined,
): string | Promise<string> {
  const call = running?.call;
  if (!pending) throw new GalleyError("pending_unavailable", unavailableText);
  if (!isComplete(action)) throw new GalleyError("invalid_argument", incompleteText);
  if (typeof pending === "function") return pending(withSource(action)) ?? "";
  const { plan, files, label } = action;
  const { apply, reject } = callbacks(action, running);
  const clean = reject ? { reject } : {};
  if (!plan && !files?.length)
    return pending.push({ ...common(action, call), work: { kind: "closure", apply: closure(apply), ...clean } });
  // Without files to wait for, the caller gets the id at once, although the action is not staged yet.
  const id = plan ? {} : { id: pending.nextId() };
  const pushed = inTurn(call, async (): Promise<ActionWork> => {
    if (plan) {
      const changes = await pending.plan(plan);
      const after = apply ? { afterApply: apply } : {};
      return { kind: "plan", plan: { changes, applied: { text: `Applied: ${label}.` } }, ...after, ...clean };
    }
    const seen = await pending.stamp(files ?? []);
    return { kind: "closure", files: seen, apply: closure(apply, () => refuseStale(pending, seen)), ...clean };
  }).then((work) => pending.push({ ...common(action, call), ...id, work }));
  call?.unfinished.push(pushed);
  pushed.catch((error: unknown) => {
    // The end of the call or the promise of the id reports the error; without either, it is logged here.
    if (!call && !plan) running?.log.error(`${running.path}: "${label}" was not staged: ${messageOf(error)}`);
  });
  return id.id ?? pushed;
}

/** Actions of one call are pushed in the order in which they were staged, however long each look at the files takes. */
async function inTurn<T>(call: ModuleCall | undefined, look: () => Promise<T>): Promise<T> {
  const before = call?.unfinished.at(-1);
  const found = look();
  await Promise.allSettled([before, found]);
  return found;
}

function isComplete(action: unknown): action is CustomToolPendingAction {
  if (!isObject(action) || typeof action.label !== "string" || action.label.trim() === "") return false;
  return typeof action.apply === "function" || Array.isArray(action.plan);
}

/** The same action, completed. Its callbacks stay its own, since it may be an object with methods. */
function withSource(action: CustomToolPendingAction): CustomToolPendingAction {
  const { label, apply, reject } = action;
  return {
    ...action,
    label,
    sourceToolName: sourceOf(action),
    ...(apply ? { apply: apply.bind(action) } : {}),
    ...(reject ? { reject: reject.bind(action) } : {}),
  };
}

function sourceOf({ sourceToolName }: CustomToolPendingAction): string {
  return typeof sourceToolName === "string" ? sourceToolName : "custom_tool";
}

function common(action: CustomToolPendingAction, call: ModuleCall | undefined): Omit<NewAction, "work"> {
  const { label, details, preview, expiresInMs } = action;
  return {
    label,
    sourceToolName: sourceOf(action),
    toolCallId: call?.toolCallId,
    details,
    ...(preview ? { preview } : {}),
    expiresInMs,
  };
}

type Apply = ReturnType<typeof callbacks>["apply"];
type Closure = Extract<ActionWork, { kind: "closure" }>;

function closure(apply: Apply, check: () => Promise<void> = async () => {}): Closure["apply"] {
  return async (reason, extra, info) => {
    await check();
    return (await apply?.(reason, extra, info)) ?? { content: [] };
  };
}

async function refuseStale(pending: ToolPendingActions, before: readonly SeenFile[]): Promise<void> {
  const now = await pending.stamp(before.map(({ stamp }) => stamp.path));
  const files = before
    .filter(({ stamp: { exists, size, sha256 } }, index) => {
      const found = now[index]?.stamp;
      return found?.exists !== exists || found.size !== size || found.sha256 !== sha256;
    })
    .map(({ stamp }) => stamp.path);
  if (files.length === 0) return;
  throw new GalleyError("stale_preview", "Files changed since the preview.", {
    details: { files, total: before.length },
  });
}

/** Bound to the action, since it may be an object with methods; and guarded like the module that staged it. */
function callbacks(action: CustomToolPendingAction, running: GuardedModule | undefined) {
  const { apply, reject } = action;
  const guarded = <Result>(work: () => Result): Result =>
    running ? runGuarded({ path: running.path, log: running.log }, work) : work();
  return {
    ...(apply
      ? {
          apply: async (reason: string, extra: Extra, info: DecisionInfo) =>
            guarded(() => apply.call(action, reason, extra, info)),
        }
      : {}),
    ...(reject
      ? {
          reject: async (reason: string, extra: Extra, info: DecisionInfo) =>
            guarded(() => reject.call(action, reason, extra, info)),
        }
      : {}),
  };
}
